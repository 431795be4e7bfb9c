// One step of a path into an object, as in managedFields: a field, an element of a list by its keys
// or by its value, or an index.
//
//   PathElement("spec")                              f:spec                  .spec
//   PathElement::key({{"name", "web"}})              k:{"name":"web"}        [name="web"]
//   PathElement::value("finalizer")                  v:"finalizer"           [="finalizer"]
//   PathElement::index(0)                            i:0                     [0]
//
// Elements are ordered: fields, keys, values, indices. Within a kind, the order is that of
// upstream's structured-merge-diff, so that field sets are written in upstream's order.
//
// Thread safety: as any C++ value.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "kube/base/string.h"
#include "kube/meta/value.h"

namespace kube {

class PathElement {
 public:
  enum class Kind : std::uint8_t { Field, Key, Value, Index };

  /// The field without a name.
  PathElement() noexcept : PathElement(String()) {}
  PathElement(String name) noexcept : content_(std::move(name)) {}   // NOLINT: implicit by design
  PathElement(std::string_view name) : PathElement(String(name)) {}  // NOLINT: likewise
  PathElement(const char* name) : PathElement(String(name)) {}       // NOLINT: likewise
  static PathElement key(Value::Object fields) noexcept {
    return PathElement(Kind::Key, std::move(fields));
  }
  static PathElement value(kube::Value value) noexcept {
    return PathElement(Kind::Value, std::move(value));
  }
  static PathElement index(std::int64_t index) noexcept { return PathElement(Kind::Index, index); }

  /// Parses the form of managedFields, "f:name". Returns nothing for unknown kinds, which later
  /// versions may have. Throws DecodeError for malformed text.
  static std::optional<PathElement> parse(std::string_view text);
  /// Writes that form.
  std::string serialize() const;
  void appendTo(std::string& out) const;
  /// Writes a form for people.
  std::string toString() const;

  Kind kind() const noexcept { return kind_; }
  /// A string, an object, the value, or an integer, depending on the kind.
  const kube::Value& content() const noexcept { return content_; }
  const String& name() const noexcept { return content_.asString(); }

  friend std::weak_ordering operator<=>(const PathElement& a, const PathElement& b) noexcept;
  friend bool operator==(const PathElement& a, const PathElement& b) noexcept {
    return (a <=> b) == 0;
  }

 private:
  PathElement(Kind kind, kube::Value content) noexcept
      : content_(std::move(content)), kind_(kind) {}

  kube::Value content_;
  Kind kind_ = Kind::Field;
};

namespace detail {
class JsonIndex;
/// PathElement::parse for many elements: `index` is scratch space.
std::optional<PathElement> parsePathElement(std::string_view text, JsonIndex& index);
}  // namespace detail

/// A total order of values: numbers (by amount, whether integer or not), strings, booleans, arrays,
/// objects, null.
std::weak_ordering compareValues(const Value& a, const Value& b) noexcept;

}  // namespace kube
