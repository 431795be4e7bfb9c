// A shared mutex whose readers do not touch each other's memory.
//
// A reader counts itself in one of several counters, each on a cache line of its own, so that
// readers on different cores run side by side at full speed: with std::shared_mutex every reader
// writes to the same word, and two cores read slower than one. A writer raises a flag and waits
// until all counters are zero; new readers wait for the flag to fall, so a writer is never starved.
// For data that is read far more often than written.
//
// Works with std::shared_lock and std::unique_lock. A lock is given back by the thread that took
// it, and is not recursive, not even for readers: a writer may be waiting in between.
//
// Thread safety: of course.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace kube::detail {

class ReadMostlyMutex {
 public:
  ReadMostlyMutex() = default;
  ReadMostlyMutex(const ReadMostlyMutex&) = delete;
  ReadMostlyMutex& operator=(const ReadMostlyMutex&) = delete;

  // Counting oneself and then looking at the flag, against raising the flag and then looking at the
  // counters: sequential consistency makes sure that one of the two sees the other.
  void lock_shared() noexcept {
    Counter& mine = counter();
    mine.readers.fetch_add(1);
    if (writing_.load() != 0) [[unlikely]]
      waitForWriter(mine);
  }
  void unlock_shared() noexcept {
    Counter& mine = counter();
    mine.readers.fetch_sub(1);
    if (writing_.load() != 0) [[unlikely]]
      mine.readers.notify_one();
  }

  void lock() {
    writers_.lock();
    writing_.store(1);
    for (Counter& one : counters_) {
      for (std::uint32_t n = one.readers.load(); n != 0; n = one.readers.load()) {
        one.readers.wait(n);
      }
    }
  }
  void unlock() {
    writing_.store(0);
    writing_.notify_all();
    writers_.unlock();
  }

 private:
  static constexpr std::size_t kCounters = 16;
  struct alignas(64) Counter {
    std::atomic<std::uint32_t> readers{0};
  };

  Counter& counter() noexcept {
    static std::atomic<std::size_t> threads{0};
    thread_local const std::size_t mine = threads.fetch_add(1) % kCounters;
    return counters_[mine];
  }
  void waitForWriter(Counter& mine) noexcept {
    do {
      mine.readers.fetch_sub(1);
      mine.readers.notify_one();
      writing_.wait(1);
      mine.readers.fetch_add(1);
    } while (writing_.load() != 0);
  }

  std::mutex writers_;                     // one at a time
  std::atomic<std::uint32_t> writing_{0};  // 1 while one of them writes, or waits for readers
  std::array<Counter, kCounters> counters_;
};

}  // namespace kube::detail
