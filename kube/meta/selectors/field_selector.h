// Selects objects by some of their fields: "metadata.name=web,status.phase!=Running".
//
//   auto selector = fields::Selector::oneTermEqual("spec.nodeName", node);
//   clients.coreV1().pods().list({.fieldSelector = selector.str()});
//
//   selector.matches([&](std::string_view field) { return valueOf(pod, field); });
//
// Syntax and rules are those of apimachinery's fields package: terms of a field, "=", "==" or "!=",
// and a value in which a backslash escapes \, = and the comma. All terms must hold; a selector
// without terms matches everything. A field that an object does not have reads as "". The server
// defines the fields of each resource.
//
// Invariants: parse() sorts the terms by their text, so that str() is canonical: it parses to an
// equal selector.
//
// Thread safety: as any C++ value. Copies share memory.
#pragma once

#include <concepts>
#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "kube/base/internal/text_formatter.h"
#include "kube/base/list.h"
#include "kube/base/map.h"
#include "kube/base/string.h"
#include "kube/meta/selectors/selector_operator.h"

namespace kube::fields {

/// A single term. The operator is Equals or NotEquals.
struct Requirement {
  String field = {};
  SelectorOperator op = SelectorOperator::Equals;
  String value = {};

  bool matchesValue(std::string_view actual) const noexcept {
    return (actual == value.view()) == (op != SelectorOperator::NotEquals);
  }
  /// "field=value", with the value escaped.
  std::string str() const;

  bool operator==(const Requirement&) const = default;
};

/// Returns the field and value to use instead; both empty to drop the term. Throws to refuse it.
using Transform =
    std::function<std::pair<String, String>(const String& field, const String& value)>;

class Selector {
 public:
  /// Matches everything.
  Selector() = default;

  static Selector everything() { return {}; }
  static Selector nothing();
  static Selector oneTermEqual(String field, String value);
  static Selector oneTermNotEqual(String field, String value);
  static Selector fromSet(const Map<String>& fields);
  /// Matches objects that match all of these.
  static Selector andSelectors(std::initializer_list<Selector> selectors);

  /// Throws DecodeError with the position in the text. Empty terms are ignored.
  static Selector parse(std::string_view text);
  static Selector parseAndTransform(std::string_view text, const Transform& transform) {
    return parse(text).transform(transform);
  }

  bool matches(const Map<String>& fields) const noexcept;
  /// `lookup` takes a field and returns its value, as a type that converts to std::string_view or
  /// as an optional of such a type.
  template <class Lookup>
  requires std::invocable<const Lookup&, std::string_view>
  bool matches(const Lookup& lookup) const {
    if (nothing_) return false;
    for (const Requirement& term : terms_) {
      const auto& value = lookup(term.field);
      if constexpr (std::convertible_to<decltype(value), std::string_view>) {
        if (!term.matchesValue(value)) return false;
      } else {
        if (!term.matchesValue(value ? std::string_view(*value) : std::string_view())) return false;
      }
    }
    return true;
  }

  /// True if it matches everything.
  bool empty() const noexcept { return !nothing_ && terms_.empty(); }
  bool matchesNothing() const noexcept { return nothing_; }
  const List<Requirement>& requirements() const noexcept { return terms_; }

  /// The only value that a field may have, if the selector determines it.
  std::optional<String> requiresExactMatch(std::string_view field) const;

  /// The selector with other fields and values, for translation between API versions.
  Selector transform(const Transform& transform) const;

  /// The text for parse(). "" for everything, and for nothing.
  std::string str() const;

  bool operator==(const Selector&) const = default;

 private:
  List<Requirement> terms_;
  bool nothing_ = false;
};

/// The value with a backslash before every \, comma and =.
std::string escapeValue(std::string_view value);
/// The reverse. Throws DecodeError for other escapes, and for an unescaped comma or =.
std::string unescapeValue(std::string_view text);

std::ostream& operator<<(std::ostream& out, const Requirement& term);
std::ostream& operator<<(std::ostream& out, const Selector& selector);

}  // namespace kube::fields

template <>
struct fmt::formatter<kube::fields::Selector> : kube::detail::TextFormatter {
  auto format(const kube::fields::Selector& selector, fmt::format_context& context) const {
    return text(selector.str(), context);
  }
};
