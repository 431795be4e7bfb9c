// How the workers of a queue wait for items.
//
// A worker that finds no item sleeps until it is called. Each worker that takes an item and leaves
// others behind calls the next: a chain of wakes instead of one for each item. add() calls a worker
// only while the bell is on, which costs it the queue's lock.
//
// Waking a worker takes longer than handling a small item. So a worker yields to the others if they
// took items while it was being woken, or if it found the queue's lock taken: it naps, for kNap at
// a time, while the others keep up with the arrivals. One worker naps at most. Meanwhile no other
// is called: either a worker with an item is done soon, or the nap ends soon.
//
// Coroutines sleep, too. A thread that is called is up soon, so no other worker is called
// meanwhile. A coroutine gets up when its executor has time. So for each item that waits one
// coroutine is called, and the item stays in the queue, for the first worker that comes.
//
// Thread safety: the queue's lock guards all of this. It is held in every call except wake() and
// goOn().
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <stop_token>
#include <utility>

#include "kube/workqueue/internal/arrivals.h"
#include "kube/workqueue/internal/spin_mutex.h"

namespace kube::detail {

class Completion;

/// The work of a queue at a time.
struct QueueLoad {
  std::size_t waiting = 0;  // items without a worker
  std::uint64_t taken = 0;  // items that workers have taken, ever
  bool inWork = false;      // a worker has an item
};

class WorkerParking {
 public:
  class Sleeper;
  /// Coroutines that sleep, or are called.
  using Sleepers = std::list<Sleeper>;
  /// The place of a coroutine in the parking; it lives in the coroutine.
  struct Bed {
    enum class State : std::uint8_t { Empty, Asleep, Called };
    State state = State::Empty;
    Sleepers::iterator sleeper = {};
  };
  class Sleeper {
   public:
    Sleeper(Bed& bed, std::shared_ptr<Completion> completion)
        : bed_(&bed), completion_(std::move(completion)) {}

   private:
    friend class WorkerParking;
    Bed* bed_;
    std::shared_ptr<Completion> completion_;
  };

  // Naps are kNap long. Others keep up if they took all items that waited when the nap began, or
  // kMaxThroughput, and in any case kMinThroughput.
  static constexpr std::chrono::microseconds kNap{100};
  static constexpr std::size_t kMinThroughput = 4;
  static constexpr std::size_t kMaxThroughput = 100;

  /// The party that notices the next item.
  enum class Lookout : std::uint8_t {
    Workers,  // none of them sleeps, and each looks before it does
    Called,   // a sleeping thread that was called
    Napping,  // the worker that naps, or another that has an item
    Bell,     // none of these, but the adder: the bell is on
  };
  Lookout lookout(const QueueLoad& load) const noexcept {
    if (asleep_ == 0) return Lookout::Workers;
    if (called_) return Lookout::Called;
    return napping_ && load.inWork ? Lookout::Napping : Lookout::Bell;
  }

  explicit WorkerParking(AddBell& bell) : bell_(bell) {}

  enum class Wake : std::uint8_t { Nobody, Thread, Coroutine };
  /// Called before the lock is given back. Returns the argument for wake(), or Coroutine: then
  /// callCoroutines() has to follow.
  [[nodiscard]] Wake requestWake(const QueueLoad& load) noexcept;
  /// Calls as many coroutines as there are items for, and sets `whom` to the argument for wake().
  /// Returns them for goOn().
  [[nodiscard]] Sleepers callCoroutines(const QueueLoad& load, Wake& whom) noexcept;
  /// Called without the lock.
  void wake(Wake whom) noexcept {
    if (whom == Wake::Thread) awake_.notify_one();
  }
  /// Called without the lock.
  static void goOn(const Sleepers& called) noexcept;

  /// Admits arrivals and returns the load.
  using Look = std::function<QueueLoad()>;
  /// Waits until an item waits, a stop is requested or the parking is closed.
  void waitForItem(SpinLock& lock, const std::stop_token& stop, const Look& look);
  /// Waits while other workers keep up with the arrivals, if they were as fast as that since
  /// `takenBefore`: they took kMinThroughput items.
  void yieldToOthers(SpinLock& lock, const std::stop_token& stop, const Look& look,
                     std::uint64_t takenBefore);

  /// Lets a coroutine sleep until it is called, or something else completes its completion. It gets
  /// up before it looks for an item, and before it is destroyed.
  void fallAsleep(Bed& bed, std::shared_ptr<Completion> completion);
  void getUp(Bed& bed) noexcept;

  /// Wakes all workers, and lets none sleep from now on. Returns coroutines for goOn().
  [[nodiscard]] Sleepers close() noexcept;
  bool closed() const noexcept { return closed_; }

  /// The number of sleeping workers, including a thread that naps or was called.
  std::uint32_t asleep() const noexcept { return asleep_; }

 private:
  bool turnBell(bool on) noexcept;
  enum class Sleep : bool { UntilCalled, Nap };
  // Returns whether the worker was called.
  bool sleep(SpinLock& lock, const std::stop_token& stop, const QueueLoad& load, Sleep how);

  // Invariant, when the lock is free: lookout() is Bell only while the bell is on and no item waits
  // but those that coroutines were called for, or until an adder that heard the bell takes the
  // lock.
  AddBell& bell_;
  bool bellOn_ = false;
  bool closed_ = false;
  bool called_ = false;       // one of the sleeping threads, which is not up yet
  bool napping_ = false;      // one of the sleeping threads
  std::uint32_t asleep_ = 0;  // threads, and the coroutines in `coroutines_`
  Sleepers coroutines_;
  std::size_t coming_ = 0;  // coroutines that were called, and are not up yet
  std::uint64_t takenWhenCalled_ = 0;
  std::condition_variable_any awake_;
};

}  // namespace kube::detail
