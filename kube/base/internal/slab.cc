#include "kube/base/internal/slab.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <new>

#include "kube/base/internal/mutex.h"

namespace kube::detail {

namespace {

constexpr std::size_t kPageBytes = 16 << 10;
constexpr std::size_t kArenaBytes = 8 << 20;  // address space reserved at a time
// Memory made resident at a time: little at first, for small programs, then twice as much each
// time.
constexpr std::size_t kFirstCommitBytes = 2 * kPageBytes;
constexpr std::size_t kMostCommitBytes = 256 << 10;
constexpr std::size_t kKeptPages = 64;  // free pages that always stay resident

// The header of every page.
struct Page {
  Page* next;  // in its class's list of pages with room, or in the list of free pages
  Page* previous;
  FreeBlock* free;     // returned blocks
  char* fresh;         // start of the blocks never handed out, which reach to the page's end
  std::uint32_t used;  // blocks in use or in caches of threads
  std::uint32_t sizeClass;
  bool listed;  // true if the page is in its class's list
};

Page* pageOf(void* block) noexcept {
  return reinterpret_cast<Page*>(reinterpret_cast<std::uintptr_t>(block) & ~(kPageBytes - 1));
}
char* endOf(Page* page) noexcept { return reinterpret_cast<char*>(page) + kPageBytes; }

class SharedPages {
 public:
  /// Gives up to `count` blocks to a shelf.
  void refill(Shelf& shelf, std::size_t sizeClass, std::uint32_t count) {
    const std::size_t size = slabSizeOf(sizeClass);
    Page* surplus = nullptr;
    {
      const Lock lock(pagesMutex_);
      Page* page = room_[sizeClass];
      if (page == nullptr) page = takePage(sizeClass);
      if (page->free != nullptr) {
        for (std::uint32_t i = 0; i < count && page->free != nullptr; ++i) {
          FreeBlock* block = page->free;
          page->free = block->next;
          block->next = shelf.free;
          shelf.free = block;
          ++shelf.count;
          ++page->used;
        }
      } else {
        const auto left = static_cast<std::size_t>(endOf(page) - page->fresh) / size;
        const std::size_t n = std::min<std::size_t>(left, count);
        shelf.fresh = page->fresh;
        page->fresh += n * size;
        shelf.freshEnd = page->fresh;
        for (char* line = shelf.fresh; line < shelf.freshEnd; line += 64) {
          __builtin_prefetch(line, 1);
        }
        page->used += static_cast<std::uint32_t>(n);
      }
      if (!hasRoom(page)) unlist(page);
      surplus = takeSurplus();
    }
    giveToSystem(surplus);
  }

  /// Takes back up to `count` blocks from a shelf.
  void giveBack(Shelf& shelf, std::uint32_t count) noexcept {
    Page* surplus = nullptr;
    {
      const Lock lock(pagesMutex_);
      for (; count > 0 && shelf.free != nullptr; --count) {
        FreeBlock* block = shelf.free;
        shelf.free = block->next;
        --shelf.count;
        put(block);
      }
      surplus = takeSurplus();
    }
    giveToSystem(surplus);
  }
  void giveBackFresh(Shelf& shelf, std::size_t size) noexcept {
    const Lock lock(pagesMutex_);
    for (; shelf.fresh != shelf.freshEnd; shelf.fresh += size) {
      put(reinterpret_cast<FreeBlock*>(shelf.fresh));
    }
  }

  void hold(std::chrono::milliseconds time) noexcept {
    Page* surplus = nullptr;
    {
      const Lock lock(pagesMutex_);
      hold_ = time;
      surplus = takeSurplus();
    }
    giveToSystem(surplus);
  }

  SlabStats stats() noexcept {
    const Lock lock(pagesMutex_);
    return {.pagesInUse = inUse_, .pagesResident = resident_, .pageBytes = kPageBytes};
  }

 private:
  static bool hasRoom(const Page* page) noexcept {
    return page->free != nullptr ||
           static_cast<std::size_t>(endOf(const_cast<Page*>(page)) - page->fresh) >=
               slabSizeOf(page->sizeClass);
  }

