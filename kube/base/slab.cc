#include "kube/base/slab.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <mutex>
#include <new>

namespace kube::detail {

namespace {

constexpr std::size_t kPageBytes = 16 << 10;
constexpr std::size_t kArenaBytes = 8 << 20;     // address space taken at a time
constexpr std::size_t kCommitBytes = 256 << 10;  // made resident at a time
constexpr std::size_t kKeptPages = 64;           // free pages always kept resident
constexpr std::uint32_t kBatch = 32;             // blocks traded with the shared pages at a time

// 8-byte steps to 256, 16 to 512, 32 to 1024.
constexpr std::size_t kClasses = 32 + 16 + 16;
constexpr std::size_t classOf(std::size_t bytes) noexcept {
  if (bytes <= 256) return (bytes + 7) / 8 - 1;
  if (bytes <= 512) return 32 + (bytes - 256 + 15) / 16 - 1;
  return 48 + (bytes - 512 + 31) / 32 - 1;
}
constexpr std::size_t sizeOf(std::size_t index) noexcept {
  if (index < 32) return (index + 1) * 8;
  if (index < 48) return 256 + (index - 31) * 16;
  return 512 + (index - 47) * 32;
}
static_assert(sizeOf(classOf(kMaxSlabBytes)) == kMaxSlabBytes &&
              classOf(kMaxSlabBytes) + 1 == kClasses);

struct FreeBlock {
  FreeBlock* next;
};

// At the start of every page.
struct Page {
  Page* next;  // in its class's list of pages with room, or in the list of free pages
  Page* previous;
  FreeBlock* free;     // blocks given back
  char* fresh;         // blocks never handed out: from here to the page's end
  std::uint32_t used;  // blocks out, in threads' caches or in use
  std::uint32_t sizeClass;
  bool listed;  // in its class's list
};

Page* pageOf(void* block) noexcept {
  return reinterpret_cast<Page*>(reinterpret_cast<std::uintptr_t>(block) & ~(kPageBytes - 1));
}
char* endOf(Page* page) noexcept { return reinterpret_cast<char*>(page) + kPageBytes; }

// What a thread holds of one class: a run of fresh blocks, and blocks given back.
struct Shelf {
  char* fresh = nullptr;
  char* freshEnd = nullptr;
  FreeBlock* free = nullptr;
  std::uint32_t count = 0;  // of `free`
};

class SharedPages {
 public:
  /// Gives up to `count` blocks to a shelf.
  void refill(Shelf& shelf, std::size_t sizeClass, std::uint32_t count) {
    const std::size_t size = sizeOf(sizeClass);
    Page* surplus = nullptr;
    {
      const std::lock_guard lock(pages_);
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
        page->used += static_cast<std::uint32_t>(n);
      }
      if (!hasRoom(page)) unlist(page);
      surplus = takeSurplus();
    }
    giveToSystem(surplus);
  }

