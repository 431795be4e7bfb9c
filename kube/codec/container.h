// What decoders know of the places inside a List or Map, beside how to build one.
#pragma once

#include <cstddef>

#include "kube/base/pool.h"
#include "kube/meta/container.h"
#include "kube/meta/type_info.h"

namespace kube::detail {

/// Elements of a list mostly differ by their position, so a decoder learns about the first few
/// positions apart. These find the places inside of a field, and those of one position; a map has
/// its key's place before its value's, and a boxed element its box's before its fields'.
inline constexpr std::size_t kPositions = 6;
inline std::size_t placesPerElement(const FieldInfo& field) noexcept {
  const bool extra = field.shape == Shape::Map || (field.shape == Shape::List && field.ops->boxed);
  return (extra ? 1 : 0) + (field.type != nullptr ? field.type->fields.size() : 1);
}
inline Pool::Place* placesInside(Pool* pool, const FieldInfo& field, Pool::Place* place) {
  if (place == nullptr) return nullptr;
  const bool many = field.shape == Shape::List || field.shape == Shape::Map;
  return pool->inside(*place, placesPerElement(field), many ? kPositions : 1);
}
inline Pool::Place* placeAt(const FieldInfo& field, Pool::Place* inside, std::size_t i) noexcept {
  if (inside == nullptr) return nullptr;
  return inside + placesPerElement(field) * (i < kPositions ? i : kPositions - 1);
}

}  // namespace kube::detail
