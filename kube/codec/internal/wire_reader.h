// Reads protobuf's wire format; every read is bounded.
//
// For source files of this folder. A reader is two pointers, which the compiler keeps in registers
// as long as nothing takes the address of the reader. So everything here is in line. Functions for
// rare cases and errors get the position by value, and so do functions that continue to read (see
// rest()).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "kube/meta/internal/path.h"

namespace kube::detail {

enum WireType : std::uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

/// A field's key is its tag and wire type.
constexpr WireType typeOf(std::uint32_t key) { return static_cast<WireType>(key & 7); }
constexpr std::uint32_t tagOf(std::uint32_t key) { return key >> 3; }
constexpr std::uint32_t wireKey(std::uint32_t tag, WireType type) { return tag << 3 | type; }

/// The start of the input and the current path, for errors.
struct WireOrigin {
  const char* start;
  const PathFrame* path = nullptr;

  /// Throws DecodeError with the offset from `start`.
  [[noreturn, gnu::cold]] void fail(const char* at, std::string_view reason) const;
};

class WireReader {
 public:
  /// The origin must outlive the reader.
  WireReader(std::string_view bytes, const WireOrigin& origin)
      : at_(bytes.data()), end_(bytes.data() + bytes.size()), origin_(&origin) {}

  bool done() const noexcept { return at_ == end_; }
  const char* position() const noexcept { return at_; }
  /// The bytes that have not been read.
  std::string_view rest() const noexcept { return {at_, static_cast<std::size_t>(end_ - at_)}; }
  void seek(const char* position) noexcept { at_ = position; }
  /// Skips this byte if it is the next one.
  bool take(char byte) noexcept {
    if (at_ == end_ || *at_ != byte) return false;
    ++at_;
    return true;
  }

  [[gnu::always_inline]] std::uint64_t varint() {
    // Nearly all numbers have one or two bytes.
    if (at_ != end_) [[likely]] {
      const auto first = static_cast<unsigned char>(*at_);
      if (first < 0x80) [[likely]] {
        ++at_;
        return first;
      }
      if (end_ - at_ > 1 && static_cast<signed char>(at_[1]) >= 0) {
        const std::uint64_t result = (first & 0x7fU) | static_cast<std::uint64_t>(at_[1]) << 7;
        at_ += 2;
        return result;
      }
    }
    const Read read = longVarint(at_, end_, *origin_);
    at_ = read.after;
    return read.number;
  }
  [[gnu::always_inline]] std::uint32_t key() {
    if (at_ != end_ && static_cast<signed char>(*at_) >= 8) [[likely]]  // one byte, with a tag
      return static_cast<unsigned char>(*at_++);
    const std::uint64_t key = varint();
    if (key > UINT32_MAX || key < 8) [[unlikely]]
      fail("bad field number");
    return static_cast<std::uint32_t>(key);
  }
  /// Reads a length-prefixed value.
  [[gnu::always_inline]] std::string_view bytes() {
    const std::uint64_t size = varint();
    if (size > static_cast<std::uint64_t>(end_ - at_)) [[unlikely]]
      fail("length past the end");
    const std::string_view result(at_, static_cast<std::size_t>(size));
    at_ += size;
    return result;
  }
  [[gnu::always_inline]] std::uint64_t fixed64() {
    const Read read = fixed64(at_, end_, *origin_);
    at_ = read.after;
    return read.number;
  }
  /// Skips the value of a field that has been read up to its key.
  [[gnu::always_inline]] void skip(std::uint32_t key) {
    if (typeOf(key) == kBytes) {
      bytes();
    } else {
      at_ = afterNumber(at_, end_, typeOf(key), *origin_);
    }
  }

  [[noreturn, gnu::always_inline]] void fail(std::string_view reason) const {
    origin_->fail(at_, reason);
  }

 private:
  struct Read {
    std::uint64_t number;
    const char* after;
  };
  static Read longVarint(const char* at, const char* end, const WireOrigin& origin);
  static Read fixed64(const char* at, const char* end, const WireOrigin& origin);
  static const char* afterNumber(const char* at, const char* end, WireType type,
                                 const WireOrigin& origin);

  const char* at_;
  const char* end_;
  const WireOrigin* origin_;
};

}  // namespace kube::detail
