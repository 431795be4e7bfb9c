#include "kube/base/internal/slab.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <deque>
#include <mutex>
#include <random>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "kube/base/string.h"

namespace kube::detail {
namespace {

using namespace std::chrono_literals;

struct Piece {
  unsigned char* memory;
  std::size_t bytes;
  unsigned char mark;
};

Piece take(std::size_t bytes, unsigned char mark) {
  auto* memory = static_cast<unsigned char*>(slabAllocate(bytes));
  std::memset(memory, mark, bytes);
  return {memory, bytes, mark};
}
bool isIntact(const Piece& piece) {
  for (std::size_t i = 0; i < piece.bytes; ++i) {
    if (piece.memory[i] != piece.mark) return false;
  }
  return true;
}
void giveBack(const Piece& piece) { slabFree(piece.memory, piece.bytes); }

// Pages in use, without the pages that this thread caches.
std::size_t pagesInUse() {
  slabFlushThread();
  return slabStats().pagesInUse;
}

TEST(SlabTest, BlocksOfEverySizeAreApartAndAligned) {
  std::vector<Piece> pieces;
  for (std::size_t bytes = 1; bytes <= kMaxSlabBytes; ++bytes) {
    for (int i = 0; i < 5; ++i)
      pieces.push_back(take(bytes, static_cast<unsigned char>(pieces.size())));
  }
  for (const Piece& piece : pieces) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(piece.memory) % 8, 0u) << piece.bytes;
    EXPECT_TRUE(isIntact(piece)) << piece.bytes;
  }
  for (const Piece& piece : pieces) giveBack(piece);
}

