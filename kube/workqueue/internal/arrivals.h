// Items that were added to a queue and are not in its tables yet.
//
// add() only notes its item here, under a lock of its own, so that adding and working disturb each
// other little. Every other method of the queue begins by moving the arrivals into the tables, so
// the buffer cannot be observed.
//
// While the bell is on, an add has to take the queue's lock and wake a worker, because no worker
// would notice the item (worker_parking.h).
//
// Thread safety: every method may be called from any thread. arrivalsMutex_ is the innermost lock.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "kube/base/clock.h"
#include "kube/workqueue/internal/spin_mutex.h"

namespace kube::detail {

template <class T>
struct Arrival {
  T key;
  std::uint32_t hash;
  Clock::TimePoint added;  // for metrics alone
};

/// The part of the arrivals that does not depend on the type of the items.
class AddBell {
 public:
  /// Returns whether items have arrived before. Then the bell does not ring for them.
  bool turn(bool on) noexcept KUBE_EXCLUDES(arrivalsMutex_) {
    const SpinLock lock(arrivalsMutex_);
    on_ = on;
    return count_.load(std::memory_order_relaxed) != 0;
  }

 protected:
  SpinMutex arrivalsMutex_;
  bool on_ KUBE_GUARDED_BY(arrivalsMutex_) = false;
  // Written with the lock held, and read without it to see whether the lock is worth taking.
  std::atomic<std::size_t> count_ = 0;
};

template <class T>
class Arrivals : public AddBell {
 public:
  // Measured: with half as many, adders take the queue's lock so often that it is noticed.
  static constexpr std::size_t kMost = 128;

  Arrivals() { items_.reserve(kMost); }

  /// Returns whether the caller has to move the arrivals into the tables now: because of the bell,
  /// or because the buffer is full. Once closed, items are dropped.
  bool add(Arrival<T>&& arrival) KUBE_EXCLUDES(arrivalsMutex_) {
    const SpinLock lock(arrivalsMutex_);
    if (closed_) return false;
    items_.push_back(std::move(arrival));
    count_.store(items_.size(), std::memory_order_relaxed);
    return on_ || items_.size() >= kMost;
  }

  /// Moves all of them to `to`, which is empty.
  void moveTo(std::vector<Arrival<T>>& to) KUBE_EXCLUDES(arrivalsMutex_) {
    if (count_.load(std::memory_order_relaxed) == 0) return;
    const SpinLock lock(arrivalsMutex_);
    to.swap(items_);
    count_.store(0, std::memory_order_relaxed);
  }

  void close() KUBE_EXCLUDES(arrivalsMutex_) {
    const SpinLock lock(arrivalsMutex_);
    closed_ = true;
  }

 private:
  bool closed_ KUBE_GUARDED_BY(arrivalsMutex_) = false;
  std::vector<Arrival<T>> items_ KUBE_GUARDED_BY(arrivalsMutex_);
};

}  // namespace kube::detail
