// The notifications that one handler of an informer has still to get.
//
// Every handler has its own, so that a slow one holds up nobody else. A handler is called with one
// notification at a time, in order, by some thread of TaskThreads, or a quick one by whoever
// delivers. What it throws is logged and counted, and the next one follows.
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
#include "kube/base/internal/mutex.h"
#include "kube/base/log.h"
#include "kube/base/task_threads.h"
#include "kube/cache/internal/notification.h"
#include "kube/cache/internal/object_type.h"
#include "kube/meta/object_key.h"

namespace kube::detail {

class HandlerQueue : public std::enable_shared_from_this<HandlerQueue> {
 public:
  /// `resource` ("pods") and `name` are for the log. The threads must be there until it is stopped.
  HandlerQueue(const ObjectType& type, std::string_view resource, std::string name, bool quick,
               std::unique_ptr<const NotificationHandler> handler, TaskThreads& threads,
               Clock& clock);

  /// From now on notifications are delivered, those that came before too. Throws Error where that
  /// takes a thread, and none is to be had.
  void start();
  /// Follow it by deliver(), or several by one.
  void push(Notification notification);
  /// What waits is delivered, unless that is being done: here if the handler is quick, else by
  /// another thread. Without locks that the handler may want.
  void deliver();
  bool quick() const noexcept { return quick_; }
  /// No notification is delivered any more, and what waits is dropped. If one is being delivered,
  /// waits for that to end, unless it is the handler who calls this. A wait that takes long is
  /// logged.
  void stop();

  /// Whether all notifications of the initial list so far have been delivered.
  bool initialDelivered() const;
  /// Blocks until that is so; false if a stop is requested before, or the queue is stopped.
  bool waitForInitial(const std::stop_token& stop) const;
  std::size_t pending() const;
  /// How long the first of them has waited.
  Clock::Duration lag() const;
  std::uint64_t failures() const noexcept { return failures_; }
  /// Whether it is the handler who calls this.
  bool isDelivering() const;
  /// What the handler is busy with, for people, if it is for a second or longer: "handler "audit"
  /// is busy for 12 s with book/web-1".
  std::string busyWith() const;

 private:
  bool becomesDue() KUBE_REQUIRES(pendingMutex_);
  void getThread();
  void run();
  bool passOn() KUBE_REQUIRES(pendingMutex_);
  void call(const Notification& notification);

  const ObjectType& type_;
  const std::string name_;
  const Logger log_;
  const bool quick_;
  const std::unique_ptr<const NotificationHandler> handler_;
  TaskThreads& threads_;
  Clock& clock_;
  std::atomic<std::uint64_t> failures_{0};

  mutable Mutex pendingMutex_;
  mutable std::condition_variable_any changed_;
  std::deque<Notification> pending_ KUBE_GUARDED_BY(pendingMutex_);
  // Notifications of the initial list that are not delivered yet.
  std::size_t initial_ KUBE_GUARDED_BY(pendingMutex_) = 0;
  bool started_ KUBE_GUARDED_BY(pendingMutex_) = false;
  bool scheduled_ KUBE_GUARDED_BY(pendingMutex_) = false;  // a thread delivers, or will
  bool stopped_ KUBE_GUARDED_BY(pendingMutex_) = false;
  // While the handler runs: its thread, the object of its notification, and when it was called.
  std::thread::id delivering_ KUBE_GUARDED_BY(pendingMutex_){};
  ObjectKey current_ KUBE_GUARDED_BY(pendingMutex_);
  Clock::TimePoint since_ KUBE_GUARDED_BY(pendingMutex_){};
};

}  // namespace kube::detail
