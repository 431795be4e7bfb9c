// Whether a field that may be absent is there, for what walks tables.
//
// A Shared message has a block and may be absent all the same: one that was made for writing, and
// in which nothing was written, is provisional (see kube/base/shared.h). So no walker asks the
// handle; all ask here.
#pragma once

#include <cstddef>

#include "kube/base/internal/block.h"
#include "kube/meta/type_info.h"

namespace kube::detail {

/// The handle that a List, Map or Shared field is.
inline const Block* heldAt(const std::byte* at) noexcept {
  return *reinterpret_cast<Block* const*>(at);
}

inline bool isPresent(const TypeInfo& type, const Block* message) noexcept {
  return message != nullptr &&
         (message->size != kProvisional || !isAsNew(type, message->payload()));
}

/// The message of a Shared field, or null where it is absent.
inline const Block* messageAt(const FieldInfo& field, const std::byte* at) noexcept {
  const Block* block = heldAt(at);
  return isPresent(*field.type, block) ? block : nullptr;
}

/// Whether a field holds nothing: as it is in a new object all of whose bytes are zero.
bool isUnset(const FieldInfo& field, const std::byte* at) noexcept;

}  // namespace kube::detail
