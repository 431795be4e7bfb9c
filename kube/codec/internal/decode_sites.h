// The sites of a pool inside a List or Map, for decoders.
#pragma once

#include <cstddef>

#include "kube/base/pool.h"
#include "kube/meta/internal/container_builder.h"
#include "kube/meta/type_info.h"

namespace kube::detail {

/// Elements of a list mostly differ by their position, so a decoder learns about each of the first
/// few positions separately. These functions find the sites inside of a field, and those of one
/// position. In a map, the site of the key precedes that of the value; in a list of boxed
/// elements, the site of the box precedes those of its fields.
inline constexpr std::size_t kPositions = 6;
inline std::size_t sitesPerElement(const FieldInfo& field) noexcept {
  const bool extra = field.shape == Shape::Map || (field.shape == Shape::List && field.ops->boxed);
  return (extra ? 1 : 0) + (field.type != nullptr ? field.type->fields.size() : 1);
}
inline Pool::Site* sitesInside(Pool* pool, const FieldInfo& field, Pool::Site* site) {
  if (site == nullptr) return nullptr;
  const bool many = field.shape == Shape::List || field.shape == Shape::Map;
  return pool->inside(*site, sitesPerElement(field), many ? kPositions : 1);
}
class PositionSites {
 public:
  PositionSites(const FieldInfo& field, Pool::Site* inside)
      : inside_(inside), each_(inside != nullptr ? sitesPerElement(field) : 0) {}
  Pool::Site* operator[](std::size_t i) const noexcept {
    return inside_ + each_ * (i < kPositions ? i : kPositions - 1);
  }

 private:
  Pool::Site* const inside_;
  const std::size_t each_;
};

}  // namespace kube::detail
