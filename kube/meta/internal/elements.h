// Reads Lists and Maps whose element types are known only from tables.
#pragma once

#include <cstddef>

#include "kube/base/internal/block.h"
#include "kube/meta/type_info.h"
#include "kube/meta/value.h"

namespace kube::detail {

inline std::size_t countOf(const Block* block) noexcept {
  return block != nullptr ? block->size & kCountMask : 0;
}

/// The slot of the i-th element in a list, or of the i-th entry in a map (key first, then the
/// value).
inline std::byte* slotOf(const Block* block, const ContainerOps& ops, std::size_t i) noexcept {
  return static_cast<std::byte*>(const_cast<void*>(block->payload())) + i * ops.slotSize;
}
/// The element itself, in its box if elements are boxed; every box must be filled.
inline std::byte* elementOf(const Block* block, const ContainerOps& ops, std::size_t i) noexcept {
  std::byte* slot = slotOf(block, ops, i);
  if (!ops.boxed) return slot;
  return static_cast<std::byte*>((*reinterpret_cast<Block**>(slot))->payload());
}
inline String& keyOf(std::byte* entry) noexcept { return *reinterpret_cast<String*>(entry); }
inline std::byte* valueOf(std::byte* entry) noexcept { return entry + sizeof(String); }
/// True for an entry that `[]` made and that nothing was assigned to. Such entries are skipped.
inline bool isPlaceholder(const FieldInfo& map, std::byte* entry) noexcept {
  return map.kind == FieldKind::Value && reinterpret_cast<Value*>(valueOf(entry))->isPlaceholder();
}

}  // namespace kube::detail
