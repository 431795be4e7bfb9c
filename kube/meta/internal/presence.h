// Tests whether optional fields are present, for code that walks tables.
//
// A Shared message may have a block and still be absent: a message made for writing, to which
// nothing was written, is provisional (see kube/base/shared.h). So walkers use these functions
// instead of testing the handle.
#pragma once

#include <cstddef>

#include "kube/base/internal/block.h"
#include "kube/meta/type_info.h"

namespace kube::detail {

/// The block of a List, Map or Shared field.
inline const Block* heldAt(const std::byte* at) noexcept {
  return *reinterpret_cast<Block* const*>(at);
}

inline bool isPresent(const TypeInfo& type, const Block* message) noexcept {
  return message != nullptr &&
         (message->size != kProvisional || !isAsNew(type, message->payload()));
}

/// The message of a Shared field, or null if it is absent.
inline const Block* messageAt(const FieldInfo& field, const std::byte* at) noexcept {
  const Block* block = heldAt(at);
  return isPresent(*field.type, block) ? block : nullptr;
}

/// True if a field has the value that it has in a zeroed object.
bool isUnset(const FieldInfo& field, const std::byte* at) noexcept;

}  // namespace kube::detail
