#include "kube/meta/selectors/label_selector.h"

#include <fmt/core.h>

#include <algorithm>
#include <ostream>
#include <utility>

#include "kube/base/error.h"
#include "kube/base/internal/text.h"
#include "kube/base/internal/utf8.h"
#include "kube/base/joined.h"
#include "kube/meta/validation/validation.h"

namespace kube::labels {
namespace {

using Operator = SelectorOperator;

// As Go's strconv.ParseInt, which accepts both signs.
std::optional<std::int64_t> parseInteger(std::string_view text) noexcept {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  return kube::detail::parseNumber<std::int64_t>(text);
}

Value asValue(const List<String>& strings) {
  Value::Array array;
  for (const String& text : strings) array.push_back(text);
  return array;
}

std::optional<FieldError> checkKey(std::string_view key, const ErrorPath& path) {
  const auto reasons = validation::isQualifiedName(key);
  if (reasons.empty()) return std::nullopt;
  return FieldError::invalid(path, key, joined(reasons, "; "));
}

void checkCount(Operator op, const List<String>& values, const ErrorPath& path,
                FieldErrors& errors) {
  const auto mustBe = [&](bool holds, std::string_view why) {
    if (!holds) errors.push_back(FieldError::invalid(path.child("values"), asValue(values), why));
  };
  switch (op) {
    case Operator::In:
    case Operator::NotIn:
      return mustBe(!values.empty(), "for 'in', 'notin' operators, values set can't be empty");
    case Operator::Equals:
    case Operator::DoubleEquals:
    case Operator::NotEquals:
      return mustBe(values.size() == 1, "exact-match compatibility requires one single value");
    case Operator::Exists:
    case Operator::DoesNotExist:
      return mustBe(values.empty(), "values set must be empty for exists and does not exist");
    case Operator::GreaterThan:
    case Operator::LessThan:
      mustBe(values.size() == 1, "for 'Gt', 'Lt' operators, exactly one value is required");
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (parseInteger(values[i])) continue;
        errors.push_back(
            FieldError::invalid(path.child("values").index(i), values[i],
                                "for 'Gt', 'Lt' operators, the value must be an integer"));
      }
      return;
  }
  errors.push_back(
      FieldError::notSupported(path.child("operator"), static_cast<int>(op),
                               {"in", "notin", "=", "==", "!=", "gt", "lt", "exists", "!"}));
}

/// The text between key and values.
std::string_view symbolOf(Operator op) {
  switch (op) {
    case Operator::In:
      return " in (";
    case Operator::NotIn:
      return " notin (";
    case Operator::GreaterThan:
      return ">";
    case Operator::LessThan:
      return "<";
    case Operator::Exists:
    case Operator::DoesNotExist:
      return "";
    default:
      return toString(op);
  }
}

}  // namespace

Requirement::Requirement(Unchecked, String key, Operator op, List<String> values) noexcept
    : key_(std::move(key)), values_(std::move(values)), op_(op) {}

Requirement::Requirement(String key, Operator op, List<String> values, const ErrorPath& path)
    : Requirement(Unchecked{}, std::move(key), op, std::move(values)) {
  throwIfAny(validate(key_, op_, values_, path));
  if (op_ == Operator::GreaterThan || op_ == Operator::LessThan) {
    number_ = parseInteger(std::as_const(values_)[0]).value_or(0);
  }
}

FieldErrors Requirement::validate(std::string_view key, Operator op, const List<String>& values,
                                  const ErrorPath& path) {
  FieldErrors errors;
  if (auto error = checkKey(key, path.child("key"))) errors.push_back(*std::move(error));
  checkCount(op, values, path, errors);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto reasons = validation::isValidLabelValue(values[i]);
    if (reasons.empty()) continue;
    errors.push_back(FieldError::invalid(path.child("values").index(i).key(key), values[i],
                                         joined(reasons, "; ")));
  }
  return errors;
}

bool Requirement::matches(const Map<String>& labels) const noexcept {
  const auto label = labels.find(key_);
  return label != labels.end() ? matchesValue(label->value.view()) : matchesValue(std::nullopt);
}

