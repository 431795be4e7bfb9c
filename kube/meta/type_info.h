// The description of an API type: one static table per struct.
//
// Every feature that looks inside objects (JSON, protobuf, YAML, patches, ...) is one walker over
// these tables; nothing but the table is generated per type. Tables are constants: any thread may
// read them at any time.
//
// A struct is described if `kube::TypeOf<T>::info` is its TypeInfo. Generated types include it;
// kube/meta/describe.h makes it for user-defined structs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <span>
#include <string_view>

#include "kube/base/list.h"
#include "kube/base/map.h"
#include "kube/base/shared.h"
#include "kube/base/string.h"
#include "kube/meta/int_or_string.h"
#include "kube/meta/quantity.h"
#include "kube/meta/raw_extension.h"
#include "kube/meta/time.h"

namespace kube {

class Value;
struct TypeInfo;
struct TypeNotes;
struct ResourceInfo;

/// The kind of a single value.
enum class FieldKind : std::uint8_t {
  Bool,
  Int32,
  Int64,
  Double,
  String,
  Bytes,
  Time,
  MicroTime,
  Duration,
  Quantity,
  IntOrString,
  Raw,      // JSON kept as text: RawExtension, FieldsV1
  Strings,  // an array of strings in JSON, a message with one repeated field in protobuf
  Value,    // any JSON
  Message,  // a described struct
};

/// The way in which a field holds its value or values.
enum class Shape : std::uint8_t {
  Plain,     // the value itself; zero is absent
  Optional,  // std::optional, or Shared for a message (see kube/meta/internal/presence.h)
  List,
  Map,
};

/// The facts about a field that strategic merge patch and server-side apply need.
struct MergeInfo {
  enum class ListType : std::uint8_t { Unset, Atomic, Set, Map };
  ListType listType = ListType::Unset;
  bool atomicMap = false;  // a map or struct replaced as a whole
  bool granular = false;   // a struct merged by field, although its type is atomic
  std::span<const std::string_view> listMapKeys{};  // keys that identify an element
  std::string_view patchStrategy{};                 // as in upstream's tags: "merge,retainKeys"
  std::string_view patchMergeKey{};
};

/// The operations by which decoders build a List, Map or Shared without the C++ type of the
/// elements.
struct ContainerOps {
  std::uint32_t slotSize = 0;                       // bytes of an element in the block, or of a box
  bool boxed = false;                               // elements are Shared
  void (*drop)(detail::Block*) noexcept = nullptr;  // drops the whole container
  void (*dropBox)(detail::Block*) noexcept = nullptr;  // drops one boxed element of a list
};

struct FieldInfo {
  enum Flags : std::uint8_t {
    kRequired = 1,  // an object without it is invalid
    kKeep = 2,      // JSON shows it even if it is zero
    kPointer = 4,   // protobuf omits it if it is zero: upstream has a pointer, C++ needs none
    kByValue = 8,   // a Shared message that upstream holds by value: absent means the same as empty
  };

  std::string_view name;  // in JSON
  FieldKind kind;
  Shape shape;
  std::uint8_t flags = 0;
  std::uint16_t offset = 0;
  std::uint16_t tag = 0;  // in protobuf; 0: none
  const TypeInfo* type = nullptr;
  const ContainerOps* ops = nullptr;
  const MergeInfo* merge = nullptr;

  bool required() const noexcept { return (flags & kRequired) != 0; }
  bool keep() const noexcept { return (flags & kKeep) != 0; }
  bool pointer() const noexcept { return (flags & kPointer) != 0; }
  bool byValue() const noexcept { return (flags & kByValue) != 0; }
};

/// The protobuf view of a struct: fields by ascending tag. Structs that upstream embeds are
/// flattened in C++ and in JSON, but are messages of their own on the wire: a `group`.
struct WireField {
  std::uint16_t tag = 0;
  std::uint16_t field = 0;                // index into TypeInfo::fields, unless this is a group
  std::span<const WireField> group = {};  // the embedded message's fields, in the same struct
};

/// The fields of a struct by their protobuf tag, for decoders. An entry has everything that they
/// need for a plain field, in a sixteenth of a cache line.
class WireIndex {
 public:
  /// Kind and shape of a field; kNone if there is no field, or a group of several.
  using Form = std::uint8_t;
  static constexpr Form formOf(FieldKind kind, Shape shape) noexcept {
    return static_cast<Form>((static_cast<unsigned>(shape) + 1) << 4 | static_cast<unsigned>(kind));
  }
  static constexpr Form kNone = 0;

  struct Entry {
    std::uint16_t offset = 0;  // in the struct
    std::uint8_t field = 0;    // index into TypeInfo::fields
    Form form = kNone;
  };
  static constexpr std::size_t kMaxTag = 63;

