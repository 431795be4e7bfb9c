// Building Lists and Maps without knowing their elements' C++ types, for what fills objects by
// their tables: decoders, conversions.
//
// A block is made with all its elements in place, default-constructed, and then filled, so it can
// be dropped whole at any moment if filling it fails half-way.
#pragma once

#include <cstddef>
#include <utility>

#include "kube/base/internal/block.h"
#include "kube/meta/internal/elements.h"
#include "kube/meta/type_info.h"

namespace kube::detail {

/// Drops its block unless released: held while an exception may pass.
class BlockGuard {
 public:
  using Drop = void (*)(Block*) noexcept;

  BlockGuard(Block* block, Drop drop) : block_(block), drop_(drop) {}
  ~BlockGuard() {
    if (block_ != nullptr) drop_(block_);
  }
  BlockGuard(const BlockGuard&) = delete;
  BlockGuard& operator=(const BlockGuard&) = delete;

  Block* get() const noexcept { return block_; }
  Block* release() noexcept { return std::exchange(block_, nullptr); }

 private:
  Block* block_;
  Drop drop_;
};

/// The box in a slot of a list of boxed elements: null at first.
inline Block*& boxOf(std::byte* slot) noexcept { return *reinterpret_cast<Block**>(slot); }

/// A string's block; null for an empty one.
inline Block* makeString(std::string_view text) { return release(String(text)); }
/// A message of this type in a block of its own.
Block* makeMessage(const TypeInfo& type);
/// A list (or, if the field is a map, entries) of n default elements; null for n == 0. The boxes of
/// a boxed list are left empty, so that known ones can be put there.
Block* makeElements(const FieldInfo& field, std::size_t n);
/// Makes room for one more element at a list's end, default-constructed, and returns it. `block`
/// must be the caller's own; it may move.
std::byte* appendElement(const FieldInfo& field, Block*& block);
/// Gives back the room that appending left over.
void trimElements(const FieldInfo& field, Block*& block);
/// Puts the elements of `more`, which it takes over, behind those of `block`, and orders a map's.
/// Neither may be null; others may hold `block` too.
void joinElements(const FieldInfo& field, Block*& block, Block* more);
/// Puts a map's entries in order of their keys; of equal keys the last one stays. Returns the
/// block to use from now on. Says in `duplicates` how many went.
Block* sortEntries(const FieldInfo& field, Block* block, std::size_t* duplicates = nullptr);

}  // namespace kube::detail