  void put(FreeBlock* block) noexcept KUBE_REQUIRES(pagesMutex_) {
    Page* page = pageOf(block);
    block->next = page->free;
    page->free = block;
    if (--page->used == 0) {
      if (page->listed) unlist(page);
      freePage(page);
    } else if (!page->listed) {
      list(page);
    }
  }

  void list(Page* page) noexcept KUBE_REQUIRES(pagesMutex_) {
    Page*& head = room_[page->sizeClass];
    page->previous = nullptr;
    page->next = head;
    if (head != nullptr) head->previous = page;
    head = page;
    page->listed = true;
  }
  void unlist(Page* page) noexcept KUBE_REQUIRES(pagesMutex_) {
    if (page->previous != nullptr) {
      page->previous->next = page->next;
    } else {
      room_[page->sizeClass] = page->next;
    }
    if (page->next != nullptr) page->next->previous = page->previous;
    page->listed = false;
  }

  Page* takePage(std::size_t sizeClass) KUBE_REQUIRES(pagesMutex_) {
    Page* page = nullptr;
    if (freePages_ != nullptr) {
      page = freePages_;
      freePages_ = page->next;
      --resident_;
    } else if (coldCount_ > 0) {
      page = cold_[--coldCount_];
      makeResident(page, kPageBytes);
    } else {
      if (arenaAt_ == arenaEnd_) newArena();
      if (arenaAt_ == committed_) {
        const auto bytes = std::min(commitBytes_, static_cast<std::size_t>(arenaEnd_ - committed_));
        makeResident(committed_, bytes);
        committed_ += bytes;
        commitBytes_ = std::min(2 * commitBytes_, kMostCommitBytes);
      }
      page = reinterpret_cast<Page*>(arenaAt_);
      arenaAt_ += kPageBytes;
    }
    *page = {.next = nullptr,
             .previous = nullptr,
             .free = nullptr,
             .fresh = reinterpret_cast<char*>(page + 1),
             .used = 0,
             .sizeClass = static_cast<std::uint32_t>(sizeClass),
             .listed = false};
    ++inUse_;
    list(page);
    return page;
  }

  // One call for many pages is far cheaper than a fault for each. With kernels that do not support
  // it, the pages fault one by one.
  static void makeResident([[maybe_unused]] void* start, [[maybe_unused]] std::size_t bytes) {
#if defined(MADV_POPULATE_WRITE)
    madvise(start, bytes, MADV_POPULATE_WRITE);
#endif
  }

  void freePage(Page* page) noexcept KUBE_REQUIRES(pagesMutex_) {
    --inUse_;
    ++resident_;
    page->next = freePages_;
    freePages_ = page;
  }

  // Free pages are kept in proportion to the pages in use. Surplus pages return their memory after
  // a while, not at once: a list that replaces another would pay for fresh memory, which costs a
  // fifth of the time to decode it. Checked whenever blocks are traded; there is no thread for it.
  Page* takeSurplus() noexcept KUBE_REQUIRES(pagesMutex_) {
    const std::size_t kept = std::max(kKeptPages, inUse_ / 16);
    if (resident_ <= kept) {
      surplusSince_ = {};
      return nullptr;
    }
    const auto now = coarseNow();
    if (surplusSince_ == std::chrono::milliseconds{}) surplusSince_ = now;
    if (now - surplusSince_ < hold_) return nullptr;
    surplusSince_ = {};
    Page* surplus = nullptr;
    for (std::size_t room = kCold - coldCount_; resident_ > kept && room > 0; --room) {
      Page* page = freePages_;
      freePages_ = page->next;
      page->next = surplus;
      surplus = page;
      --resident_;
    }
    return surplus;
  }

  // Returns the memory of these pages to the system. Their addresses are kept for later use.
  void giveToSystem(Page* surplus) noexcept {
    if (surplus == nullptr) return;
    std::array<Page*, 64> batch;
    while (surplus != nullptr) {
      std::size_t n = 0;
      for (; n < batch.size() && surplus != nullptr; ++n) {
        batch[n] = surplus;
        surplus = surplus->next;
        madvise(batch[n], kPageBytes, MADV_DONTNEED);
      }
      const Lock lock(pagesMutex_);
      for (std::size_t i = 0; i < n; ++i) {
        if (coldCount_ < kCold) cold_[coldCount_++] = batch[i];
      }
    }
  }

