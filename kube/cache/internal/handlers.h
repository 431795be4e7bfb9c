// The handlers of an informer, which of them are due for a resync, and whether the first list has
// been passed on to them.
//
// Thread safety: every method may be called from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "kube/base/clock.h"
#include "kube/base/internal/mutex.h"
#include "kube/base/task.h"
#include "kube/cache/internal/first_list.h"
#include "kube/cache/internal/handler_queue.h"

namespace kube::detail {

class Handlers {
 public:
  /// `checkPeriod`: how often shouldResync() will be called; 0: never.
  Handlers(std::string resource, Clock::Duration checkPeriod, Clock& clock)
      : resource_(std::move(resource)), clock_(clock), checkPeriod_(checkPeriod) {}

  /// Adds a handler, and does not start it. `resync`: its period, 0 for never. Before start(), a
  /// shorter period than those of all others shortens the check period.
  void add(std::shared_ptr<HandlerQueue> queue, Clock::Duration resync);
  /// Removes a handler. Waits for it to return, unless the handler itself calls this.
  void remove(const std::shared_ptr<HandlerQueue>& queue);

  /// Queues a notification for every handler; a resync only for handlers that are due. Afterwards,
  /// and without holding locks, call callQuickOnes(), and callOthers() once per batch.
  void distribute(const Notification& notification, bool sync);
  void callQuickOnes() const { call(true); }
  void callOthers() const { call(false); }
  /// Starts calling handlers. Returns the check period, which is fixed from now on.
  Clock::Duration start();
  void stop();

  /// Returns whether any handler is due for a resync. distribute() sends resyncs to those from now
  /// on.
  bool shouldResync();
  std::uint64_t failures() const;
  /// The number of waiting notifications of all handlers.
  std::size_t pending() const;
  /// How long the oldest waiting notification has waited.
  Clock::Duration lag() const;
  std::size_t size() const;
  /// Returns whether one of the handlers calls this.
  bool areCalling() const;
  /// HandlerQueue::busyWith() of the handlers that have been busy for long.
  std::vector<std::string> busy() const;
  /// The informer's state, kept here because registrations may outlive the informer.
  FirstList& firstList() noexcept { return firstList_; }
  /// Waits until the informer's cache has synced. Returns false if a stop is requested first, or
  /// the informer has ended. If nothing runs the informer, a warning is logged after some seconds.
  /// The handlers outlive the task.
  Task<bool> waitForFirstList() const;
  TaskThreads& threads() const noexcept { return *threads_; }
  Clock& clock() const noexcept { return clock_; }

 private:
  struct Entry {
    std::shared_ptr<HandlerQueue> queue;
    Clock::Duration wanted{};  // requested; 0: no resyncs
    Clock::Duration period{};  // granted; 0: no resyncs
    Clock::TimePoint next{};
    bool syncing = true;
  };
  struct Queues {
    std::vector<std::shared_ptr<HandlerQueue>> quick, others;
  };

  Clock::Duration periodFor(Clock::Duration wanted) const KUBE_REQUIRES(entriesMutex_);
  void noteQueues() KUBE_REQUIRES(entriesMutex_);
  void call(bool quick) const;

  const std::shared_ptr<TaskThreads> threads_ = TaskThreads::shared();
  const std::string resource_;
  Clock& clock_;
  FirstList firstList_;

  mutable Mutex entriesMutex_;
  Clock::Duration checkPeriod_ KUBE_GUARDED_BY(entriesMutex_);
  std::vector<Entry> entries_ KUBE_GUARDED_BY(entriesMutex_);
  // The queues of the entries. The object is replaced, never changed.
  std::shared_ptr<const Queues> queues_ KUBE_GUARDED_BY(entriesMutex_);
  bool started_ KUBE_GUARDED_BY(entriesMutex_) = false;
  std::uint64_t failuresOfRemoved_ KUBE_GUARDED_BY(entriesMutex_) = 0;
};

}  // namespace kube::detail
