// The protobuf wire format written by hand, for tests of bytes that no encoder writes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "kube/base/internal/error_of_testing.h"
#include "kube/codec/protobuf.h"

namespace kube::wire {

inline std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes += static_cast<char>(value);
}
inline std::string key(std::uint64_t tag, unsigned type) { return varint(tag << 3 | type); }
inline std::string number(std::uint64_t tag, std::uint64_t value) {
  return key(tag, 0) + varint(value);
}
inline std::string bytes(std::uint64_t tag, std::string_view content) {
  return key(tag, 2) + varint(content.size()) + std::string(content);
}
/// A body: an envelope around an object's own encoding.
inline std::string body(std::string_view raw) {
  return std::string(kProtobufMagic) + bytes(2, raw);
}

template <class T>
T decoded(std::string_view raw) {
  return fromProtobuf<T>(body(raw));
}
template <class T>
inline std::string error(std::string_view raw) {
  return errorOf([&] { decoded<T>(raw); });
}

// Tags of Every.
inline constexpr std::uint64_t kOptional = 16, kList = 32, kMap = 48;
inline constexpr std::uint64_t kBool = 1, kInt32 = 2, kInt64 = 3, kDouble = 4, kString = 5,
                               kBytes = 6, kTime = 7, kMicroTime = 8, kDuration = 9, kQuantity = 10,
                               kIntOrString = 11, kRaw = 12, kStrings = 13, kMessage = 15;

}  // namespace kube::wire
