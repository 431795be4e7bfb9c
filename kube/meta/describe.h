// Describes user-defined structs, so that they are encoded, patched, cached and served like
// built-in ones: for custom resources without generated code.
//
//   namespace samplecrdv1 {
//   struct NetworkSpec {
//     kube::String cidr;
//     std::optional<std::int32_t> mtu;
//     kube::List<Peer> peers;
//     kube::String class_;
//   };
//   struct Network {
//     kube::metav1::ObjectMeta metadata;
//     kube::Shared<NetworkSpec> spec;
//   };
//   struct NetworkList {
//     kube::metav1::ListMeta metadata;
//     kube::List<Network> items;
//   };
//   }  // namespace samplecrdv1
//
//   KUBE_DESCRIBE(samplecrdv1::NetworkSpec, (cidr, required), mtu,
//                 (peers, "peerNetworks"), class_);
//   KUBE_DESCRIBE_KIND(samplecrdv1::Network,
//                      (.group = "samplecrd.k8s.io", .version = "v1", .kind = "Network",
//                       .plural = "networks", .namespaced = true),
//                      metadata, spec);
//   KUBE_DESCRIBE_LIST(samplecrdv1::NetworkList);
//
// The macros stand at global scope, in a header or a source file, after the struct and after the
// descriptions of its parts. A struct may hold itself through List, Map or Shared. Fields are
// listed in the order of the JSON. A field is a member's name, or a name with marks in parentheses:
//
//   "text"     its name in JSON; by default the member's name without an underscore at its end
//   required   an object without it is invalid; JSON shows it even if it is empty
//   keep       JSON shows it even if it is empty
//   byValue    for a Shared: absent means the same as empty (see kube/meta/equality.h)
//
// Members that are not described are ignored. Up to 64 fields are guaranteed to work. The second
// argument of a kind is a kube::ResourceInfo. A type described this way has JSON but no protobuf
// form; this suits custom resources, which have no protobuf form.
//
// More content for a CustomResourceDefinition (descriptions, defaults, limits, columns) goes into a
// specialisation of kube::SchemaOf before the description: see kube/meta/schema_notes.h.
//
// The tables are constants: any thread may read them at any time, even before main.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

#include "kube/meta/describe_each.h"
#include "kube/meta/type_info.h"
#include "kube/meta/v1.h"

