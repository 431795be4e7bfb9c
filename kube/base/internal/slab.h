// Memory for blocks: size classes without per-block headers, in bulk.
//
// A cache of API objects is hundreds of thousands of blocks of a few dozen bytes. malloc spends 8
// to 16 bytes more on each and a page fault on every fourth kilobyte; this spends neither. Pages of
// 16 KB hold blocks of one size. Threads take blocks from, and give them to, a small cache of their
// own, which trades with the shared pages in batches. A page whose blocks are all free serves any
// size again; when many are free for a second, they go back to the system.
//
// Thread safety: everything may be called from any thread; a block may be freed on another thread
// than it was made on. Lock order: there is one lock, `pages_`, held for list operations only.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace kube::detail {

/// Blocks up to this size come from slabs; the caller takes larger ones from malloc.
inline constexpr std::size_t kMaxSlabBytes = 1024;

// 8-byte steps to 256, 16 to 512, 32 to 1024.
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

/// What a thread holds of one class: blocks given back, and a run of fresh ones.
struct Shelf {
  FreeBlock* free = nullptr;
  char* fresh = nullptr;
  char* freshEnd = nullptr;
  std::uint32_t count = 0;  // of `free`
};

struct ThreadShelves {
  static constexpr std::uint32_t kBatch = 32;  // blocks traded with the shared pages at a time

  std::array<Shelf, kSlabClasses> shelves;
  // How many blocks given back a shelf may hold: none before it is certain that the thread's end
  // will empty them, and after it has.
  std::uint32_t limit = 0;
  bool over = false;
};
extern constinit thread_local ThreadShelves threadShelves;

// What the shelf does not have, and what it has no room for.
void* slabRefill(Shelf& shelf, std::size_t sizeClass);
void slabReturn(Shelf& shelf) noexcept;

// In line, since a decoder makes a block for every other field.

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
  std::size_t pagesInUse = 0;     // holding at least one block or cached by a thread
  std::size_t pagesResident = 0;  // free, but kept for the next need
  std::size_t pageBytes = 0;
};
SlabStats slabStats() noexcept;

/// How long more free pages than needed are kept resident, 1 s at first.
void slabHold(std::chrono::milliseconds time) noexcept;

/// Gives this thread's cache back to the shared pages, as the end of the thread does.
void slabFlushThread() noexcept;

}  // namespace kube::detail
