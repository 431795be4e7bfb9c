#include "kube/codec/internal/wire_reader.h"

#include <string>

#include "kube/base/error.h"

namespace kube::detail {

void WireOrigin::fail(const char* at, std::string_view reason) const {
  throw DecodeError(
      {.format = "protobuf", .path = pathOf(path), .offset = static_cast<std::size_t>(at - start)},
      std::string(reason));
}

WireReader::Read WireReader::longVarint(const char* at, const char* end, const WireOrigin& origin) {
  constexpr int kMostBits = 64;
  std::uint64_t number = 0;
  const char* next = at;
  for (int shift = 0; shift < kMostBits; shift += 7) {
    if (next == end) origin.fail(at, "unexpected end inside a number");
    const auto byte = static_cast<unsigned char>(*next++);
    number |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return {number, next};
  }
  origin.fail(at, "a number is too long");
}

WireReader::Read WireReader::fixed64(const char* at, const char* end, const WireOrigin& origin) {
  if (end - at < 8) origin.fail(at, "unexpected end inside a number");
  std::uint64_t number = 0;
  for (int i = 7; i >= 0; --i) number = number << 8 | static_cast<unsigned char>(at[i]);
  return {number, at + 8};
}

const char* WireReader::afterNumber(const char* at, const char* end, WireType type,
                                    const WireOrigin& origin) {
  if (type == kVarint) return longVarint(at, end, origin).after;
  if (type != kFixed64 && type != kFixed32) {
    origin.fail(at, "bad wire type " + std::to_string(type));
  }
  const std::ptrdiff_t bytes = type == kFixed64 ? 8 : 4;
  if (end - at < bytes) origin.fail(at, "unexpected end");
  return at + bytes;
}

}  // namespace kube::detail
