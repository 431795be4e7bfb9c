// Building Lists and Maps without knowing their elements' C++ types, for the decoders.
//
// A block is made with all its elements in place, default-constructed, and then filled, so it can
// be dropped whole at any moment if decoding fails half-way.
#pragma once

#include <cstddef>
#include <utility>

#include "kube/base/block.h"
#include "kube/meta/type_info.h"

namespace kube::detail {

/// Drops its block unless released: what a decoder holds while an exception may pass.
class BlockGuard {
 public:
  BlockGuard(Block* block, const ContainerOps& ops) : block_(block), drop_(ops.drop) {}
  ~BlockGuard() {
    if (block_ != nullptr) drop_(block_);
  }
  BlockGuard(const BlockGuard&) = delete;
  BlockGuard& operator=(const BlockGuard&) = delete;

  Block* get() const noexcept { return block_; }
  Block* release() noexcept { return std::exchange(block_, nullptr); }

 private:
  Block* block_;
  void (*drop_)(Block*) noexcept;
};

inline std::size_t countOf(const Block* block) noexcept {
  return block != nullptr ? block->size & kCountMask : 0;
}

/// The i-th element's place in a list, or in a map its entry's (key first, then the value).
inline std::byte* elementOf(const Block* block, const ContainerOps& ops, std::size_t i) noexcept {
  auto* slot = static_cast<std::byte*>(const_cast<void*>(block->payload())) + i * ops.slotSize;
  if (!ops.boxed) return slot;
  return static_cast<std::byte*>((*reinterpret_cast<Block**>(slot))->payload());
}
inline String& keyOf(std::byte* entry) noexcept { return *reinterpret_cast<String*>(entry); }
inline std::byte* valueOf(std::byte* entry) noexcept { return entry + sizeof(String); }

/// A string's block; null for an empty one.
inline Block* makeString(std::string_view text) { return release(String(text)); }
/// A message of this type in a block of its own.
Block* makeMessage(const TypeInfo& type);
/// A list (or, if the field is a map, entries) of n default elements; null for n == 0.
Block* makeElements(const FieldInfo& field, std::size_t n);
/// Makes room for one more element at a list's end, default-constructed, and returns it. `block`
/// must be the caller's own; it may move.
std::byte* appendElement(const FieldInfo& field, Block*& block);
/// Gives back the room that appending left over.
void trimElements(const FieldInfo& field, Block*& block);
/// Puts a map's entries in order of their keys; of equal keys the last one stays. Returns the
/// block to use from now on. Says in `duplicates` how many went.
Block* sortEntries(const FieldInfo& field, Block* block, std::size_t* duplicates = nullptr);

}  // namespace kube::detail
