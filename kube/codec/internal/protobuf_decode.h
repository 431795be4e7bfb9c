// Decodes protobuf into described objects: the only walker of that direction.
//
// For source files of this folder; the public face is kube/codec/protobuf.h.
#pragma once

#include <span>
#include <string_view>

#include "kube/base/pool.h"
#include "kube/codec/internal/wire_reader.h"
#include "kube/meta/type_info.h"

namespace kube {
struct ProtobufEnvelope;
}

namespace kube::detail {

/// Throws DecodeError if the content of the envelope cannot be decoded into this type.
void checkEnvelope(const TypeInfo& type, const ProtobufEnvelope& envelope, bool checkKind = true);

class ProtobufDecoder {
 public:
  /// `bytes` is the whole input; offsets in errors count from its start.
  ProtobufDecoder(std::string_view bytes, Pool* pool)
      : origin_{bytes.data()}, size_(bytes.size()), pool_(pool) {}

  /// Decodes a message into `object`, a default-constructed struct of that type. Throws
  /// DecodeError; the object is then half-filled.
  void message(const TypeInfo& type, void* object, std::string_view bytes);

 private:
  using Site = Pool::Site;

  // In these functions, `rest` is the rest of a message behind a field's key; they return the
  // position up to which they have read.

  // Whole messages. `sites` are those of the type's fields, or null without a pool.
  void message(const TypeInfo& type, std::byte* object, std::string_view bytes, Site* sites);
  template <bool kPooled>
  void fields(const TypeInfo& type, std::byte* object, std::string_view bytes, Site* sites);
  void group(const TypeInfo& type, std::span<const WireField> wire, std::byte* object,
             std::string_view bytes, Site* sites);
  const char* field(const FieldInfo& field, std::byte* at, std::string_view rest, std::uint32_t key,
                    const char* first, Site* site, bool& complete);
  const char* groupOrUnknown(const TypeInfo& type, std::span<const WireField> wire,
                             std::byte* object, std::string_view rest, std::uint32_t key,
                             Site* sites);
  Block* box(const FieldInfo& field, std::string_view bytes, Site* site);

  // Lists and maps.
  const char* run(const FieldInfo& field, Block*& block, std::string_view rest, const char* first,
                  std::uint32_t key, Site* site);
  void join(const FieldInfo& field, Block*& block, std::string_view rest, std::uint32_t tag,
            Site* site);
  std::size_t count(const FieldInfo& field, WireReader& in, std::uint32_t key);
  Block* elements(const FieldInfo& field, std::string_view bytes, std::uint32_t tag,
                  std::size_t items, Site* inside);
  void packed(const FieldInfo& field, Block* block, std::size_t& i, std::string_view numbers);
  void entry(const FieldInfo& field, std::byte* entry, std::string_view bytes, Site* site);

  // Single values. `site` belongs to the value or, for a message, to its fields.
  void optional(const FieldInfo& field, std::byte* at, std::string_view bytes, Site* site);
  void value(const FieldInfo& field, std::byte* at, std::string_view bytes, Site* site);
  const char* number(const FieldInfo& field, std::byte* at, std::string_view rest, WireType type);
  void string(String& slot, std::string_view text, Site* site);
  void time(Time& slot, std::string_view bytes);
  void builtIn(FieldKind kind, std::byte* at, std::string_view bytes, Site* site);
  void raw(String& slot, std::string_view text, Site* site);

  template <class Make>
  Block* pooled(std::string_view bytes, Site* site, const void* salt, Pool::Drop drop, Make make);
  String newString(std::string_view text, Site* site) const;
  void checkUtf8(std::string_view text) const;

  // The limit for elements that are moved, per byte of input, to join the parts of lists. A list in
  // several runs moves each of its elements once.
  static constexpr std::size_t kMaxJoined = 16;

  WireOrigin origin_;
  std::size_t size_;
  Pool* pool_;
  std::size_t joined_ = 0;
  std::uint32_t depth_ = 0;
};

}  // namespace kube::detail
