// A mutex for critical sections of some tens of nanoseconds, and its lock, checked by clang as
// those of kube/base/internal/mutex.h are.
//
// A thread that finds the mutex taken looks again for a moment before it sleeps, because sleeping
// costs a hundred times as much. The mutex is not fair: the first thread that finds it free has it.
//
// Do not use it for longer sections, or where a thread holds it while it allocates much: threads
// that wait for it burn the processor's time.
#pragma once

#include <atomic>
#include <mutex>
#include <thread>

#include "kube/base/internal/mutex.h"

namespace kube::detail {

/// Tells the processor that this is a loop that waits.
inline void cpuRelax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// False with a single processor: the thread that holds the mutex does not run meanwhile.
inline bool worthSpinning() noexcept {
  static const bool worth = std::thread::hardware_concurrency() > 1;
  return worth;
}

class KUBE_LOCKABLE("mutex") SpinMutex {
 public:
  SpinMutex() = default;
  SpinMutex(const SpinMutex&) = delete;
  SpinMutex& operator=(const SpinMutex&) = delete;

  void lock() noexcept KUBE_ACQUIRES() {
    if (!take()) takeSlowly();
  }
  bool try_lock() noexcept KUBE_TRIES(true) { return take(); }
  void unlock() noexcept KUBE_RELEASES() {
    if (state_.exchange(kFree, std::memory_order_release) == kWaitedFor) state_.notify_one();
  }

 private:
  static constexpr int kFree = 0;
  static constexpr int kTaken = 1;
  static constexpr int kWaitedFor = 2;  // taken, and a thread may be asleep
  static constexpr int kSpins = 40;

  bool take() noexcept {
    int free = kFree;
    return state_.compare_exchange_strong(free, kTaken, std::memory_order_acquire,
                                          std::memory_order_relaxed);
  }
  void takeSlowly() noexcept {
    if (worthSpinning()) {
      for (int i = 0; i < kSpins; ++i) {
        cpuRelax();
        if (state_.load(std::memory_order_relaxed) == kFree && take()) return;
      }
    }
    while (state_.exchange(kWaitedFor, std::memory_order_acquire) != kFree) {
      state_.wait(kWaitedFor, std::memory_order_relaxed);
    }
  }

  std::atomic<int> state_ = kFree;
};

/// Holds a SpinMutex until its end; it may be unlocked and locked again before, also by a
/// std::condition_variable_any.
class KUBE_SCOPED_LOCK SpinLock {
 public:
  explicit SpinLock(SpinMutex& mutex) KUBE_ACQUIRES(mutex) : mutex_(mutex) { mutex_.lock(); }
  /// Takes over what try_lock() has locked.
  SpinLock(SpinMutex& mutex, std::adopt_lock_t /*adopt*/) KUBE_REQUIRES(mutex) : mutex_(mutex) {}
  ~SpinLock() KUBE_RELEASES() {
    if (locked_) mutex_.unlock();
  }
  SpinLock(const SpinLock&) = delete;
  SpinLock& operator=(const SpinLock&) = delete;

  void lock() noexcept KUBE_ACQUIRES() {
    mutex_.lock();
    locked_ = true;
  }
  void unlock() noexcept KUBE_RELEASES() {
    locked_ = false;
    mutex_.unlock();
  }

 private:
  SpinMutex& mutex_;
  bool locked_ = true;
};

}  // namespace kube::detail
