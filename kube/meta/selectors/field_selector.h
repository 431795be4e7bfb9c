// Which objects, by some of their fields: "metadata.name=web,status.phase!=Running".
//
//   auto selector = fields::Selector::oneTermEqual("spec.nodeName", node);
//   clients.coreV1().pods().list({.fieldSelector = selector.str()});
//
//   selector.matches([&](std::string_view field) { return valueOf(pod, field); });
//
// Syntax and rules are those of apimachinery's fields package: terms of a field, "=", "==" or "!=",
// and a value in which \, = and the comma are escaped by a backslash. All terms must hold; without
// any, everything matches. A field that an object has not reads as "". Which fields there are is
// for each resource of a server to say.
//
// Invariants: parse() puts the terms in order of their text, so that str() is canonical: it parses
// to an equal selector.
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

/// One term. The operator is Equals or NotEquals.
struct Requirement {
  String field = {};
  SelectorOperator op = SelectorOperator::Equals;
  String value = {};

  bool matchesValue(std::string_view actual) const noexcept {
    return (actual == value.view()) == (op != SelectorOperator::NotEquals);
  }
  /// "field=value", the value escaped.
  std::string str() const;

  bool operator==(const Requirement&) const = default;
};

/// Gives the field and value to use instead; both empty to drop the term. Throws to refuse it.
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
  /// What all of these match.
  static Selector andSelectors(std::initializer_list<Selector> selectors);

  /// Throws DecodeError with the place in the text. Empty terms are passed over.
  static Selector parse(std::string_view text);
  static Selector parseAndTransform(std::string_view text, const Transform& transform) {
    return parse(text).transform(transform);
  }

  bool matches(const Map<String>& fields) const noexcept;
  /// `lookup` takes a field and gives its value, as something that converts to std::string_view, or
  /// an optional of such.
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

  /// Whether it restricts nothing.
  bool empty() const noexcept { return !nothing_ && terms_.empty(); }
  bool matchesNothing() const noexcept { return nothing_; }
  const List<Requirement>& requirements() const noexcept { return terms_; }

  /// The one value that a field must have, if it must have one.
  std::optional<String> requiresExactMatch(std::string_view field) const;

  /// The same with other fields and values, for one API version in terms of another.
  Selector transform(const Transform& transform) const;

  /// As parse() takes it. "" for everything, and for nothing.
  std::string str() const;

  bool operator==(const Selector&) const = default;

 private:
  List<Requirement> terms_;
  bool nothing_ = false;
};

/// A value with a backslash before every \, comma and =.
std::string escapeValue(std::string_view value);
/// The other way round. Throws DecodeError for other escapes, and for a comma or = without one.
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