  constexpr WireIndex(std::span<const FieldInfo> fields, std::span<const WireField> wire) {
    for (const WireField& at : wire) {
      if (at.tag > kMaxTag) throw "a protobuf tag is too great";  // fails to compile
      if (!at.group.empty()) continue;
      const FieldInfo& field = fields[at.field];
      entries_[at.tag] = {field.offset, static_cast<std::uint8_t>(at.field),
                          formOf(field.kind, field.shape)};
    }
  }
  constexpr Entry operator[](std::uint32_t tag) const noexcept {
    return tag <= kMaxTag ? entries_[tag] : Entry();
  }

 private:
  std::array<Entry, kMaxTag + 1> entries_{};
};

/// Structs whose JSON is not simply an object of their fields.
enum class JsonForm : std::uint8_t {
  Object,
  Dynamic,              // no fields: the struct is a Value, as in Unstructured
  SchemaOrBool,         // JSONSchemaPropsOrBool: a schema or a boolean
  SchemaOrArray,        // JSONSchemaPropsOrArray: a schema or an array of schemas
  SchemaOrStringArray,  // JSONSchemaPropsOrStringArray: a schema or an array of strings
};

struct TypeInfo {
  std::string_view name;
  std::uint32_t size;
  void (*construct)(void*);
  void (*destroy)(void*) noexcept;
  void (*copy)(void* to, const void* from);
  std::span<const FieldInfo> fields;  // in JSON's order
  std::span<const WireField> wire;
  WireIndex byTag{fields, wire};
  const ResourceInfo* resource = nullptr;  // for kinds; null for their parts
  JsonForm form = JsonForm::Object;
  bool atomic = false;  // replaced as a whole when applied
  /// Writes the notes on the type's schema (see kube/meta/schema_notes.h); null if there are none.
  void (*annotate)(TypeNotes&) = nullptr;
  bool zeroed = false;  // true if a default object is known to be all zero bytes

  /// The field with this JSON name, or null.
  const FieldInfo* field(std::string_view jsonName) const noexcept;
};

/// A kind with its own apiVersion: its names, and the resource that serves it (plural is empty if
/// none does, as for lists and options).
struct ResourceInfo {
  struct Subresource {
    std::string_view name;
    std::string_view group, version, kind;  // of the body; empty group and version: the parent's
    std::span<const std::string_view> verbs;
  };

  std::string_view group, version, kind;
  std::string_view plural{}, singular{}, listKind{};
  bool namespaced = false;
  bool retired = false;      // no longer served by current releases
  bool unversioned = false;  // the same under every group-version: Status, options
  std::span<const std::string_view> verbs{};
  std::span<const std::string_view> shortNames{};
  std::span<const std::string_view> categories{};
  std::span<const Subresource> subresources{};

