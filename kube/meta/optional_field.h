// The value inside a std::optional field of a kind known only at run time.
#pragma once

#include <optional>

#include "kube/meta/type_info.h"
#include "kube/meta/value.h"

namespace kube::detail {

/// Calls `use` with the std::optional<T>& at `at`, T being the C++ type of that scalar kind.
template <class At, class Use>
auto withOptional(FieldKind kind, At* at, Use use) {
  const auto call = [&]<class T>() {
    using Slot = std::conditional_t<std::is_const_v<At>, const std::optional<T>, std::optional<T>>;
    return use(*reinterpret_cast<Slot*>(at));
  };
  switch (kind) {
    case FieldKind::Bool:
      return call.template operator()<bool>();
    case FieldKind::Int32:
      return call.template operator()<std::int32_t>();
    case FieldKind::Int64:
      return call.template operator()<std::int64_t>();
    case FieldKind::Double:
      return call.template operator()<double>();
    case FieldKind::Bytes:
      return call.template operator()<Bytes>();
    case FieldKind::Time:
      return call.template operator()<Time>();
    case FieldKind::MicroTime:
      return call.template operator()<MicroTime>();
    case FieldKind::Duration:
      return call.template operator()<Duration>();
    case FieldKind::Quantity:
      return call.template operator()<Quantity>();
    case FieldKind::IntOrString:
      return call.template operator()<IntOrString>();
    case FieldKind::Raw:
      return call.template operator()<RawExtension>();
    case FieldKind::Strings:
      return call.template operator()<Strings>();
    case FieldKind::Value:
      return call.template operator()<Value>();
    case FieldKind::String:
    case FieldKind::Message:  // held by Shared, never by std::optional
      break;
  }
  return call.template operator()<String>();
}

/// The value, or null when there is none.
inline const void* optionalValue(FieldKind kind, const std::byte* at) {
  return withOptional(kind, at, [](const auto& slot) -> const void* {
    return slot.has_value() ? &*slot : nullptr;
  });
}

/// The value, made if there is none.
inline void* emplaceOptional(FieldKind kind, std::byte* at) {
  return withOptional(kind, at, [](auto& slot) -> void* { return &slot.emplace(); });
}

}  // namespace kube::detail
