// Selects objects by their labels: "app=web,tier in (front,back),!legacy".
//
//   auto selector = labels::Selector::parse("app=web,tier!=test");
//   if (selector.matches(pod.metadata.labels)) ...
//   clients.coreV1().pods("book").list({.labelSelector = selector.str()});
//
//   auto ofSet = labels::Selector::from(replicaSet.spec->selector);  // from an API object
//
// Syntax, rules and messages are those of apimachinery's labels package; metav1::LabelSelector is
// the form in API objects. A selector is a list of requirements in order of their keys. All of them
// must hold; a selector without requirements matches everything. The selector that matches nothing
// has no text: str() returns "", which means everything to a server. So check matchesNothing()
// before you send one.
//
// Invariants: requirements are sorted by key; those of one key keep the order in which they were
// added. Matching allocates nothing.
//
// Thread safety: as any C++ value. Copies share memory.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/base/internal/text_formatter.h"
#include "kube/base/list.h"
#include "kube/base/map.h"
#include "kube/base/shared.h"
#include "kube/base/string.h"
#include "kube/meta/selectors/selector_operator.h"
#include "kube/meta/v1.h"
#include "kube/meta/validation/field_error.h"

namespace kube::labels {

/// A requirement on one label.
class Requirement {
 public:
  using Operator = SelectorOperator;

  /// An empty requirement, which matches nothing.
  Requirement() = default;
  /// Throws ValidationError if key, values or their number do not fit the operator. Greater and
  /// less than take an integer. `path` is the position in the errors.
  Requirement(String key, Operator op, List<String> values = {}, const ErrorPath& path = {});

  /// The errors that the constructor would throw.
  static FieldErrors validate(std::string_view key, Operator op, const List<String>& values,
                              const ErrorPath& path = {});

  const String& key() const noexcept { return key_; }
  Operator op() const noexcept { return op_; }
  const List<String>& values() const noexcept { return values_; }

  bool matches(const Map<String>& labels) const noexcept;
  /// Tests the label's value; nullopt if there is no such label.
  bool matchesValue(std::optional<std::string_view> value) const noexcept;

  /// "x in (a,b)", with the values sorted.
  std::string str() const;
  void appendTo(std::string& out) const;

  bool operator==(const Requirement&) const = default;

 private:
  friend class Selector;
  struct Unchecked {};
  Requirement(Unchecked, String key, Operator op, List<String> values) noexcept;

  String key_;
  List<String> values_;
  std::int64_t number_ = 0;  // the value of greater and less than
  Operator op_ = Operator::In;
};

class Selector {
 public:
  /// Matches everything.
  Selector() = default;
  Selector(std::initializer_list<Requirement> requirements)
      : Selector(std::vector<Requirement>(requirements)) {}
  explicit Selector(std::vector<Requirement> requirements);

  static Selector everything() { return {}; }
  static Selector nothing();

  /// Throws DecodeError with apimachinery's message as its reason() and the position in the text.
  static Selector parse(std::string_view text, const ErrorPath& path = {});

  /// Matches objects that have all these labels. Not validated: the server would refuse invalid
  /// ones.
  static Selector fromSet(const Map<String>& labels);
  /// The same with validation; throws ValidationError.
  static Selector validatedFromSet(const Map<String>& labels);

  /// The selector of an API object; an empty one matches everything. Throws ValidationError, or
  /// Error for an unknown operator.
  static Selector from(const metav1::LabelSelector& selector);
  /// The same for a field that may be absent; an absent selector matches nothing.
  static Selector from(const Shared<metav1::LabelSelector>& selector);

  bool matches(const Map<String>& labels) const noexcept;
  /// For labels kept elsewhere: `lookup` takes a key and returns the value, if there is one, as a
  /// type that converts to std::optional<std::string_view>.
  template <class Lookup>
  requires std::invocable<const Lookup&, std::string_view>
  bool matches(const Lookup& lookup) const {
    if (nothing_) return false;
    for (const Requirement& requirement : requirements_) {
      const auto& value = lookup(requirement.key());
      if (!requirement.matchesValue(std::optional<std::string_view>(value))) return false;
    }
    return true;
  }

  /// True if it matches everything.
  bool empty() const noexcept { return !nothing_ && requirements_.empty(); }
  bool matchesNothing() const noexcept { return nothing_; }

  const List<Requirement>& requirements() const noexcept { return requirements_; }
  void add(Requirement requirement);

  /// The only value that a label may have, if the selector determines it: "web" for "app=web".
  std::optional<String> requiresExactMatch(std::string_view key) const;

  /// The text for parse(), in canonical form. "" for everything, and for nothing.
  std::string str() const;

  bool operator==(const Selector&) const = default;

 private:
  List<Requirement> requirements_;
  bool nothing_ = false;
};

/// The form in API objects; absent for a selector that matches nothing. Throws Error for operators
/// that this form lacks: greater and less than.
Shared<metav1::LabelSelector> toLabelSelector(const Selector& selector);
/// The same from text. Throws DecodeError or Error.
metav1::LabelSelector parseToLabelSelector(std::string_view text);
/// A text for users: "<none>" for everything or nothing, "<error>" for an invalid selector.
std::string formatLabelSelector(const Shared<metav1::LabelSelector>& selector);
/// A set of labels, for API fields that support only equality. Throws Error for other operators.
Map<String> labelSelectorAsMap(const metav1::LabelSelector& selector);

/// "a=b,c=d", or "<none>".
std::string formatLabels(const Map<String>& labels);
/// The labels of both. Those of `second` win.
Map<String> merge(Map<String> first, const Map<String>& second);
/// True if a label is in both, with different values.
bool conflicts(const Map<String>& first, const Map<String>& second) noexcept;

std::ostream& operator<<(std::ostream& out, const Requirement& requirement);
std::ostream& operator<<(std::ostream& out, const Selector& selector);

}  // namespace kube::labels

template <class T>
requires(std::same_as<T, kube::labels::Selector> ||
         std::same_as<T, kube::labels::Requirement>) struct fmt::formatter<T>
    : kube::detail::TextFormatter {
  auto format(const T& selector, fmt::format_context& context) const {
    return text(selector.str(), context);
  }
};