  /// "v1" or "apps/v1".
  std::string apiVersion() const;
};

/// Specialised for every described struct, with a member `static const TypeInfo info`.
template <class T>
struct TypeOf;

/// Specialised if a struct's schema has more than its table: see kube/meta/schema_notes.h.
template <class T>
struct SchemaOf {};
template <class T>
class SchemaNotes;

namespace detail {
// The name appears in compilers' errors for types without a description.
template <class T>
concept HasKUBE_DESCRIBE = requires {
  { TypeOf<T>::info } -> std::convertible_to<const TypeInfo&>;
};
}  // namespace detail

template <class T>
concept Described = detail::HasKUBE_DESCRIBE<T>;

namespace detail {

/// True if an object has only what a new object of its type has.
bool isAsNew(const TypeInfo& type, const void* object) noexcept;

template <Described T>
struct AsNew<T> {
  static bool test(const T& value) noexcept { return isAsNew(TypeOf<T>::info, &value); }
};

}  // namespace detail

/// A described struct that is a Kubernetes object.
template <class T>
concept ApiObject = Described<T> && requires(T object) {
  object.metadata.resourceVersion;
};

namespace detail {

// Maps a member's C++ type to its description; undefined for a type that cannot be encoded.
template <class T>
struct FieldTraits;
template <Described T>
struct FieldTraits<T> {
  static constexpr FieldKind kind = FieldKind::Message;
  static constexpr Shape shape = Shape::Plain;
  static constexpr const TypeInfo* type() { return &TypeOf<T>::info; }
  static constexpr const ContainerOps* ops() { return nullptr; }
};

template <FieldKind K>
struct ScalarTraits {
  static constexpr FieldKind kind = K;
  static constexpr Shape shape = Shape::Plain;
  static constexpr const TypeInfo* type() { return nullptr; }
  static constexpr const ContainerOps* ops() { return nullptr; }
};
// clang-format off
template <> struct FieldTraits<bool> : ScalarTraits<FieldKind::Bool> {};
template <> struct FieldTraits<std::int32_t> : ScalarTraits<FieldKind::Int32> {};
template <> struct FieldTraits<std::int64_t> : ScalarTraits<FieldKind::Int64> {};
template <> struct FieldTraits<double> : ScalarTraits<FieldKind::Double> {};
template <> struct FieldTraits<String> : ScalarTraits<FieldKind::String> {};
template <> struct FieldTraits<Bytes> : ScalarTraits<FieldKind::Bytes> {};
template <> struct FieldTraits<Time> : ScalarTraits<FieldKind::Time> {};
template <> struct FieldTraits<MicroTime> : ScalarTraits<FieldKind::MicroTime> {};
template <> struct FieldTraits<Duration> : ScalarTraits<FieldKind::Duration> {};
template <> struct FieldTraits<Quantity> : ScalarTraits<FieldKind::Quantity> {};
template <> struct FieldTraits<IntOrString> : ScalarTraits<FieldKind::IntOrString> {};
template <> struct FieldTraits<RawExtension> : ScalarTraits<FieldKind::Raw> {};
template <> struct FieldTraits<Strings> : ScalarTraits<FieldKind::Strings> {};
template <> struct FieldTraits<Value> : ScalarTraits<FieldKind::Value> {};
// clang-format on

template <class T>
struct FieldTraits<std::optional<T>> : ScalarTraits<FieldTraits<T>::kind> {
  static_assert(FieldTraits<T>::kind != FieldKind::Message, "use kube::Shared for a message");
  static constexpr Shape shape = Shape::Optional;
};

template <class Container, class Element, Shape S>
struct ContainerTraits {
  static constexpr FieldKind kind = FieldTraits<Element>::kind;
  static constexpr Shape shape = S;
  static constexpr const TypeInfo* type() { return FieldTraits<Element>::type(); }
  static constexpr const ContainerOps* ops() { return &kOps; }
  static constexpr auto dropBox() -> void (*)(Block*) noexcept {
    if constexpr (Container::boxed() && S == Shape::List) return &Shared<Element>::drop;
    return nullptr;
  }
  static constexpr ContainerOps kOps{Container::slotSize(), Container::boxed(), &Container::drop,
                                     dropBox()};
};
template <class T>
struct FieldTraits<List<T>> : ContainerTraits<List<T>, T, Shape::List> {};
template <class T>
struct FieldTraits<Map<T>> : ContainerTraits<Map<T>, T, Shape::Map> {};
template <class T>
struct FieldTraits<Shared<T>> {
  static constexpr FieldKind kind = FieldKind::Message;
  static constexpr Shape shape = Shape::Optional;
  static constexpr const TypeInfo* type() { return &TypeOf<T>::info; }
  static constexpr const ContainerOps* ops() { return &kOps; }
  static constexpr ContainerOps kOps{sizeof(T), false, &Shared<T>::drop};
};

template <class Member>
constexpr FieldInfo makeField(std::string_view name, std::size_t offset, std::uint16_t tag,
                              std::uint8_t flags = 0, const MergeInfo* merge = nullptr) {
  using Traits = FieldTraits<Member>;
  return {.name = name,
          .kind = Traits::kind,
          .shape = Traits::shape,
          .flags = flags,
          .offset = static_cast<std::uint16_t>(offset),
          .tag = tag,
          .type = Traits::type(),
          .ops = Traits::ops(),
          .merge = merge};
}

/// Decoders keep a bit for each field.
inline constexpr std::size_t kMaxWireFields = 64;

/// For generated structs, whose members have no initializers: if no member is a Value, a default
/// object is zeroed memory.
template <class T>
constexpr TypeInfo makeType(std::string_view name, std::span<const FieldInfo> fields,
                            std::span<const WireField> wire = {},
                            const ResourceInfo* resource = nullptr,
                            JsonForm form = JsonForm::Object, bool atomic = false,
                            void (*annotate)(TypeNotes&) = nullptr) {
  static_assert(sizeof(T) < 65536);
  if (!wire.empty() && fields.size() > kMaxWireFields) {
    throw "too many protobuf fields";  // fails to compile
  }
  bool zeroed = form != JsonForm::Dynamic;
  for (const FieldInfo& field : fields) {
    // A nested message may contain a Value; a message with a protobuf form contains none.
    const bool unknown =
        wire.empty() && field.kind == FieldKind::Message && field.shape == Shape::Plain;
    zeroed = zeroed && !unknown && field.kind != FieldKind::Value;
  }
  return {.name = name,
          .size = sizeof(T),
          .construct = [](void* at) { new (at) T(); },
          .destroy = [](void* at) noexcept { static_cast<T*>(at)->~T(); },
          .copy = [](void* to, const void* from) { new (to) T(*static_cast<const T*>(from)); },
          .fields = fields,
          .wire = wire,
          .resource = resource,
          .form = form,
          .atomic = atomic,
          .annotate = annotate,
          .zeroed = zeroed};
}

}  // namespace detail

}  // namespace kube
