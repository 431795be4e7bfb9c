// Protobuf into described objects: the one walker of that direction.
//
// For source files of this folder; the public face is kube/codec/protobuf.h.
#pragma once

#include <string>
#include <string_view>

#include "kube/base/pool.h"
#include "kube/meta/path.h"
#include "kube/meta/type_info.h"

namespace kube {
struct ProtobufEnvelope;
}

namespace kube::detail {

/// Whether what is in the envelope can be decoded into this type. Throws DecodeError.
void checkEnvelope(const TypeInfo& type, const ProtobufEnvelope& envelope, bool checkKind = true);

/// Reads the wire format; every read is bounded. Throws DecodeError with the offset from `start`.
class WireReader {
 public:
  WireReader(std::string_view bytes, const char* start, const PathFrame* const& path)
      : at_(bytes.data()), end_(bytes.data() + bytes.size()), start_(start), path_(path) {}

  bool done() const noexcept { return at_ == end_; }
  const char* position() const noexcept { return at_; }
  void seek(const char* position) noexcept { at_ = position; }
  /// Passes over this byte if it comes next.
  bool take(char byte) noexcept {
    if (at_ == end_ || *at_ != byte) return false;
    ++at_;
    return true;
  }

  std::uint64_t varint() {
    // One and two bytes are nearly all there is.
    if (at_ != end_) {
      const auto first = static_cast<unsigned char>(*at_);
      if (first < 0x80) {
        ++at_;
        return first;
      }
      if (end_ - at_ > 1 && static_cast<signed char>(at_[1]) >= 0) {
        const std::uint64_t result = (first & 0x7fU) | static_cast<std::uint64_t>(at_[1]) << 7;
        at_ += 2;
        return result;
      }
    }
    return longVarint();
  }
  /// A field's tag and wire type.
  std::uint32_t key() {
    const std::uint64_t key = varint();
    if (key > UINT32_MAX || key < 8) [[unlikely]]
      badKey();
    return static_cast<std::uint32_t>(key);
  }
  double fixedDouble();
  /// A length-prefixed value.
  std::string_view bytes() {
    const std::uint64_t size = varint();
    if (size > static_cast<std::uint64_t>(end_ - at_)) fail("length past the end");
    const std::string_view result(at_, static_cast<std::size_t>(size));
    at_ += size;
    return result;
  }
  /// Passes over the value of a field that has been read up to its key.
  void skip(std::uint32_t key);

  [[noreturn]] void fail(std::string_view reason) const;

 private:
  std::uint64_t longVarint();
  [[noreturn]] void badKey() const;
  void advance(std::ptrdiff_t n);

  const char* at_;
  const char* end_;
  const char* start_;
  const PathFrame* const& path_;  // the decoder's, for errors
};

class ProtobufDecoder {
 public:
  /// `bytes` is the whole input, from which offsets in errors count.
  ProtobufDecoder(std::string_view bytes, Pool* pool)
      : start_(bytes.data()), size_(bytes.size()), pool_(pool) {}

  /// Decodes a message into `object`, a default-constructed struct of that type. Throws
  /// DecodeError; the object is then half-filled.
  void message(const TypeInfo& type, void* object, std::string_view bytes);

 private:
  using Place = Pool::Place;

  void message(const TypeInfo& type, std::span<const WireField> wire, std::byte* object,
               std::string_view bytes, Place* places);
  void optional(const FieldInfo& field, std::byte* at, WireReader& in, std::uint32_t key,
                Place* place);
  void repeated(const FieldInfo& field, std::byte* at, WireReader& in, const char* first,
                std::uint32_t key, std::string_view whole, bool& complete, Place* place);
  std::size_t count(const FieldInfo& field, WireReader& in, std::uint32_t key);
  Block* elements(const FieldInfo& field, std::string_view bytes, std::uint32_t tag,
                  std::size_t items, Place* place);
  void element(const FieldInfo& field, std::byte* at, WireReader& in, std::uint32_t key,
               Place* place);
  Block* box(const FieldInfo& field, std::string_view bytes, Place* place);
  void entry(const FieldInfo& field, std::byte* entry, WireReader& outer, std::uint32_t outerKey,
             Place* place);
  void builtIn(FieldKind kind, std::byte* at, WireReader& outer, Place* place);
  template <class Make>
  Block* pooled(std::string_view bytes, Place* place, const void* salt, Pool::Drop drop, Make make);
  void string(String& slot, std::string_view text, const WireReader& in, Place* place);
  void time(Time& slot, std::string_view bytes);
  Place* inside(const FieldInfo& field, Place* place);

  // How many elements may be moved, for every byte of input, to put lists in parts together. A
  // list in several runs moves each of its elements once.
  static constexpr std::size_t kMaxJoined = 16;

  const char* start_;
  std::size_t size_;
  Pool* pool_;
  std::size_t joined_ = 0;
  std::uint32_t depth_ = 0;
  const PathFrame* path_ = nullptr;
};

}  // namespace kube::detail
