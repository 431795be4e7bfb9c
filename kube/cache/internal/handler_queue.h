// The notifications that wait for one handler of an informer.
//
// Every handler has its own queue, so that a slow handler delays no other. A handler is called with
// one notification at a time, in order: a quick handler on the thread that delivers, others by the
// executor of their options or on a thread of TaskThreads. A handler that was brief so far is
// called by the thread that delivers, too, but between two turns of its loop (see AfterTurn).
// Exceptions of the handler are logged and counted; the next notification follows.
//
// Thread safety: every method may be called from any thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "kube/base/clock.h"
#include "kube/base/executor.h"
#include "kube/base/internal/condition.h"
#include "kube/base/internal/mutex.h"
#include "kube/base/internal/threads/after_turn.h"
#include "kube/base/log.h"
#include "kube/base/task.h"
#include "kube/base/task_threads.h"
#include "kube/cache/handler_options.h"
#include "kube/cache/internal/notification.h"
#include "kube/cache/internal/object_type.h"
#include "kube/meta/object_key.h"

namespace kube::detail {

class HandlerQueue final : public std::enable_shared_from_this<HandlerQueue>,
                           public AfterTurn::Work {
 public:
  /// `resource` ("pods") appears in the log. `threads` and the executor must outlive the queue
  /// until stop(). Throws Error for options that contradict each other.
  HandlerQueue(const ObjectType& type, std::string_view resource, HandlerOptions options,
               std::unique_ptr<const NotificationHandler> handler, TaskThreads& threads,
               Clock& clock);

  /// Starts delivery, including notifications that were pushed before. Throws Error if no thread
  /// can be started.
  void start();
  /// Queues a notification. deliver() has to follow, once for any number of calls.
  void push(Notification notification);
  /// Delivers waiting notifications, unless that is under way: on this thread if the handler is
  /// quick, else on another. The caller must not hold locks that the handler may need.
  void deliver();
  bool quick() const noexcept { return quick_; }
  /// Ends delivery and drops waiting notifications. Waits for a notification that is being
  /// delivered, unless the handler itself calls this. A long wait is logged.
  void stop();

  /// Returns whether all queued notifications of the initial list have been delivered.
  bool initialDelivered() const;
  /// Waits until initialDelivered(). Returns false if a stop is requested first, or the queue is
  /// stopped. The queue outlives the task.
  Task<bool> waitForInitial() const;
  std::size_t pending() const;
  /// How long the first waiting notification has waited.
  Clock::Duration lag() const;
  std::uint64_t failures() const noexcept { return failures_; }
  /// Returns whether the handler itself calls this.
  bool isDelivering() const;
  /// A text about a notification that has taken the handler a second or longer: `handler "audit" is
  /// busy for 12 s with book/web-1`. Empty if there is none.
  std::string busyWith() const;

 private:
  bool becomesDue() KUBE_REQUIRES(pendingMutex_);
  void schedule();
  bool trySchedule();
  void scheduleOrRun();
  void runHere() override { run(); }
  void runElsewhere() override { scheduleOrRun(); }
  void run();
  void call(const Notification& notification);

  const ObjectType& type_;
  const std::string name_;
  const Logger log_;
  const bool quick_;
  const Executor executor_;
  const std::unique_ptr<const NotificationHandler> handler_;
  TaskThreads& threads_;
  Clock& clock_;
  std::atomic<std::uint64_t> failures_{0};

  mutable Mutex pendingMutex_;
  mutable Condition changed_{pendingMutex_};
  std::deque<Notification> pending_ KUBE_GUARDED_BY(pendingMutex_);
  // Notifications of the initial list that are not delivered yet.
  std::size_t initial_ KUBE_GUARDED_BY(pendingMutex_) = 0;
  bool started_ KUBE_GUARDED_BY(pendingMutex_) = false;
  bool scheduled_ KUBE_GUARDED_BY(pendingMutex_) = false;  // a thread delivers, or will
  int posting_ KUBE_GUARDED_BY(pendingMutex_) = 0;         // threads that schedule now
  bool stopped_ KUBE_GUARDED_BY(pendingMutex_) = false;
  // So many calls follow on other threads, because the handler took long.
  int elsewhere_ KUBE_GUARDED_BY(pendingMutex_) = 0;
  // While the handler runs: its thread, the object of its notification, and when it was called.
  std::thread::id delivering_ KUBE_GUARDED_BY(pendingMutex_){};
  ObjectKey current_ KUBE_GUARDED_BY(pendingMutex_);
  Clock::TimePoint since_ KUBE_GUARDED_BY(pendingMutex_){};
};

}  // namespace kube::detail
