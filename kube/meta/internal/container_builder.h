// Builds Lists and Maps without the C++ types of their elements, for code that fills objects by
// tables: decoders and conversions.
//
// A block is allocated with all its elements default-constructed, and then filled. So it can be
// dropped as a whole at any time if filling it fails halfway.
#pragma once

#include <cstddef>
#include <utility>

#include "kube/base/internal/block.h"
#include "kube/meta/internal/elements.h"
#include "kube/meta/type_info.h"

namespace kube::detail {

/// Drops its block unless released: protects the block from exceptions.
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

/// The box in a slot of a list of boxed elements; null at first.
inline Block*& boxOf(std::byte* slot) noexcept { return *reinterpret_cast<Block**>(slot); }

/// The block of a string; null for an empty one.
inline Block* makeString(std::string_view text) { return release(String(text)); }
/// Makes a message of this type in a block of its own.
Block* makeMessage(const TypeInfo& type);
/// Makes a list (or, if the field is a map, entries) of n default elements; null for n == 0. The
/// boxes of a boxed list are left empty, so that known ones can be put there.
Block* makeElements(const FieldInfo& field, std::size_t n);
/// Adds a default-constructed element at a list's end and returns it. The caller must be the sole
/// owner of `block`, which may move.
std::byte* appendElement(const FieldInfo& field, Block*& block);
/// Frees the spare room after appending.
void trimElements(const FieldInfo& field, Block*& block);
/// Appends the elements of `more`, which it takes over, to those of `block`, and sorts them for a
/// map. Neither may be null; `block` may have other owners.
void joinElements(const FieldInfo& field, Block*& block, Block* more);
/// Sorts a map's entries by key; of equal keys the last one stays. Returns the block to use from
/// now on. Adds the number of dropped entries to `duplicates`.
Block* sortEntries(const FieldInfo& field, Block* block, std::size_t* duplicates = nullptr);

}  // namespace kube::detail
