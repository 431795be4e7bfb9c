// The reference-counted memory block under String, List, Map and Shared.
//
// A handle is one pointer to a Block; the payload directly follows the 8-byte header. Blocks are
// immutable while shared: a handle writes in place only if it is the sole owner, and copies
// otherwise. Counts are atomic, so handles to one block may be copied and dropped on any thread. As
// with any C++ value, two threads must not write to one handle at once.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace kube::detail {

struct Block {
  std::atomic<std::uint32_t> refs;
  std::uint32_t size;  // string: its bytes; list: see kRoomShift; message: kPresent or kProvisional

  void* payload() noexcept { return this + 1; }
  const void* payload() const noexcept { return this + 1; }
};
static_assert(sizeof(Block) == 8);

/// The low bits of a list's `size` are its element count. The bits above are 0 if the block has
/// room for exactly its elements (as decoded or copied), else the power of two of its capacity (as
/// appended to). So a list needs no field for its capacity.
inline constexpr int kRoomShift = 27;
inline constexpr std::uint32_t kCountMask = (1U << kRoomShift) - 1;

/// Blocks for payloads, from slabs of size classes (see block.cc). `bytes` includes the header and
/// must be the same in both calls. A new block has a count of 1.
Block* allocateBlock(std::size_t bytes, std::uint32_t size);
void freeBlock(Block* block, std::size_t bytes) noexcept;
/// The same memory for objects that are not blocks; see BlockAllocator.
void* allocateMemory(std::size_t bytes);
void freeMemory(void* memory, std::size_t bytes) noexcept;
/// Moves a block without other holders to memory of another size, and keeps as much content as
/// fits. If it throws, the old block stays valid.
Block* resizeBlock(Block* block, std::size_t bytes, std::size_t newBytes);

inline void addRef(Block* block) noexcept {
  if (block != nullptr) block->refs.fetch_add(1, std::memory_order_relaxed);
}

/// Returns true if the caller held the last reference and must destroy and free the block.
inline bool dropRef(Block* block) noexcept {
  // A sole owner needs no atomic read-modify-write: there is no other handle that could be copied.
  if (block->refs.load(std::memory_order_acquire) == 1) return true;
  return block->refs.fetch_sub(1, std::memory_order_acq_rel) == 1;
}

/// For std::allocate_shared: puts objects into the memory of blocks, without malloc's overhead for
/// each.
template <class T>
struct BlockAllocator {
  using value_type = T;
  static_assert(alignof(T) <= alignof(Block*));

  BlockAllocator() = default;
  template <class U>
  BlockAllocator(const BlockAllocator<U>&) noexcept {}

  T* allocate(std::size_t n) { return static_cast<T*>(allocateMemory(n * sizeof(T))); }
  void deallocate(T* memory, std::size_t n) noexcept { freeMemory(memory, n * sizeof(T)); }
  bool operator==(const BlockAllocator&) const = default;
};

/// Makes a handle for a block and takes over the caller's reference. Every handle is one Block*.
template <class Handle>
Handle adopt(Block* block) noexcept {
  static_assert(sizeof(Handle) == sizeof(Block*) && std::is_standard_layout_v<Handle>);
  Handle handle;
  *reinterpret_cast<Block**>(&handle) = block;
  return handle;
}

/// The reverse: the caller takes over the handle's reference.
template <class Handle>
Block* release(Handle handle) noexcept {
  static_assert(sizeof(Handle) == sizeof(Block*) && std::is_standard_layout_v<Handle>);
  return std::exchange(*reinterpret_cast<Block**>(&handle), nullptr);
}

inline bool isSole(const Block* block) noexcept {
  return block->refs.load(std::memory_order_acquire) == 1;
}

}  // namespace kube::detail
