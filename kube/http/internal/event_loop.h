// The event loop of a transport's I/O thread: sockets, timers and tasks from other threads.
//
// Thread safety: one thread runs the loop and holds the turn, except while it waits. During that
// time another thread may take the turn for a moment by a LoopTurn. Everything here belongs to the
// holder of the turn, except Mailbox, by which any thread reaches the loop at any time. A mailbox
// may outlive its loop, and then refuses tasks.
//
// Work that is added by AfterTurn is done on the loop's thread without the turn. While it takes
// long, an Understudy is the thread in run().
//
// One turn of the loop: wait; call the handlers of ready sockets; run the tasks in the mailbox; run
// due timers; run the tasks that the turn before has left; run deferred tasks. So requests that
// arrive together are written together.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kube/base/internal/mutex.h"

namespace kube::detail {

using Job = std::function<void()>;

class Understudy;

class Mailbox {
 public:
  Mailbox();
  ~Mailbox();
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  /// Queues a task for the loop. Returns whether it will run: false after the loop has ended.
  bool post(Job task);
  /// Ends the loop's run() after the tasks that are queued now. May be called more than once.
  void stop();

 private:
  friend class EventLoop;
  friend class LoopTurn;
  /// Makes the loop take another turn.
  void rouse();
  void wake();

  const int eventFd_;
  Mutex tasksMutex_;
  std::vector<Job> tasks_ KUBE_GUARDED_BY(tasksMutex_);
  bool woken_ KUBE_GUARDED_BY(tasksMutex_) = false;  // a wake-up is pending
  bool stopped_ KUBE_GUARDED_BY(tasksMutex_) = false;
  bool closed_ KUBE_GUARDED_BY(tasksMutex_) = false;
};

/// Receives the events (EPOLLIN, ...) of a file descriptor. May destroy itself and other handlers
/// during the call.
class EventHandler {
 public:
  virtual void onEvents(std::uint32_t events) = 0;

 protected:
  ~EventHandler() = default;
};

class EventLoop {
 public:
  using Clock = std::chrono::steady_clock;
  using TimePoint = Clock::time_point;

  EventLoop();
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  const std::shared_ptr<Mailbox>& mailbox() const { return mailbox_; }

  /// Runs until the mailbox is told to stop. Tasks posted before that are run; later ones are
  /// refused. Calls `atEnd` with the turn, as the last work of the loop.
  void run(const Job& atEnd);

  /// Drops deferred tasks; for `atEnd`.
  void discardDeferred();

  /// Returns whether the calling thread has the turn. For any thread.
  bool isMine() const {
    return holder_.load(std::memory_order_relaxed) == std::this_thread::get_id();
  }

  /// Returns whether the calling thread is the one in run(). For any thread.
  bool isRunner() const {
    return runner_.load(std::memory_order_relaxed) == std::this_thread::get_id();
  }

  /// The time at which this turn began.
  TimePoint now() const { return now_; }

  /// Runs a task at the end of this turn.
  void defer(Job task) { deferred_.push_back(std::move(task)); }
  /// Runs a task in the next turn, after the events that have come meanwhile: so a connection that
  /// always has more data leaves time for others.
  void deferToNextTurn(Job task) { nextTurn_.push_back(std::move(task)); }
  /// Keeps an object alive until the end of this turn, because callers further up the stack may use
  /// it.
  void bury(std::shared_ptr<void> thing) { buried_.push_back(std::move(thing)); }

 private:
  friend class FdWatch;
  friend class LoopTimer;
  friend class LoopTurn;
  using TimerKey = std::pair<TimePoint, std::uint64_t>;

  void takeTurns(const std::function<bool()>& enough, Understudy* understudy, const Job& atEnd);
  void take() KUBE_ACQUIRES(turn_);
  void give() KUBE_RELEASES(turn_);
  int timeoutMillis() const;
  void runMailbox(bool last);
  void runTimers();
  void runDeferred();

  const int epollFd_;
  const std::shared_ptr<Mailbox> mailbox_;
  Mutex turn_;
  std::atomic<std::thread::id> holder_{};  // the thread that holds turn_
  std::atomic<std::thread::id> runner_{};  // the thread in run()
  TimePoint wakeUp_ = TimePoint::min();    // when the waiting loop wakes up without events
  TimePoint now_ = Clock::now();
  std::uint64_t lastId_ = 0;
  bool stopping_ = false;
  bool ended_ = false;
  std::unordered_map<std::uint64_t, EventHandler*>
      handlers_;  // by id, because descriptors are soon reused
  std::map<TimerKey, Job> timers_;
  std::vector<Job> deferred_, running_, nextTurn_;
  std::vector<std::shared_ptr<void>> buried_;
};

/// The turn, taken by a thread other than the loop's. Tasks deferred meanwhile run when the turn is
/// given back.
class LoopTurn {
 public:
  // Whether the turn is held is known at run time only, so the compiler cannot check these three.
  /// Waits for the turn, or does not take it if another thread has it and `wait` is false.
  explicit LoopTurn(EventLoop& loop, bool wait = true) KUBE_NOT_CHECKED;
  ~LoopTurn() { giveBack(); }
  LoopTurn(const LoopTurn&) = delete;
  LoopTurn& operator=(const LoopTurn&) = delete;

  bool taken() const { return taken_; }
  /// Returns whether the loop has ended or is about to: nothing new may begin.
  bool tooLate() const { return loop_.stopping_; }
  void giveBack() KUBE_NOT_CHECKED;
  void takeAgain() KUBE_NOT_CHECKED;

 private:
  EventLoop& loop_;
  bool taken_;
};

/// Reports a descriptor's events to a handler, level-triggered, while it lives.
class FdWatch {
 public:
  FdWatch(EventLoop& loop, int fd, std::uint32_t events, EventHandler& handler);
  ~FdWatch();
  FdWatch(const FdWatch&) = delete;
  FdWatch& operator=(const FdWatch&) = delete;

  /// Costs nothing if the events are the same.
  void setEvents(std::uint32_t events);

 private:
  EventLoop& loop_;
  const int fd_;
  const std::uint64_t id_;
  std::uint32_t events_;
};

/// Runs a task once, at a given time. Destroying the timer cancels the task.
class LoopTimer {
 public:
  explicit LoopTimer(EventLoop& loop) : loop_(loop) {}
  ~LoopTimer() { cancel(); }
  LoopTimer(const LoopTimer&) = delete;
  LoopTimer& operator=(const LoopTimer&) = delete;

  /// Replaces an earlier task.
  void set(EventLoop::TimePoint when, Job task);
  void cancel();
  bool isSet() const;

 private:
  EventLoop& loop_;
  EventLoop::TimerKey key_{};  // its second part is 0 if never set
};

}  // namespace kube::detail
