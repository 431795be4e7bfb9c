// Conversion between labels::Selector and the form in API objects.
#include <fmt/core.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "kube/base/error.h"
#include "kube/base/internal/utf8.h"
#include "kube/meta/selectors/label_selector.h"

namespace kube::labels {
namespace {

using Operator = SelectorOperator;

constexpr std::pair<std::string_view, Operator> kOperators[] = {
    {"In", Operator::In},
    {"NotIn", Operator::NotIn},
    {"Exists", Operator::Exists},
    {"DoesNotExist", Operator::DoesNotExist},
};

Operator operatorOf(const metav1::LabelSelectorRequirement& expression) {
  for (const auto& [name, op] : kOperators) {
    if (expression.operator_ == name) return op;
  }
  throw Error(
      fmt::format("{} is not a valid label selector operator (label {}): expected In, "
                  "NotIn, Exists or DoesNotExist",
                  detail::quoted(expression.operator_), detail::quoted(expression.key)));
}

/// Equality and inequality become sets of one value.
std::string_view nameOf(const Requirement& requirement) {
  switch (requirement.op()) {
    case Operator::Equals:
    case Operator::DoubleEquals:
      return "In";
    case Operator::NotEquals:
      return "NotIn";
    default:
      break;
  }
  for (const auto& [name, op] : kOperators) {
    if (requirement.op() == op) return name;
  }
  throw Error(fmt::format("{} isn't supported in the label selectors of API objects: {}",
                          detail::quoted(toString(requirement.op())), requirement.str()));
}

List<String> sorted(const List<String>& values) {
  if (std::ranges::is_sorted(values)) return values;
  List<String> copy = values;
  std::ranges::sort(copy);
  return copy;
}

}  // namespace

Selector Selector::from(const metav1::LabelSelector& selector) {
  std::vector<Requirement> requirements;
  requirements.reserve(selector.matchLabels.size() + selector.matchExpressions.size());
  for (const auto& [key, value] : selector.matchLabels) {
    requirements.emplace_back(key, Operator::Equals, List<String>{value});
  }
  for (const auto& expression : selector.matchExpressions) {
    requirements.emplace_back(expression.key, operatorOf(expression), expression.values);
  }
  return Selector(std::move(requirements));
}

Selector Selector::from(const Shared<metav1::LabelSelector>& selector) {
  return selector ? from(*selector) : nothing();
}

Shared<metav1::LabelSelector> toLabelSelector(const Selector& selector) {
  if (selector.matchesNothing()) return nullptr;
  metav1::LabelSelector result;
  for (const Requirement& requirement : selector.requirements()) {
    const bool isEquality =
        requirement.op() == Operator::Equals || requirement.op() == Operator::DoubleEquals;
    // A map holds one value per label. A second value, which no object satisfies, becomes an
    // expression.
    if (isEquality && !result.matchLabels.contains(requirement.key())) {
      result.matchLabels[requirement.key()] = requirement.values()[0];
    } else {
      result.matchExpressions.push_back({.key = requirement.key(),
                                         .operator_ = nameOf(requirement),
                                         .values = sorted(requirement.values())});
    }
  }
  return result;
}

metav1::LabelSelector parseToLabelSelector(std::string_view text) {
  const Shared<metav1::LabelSelector> selector = toLabelSelector(Selector::parse(text));
  return *selector;
}

std::string formatLabelSelector(const Shared<metav1::LabelSelector>& selector) {
  try {
    const std::string text = Selector::from(selector).str();
    return text.empty() ? "<none>" : text;
  } catch (const Error&) {
    return "<error>";
  }
}

Map<String> labelSelectorAsMap(const metav1::LabelSelector& selector) {
  Map<String> labels = selector.matchLabels;
  for (const auto& expression : selector.matchExpressions) {
    if (operatorOf(expression) != Operator::In) {
      throw Error(fmt::format(
          "operator {} cannot be converted into the old label selector format (label {})",
          detail::quoted(expression.operator_), detail::quoted(expression.key)));
    }
    if (expression.values.size() != 1) {
      throw Error(
          fmt::format("operator {} without a single value cannot be converted into the old "
                      "label selector format (label {})",
                      detail::quoted(expression.operator_), detail::quoted(expression.key)));
    }
    labels[expression.key] = expression.values[0];
  }
  return labels;
}

}  // namespace kube::labels