  static std::chrono::milliseconds coarseNow() noexcept {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return std::chrono::seconds(now.tv_sec) + std::chrono::duration_cast<std::chrono::milliseconds>(
                                                  std::chrono::nanoseconds(now.tv_nsec));
  }

  void newArena() KUBE_REQUIRES(pagesMutex_) {
    // Maps one page more, to align the start. (Large system pages were tried: not faster, and
    // wasteful.)
    void* memory = mmap(nullptr, kArenaBytes + kPageBytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    const auto start =
        (reinterpret_cast<std::uintptr_t>(memory) + kPageBytes - 1) & ~(kPageBytes - 1);
    arenaAt_ = committed_ = reinterpret_cast<char*>(start);
    arenaEnd_ = arenaAt_ + kArenaBytes;
  }

  Mutex pagesMutex_;
  // Pages with room, by class.
  std::array<Page*, kSlabClasses> room_ KUBE_GUARDED_BY(pagesMutex_){};
  Page* freePages_ KUBE_GUARDED_BY(pagesMutex_) = nullptr;
  std::size_t resident_ KUBE_GUARDED_BY(pagesMutex_) = 0;
  std::size_t inUse_ KUBE_GUARDED_BY(pagesMutex_) = 0;
  std::chrono::milliseconds hold_ KUBE_GUARDED_BY(pagesMutex_){1000};
  std::chrono::milliseconds surplusSince_ KUBE_GUARDED_BY(pagesMutex_){};  // 0: there is no surplus
  static constexpr std::size_t kCold = 65536;                              // a gigabyte of pages
  // Free pages without memory. Not zeroed here: that would make the array resident in every
  // program.
  std::array<Page*, kCold> cold_ KUBE_GUARDED_BY(pagesMutex_);
  std::size_t coldCount_ KUBE_GUARDED_BY(pagesMutex_) = 0;
  char* arenaAt_ KUBE_GUARDED_BY(pagesMutex_) = nullptr;
  char* committed_ KUBE_GUARDED_BY(pagesMutex_) = nullptr;
  std::size_t commitBytes_ KUBE_GUARDED_BY(pagesMutex_) = kFirstCommitBytes;
  char* arenaEnd_ KUBE_GUARDED_BY(pagesMutex_) = nullptr;
};

// Never destroyed: blocks outlive static destructors.
SharedPages& sharedPages() {
  alignas(SharedPages) static char storage[sizeof(SharedPages)];
  static auto* pages = new (storage) SharedPages;
  return *pages;
}

struct EmptyAtExit {
  ~EmptyAtExit() {
    slabFlushThread();
    threadShelves.limit = 0;
    threadShelves.over = true;
  }
};

// Ensures that the thread's shelves are emptied at its end. Returns false if that has happened.
bool willBeEmptied() {
  if (threadShelves.over) return false;
  if (threadShelves.limit != 0) return true;
  thread_local EmptyAtExit end;
  (void)end;
  threadShelves.limit = 2 * ThreadShelves::kBatch;
  return true;
}

}  // namespace

constinit thread_local ThreadShelves threadShelves{};

// Takes a batch, or a single block if the shelf will not be emptied again.
void* slabRefill(Shelf& shelf, std::size_t sizeClass) {
  sharedPages().refill(shelf, sizeClass, willBeEmptied() ? ThreadShelves::kBatch : 1);
  return slabAllocate(slabSizeOf(sizeClass));
}

void slabReturn(Shelf& shelf) noexcept {
  if (!willBeEmptied()) {
    sharedPages().giveBack(shelf, shelf.count);
  } else if (shelf.count >= threadShelves.limit) {
    sharedPages().giveBack(shelf, ThreadShelves::kBatch);
  }
}

void slabFlushThread() noexcept {
  for (std::size_t i = 0; i < kSlabClasses; ++i) {
    Shelf& shelf = threadShelves.shelves[i];
    sharedPages().giveBack(shelf, shelf.count);
    sharedPages().giveBackFresh(shelf, slabSizeOf(i));
    shelf = {};
  }
}

void slabHold(std::chrono::milliseconds time) noexcept { sharedPages().hold(time); }

SlabStats slabStats() noexcept { return sharedPages().stats(); }

}  // namespace kube::detail
