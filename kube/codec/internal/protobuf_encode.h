// Encodes described objects as protobuf: the only walker of that direction.
//
// Writes back to front, so that every length is known when it is written and nothing is measured in
// advance. For source files of this folder; the public face is kube/codec/protobuf.h.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kube/base/internal/block.h"
#include "kube/codec/internal/encoded_parts.h"
#include "kube/meta/type_info.h"

namespace kube::detail {

class ProtobufEncoder {
 public:
  enum class Purpose { Write, Measure };

  /// An encoder that measures keeps only the size.
  explicit ProtobufEncoder(Purpose purpose = Purpose::Write)
      : measures_(purpose == Purpose::Measure) {}
  /// Remembers encodings in `known`, for which all encoded objects must stay alive and unchanged.
  /// Null: remembers nothing.
  explicit ProtobufEncoder(EncodedParts* known) : measures_(false), known_(known) {}

  /// Puts an object's fields before the bytes that have been written. Equals upstream's encoder
  /// byte for byte: ascending tags, and plain scalars even when zero.
  void message(const TypeInfo& type, const void* object);

  void bytes(std::string_view bytes);
  void varint(std::uint64_t value);
  void key(std::uint32_t tag, std::uint32_t wireType);
  /// Writes a length-prefixed field.
  void text(std::uint32_t tag, std::string_view bytes);
  /// Closes a length-prefixed field whose content was written since `size()` was `before`.
  void wrap(std::uint32_t tag, std::size_t before);

  std::size_t size() const noexcept { return before_ + (capacity_ - start_); }
  void appendTo(std::string& out) const;
  /// Starts again, in the last buffer.
  void clear() noexcept;

 private:
  void fields(const TypeInfo& type, std::span<const WireField> wire, const std::byte* object);
  void field(const FieldInfo& field, const std::byte* at);
  // Writes a list, a map or a message, which may be shared.
  void part(const FieldInfo& field, const Block& block);
  void contents(const FieldInfo& field, const Block& block);
  void single(const FieldInfo& field, std::uint32_t tag, const std::byte* at);
  void number(std::uint32_t tag, std::uint64_t value);
  char* room(std::size_t bytes) {
    if (bytes > start_) newBuffer(bytes);
    start_ -= bytes;
    return buffer_ + start_;
  }
  void newBuffer(std::size_t bytes);

  const bool measures_;
  EncodedParts* known_ = nullptr;
  // Each buffer is filled from its end, and later buffers precede earlier ones in the output.
  // Written bytes do not move until they are joined.
  std::vector<std::unique_ptr<char[]>> buffers_;
  std::vector<std::string_view> full_;  // contents of the buffers before the last one
  std::size_t before_ = 0;              // their size
  char* buffer_ = nullptr;              // the last buffer
  std::size_t capacity_ = 0;            // its size
  std::size_t start_ = 0;
};

}  // namespace kube::detail
