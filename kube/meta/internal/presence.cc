#include "kube/meta/internal/presence.h"

#include <algorithm>

#include "kube/meta/any_object.h"
#include "kube/meta/equality.h"
#include "kube/meta/internal/elements.h"
#include "kube/meta/internal/optional_field.h"

namespace kube::detail {

namespace {

bool hasNothing(const TypeInfo& type, const std::byte* object) noexcept {
  if (type.form == JsonForm::Dynamic) return reinterpret_cast<const Value*>(object)->isNull();
  return std::ranges::all_of(
      type.fields, [&](const FieldInfo& field) { return isUnset(field, object + field.offset); });
}

// For a type whose members have initializers: compares with a default-constructed object.
bool isInitial(const TypeInfo& type, const std::byte* object) noexcept {
  const AnyObject initial(type);
  const auto* other = static_cast<const std::byte*>(initial.data());
  return std::ranges::all_of(type.fields, [&](const FieldInfo& field) {
    return isUnset(field, object + field.offset) == isUnset(field, other + field.offset) &&
           semanticEqual(field, object + field.offset, other + field.offset);
  });
}

}  // namespace

bool isUnset(const FieldInfo& field, const std::byte* at) noexcept {
  switch (field.shape) {
    case Shape::List:
    case Shape::Map:
      return countOf(heldAt(at)) == 0;
    case Shape::Optional:
      if (field.kind == FieldKind::Message) return messageAt(field, at) == nullptr;
      return optionalValue(field.kind, at) == nullptr;
    case Shape::Plain:
      break;
  }
  if (field.kind == FieldKind::Message) return hasNothing(*field.type, at);
  return withScalarType(field.kind, [&]<class T>() {
    const T& value = *reinterpret_cast<const T*>(at);
    if constexpr (std::is_same_v<T, Quantity>) {
      return value.isUnset();  // "0" is set, although it is equal
    } else {
      return value == T{};
    }
  });
}

bool isAsNew(const TypeInfo& type, const void* object) noexcept {
  const auto* at = static_cast<const std::byte*>(object);
  return type.zeroed ? hasNothing(type, at) : isInitial(type, at);
}

}  // namespace kube::detail
