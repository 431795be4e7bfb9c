// Described structs that hold every kind of field in every shape, with a JSON and a protobuf form,
// and random values of them: for the tests of the codecs.
#pragma once

#include <array>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <type_traits>

#include "kube/meta/table.h"
#include "kube/meta/type_info.h"
#include "kube/meta/v1.h"
#include "kube/meta/value.h"

namespace everykind {

/// A part that lists and maps hold inline.
struct Small {
  kube::String name;
  std::int32_t number = 0;
  kube::List<kube::String> words;
  bool operator==(const Small&) const = default;
};

/// A part that is larger than kBoxedAbove, so that lists hold it by handle. Recursive.
struct Big {
  kube::String name;
  kube::metav1::ObjectMeta first;
  kube::metav1::ObjectMeta second;
  kube::List<Big> parts;
  kube::Map<Big> named;
  bool operator==(const Big&) const = default;
};
static_assert(sizeof(Big) > kube::kBoxedAbove && kube::List<Big>::boxed());

/// A small recursive part.
struct Tree {
  kube::String name;
  kube::Shared<Tree> next;
  kube::List<Tree> list;
  kube::Map<Tree> map;
  kube::RawExtension raw;
  bool operator==(const Tree&) const = default;
};

// Name and C++ type of each kind; a message is Small.
#define EVERY_KIND(X)               \
  X(Bool, bool)                     \
  X(Int32, std::int32_t)            \
  X(Int64, std::int64_t)            \
  X(Double, double)                 \
  X(String, kube::String)           \
  X(Bytes, kube::Bytes)             \
  X(Time, kube::Time)               \
  X(MicroTime, kube::MicroTime)     \
  X(Duration, kube::Duration)       \
  X(Quantity, kube::Quantity)       \
  X(IntOrString, kube::IntOrString) \
  X(Raw, kube::RawExtension)        \
  X(Strings, kube::Strings)         \
  X(Value, kube::Value)             \
  X(Message, everykind::Small)

template <class T>
struct OptionalOf {
  using type = std::optional<T>;
};
template <>
struct OptionalOf<Small> {
  using type = kube::Shared<Small>;
};

/// Its JSON names are its members' names. Tags: 1 plainBool ... 15 plainMessage, 17 and on for
/// optional, 33 for list, 49 for map. A Value has no protobuf form.
struct Every {
#define EVERY_PLAIN(Kind, Type) Type plain##Kind{};
#define EVERY_OPTIONAL(Kind, Type) OptionalOf<Type>::type optional##Kind;
#define EVERY_LIST(Kind, Type) kube::List<Type> list##Kind;
#define EVERY_MAP(Kind, Type) kube::Map<Type> map##Kind;
  EVERY_KIND(EVERY_PLAIN)
  EVERY_KIND(EVERY_OPTIONAL)
  EVERY_KIND(EVERY_LIST)
  EVERY_KIND(EVERY_MAP)
#undef EVERY_PLAIN
#undef EVERY_OPTIONAL
#undef EVERY_LIST
#undef EVERY_MAP
  bool operator==(const Every&) const = default;
};

/// A kind.
struct Widget {
  kube::metav1::ObjectMeta metadata;
  kube::Shared<Every> spec;
  kube::List<Big> bigs;
  kube::Shared<Tree> tree;
  bool operator==(const Widget&) const = default;
};

struct WidgetList {
  kube::metav1::ListMeta metadata;
  kube::List<Widget> items;
  bool operator==(const WidgetList&) const = default;
};

}  // namespace everykind

// clang-format off
template <> struct kube::TypeOf<everykind::Small> { static const TypeInfo info; };
template <> struct kube::TypeOf<everykind::Big> { static const TypeInfo info; };
template <> struct kube::TypeOf<everykind::Tree> { static const TypeInfo info; };
template <> struct kube::TypeOf<everykind::Every> { static const TypeInfo info; };
template <> struct kube::TypeOf<everykind::Widget> { static const TypeInfo info; };
template <> struct kube::TypeOf<everykind::WidgetList> { static const TypeInfo info; };
// clang-format on

