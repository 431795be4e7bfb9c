#include "kube/meta/selectors/selector_operator.h"

#include <ostream>

namespace kube {

std::string_view toString(SelectorOperator op) noexcept {
  switch (op) {
    case SelectorOperator::Equals:
      return "=";
    case SelectorOperator::DoubleEquals:
      return "==";
    case SelectorOperator::NotEquals:
      return "!=";
    case SelectorOperator::In:
      return "in";
    case SelectorOperator::NotIn:
      return "notin";
    case SelectorOperator::Exists:
      return "exists";
    case SelectorOperator::DoesNotExist:
      return "!";
    case SelectorOperator::GreaterThan:
      return "gt";
    case SelectorOperator::LessThan:
      return "lt";
  }
  return "";
}

std::ostream& operator<<(std::ostream& out, SelectorOperator op) { return out << toString(op); }

}  // namespace kube
