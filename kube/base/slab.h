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

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace kube::detail {

/// Blocks up to this size come from slabs; the caller takes larger ones from malloc.
inline constexpr std::size_t kMaxSlabBytes = 1024;

void* slabAllocate(std::size_t bytes);
void slabFree(void* block, std::size_t bytes) noexcept;

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
