// A shared mutex whose readers do not write to each other's cache lines. For data that is read far
// more often than written.
//
// A reader counts itself in one of several counters, each on a cache line of its own, so that
// readers on different cores run side by side at full speed. With std::shared_mutex every reader
// writes to the same word, and two cores read slower than one. A writer raises a flag and waits
// until all counters are zero; new readers wait for the flag to fall, so writers never starve.
//
// Do not use it for data that is written about as often as read (a writer visits all 16 cache
// lines), for small objects that exist in great numbers (a mutex takes over 1 KiB), or around
// anything that blocks.
//
// The thread that takes a lock releases it. Locks are not recursive, not even for readers: a writer
// may be waiting in between.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "kube/base/internal/mutex.h"

namespace kube::detail {

class KUBE_LOCKABLE("mutex") ReadMostlyMutex {
 public:
  ReadMostlyMutex() = default;
  ReadMostlyMutex(const ReadMostlyMutex&) = delete;
  ReadMostlyMutex& operator=(const ReadMostlyMutex&) = delete;

  // A reader counts itself and then looks at the flag; a writer raises the flag and then looks at
  // the counters. Sequential consistency ensures that at least one of the two sees the other.
  void lock_shared() noexcept KUBE_ACQUIRES_SHARED() {
    Counter& mine = counter();
    mine.readers.fetch_add(1);
    if (writing_.load() != 0) [[unlikely]]
      waitForWriter(mine);
  }
  void unlock_shared() noexcept KUBE_RELEASES_SHARED() {
    Counter& mine = counter();
    mine.readers.fetch_sub(1);
    if (writing_.load() != 0) [[unlikely]]
      mine.readers.notify_one();
  }

  void lock() KUBE_ACQUIRES() {
    writersMutex_.lock();
    writing_.store(1);
    for (Counter& one : counters_) {
      for (std::uint32_t n = one.readers.load(); n != 0; n = one.readers.load()) {
        one.readers.wait(n);
      }
    }
  }
  void unlock() KUBE_RELEASES() {
    writing_.store(0);
    writing_.notify_all();
    writersMutex_.unlock();
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

  Mutex writersMutex_;                     // held by the writer
  std::atomic<std::uint32_t> writing_{0};  // 1 while a writer writes, or waits for readers
  std::array<Counter, kCounters> counters_;
};

/// Holds a ReadMostlyMutex for reading until the end of the block.
class KUBE_SCOPED_LOCK ReadLock {
 public:
  explicit ReadLock(ReadMostlyMutex& mutex) KUBE_ACQUIRES_SHARED(mutex) : mutex_(mutex) {
    mutex_.lock_shared();
  }
  ~ReadLock() KUBE_RELEASES() { mutex_.unlock_shared(); }
  ReadLock(const ReadLock&) = delete;
  ReadLock& operator=(const ReadLock&) = delete;

 private:
  ReadMostlyMutex& mutex_;
};

/// Holds a ReadMostlyMutex for writing until the end of the block.
class KUBE_SCOPED_LOCK WriteLock {
 public:
  explicit WriteLock(ReadMostlyMutex& mutex) KUBE_ACQUIRES(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~WriteLock() KUBE_RELEASES() { mutex_.unlock(); }
  WriteLock(const WriteLock&) = delete;
  WriteLock& operator=(const WriteLock&) = delete;

 private:
  ReadMostlyMutex& mutex_;
};

}  // namespace kube::detail
