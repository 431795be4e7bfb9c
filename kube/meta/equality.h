// Whether two objects mean the same, and whether one has all that another asks for.
//
//   if (!semanticEqual(wanted.spec, deployment.spec)) client.update(...);
//   if (!semanticDerivative(*wanted.spec, *deployment.spec)) ...   // defaults of the server are
//   fine
//
// The rules are those of apimachinery's equality.Semantic: of a quantity the amount counts, of a
// time the instant, and an empty list or map is as good as none. That holds for operator== of API
// types as well. What differs is a message that upstream holds by value (resources, strategy,
// status): here it is the same whether it is absent or empty.
//
// No operator== is needed: every described type can be compared, every type that a field can have,
// and objects whose type is known only at run time. Members that are not described do not count.
//
// Parts that share memory are equal at a glance, so comparing an object with a changed copy of it
// costs what was changed.
//
// Any thread may call.
#pragma once

#include "kube/meta/any_object.h"
#include "kube/meta/selectors/field_selector.h"
#include "kube/meta/selectors/label_selector.h"
#include "kube/meta/type_info.h"

namespace kube {

namespace detail {
bool semanticEqual(const FieldInfo& field, const void* a, const void* b);
bool semanticDerivative(const FieldInfo& field, const void* wanted, const void* actual);

/// A value of this type, as if it were a field.
template <class T>
inline constexpr FieldInfo kAsField = makeField<T>("", 0, 0);
}  // namespace detail

template <class T>
bool semanticEqual(const T& a, const T& b) {
  return detail::semanticEqual(detail::kAsField<T>, &a, &b);
}
/// Objects of different types differ.
bool semanticEqual(const AnyObject& a, const AnyObject& b);
/// Selectors are equal when their text is.
inline bool semanticEqual(const labels::Selector& a, const labels::Selector& b) {
  return a == b || a.str() == b.str();
}
inline bool semanticEqual(const fields::Selector& a, const fields::Selector& b) {
  return a == b || a.str() == b.str();
}

/// Whether `actual` is as `wanted` says where it says something. What is absent or empty in
/// `wanted` is not compared: messages, optional values, strings, times, lists, maps. Numbers and
/// booleans that are not optional always are, since 0 and false may be meant. A list may go on
/// after what is wanted, and a map may hold more.
template <class T>
bool semanticDerivative(const T& wanted, const T& actual) {
  return detail::semanticDerivative(detail::kAsField<T>, &wanted, &actual);
}
bool semanticDerivative(const AnyObject& wanted, const AnyObject& actual);

}  // namespace kube
