// The reference-counted memory block under String, List, Map and Shared.
//
// A handle is one pointer to a Block; the payload follows the 8-byte header directly. Blocks are
// immutable while shared: a handle writes in place only when it is the sole owner, and copies
// otherwise. Counts are atomic, so handles to one block may be copied and dropped on any thread;
// one handle, like any C++ value, is not to be written by two threads at once.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace kube::detail {

struct Block {
  std::atomic<std::uint32_t> refs;
  std::uint32_t size;  // bytes of a string; of a list, see kRoomShift; of a message, kPresent

  void* payload() noexcept { return this + 1; }
  const void* payload() const noexcept { return this + 1; }
};
static_assert(sizeof(Block) == 8);

/// A list's `size` holds its element count in the low bits. Above them: 0 when the block has room
/// for exactly its elements (as decoded or copied), else the power of two of its room (as appended
/// to). So a list needs no field for its capacity.
inline constexpr int kRoomShift = 27;
inline constexpr std::uint32_t kCountMask = (1U << kRoomShift) - 1;

/// Blocks for payloads, from size-classed slabs (see block.cc). `bytes` includes the header and
/// must be the same for both calls. The new block's count is 1.
Block* allocateBlock(std::size_t bytes, std::uint32_t size);
void freeBlock(Block* block, std::size_t bytes) noexcept;
/// The same memory for what is no block; see BlockAllocator.
void* allocateMemory(std::size_t bytes);
void freeMemory(void* memory, std::size_t bytes) noexcept;
/// Moves a block, which nobody else may hold, to memory of another size; what fits is kept. If it
/// throws, the old one is still there.
Block* resizeBlock(Block* block, std::size_t bytes, std::size_t newBytes);

inline void addRef(Block* block) noexcept {
  if (block != nullptr) block->refs.fetch_add(1, std::memory_order_relaxed);
}

/// True when the caller held the last reference and must destroy and free the block.
inline bool dropRef(Block* block) noexcept {
  // A sole owner needs no atomic read-modify-write: nobody else can hold a handle to copy from.
  if (block->refs.load(std::memory_order_acquire) == 1) return true;
  return block->refs.fetch_sub(1, std::memory_order_acq_rel) == 1;
}

/// Has std::allocate_shared put objects where their parts are: without malloc's words beside each.
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

/// Makes a handle of a block, taking over the caller's reference. Every handle is one Block*.
template <class Handle>
Handle adopt(Block* block) noexcept {
  static_assert(sizeof(Handle) == sizeof(Block*) && std::is_standard_layout_v<Handle>);
  Handle handle;
  *reinterpret_cast<Block**>(&handle) = block;
  return handle;
}

/// The other way round: the caller takes over the handle's reference.
template <class Handle>
Block* release(Handle handle) noexcept {
  static_assert(sizeof(Handle) == sizeof(Block*) && std::is_standard_layout_v<Handle>);
  return std::exchange(*reinterpret_cast<Block**>(&handle), nullptr);
}

inline bool isSole(const Block* block) noexcept {
  return block->refs.load(std::memory_order_acquire) == 1;
}

}  // namespace kube::detail