namespace kube::detail {

/// The `fields` of a type, and its `resource` or a null pointer; for a kind, `info` is that
/// resource. Specialised by the macros.
template <class T>
struct DescriptionOf;

// The macros use the user's type name only where it is looked up at global scope. In kube's own
// scope, a namespace of kube could hide it.
template <class T>
struct Subject;
template <template <class> class Trait, class T>
struct Subject<Trait<T>> {
  using type = T;
};

// Marks that may follow a member's name in a description.
struct FieldMark {
  std::uint8_t flags;
};
inline constexpr FieldMark required{FieldInfo::kRequired | FieldInfo::kKeep};
inline constexpr FieldMark keep{FieldInfo::kKeep};
inline constexpr FieldMark byValue{FieldInfo::kByValue};

constexpr void mark(FieldInfo& field, FieldMark mark) {
  field.flags = static_cast<std::uint8_t>(field.flags | mark.flags);
}
constexpr void mark(FieldInfo& field, std::string_view jsonName) { field.name = jsonName; }

template <class T, class... Other>
concept OneOf = (std::same_as<T, Other> || ...);

/// Splits a field's type into its holder (List, Map, optional, Shared or none) and its part.
template <class T>
struct PartOf {
  using type = T;
};
template <template <class> class Holder, class T>
requires OneOf<Holder<T>, List<T>, Map<T>, Shared<T>, std::optional<T>>
struct PartOf<Holder<T>> {
  using type = T;
  static constexpr bool shared = std::same_as<Holder<T>, Shared<T>>;
  static constexpr bool optional = std::same_as<Holder<T>, std::optional<T>>;
};

/// Fails to compile for a part that cannot be encoded; the message gives the right type.
template <class T>
constexpr void explainPart() {
  if constexpr (std::convertible_to<const T&, std::string_view>) {
    static_assert(!sizeof(T), "KUBE_DESCRIBE: a field of text is a kube::String");
  } else if constexpr (requires { typename T::mapped_type; }) {
    static_assert(!sizeof(T), "KUBE_DESCRIBE: a field with values by key is a kube::Map");
  } else if constexpr (requires(const T& items) { items.begin(), items.end(); }) {
    static_assert(!sizeof(T), "KUBE_DESCRIBE: a field with several values is a kube::List");
  } else if constexpr (requires(const T& value) { *value; }) {
    static_assert(!sizeof(T), "KUBE_DESCRIBE: a field that points to a struct is a kube::Shared");
  } else if constexpr (std::is_arithmetic_v<T>) {
    static_assert(!sizeof(T), "KUBE_DESCRIBE: numbers are std::int32_t, std::int64_t or double");
  } else if constexpr (std::is_enum_v<T>) {
    static_assert(!sizeof(T), "KUBE_DESCRIBE: a field of an enumeration is a kube::String");
  } else {
    static_assert(!sizeof(T),
                  "KUBE_DESCRIBE: a field's struct has no description; it stands before this one");
  }
}

template <class Member, class... Marks>
constexpr FieldInfo describeField(std::string_view member, std::size_t offset, Marks... marks) {
  using Held = PartOf<Member>;
  using Part = typename Held::type;
  FieldInfo field{};
  if constexpr (requires { PartOf<Part>::shared; }) {
    static_assert(!sizeof(Part),
                  "KUBE_DESCRIBE: no List, Map, Shared or optional stands in another; put a "
                  "described struct between them");
  } else if constexpr (!requires { FieldTraits<Part>::kind; }) {
    explainPart<Part>();
  } else if constexpr (requires { requires Held::optional && Described<Part>; }) {
    static_assert(!sizeof(Part), "KUBE_DESCRIBE: an optional struct is a kube::Shared");
  } else if constexpr (requires { requires Held::shared && !Described<Part>; }) {
    static_assert(!sizeof(Part), "KUBE_DESCRIBE: a kube::Shared holds a described struct");
  } else {
    field = makeField<Member>(member, offset, 0);
  }
  if (member.ends_with('_')) member.remove_suffix(1);
  field.name = member;
  (mark(field, marks), ...);
  return field;
}

/// Fails to compile, with the reason in the message, for fields that no object can have.
template <std::size_t N>
consteval std::array<FieldInfo, N> checkFields(std::array<FieldInfo, N> fields) {
  for (std::size_t i = 0; i < N; ++i) {
    if (fields[i].name.empty()) throw "a field has no name in JSON";
    for (std::size_t k = 0; k < i; ++k) {
      if (fields[i].name == fields[k].name) throw "two fields have the same name in JSON";
    }
  }
  return fields;
}
consteval ResourceInfo checkResource(ResourceInfo resource) {
  if (resource.version.empty() || resource.kind.empty()) throw "a kind needs .version and .kind";
  if (resource.version.find('/') != std::string_view::npos) {
    throw "a kind's .group and .version are given apart";
  }
  return resource;
}

template <class T>
constexpr TypeInfo describeType(std::string_view name) {
  static_assert(std::is_standard_layout_v<T>,
                "a described struct has all its members in one class, and all of them public");
  static_assert(std::is_default_constructible_v<T> && std::is_copy_constructible_v<T>);
  if (const auto colon = name.rfind(':'); colon != std::string_view::npos) {
    name.remove_prefix(colon + 1);
  }
  TypeInfo type = makeType<T>(name, DescriptionOf<T>::fields, {}, DescriptionOf<T>::resource);
  if constexpr (requires(SchemaNotes<T> & notes) { SchemaOf<T>::annotate(notes); }) {
    type.annotate = [](TypeNotes& all) {
      SchemaNotes<T> notes(all);
      SchemaOf<T>::annotate(notes);
    };
  }
  type.zeroed = false;  // members may have initializers
  return type;
}

/// The name of the list of a kind.
template <class Item>
struct ListKind {
  static_assert(
      requires { DescriptionOf<Item>::info; },
      "the items of a described list are a kind: see KUBE_DESCRIBE_KIND");
  static constexpr const ResourceInfo& item = DescriptionOf<Item>::info;
  static constexpr auto joined = [] {
    constexpr std::string_view kSuffix = "List";
    std::array<char, item.kind.size() + kSuffix.size()> text{};
    std::size_t at = 0;
    for (const char c : item.kind) text[at++] = c;
    for (const char c : kSuffix) text[at++] = c;
    return text;
  }();
  static constexpr ResourceInfo resource{
      .group = item.group,
      .version = item.version,
      .kind =
          item.listKind.empty() ? std::string_view(joined.data(), joined.size()) : item.listKind};
};

}  // namespace kube::detail