TEST(SlabTest, FreedBlocksServeAgain) {
  const Piece first = take(40, 1);
  giveBack(first);
  const Piece second = take(40, 2);
  EXPECT_EQ(first.memory, second.memory);  // the thread's own cache returns the last block first
  giveBack(second);

  // Freeing and allocating in a loop needs no more pages.
  const std::size_t before = pagesInUse();
  for (int i = 0; i < 200'000; ++i) giveBack(take(static_cast<std::size_t>(i) % 100 + 1, 3));
  EXPECT_LE(pagesInUse(), before);
}

TEST(SlabTest, MemoryIsReturnedWhenAllIsFreed) {
  const std::size_t before = pagesInUse();
  std::vector<Piece> pieces;
  for (int i = 0; i < 100'000; ++i) pieces.push_back(take(200, static_cast<unsigned char>(i)));
  const SlabStats full = slabStats();
  EXPECT_GE((full.pagesInUse - before) * full.pageBytes, pieces.size() * 200);
  EXPECT_LE((full.pagesInUse - before) * full.pageBytes, pieces.size() * 200 * 11 / 10);
  std::mt19937 random(1);
  std::shuffle(pieces.begin(), pieces.end(), random);
  for (const Piece& piece : pieces) giveBack(piece);
  EXPECT_EQ(pagesInUse(), before);
  // Most of it is returned to the system after a while.
  EXPECT_GT(slabStats().pagesResident, (full.pagesInUse - before) / 2);
  slabHold(0ms);
  EXPECT_LT(slabStats().pagesResident, (full.pagesInUse - before) / 4);

  // The returned pages can be used again.
  pieces.clear();
  for (int i = 0; i < 100'000; ++i) pieces.push_back(take(200, static_cast<unsigned char>(i)));
  for (const Piece& piece : pieces) EXPECT_TRUE(isIntact(piece));
  for (const Piece& piece : pieces) giveBack(piece);
  EXPECT_EQ(pagesInUse(), before);
  EXPECT_LT(slabStats().pagesResident, (full.pagesInUse - before) / 4);
  slabHold(1s);
}

TEST(SlabTest, FreePagesServeAnySize) {
  const std::size_t before = pagesInUse();
  for (const std::size_t bytes : {24, 1000, 64, 512, 8}) {
    std::vector<Piece> pieces;
    const std::size_t count = (4 << 20) / bytes;
    for (std::size_t i = 0; i < count; ++i)
      pieces.push_back(take(bytes, static_cast<unsigned char>(i)));
    for (const Piece& piece : pieces) EXPECT_TRUE(isIntact(piece));
    for (const Piece& piece : pieces) giveBack(piece);
    EXPECT_EQ(pagesInUse(), before) << bytes;
  }
}

TEST(SlabTest, BlocksMayBeFreedOnAnotherThread) {
  const std::size_t before = pagesInUse();
  std::vector<Piece> pieces;
  for (int i = 0; i < 50'000; ++i) {
    pieces.push_back(take(static_cast<std::size_t>(i % 300 + 1), static_cast<unsigned char>(i)));
  }
  slabFlushThread();
  std::thread([&] {
    for (const Piece& piece : pieces) {
      EXPECT_TRUE(isIntact(piece));
      giveBack(piece);
    }
  }).join();
  EXPECT_EQ(pagesInUse(), before);
}

TEST(SlabTest, TheEndOfAThreadReturnsItsCache) {
  const std::size_t before = pagesInUse();
  for (int i = 0; i < 20; ++i) {
    std::thread([] {
      for (std::size_t bytes = 8; bytes <= kMaxSlabBytes; bytes += 8) giveBack(take(bytes, 1));
    }).join();
  }
  EXPECT_EQ(pagesInUse(), before);
}

// This includes a thread that never allocated a block, and so never needed a page.
TEST(SlabTest, TheEndOfAThreadThatOnlyFreesReturnsItsCache) {
  const std::size_t before = pagesInUse();
  for (int i = 0; i < 20; ++i) {
    const Piece piece = take(88, 1);
    slabFlushThread();
    std::thread([piece] { giveBack(piece); }).join();
    EXPECT_EQ(pagesInUse(), before);
  }
}

// Thread-local objects may outlive the cache of their thread.
struct DropsAtExit {
  String held;
  ~DropsAtExit() { held = String("another one, made while the thread ends"); }
};
TEST(SlabTest, BlocksAreTakenAndFreedWhileAThreadEnds) {
  const std::size_t before = pagesInUse();
  for (int i = 0; i < 20; ++i) {
    std::thread([] {
      thread_local DropsAtExit early;
      early.held = String("made before the cache is watched: dropped after it is gone");
    }).join();
  }
  EXPECT_EQ(pagesInUse(), before);
}

TEST(SlabTest, ManyThreadsTakeAndFreeEachOthersBlocks) {
  const std::size_t before = pagesInUse();
  constexpr int kThreads = 4;
  constexpr int kRounds = 20'000;
  std::mutex mutex;
  std::deque<Piece> shared;
  std::atomic<int> broken = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(static_cast<unsigned>(t));
      std::vector<Piece> own;
      for (int i = 0; i < kRounds; ++i) {
        own.push_back(take(random() % kMaxSlabBytes + 1, static_cast<unsigned char>(random())));
        if (own.size() < 50) continue;
        const std::lock_guard lock(mutex);
        for (int k = 0; k < 40; ++k) {
          std::swap(own[random() % own.size()], own.back());
          shared.push_back(own.back());
          own.pop_back();
        }
        for (int k = 0; k < 38 && !shared.empty(); ++k) {
          if (!isIntact(shared.front())) ++broken;
          giveBack(shared.front());
          shared.pop_front();
        }
      }
      for (const Piece& piece : own) {
        if (!isIntact(piece)) ++broken;
        giveBack(piece);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Piece& piece : shared) {
    if (!isIntact(piece)) ++broken;
    giveBack(piece);
  }
  EXPECT_EQ(broken, 0);
  EXPECT_EQ(pagesInUse(), before);
}

TEST(SlabTest, StringsPassBetweenThreads) {
  std::vector<std::thread> threads;
  const String shared("copied and dropped on every thread");
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&shared] {
      for (int i = 0; i < 10'000; ++i) {
        const String copy = shared;
        const String own(std::to_string(i));
        EXPECT_EQ(copy.size(), shared.size());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace kube::detail
