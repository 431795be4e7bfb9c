// Access to scalars of a kind known only at run time, plain or in a std::optional field.
#pragma once

#include <optional>
#include <type_traits>

#include "kube/meta/type_info.h"
#include "kube/meta/value.h"

namespace kube::detail {

/// Calls `use.operator()<T>()`, where T is the C++ type of that kind. Not for messages.
template <class Use>
decltype(auto) withScalarType(FieldKind kind, Use&& use) {
  switch (kind) {
    case FieldKind::Bool:
      return use.template operator()<bool>();
    case FieldKind::Int32:
      return use.template operator()<std::int32_t>();
    case FieldKind::Int64:
      return use.template operator()<std::int64_t>();
    case FieldKind::Double:
      return use.template operator()<double>();
    case FieldKind::Bytes:
      return use.template operator()<Bytes>();
    case FieldKind::Time:
      return use.template operator()<Time>();
    case FieldKind::MicroTime:
      return use.template operator()<MicroTime>();
    case FieldKind::Duration:
      return use.template operator()<Duration>();
    case FieldKind::Quantity:
      return use.template operator()<Quantity>();
    case FieldKind::IntOrString:
      return use.template operator()<IntOrString>();
    case FieldKind::Raw:
      return use.template operator()<RawExtension>();
    case FieldKind::Strings:
      return use.template operator()<Strings>();
    case FieldKind::Value:
      return use.template operator()<Value>();
    case FieldKind::String:
    case FieldKind::Message:  // held by Shared, never by std::optional
      break;
  }
  return use.template operator()<String>();
}

/// Calls `use` with the std::optional<T>& at `at`, where T is the C++ type of that scalar kind.
template <class At, class Use>
auto withOptional(FieldKind kind, At* at, Use use) {
  return withScalarType(kind, [&]<class T>() {
    using Slot = std::conditional_t<std::is_const_v<At>, const std::optional<T>, std::optional<T>>;
    return use(*reinterpret_cast<Slot*>(at));
  });
}

/// The value, or null if there is none.
inline const void* optionalValue(FieldKind kind, const std::byte* at) {
  return withOptional(kind, at, [](const auto& slot) -> const void* {
    return slot.has_value() ? &*slot : nullptr;
  });
}

/// The value, created if there is none.
inline void* emplaceOptional(FieldKind kind, std::byte* at) {
  return withOptional(kind, at, [](auto& slot) -> void* { return &slot.emplace(); });
}

}  // namespace kube::detail