bool Requirement::matchesValue(std::optional<std::string_view> value) const noexcept {
  const auto isListed = [&] {
    return std::ranges::find(std::as_const(values_), *value, &String::view) !=
           std::as_const(values_).end();
  };
  switch (op_) {
    case Operator::Equals:
    case Operator::DoubleEquals:
    case Operator::In:
      return value && isListed();
    case Operator::NotEquals:
    case Operator::NotIn:
      return !value || !isListed();
    case Operator::Exists:
      return value.has_value();
    case Operator::DoesNotExist:
      return !value.has_value();
    case Operator::GreaterThan:
    case Operator::LessThan: {
      if (!value) return false;
      const auto number = parseInteger(*value);
      if (!number) return false;
      return op_ == Operator::GreaterThan ? *number > number_ : *number < number_;
    }
  }
  return false;
}

void Requirement::appendTo(std::string& out) const {
  if (op_ == Operator::DoesNotExist) out += '!';
  out += key_;
  out += symbolOf(op_);
  if (values_.size() == 1) {
    out += std::as_const(values_)[0];
  } else if (!values_.empty()) {
    std::vector<std::string_view> sorted(std::as_const(values_).begin(),
                                         std::as_const(values_).end());
    std::ranges::sort(sorted);
    out += joined(sorted, ",");
  }
  if (op_ == Operator::In || op_ == Operator::NotIn) out += ')';
}

std::string Requirement::str() const {
  std::string text;
  appendTo(text);
  return text;
}

Selector::Selector(std::vector<Requirement> requirements) {
  std::ranges::stable_sort(requirements, {}, &Requirement::key_);
  requirements_.reserve(requirements.size());
  for (Requirement& requirement : requirements) requirements_.push_back(std::move(requirement));
}

Selector Selector::nothing() {
  Selector selector;
  selector.nothing_ = true;
  return selector;
}

Selector Selector::fromSet(const Map<String>& labels) {
  std::vector<Requirement> requirements;
  requirements.reserve(labels.size());
  for (const auto& [key, value] : labels) {
    requirements.push_back(Requirement(Requirement::Unchecked{}, key, Operator::Equals, {value}));
  }
  return Selector(std::move(requirements));
}

Selector Selector::validatedFromSet(const Map<String>& labels) {
  for (const auto& [key, value] : labels) {
    throwIfAny(Requirement::validate(key, Operator::Equals, {value}));
  }
  return fromSet(labels);
}

bool Selector::matches(const Map<String>& labels) const noexcept {
  return !nothing_ && std::ranges::all_of(requirements_, [&](const Requirement& requirement) {
    return requirement.matches(labels);
  });
}

void Selector::add(Requirement requirement) {
  if (nothing_) return;
  const auto& all = std::as_const(requirements_);
  const auto place = std::ranges::upper_bound(all, requirement.key_, {}, &Requirement::key_);
  requirements_.insert(static_cast<std::size_t>(place - all.begin()), std::move(requirement));
}

std::optional<String> Selector::requiresExactMatch(std::string_view key) const {
  const auto at =
      std::ranges::find(requirements_, key, [](const auto& r) { return r.key().view(); });
  if (at == requirements_.end() || at->values().size() != 1) return std::nullopt;
  const bool exact = at->op() == Operator::Equals || at->op() == Operator::DoubleEquals ||
                     at->op() == Operator::In;
  return exact ? std::optional(at->values()[0]) : std::nullopt;
}

std::string Selector::str() const {
  std::string text;
  for (const Requirement& requirement : requirements_) {
    if (&requirement != &requirements_[0]) text += ',';
    requirement.appendTo(text);
  }
  return text;
}

std::string formatLabels(const Map<String>& labels) {
  if (labels.empty()) return "<none>";
  return Selector::fromSet(labels).str();
}

Map<String> merge(Map<String> first, const Map<String>& second) {
  for (const auto& [key, value] : second) first[key] = value;
  return first;
}

bool conflicts(const Map<String>& first, const Map<String>& second) noexcept {
  return std::any_of(second.begin(), second.end(), [&](const auto& entry) {
    const auto& [key, value] = entry;
    return first.contains(key) && first[key] != value;
  });
}

std::ostream& operator<<(std::ostream& out, const Requirement& requirement) {
  return out << requirement.str();
}
std::ostream& operator<<(std::ostream& out, const Selector& selector) {
  return out << selector.str();
}

}  // namespace kube::labels
