// The loop of a transport's I/O thread: sockets, timers and what other threads hand over.
//
// Thread safety: one thread runs the loop. Everything here belongs to whoever has the turn, which
// is that thread except while it waits; then another may take it for a moment, by a LoopTurn.
// Mailbox is how others reach the loop at any time. It may outlive its loop: what is put into it
// then is refused.
//
// One turn of the loop: wait; tell the handlers of ready sockets; run what is in the mailbox; run
// timers that are due; run what was deferred. So requests that come together are written together.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kube::detail {

using Task = std::function<void()>;

class Mailbox {
 public:
  Mailbox();
  ~Mailbox();
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  /// Has the loop run a task. Says whether it will: false after the loop has ended.
  bool post(Task task);
  /// Ends the loop's run() after the tasks that are here now. May be called more than once.
  void stop();

 private:
  friend class EventLoop;
  friend class LoopTurn;
  /// Has the loop take another turn.
  void rouse();
  void wake();

  const int eventFd_;
  std::mutex mutex_;
  std::vector<Task> tasks_;
  bool woken_ = false;  // the loop has a wake-up coming: no need for another
  bool stopped_ = false;
  bool closed_ = false;
};

/// Gets the events (EPOLLIN, ...) of a file descriptor. May destroy itself and others meanwhile.
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

  /// Until the mailbox is told to stop. What was posted by then is run; later posts are refused.
  void run();

  /// After run(): what was deferred meanwhile will not happen.
  void discardDeferred();

  /// Whether this thread has the turn. For any thread.
  bool isMine() const {
    return holder_.load(std::memory_order_relaxed) == std::this_thread::get_id();
  }

  /// The time at which this turn began.
  TimePoint now() const { return now_; }

  /// Runs a task at the end of this turn.
  void defer(Task task) { deferred_.push_back(std::move(task)); }
  /// Keeps something until the end of this turn: it may be in use further up the stack.
  void bury(std::shared_ptr<void> thing) { buried_.push_back(std::move(thing)); }

 private:
  friend class FdWatch;
  friend class LoopTimer;
  friend class LoopTurn;
  using TimerKey = std::pair<TimePoint, std::uint64_t>;

  void take();
  void give();
  int timeoutMillis() const;
  void runMailbox(bool last);
  void runTimers();
  void runDeferred();

  const int epollFd_;
  const std::shared_ptr<Mailbox> mailbox_;
  std::mutex turn_;
  std::atomic<std::thread::id> holder_{};  // of turn_
  TimePoint wakeUp_ = TimePoint::min();    // when the loop's thread stops waiting by itself
  TimePoint now_ = Clock::now();
  std::uint64_t lastId_ = 0;
  bool stopping_ = false;
  std::unordered_map<std::uint64_t, EventHandler*> handlers_;  // by id: a descriptor is soon reused
  std::map<TimerKey, Task> timers_;
  std::vector<Task> deferred_, running_;
  std::vector<std::shared_ptr<void>> buried_;
};

/// The turn, taken by a thread that is not the loop's. What it defers is run when it gives it back.
class LoopTurn {
 public:
  /// Not taken if others have it and `wait` is false.
  explicit LoopTurn(EventLoop& loop, bool wait = true);
  ~LoopTurn() { giveBack(); }
  LoopTurn(const LoopTurn&) = delete;
  LoopTurn& operator=(const LoopTurn&) = delete;

  bool taken() const { return taken_; }
  /// The loop has ended, or is about to: nothing new may be begun.
  bool tooLate() const { return loop_.stopping_; }
  void giveBack();
  void takeAgain();

 private:
  EventLoop& loop_;
  bool taken_;
};

/// Has a handler told of a descriptor's events, level-triggered, while it lives.
class FdWatch {
 public:
  FdWatch(EventLoop& loop, int fd, std::uint32_t events, EventHandler& handler);
  ~FdWatch();
  FdWatch(const FdWatch&) = delete;
  FdWatch& operator=(const FdWatch&) = delete;

  /// Costs nothing where nothing changes.
  void setEvents(std::uint32_t events);

 private:
  EventLoop& loop_;
  const int fd_;
  const std::uint64_t id_;
  std::uint32_t events_;
};

/// Runs a task once, at a time. Destroying it prevents that.
class LoopTimer {
 public:
  explicit LoopTimer(EventLoop& loop) : loop_(loop) {}
  ~LoopTimer() { cancel(); }
  LoopTimer(const LoopTimer&) = delete;
  LoopTimer& operator=(const LoopTimer&) = delete;

  /// Replaces what was set before.
  void set(EventLoop::TimePoint when, Task task);
  void cancel();
  bool isSet() const;

 private:
  EventLoop& loop_;
  EventLoop::TimerKey key_{};  // the second part is 0 when never set
};

}  // namespace kube::detail
