// Which objects, by their labels: "app=web,tier in (front,back),!legacy".
//
//   auto selector = labels::Selector::parse("app=web,tier!=test");
//   if (selector.matches(pod.metadata.labels)) ...
//   clients.coreV1().pods("book").list({.labelSelector = selector.str()});
//
//   auto ofSet = labels::Selector::from(replicaSet.spec->selector);   // what an API object says
//
// Syntax, rules and messages are those of apimachinery's labels package; metav1::LabelSelector is
// the form that API objects hold. A selector is a list of requirements that must all hold, in order
// of their keys; without any it matches everything. The selector that matches nothing has no text:
// str() gives "", which to a server means everything, so ask matchesNothing() before sending one.
//
// Invariants: requirements are sorted by key, those of one key in the order they were added.
// Matching allocates nothing.
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

/// What one label must be.
class Requirement {
 public:
  using Operator = SelectorOperator;

  /// No requirement; matches nothing.
  Requirement() = default;
  /// Throws ValidationError where key, values and their number do not go with the operator. Greater
  /// and less than take an integer. `path` is where the errors say it is.
  Requirement(String key, Operator op, List<String> values = {}, const ErrorPath& path = {});

  /// What the constructor would throw.
  static FieldErrors validate(std::string_view key, Operator op, const List<String>& values,
                              const ErrorPath& path = {});

  const String& key() const noexcept { return key_; }
  Operator op() const noexcept { return op_; }
  const List<String>& values() const noexcept { return values_; }

  bool matches(const Map<String>& labels) const noexcept;
  /// By the label's value; none where there is no such label.
  bool matchesValue(std::optional<std::string_view> value) const noexcept;

  /// "x in (a,b)", the values sorted.
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

  /// Throws DecodeError with apimachinery's message as its reason() and the place in the text.
  static Selector parse(std::string_view text, const ErrorPath& path = {});

  /// Exactly these labels; any others are free. Not checked: the server would refuse bad ones.
  static Selector fromSet(const Map<String>& labels);
  /// The same, checked; throws ValidationError.
  static Selector validatedFromSet(const Map<String>& labels);

  /// What an API object's selector says: an empty one matches everything. Throws ValidationError,
  /// or Error for an operator that there is none of.
  static Selector from(const metav1::LabelSelector& selector);
  /// The same for a field that may be absent, which matches nothing.
  static Selector from(const Shared<metav1::LabelSelector>& selector);

  bool matches(const Map<String>& labels) const noexcept;
  /// For labels kept elsewhere: `lookup` takes a key and gives the value, if there is one, as
  /// something that converts to std::optional<std::string_view>.
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

  /// Whether it restricts nothing.
  bool empty() const noexcept { return !nothing_ && requirements_.empty(); }
  bool matchesNothing() const noexcept { return nothing_; }

  const List<Requirement>& requirements() const noexcept { return requirements_; }
  void add(Requirement requirement);

  /// The one value that a label must have, if it must have one: "web" of "app=web".
  std::optional<String> requiresExactMatch(std::string_view key) const;

  /// As parse() takes it, in canonical form. "" for everything, and for nothing.
  std::string str() const;

  bool operator==(const Selector&) const = default;

 private:
  List<Requirement> requirements_;
  bool nothing_ = false;
};

/// The form that API objects hold; absent for nothing. Throws Error for what it cannot say: greater
/// and less than.
Shared<metav1::LabelSelector> toLabelSelector(const Selector& selector);
/// The same, from text. Throws DecodeError or Error.
metav1::LabelSelector parseToLabelSelector(std::string_view text);
/// For people: "<none>" for everything or nothing, "<error>" for what is not valid.
std::string formatLabelSelector(const Shared<metav1::LabelSelector>& selector);
/// As a set of labels, for API fields that hold no more. Throws Error for anything but equality.
Map<String> labelSelectorAsMap(const metav1::LabelSelector& selector);

/// "a=b,c=d", or "<none>".
std::string formatLabels(const Map<String>& labels);

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