namespace everykind {

using kube::FieldInfo;
using kube::WireField;

inline constexpr FieldInfo kSmallFields[] = {
    KUBE_FIELD(Small, name, "name", 1, 0, nullptr),
    KUBE_FIELD(Small, number, "number", 2, 0, nullptr),
    KUBE_FIELD(Small, words, "words", 3, 0, nullptr),
};
inline constexpr WireField kSmallWire[] = {{1, 0}, {2, 1}, {3, 2}};

inline constexpr FieldInfo kBigFields[] = {
    KUBE_FIELD(Big, name, "name", 1, 0, nullptr),
    KUBE_FIELD(Big, first, "first", 2, 0, nullptr),
    KUBE_FIELD(Big, second, "second", 3, 0, nullptr),
    KUBE_FIELD(Big, parts, "parts", 4, 0, nullptr),
    KUBE_FIELD(Big, named, "named", 5, 0, nullptr),
};
inline constexpr WireField kBigWire[] = {{1, 0}, {2, 1}, {3, 2}, {4, 3}, {5, 4}};

inline constexpr FieldInfo kTreeFields[] = {
    KUBE_FIELD(Tree, name, "name", 1, 0, nullptr), KUBE_FIELD(Tree, next, "next", 2, 0, nullptr),
    KUBE_FIELD(Tree, list, "list", 3, 0, nullptr), KUBE_FIELD(Tree, map, "map", 4, 0, nullptr),
    KUBE_FIELD(Tree, raw, "raw", 5, 0, nullptr),
};
inline constexpr WireField kTreeWire[] = {{1, 0}, {2, 1}, {3, 2}, {4, 3}, {5, 4}};

enum KindNumber : std::uint16_t {
#define EVERY_NUMBER(Kind, Type) k##Kind##Number,
  EVERY_KIND(EVERY_NUMBER)
#undef EVERY_NUMBER
};
inline constexpr FieldInfo kEveryFields[] = {
#define EVERY_PLAIN(Kind, Type) \
  KUBE_FIELD(Every, plain##Kind, "plain" #Kind, 1 + k##Kind##Number, 0, nullptr),
#define EVERY_OPTIONAL(Kind, Type) \
  KUBE_FIELD(Every, optional##Kind, "optional" #Kind, 17 + k##Kind##Number, 0, nullptr),
#define EVERY_LIST(Kind, Type) \
  KUBE_FIELD(Every, list##Kind, "list" #Kind, 33 + k##Kind##Number, 0, nullptr),
#define EVERY_MAP(Kind, Type) \
  KUBE_FIELD(Every, map##Kind, "map" #Kind, 49 + k##Kind##Number, 0, nullptr),
    EVERY_KIND(EVERY_PLAIN) EVERY_KIND(EVERY_OPTIONAL) EVERY_KIND(EVERY_LIST) EVERY_KIND(EVERY_MAP)
#undef EVERY_PLAIN
#undef EVERY_OPTIONAL
#undef EVERY_LIST
#undef EVERY_MAP
};
inline constexpr auto kEveryWire = [] {
  std::array<WireField, std::size(kEveryFields) - 4> wire{};
  std::size_t at = 0;
  for (std::uint16_t i = 0; i < std::size(kEveryFields); ++i) {
    if (kEveryFields[i].kind != kube::FieldKind::Value) wire[at++] = {kEveryFields[i].tag, i};
  }
  return wire;
}();

inline constexpr FieldInfo kWidgetFields[] = {
    KUBE_FIELD(Widget, metadata, "metadata", 1, 0, nullptr),
    KUBE_FIELD(Widget, spec, "spec", 2, 0, nullptr),
    KUBE_FIELD(Widget, bigs, "bigs", 3, 0, nullptr),
    KUBE_FIELD(Widget, tree, "tree", 4, 0, nullptr),
};
inline constexpr WireField kWidgetWire[] = {{1, 0}, {2, 1}, {3, 2}, {4, 3}};
inline constexpr kube::ResourceInfo kWidgetResource{
    .group = "test.kubexx", .version = "v1", .kind = "Widget", .plural = "widgets"};

inline constexpr FieldInfo kWidgetListFields[] = {
    KUBE_FIELD(WidgetList, metadata, "metadata", 1, 0, nullptr),
    KUBE_FIELD(WidgetList, items, "items", 2, kube::kRequired | kube::kKeep, nullptr),
};
inline constexpr WireField kWidgetListWire[] = {{1, 0}, {2, 1}};
inline constexpr kube::ResourceInfo kWidgetListResource{
    .group = "test.kubexx", .version = "v1", .kind = "WidgetList"};

}  // namespace everykind

inline constinit const kube::TypeInfo kube::TypeOf<everykind::Small>::info =
    kube::detail::makeType<everykind::Small>("Small", everykind::kSmallFields,
                                             everykind::kSmallWire);
inline constinit const kube::TypeInfo kube::TypeOf<everykind::Big>::info =
    kube::detail::makeType<everykind::Big>("Big", everykind::kBigFields, everykind::kBigWire);
inline constinit const kube::TypeInfo kube::TypeOf<everykind::Tree>::info =
    kube::detail::makeType<everykind::Tree>("Tree", everykind::kTreeFields, everykind::kTreeWire);
inline constinit const kube::TypeInfo kube::TypeOf<everykind::Every>::info =
    kube::detail::makeType<everykind::Every>("Every", everykind::kEveryFields,
                                             everykind::kEveryWire);
inline constinit const kube::TypeInfo kube::TypeOf<everykind::Widget>::info =
    kube::detail::makeType<everykind::Widget>("Widget", everykind::kWidgetFields,
                                              everykind::kWidgetWire, &everykind::kWidgetResource);
inline constinit const kube::TypeInfo kube::TypeOf<everykind::WidgetList>::info =
    kube::detail::makeType<everykind::WidgetList>("WidgetList", everykind::kWidgetListFields,
                                                  everykind::kWidgetListWire,
                                                  &everykind::kWidgetListResource);

namespace everykind {

/// Random values from small ranges, so that parts repeat from object to object.
class Random {
 public:
  explicit Random(unsigned seed) : bits_(seed) {}

  unsigned below(unsigned n) { return static_cast<unsigned>(bits_() % n); }
  bool one(unsigned in) { return below(in) == 0; }

  /// A value that is not zero, since JSON leaves out some zeros.
  template <class T>
  T make() {
    if constexpr (std::is_same_v<T, bool>) {
      return true;
    } else if constexpr (std::is_integral_v<T>) {
      constexpr T kNumbers[] = {1, -1, 443, std::numeric_limits<T>::min(),
                                std::numeric_limits<T>::max()};
      return kNumbers[below(5)];
    } else if constexpr (std::is_same_v<T, double>) {
      constexpr double kNumbers[] = {0.5, -1e300, 3.25e-9, 1234.125};
      return kNumbers[below(4)];
    } else if constexpr (std::is_same_v<T, kube::Bytes>) {
      const std::string all("\0\xFF\x80 bytes", 9);
      return kube::Bytes(all.substr(0, 1 + below(8)));
    } else if constexpr (std::is_same_v<T, kube::String>) {
      return text();
    } else if constexpr (std::is_same_v<T, kube::Time>) {
      return kube::Time::fromUnix(below(3) * 1'000'000'000);
    } else if constexpr (std::is_same_v<T, kube::MicroTime>) {
      return kube::MicroTime::fromUnix(below(3) * 1'000'000'000, 123'456'000);
    } else if constexpr (std::is_same_v<T, kube::Duration>) {
      return kube::Duration::ofNanos(1 + below(3) * 90'000'000'000);
    } else if constexpr (std::is_same_v<T, kube::Quantity>) {
      constexpr const char* kAmounts[] = {"100m", "1Gi", "7", "1e3"};
      return kube::Quantity(kAmounts[below(4)]);
    } else if constexpr (std::is_same_v<T, kube::IntOrString>) {
      return one(2) ? kube::IntOrString(static_cast<std::int32_t>(below(3)))
                    : kube::IntOrString(text());
    } else if constexpr (std::is_same_v<T, kube::RawExtension>) {
      constexpr const char* kTexts[] = {R"({"f:metadata":{"f:name":{}}})", "[1,2.50,null]",
                                        R"("text")", "{}"};
      return {kTexts[below(4)]};
    } else if constexpr (std::is_same_v<T, kube::Strings>) {
      return list<kube::String>();
    } else if constexpr (std::is_same_v<T, kube::Value>) {
      return value(3);
    } else if constexpr (std::is_same_v<T, Small>) {
      return small();
    }
  }

  template <class T>
  kube::List<T> list() {
    kube::List<T> result;
    for (unsigned n = 1 + below(3); n > 0; --n) result.push_back(make<T>());
    return result;
  }
  template <class T>
  kube::Map<T> map() {
    kube::Map<T> result;
    for (unsigned n = 1 + below(3); n > 0; --n) result.insert_or_assign(text().view(), make<T>());
    return result;
  }

  kube::String text() {
    constexpr const char* kTexts[] = {"app",         "kube-system",
                                      "x",           "\"quoted\"",
                                      "a\\b},{",     "\xE2\x82\xAC \xF0\x9F\x98\x80",
                                      "line\nbreak", "0"};
    return one(4) ? kube::String("number-" + std::to_string(below(1000))) : kTexts[below(8)];
  }
  Small small() {
    Small result{.name = text(), .number = static_cast<std::int32_t>(below(3)), .words = {}};
    if (one(2)) result.words = list<kube::String>();
    return result;
  }
  kube::Value value(unsigned depth) {
    switch (below(depth > 0 ? 7 : 5)) {
      case 0:
        return one(2);
      case 1:
        return static_cast<std::int64_t>(below(3));
      case 2:
        return 0.5;
      case 3:
      case 4:
        return text();
      case 5: {
        kube::Value::Array array;
        for (unsigned n = below(4); n > 0; --n) array.push_back(value(depth - 1));
        return array;
      }
      default: {
        kube::Value::Object object;
        for (unsigned n = below(4); n > 0; --n) {
          object.insert_or_assign(text().view(), value(depth - 1));
        }
        return object;
      }
    }
  }
  kube::metav1::ObjectMeta meta() {
    kube::metav1::ObjectMeta result;
    result.name = text();
    result.uid = "uid-" + std::to_string(below(1'000'000));
    if (one(2)) result.labels = map<kube::String>();
    if (one(3)) result.finalizers = list<kube::String>();
    if (one(3)) result.creationTimestamp = make<kube::Time>();
    if (one(4)) {
      kube::metav1::ManagedFieldsEntry entry;
      entry.manager = text();
      entry.fieldsV1 = make<kube::RawExtension>();
      result.managedFields.push_back(entry);
    }
    return result;
  }
  Big big(unsigned depth) {
    Big result{.name = text(), .first = meta(), .second = {}, .parts = {}, .named = {}};
    for (unsigned n = depth > 0 ? below(3) : 0; n > 0; --n) result.parts.push_back(big(depth - 1));
    for (unsigned n = depth > 0 ? below(3) : 0; n > 0; --n) {
      result.named.insert_or_assign(text().view(), big(depth - 1));
    }
    return result;
  }
  Tree tree(unsigned depth) {
    Tree result;
    result.name = text();
    if (one(3)) result.raw = make<kube::RawExtension>();
    if (depth == 0) return result;
    if (one(2)) result.next = tree(depth - 1);
    for (unsigned n = below(3); n > 0; --n) result.list.push_back(tree(depth - 1));
    for (unsigned n = below(3); n > 0; --n) {
      result.map.insert_or_assign(text().view(), tree(depth - 1));
    }
    return result;
  }
  /// Sets about one field in `sparse`. Without `values`, the result has a protobuf form.
  Every every(unsigned sparse, bool values) {
    Every result;
#define EVERY_FILL(Kind, Type)                             \
  if (values || !std::is_same_v<Type, kube::Value>) {      \
    if (one(sparse)) result.plain##Kind = make<Type>();    \
    if (one(sparse)) result.optional##Kind = make<Type>(); \
    if (one(sparse)) result.list##Kind = list<Type>();     \
    if (one(sparse)) result.map##Kind = map<Type>();       \
  }
    EVERY_KIND(EVERY_FILL)
#undef EVERY_FILL
    return result;
  }
  Widget widget(bool values) {
    Widget result;
    result.metadata = meta();
    if (!one(4)) result.spec = every(6, values);
    for (unsigned n = below(3); n > 0; --n) result.bigs.push_back(big(2));
    if (one(2)) result.tree = tree(3);
    return result;
  }

 private:
  std::mt19937 bits_;
};

}  // namespace everykind
