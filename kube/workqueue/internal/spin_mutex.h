// A mutex for critical sections of some tens of nanoseconds: who finds it taken looks again for a
// moment before going to sleep, which costs a hundred times as much.
//
// It is not fair: whoever comes just when it is free gets it.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

namespace kube::detail {

/// Tells the processor that this is a loop of looking and waiting.
inline void cpuRelax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Whether looking again may help: with one processor it never does.
inline bool worthSpinning() noexcept {
  static const bool worth = std::thread::hardware_concurrency() > 1;
  return worth;
}

class SpinMutex {
 public:
  SpinMutex() = default;
  SpinMutex(const SpinMutex&) = delete;
  SpinMutex& operator=(const SpinMutex&) = delete;

  void lock() noexcept {
    if (!try_lock()) lockSlowly();
  }
  bool try_lock() noexcept {
    int free = kFree;
    return state_.compare_exchange_strong(free, kTaken, std::memory_order_acquire,
                                          std::memory_order_relaxed);
  }
  void unlock() noexcept {
    if (state_.exchange(kFree, std::memory_order_release) == kWaitedFor) state_.notify_one();
  }

 private:
  static constexpr int kFree = 0;
  static constexpr int kTaken = 1;
  static constexpr int kWaitedFor = 2;  // taken, and somebody may be asleep
  static constexpr int kLooks = 40;

  void lockSlowly() noexcept {
    if (worthSpinning()) {
      for (int i = 0; i < kLooks; ++i) {
        cpuRelax();
        if (state_.load(std::memory_order_relaxed) == kFree && try_lock()) return;
      }
    }
    while (state_.exchange(kWaitedFor, std::memory_order_acquire) != kFree) {
      state_.wait(kWaitedFor, std::memory_order_relaxed);
    }
  }

  std::atomic<int> state_ = kFree;
};

}  // namespace kube::detail
