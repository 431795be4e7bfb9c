// Tests whether two objects mean the same, and whether one has everything that another asks for.
//
//   if (!semanticEqual(wanted.spec, deployment.spec)) client.update(...);
//   if (!semanticDerivative(*wanted.spec, *deployment.spec)) ...   // server's defaults are fine
//
// The rules are those of apimachinery's equality.Semantic: quantities are equal if their amounts
// are, times if their instants are, and an empty list or map equals an absent one. All this holds
// for operator== of API types as well. The difference is in messages that upstream holds by value
// (resources, strategy, status): here an absent one equals an empty one.
//
// No operator== is needed. The functions compare all described types, all types of fields, and
// objects whose type is known only at run time. Members that are not described are ignored.
//
// Parts that share memory are equal without a look at their content. So comparing an object with a
// changed copy costs only as much as the changed parts.
//
// Thread safety: every function may be called from any thread.
#pragma once

#include "kube/meta/any_object.h"
#include "kube/meta/selectors/field_selector.h"
#include "kube/meta/selectors/label_selector.h"
#include "kube/meta/type_info.h"

namespace kube {

namespace detail {
bool semanticEqual(const FieldInfo& field, const void* a, const void* b);
bool semanticDerivative(const FieldInfo& field, const void* wanted, const void* actual);

/// Describes a value of this type as if it were a field.
template <class T>
inline constexpr FieldInfo kAsField = makeField<T>("", 0, 0);
}  // namespace detail

template <class T>
bool semanticEqual(const T& a, const T& b) {
  return detail::semanticEqual(detail::kAsField<T>, &a, &b);
}
/// Objects of different types differ.
bool semanticEqual(const AnyObject& a, const AnyObject& b);
/// Selectors are equal if their text is.
inline bool semanticEqual(const labels::Selector& a, const labels::Selector& b) {
  return a == b || a.str() == b.str();
}
inline bool semanticEqual(const fields::Selector& a, const fields::Selector& b) {
  return a == b || a.str() == b.str();
}

/// True if `actual` agrees with everything that `wanted` specifies. Messages, optional values,
/// strings, times, lists and maps that are absent or empty in `wanted` are not compared. Numbers
/// and booleans that are not optional are always compared, because 0 and false may be meant. A list
/// may continue after the wanted elements, and a map may hold more.
template <class T>
bool semanticDerivative(const T& wanted, const T& actual) {
  return detail::semanticDerivative(detail::kAsField<T>, &wanted, &actual);
}
bool semanticDerivative(const AnyObject& wanted, const AnyObject& actual);

}  // namespace kube
