// The operators of selectors. Shared by kube/meta/selectors/label_selector.h and field_selector.h.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string_view>

namespace kube {

enum class SelectorOperator : std::uint8_t {
  Equals,        // x=a
  DoubleEquals,  // x==a, the same
  NotEquals,     // x!=a
  In,            // x in (a,b)
  NotIn,         // x notin (a,b)
  Exists,        // x
  DoesNotExist,  // !x
  GreaterThan,   // x>1
  LessThan,      // x<1
};

/// apimachinery's name of the operator: "=", "==", "!=", "in", "notin", "exists", "!", "gt", "lt".
std::string_view toString(SelectorOperator op) noexcept;
std::ostream& operator<<(std::ostream& out, SelectorOperator op);

}  // namespace kube