  /// Takes back up to `count` blocks of a shelf.
  void giveBack(Shelf& shelf, std::uint32_t count) noexcept {
    Page* surplus = nullptr;
    {
      const std::lock_guard lock(pages_);
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
    const std::lock_guard lock(pages_);
    for (; shelf.fresh != shelf.freshEnd; shelf.fresh += size) {
      put(reinterpret_cast<FreeBlock*>(shelf.fresh));
    }
  }

  void hold(std::chrono::milliseconds time) noexcept {
    Page* surplus = nullptr;
    {
      const std::lock_guard lock(pages_);
      hold_ = time;
      surplus = takeSurplus();
    }
    giveToSystem(surplus);
  }

  SlabStats stats() noexcept {
    const std::lock_guard lock(pages_);
    return {.pagesInUse = inUse_, .pagesResident = resident_, .pageBytes = kPageBytes};
  }

 private:
  static bool hasRoom(const Page* page) noexcept {
    return page->free != nullptr ||
           static_cast<std::size_t>(endOf(const_cast<Page*>(page)) - page->fresh) >=
               sizeOf(page->sizeClass);
  }

  void put(FreeBlock* block) noexcept {
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

  void list(Page* page) noexcept {
    Page*& head = room_[page->sizeClass];
    page->previous = nullptr;
    page->next = head;
    if (head != nullptr) head->previous = page;
    head = page;
    page->listed = true;
  }
  void unlist(Page* page) noexcept {
    if (page->previous != nullptr) {
      page->previous->next = page->next;
    } else {
      room_[page->sizeClass] = page->next;
    }
    if (page->next != nullptr) page->next->previous = page->previous;
    page->listed = false;
  }

  Page* takePage(std::size_t sizeClass) {
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
        makeResident(committed_, kCommitBytes);
        committed_ += kCommitBytes;
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

  // One call for many pages is far cheaper than a fault for each. Where the kernel does not know
  // it, they fault one by one.
  static void makeResident([[maybe_unused]] void* start, [[maybe_unused]] std::size_t bytes) {
#if defined(MADV_POPULATE_WRITE)
    madvise(start, bytes, MADV_POPULATE_WRITE);
#endif
  }

  void freePage(Page* page) noexcept {
    --inUse_;
    ++resident_;
    page->next = freePages_;
    freePages_ = page;
  }

  // Free pages are kept in proportion to those in use. The surplus gives its memory back after a
  // while: a list that replaces another would otherwise pay for fresh memory, which costs a fifth
  // of the time to decode it. Looked at whenever blocks are traded; there is no thread for it.
  Page* takeSurplus() noexcept {
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

  // Takes the memory from behind these pages. Their addresses stay, to be used again.
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
      const std::lock_guard lock(pages_);
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

  void newArena() {
    // Over-mapped by a page, to align. (Large system pages were tried: no faster, and wasteful.)
    void* memory = mmap(nullptr, kArenaBytes + kPageBytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    const auto start =
        (reinterpret_cast<std::uintptr_t>(memory) + kPageBytes - 1) & ~(kPageBytes - 1);
    arenaAt_ = committed_ = reinterpret_cast<char*>(start);
    arenaEnd_ = arenaAt_ + kArenaBytes;
  }

  std::mutex pages_;
  std::array<Page*, kClasses> room_{};  // pages with room, by class
  Page* freePages_ = nullptr;
  std::size_t resident_ = 0;
  std::size_t inUse_ = 0;
  std::chrono::milliseconds hold_{1000};
  std::chrono::milliseconds surplusSince_{};   // 0: there is none
  static constexpr std::size_t kCold = 65536;  // a gigabyte of them
  std::array<Page*, kCold> cold_{};            // free pages without memory
  std::size_t coldCount_ = 0;
  char* arenaAt_ = nullptr;
  char* committed_ = nullptr;
  char* arenaEnd_ = nullptr;
};

// Never destroyed: blocks outlive static destructors.
SharedPages& sharedPages() {
  alignas(SharedPages) static char storage[sizeof(SharedPages)];
  static auto* pages = new (storage) SharedPages();
  return *pages;
}

struct ThreadCache {
  std::array<Shelf, kClasses> shelves;
  bool watched = false;  // its thread's end will flush it
  bool over = false;     // it has
};
constinit thread_local ThreadCache cache{};

struct FlushAtExit {
  ~FlushAtExit() {
    slabFlushThread();
    cache.over = true;
  }
};

// Sees to it that the thread's end gives back what is cached.
void watchThread() {
  cache.watched = true;
  thread_local FlushAtExit flush;
  (void)flush;
}

// The slow half of allocate: takes a batch; one block where the cache will not be flushed again.
void refill(Shelf& shelf, std::size_t sizeClass) {
  if (!cache.watched) watchThread();
  sharedPages().refill(shelf, sizeClass, cache.over ? 1 : kBatch);
}

}  // namespace

void* slabAllocate(std::size_t bytes) {
  const std::size_t sizeClass = classOf(bytes);
  Shelf& shelf = cache.shelves[sizeClass];
  for (;;) {
    if (shelf.free != nullptr) {
      FreeBlock* block = shelf.free;
      shelf.free = block->next;
      --shelf.count;
      return block;
    }
    if (shelf.fresh != shelf.freshEnd) {
      char* block = shelf.fresh;
      shelf.fresh += sizeOf(sizeClass);
      return block;
    }
    refill(shelf, sizeClass);
  }
}

void slabFree(void* memory, std::size_t bytes) noexcept {
  Shelf& shelf = cache.shelves[classOf(bytes)];
  auto* block = static_cast<FreeBlock*>(memory);
  block->next = shelf.free;
  shelf.free = block;
  if (!cache.watched) [[unlikely]]
    watchThread();  // a thread that only frees
  if (++shelf.count >= 2 * kBatch || cache.over) {
    sharedPages().giveBack(shelf, cache.over ? shelf.count : kBatch);
  }
}

void slabFlushThread() noexcept {
  for (std::size_t i = 0; i < kClasses; ++i) {
    Shelf& shelf = cache.shelves[i];
    sharedPages().giveBack(shelf, shelf.count);
    sharedPages().giveBackFresh(shelf, sizeOf(i));
    shelf = {};
  }
}

void slabHold(std::chrono::milliseconds time) noexcept { sharedPages().hold(time); }

SlabStats slabStats() noexcept { return sharedPages().stats(); }

}  // namespace kube::detail