// Used only by the macros: see KUBE_DETAIL_DESCRIBE.
inline constexpr bool kubeDescribeIsGlobal = false;
namespace kube_describe_scope {
inline constexpr bool kubeDescribeIsGlobal = true;
}

/// Describes a struct that is part of others: KUBE_DESCRIBE(Type, field...).
#define KUBE_DESCRIBE(Type, ...) \
  KUBE_DETAIL_DESCRIBE(Type, static constexpr const ResourceInfo* resource = nullptr, __VA_ARGS__)

/// Describes an API object: KUBE_DESCRIBE_KIND(Type, (ResourceInfo's members), field...).
#define KUBE_DESCRIBE_KIND(Type, Resource, ...)                                                  \
  KUBE_DETAIL_DESCRIBE(                                                                          \
      Type, static constexpr ResourceInfo info = checkResource({KUBE_DETAIL_CONTENTS Resource}); \
      static constexpr const ResourceInfo* resource = &info, __VA_ARGS__)

/// Describes the list of a kind that was described before, with members `metadata` and `items`.
#define KUBE_DESCRIBE_LIST(Type)                                                            \
  KUBE_DETAIL_DESCRIBE(Type,                                                                \
                       static constexpr const ResourceInfo* resource =                      \
                           &ListKind<typename decltype(Self::items)::value_type>::resource, \
                       metadata, (items, required))

// The specialisation precedes the table, so that a field may be a List of its own struct. The check
// of the scope is first: in another namespace it would open a nested namespace of that name, where
// only the constant at global scope is found.
#define KUBE_DETAIL_DESCRIBE(Type, Resource, ...)                                           \
  namespace kube_describe_scope {                                                           \
  static_assert(kubeDescribeIsGlobal,                                                       \
                "KUBE_DESCRIBE stands at global scope, after the namespace of its struct"); \
  }                                                                                         \
  template <>                                                                               \
  struct kube::TypeOf<Type> {                                                               \
    static const ::kube::TypeInfo info;                                                     \
  };                                                                                        \
  template <>                                                                               \
  struct kube::detail::DescriptionOf<Type> {                                                \
    using Self = typename Subject<DescriptionOf>::type;                                     \
    Resource;                                                                               \
    static constexpr auto fields =                                                          \
        checkFields(std::array{KUBE_DETAIL_EXPAND(KUBE_DETAIL_EACH(__VA_ARGS__))});         \
  };                                                                                        \
  inline constinit const ::kube::TypeInfo kube::TypeOf<Type>::info =                        \
      ::kube::detail::describeType<typename ::kube::detail::Subject<TypeOf>::type>(#Type);  \
  static_assert(::kube::Described<Type>);
