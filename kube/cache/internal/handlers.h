// The handlers of an informer: who they are, and which of them are due for a resync.
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
#include "kube/cache/internal/handler_queue.h"

namespace kube::detail {

/// Whether the informer itself is up to date.
struct Upstream {
  std::function<bool()> hasSynced;
  std::function<bool(const std::stop_token&)> waitForSync;
};

class Handlers {
 public:
  /// `checkPeriod` is how often shouldResync() will be asked; 0 for never.
  Handlers(std::string resource, Upstream upstream, Clock::Duration checkPeriod, Clock& clock)
      : resource_(std::move(resource)),
        upstream_(std::move(upstream)),
        clock_(clock),
        checkPeriod_(checkPeriod) {}

  /// It is not started, if the others are not. `resync`: 0 for never. Before the start, a handler
  /// that wants a resync more often than anyone so far has everyone asked more often.
  void add(std::shared_ptr<HandlerQueue> queue, Clock::Duration resync);
  /// Waits for the handler to return, unless it is the handler who calls this.
  void remove(const std::shared_ptr<HandlerQueue>& queue);

  /// To all; what is only a sync, to those who are to have it. Then, without locks,
  /// callQuickOnes(); and after one or several, callOthers().
  void distribute(const Notification& notification, bool sync);
  void callQuickOnes() const { call(true); }
  void callOthers() const { call(false); }
  /// From now on handlers are called. Fixes the period, and returns it.
  Clock::Duration start();
  void stop();

  /// Whether anyone is due. From now on, syncs go to those who are.
  bool shouldResync();
  std::uint64_t failures() const;
  /// Notifications that wait, of all.
  std::size_t pending() const;
  /// How long the one that has waited longest has.
  Clock::Duration lag() const;
  std::size_t size() const;
  /// Whether one of them calls this.
  bool areCalling() const;
  /// What those that are busy for long are busy with; see HandlerQueue::busyWith().
  std::vector<std::string> busy() const;
  const Upstream& upstream() const noexcept { return upstream_; }
  /// Whether the informer itself is up to date; waits for that, which is logged where it takes long
  /// since nothing runs the informer. False: a stop is requested first, or the informer has ended.
  bool waitForUpstream(const std::stop_token& stop) const;
  TaskThreads& threads() const noexcept { return *threads_; }
  Clock& clock() const noexcept { return clock_; }

 private:
  struct Entry {
    std::shared_ptr<HandlerQueue> queue;
    Clock::Duration wanted{};  // 0: no resyncs
    Clock::Duration period{};  // what it gets
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
  const Upstream upstream_;
  Clock& clock_;

  mutable Mutex entriesMutex_;
  Clock::Duration checkPeriod_ KUBE_GUARDED_BY(entriesMutex_);
  std::vector<Entry> entries_ KUBE_GUARDED_BY(entriesMutex_);
  // The queues of the entries. The object is replaced, never changed.
  std::shared_ptr<const Queues> queues_ KUBE_GUARDED_BY(entriesMutex_);
  bool started_ KUBE_GUARDED_BY(entriesMutex_) = false;
  std::uint64_t failuresOfRemoved_ KUBE_GUARDED_BY(entriesMutex_) = 0;
};

}  // namespace kube::detail
