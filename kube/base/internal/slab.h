// Memory for blocks, allocated in bulk: size classes without headers per block.
//
// A cache of API objects is hundreds of thousands of blocks of a few dozen bytes. malloc spends 8
// to 16 more bytes on each, and a page fault on every 4 KB; slabs spend neither. Pages of 16 KB
// hold blocks of one size. Each thread has a small cache of blocks, which trades with the shared
// pages in batches. A page whose blocks are all free can serve any size again. If many pages are
// free for a second, they are returned to the system.
//
// Thread safety: everything may be called from any thread. A block may be freed on another thread
// than the one that allocated it. Lock order: there is one lock, `pages_`, held for list operations
// only.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace kube::detail {

/// The greatest size of blocks in slabs; callers take larger blocks from malloc.
inline constexpr std::size_t kMaxSlabBytes = 1024;

// Steps of 8 bytes up to 256, of 16 up to 512, of 32 up to 1024.
inline constexpr std::size_t kSlabClasses = 32 + 16 + 16;
constexpr std::size_t slabClassOf(std::size_t bytes) noexcept {
  if (bytes <= 256) return (bytes + 7) / 8 - 1;
  if (bytes <= 512) return 32 + (bytes - 256 + 15) / 16 - 1;
  return 48 + (bytes - 512 + 31) / 32 - 1;
}
constexpr std::size_t slabSizeOf(std::size_t sizeClass) noexcept {
  if (sizeClass < 32) return (sizeClass + 1) * 8;
  if (sizeClass < 48) return 256 + (sizeClass - 31) * 16;
  return 512 + (sizeClass - 47) * 32;
}
static_assert(slabSizeOf(slabClassOf(kMaxSlabBytes)) == kMaxSlabBytes &&
              slabClassOf(kMaxSlabBytes) + 1 == kSlabClasses);

/// A block that is not in use.
struct FreeBlock {
  FreeBlock* next;
};

/// A thread's blocks of one class: returned blocks, and a run of fresh ones.
struct Shelf {
  FreeBlock* free = nullptr;
  char* fresh = nullptr;
  char* freshEnd = nullptr;
  std::uint32_t count = 0;  // blocks in `free`
};

struct ThreadShelves {
  static constexpr std::uint32_t kBatch = 32;  // blocks traded with the shared pages at a time

  std::array<Shelf, kSlabClasses> shelves;
  // The number of returned blocks that a shelf may hold. 0 until it is certain that the shelf will
  // be emptied at the thread's end, and again after that.
  std::uint32_t limit = 0;
  bool over = false;
};
extern constinit thread_local ThreadShelves threadShelves;

// Handle an empty shelf, and a shelf that is full.
void* slabRefill(Shelf& shelf, std::size_t sizeClass);
void slabReturn(Shelf& shelf) noexcept;

// Inline, because a decoder makes a block for every other field.

inline void* slabAllocate(std::size_t bytes) {
  const std::size_t sizeClass = slabClassOf(bytes);
  Shelf& shelf = threadShelves.shelves[sizeClass];
  if (FreeBlock* block = shelf.free) {
    shelf.free = block->next;
    --shelf.count;
    return block;
  }
  if (char* block = shelf.fresh; block != shelf.freshEnd) {
    shelf.fresh = block + slabSizeOf(sizeClass);
    return block;
  }
  return slabRefill(shelf, sizeClass);
}

inline void slabFree(void* memory, std::size_t bytes) noexcept {
  Shelf& shelf = threadShelves.shelves[slabClassOf(bytes)];
  auto* block = static_cast<FreeBlock*>(memory);
  block->next = shelf.free;
  shelf.free = block;
  if (++shelf.count >= threadShelves.limit) slabReturn(shelf);
}

struct SlabStats {
  std::size_t pagesInUse = 0;     // pages with at least one block in use or cached by a thread
  std::size_t pagesResident = 0;  // free, but kept for later
  std::size_t pageBytes = 0;
};
SlabStats slabStats() noexcept;

/// Sets how long surplus free pages stay resident; 1 s at first.
void slabHold(std::chrono::milliseconds time) noexcept;

/// Returns this thread's cache to the shared pages, as the end of the thread does.
void slabFlushThread() noexcept;

}  // namespace kube::detail
