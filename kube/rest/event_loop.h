// The loop of a transport's I/O thread: sockets, timers and what other threads hand over.
//
// Thread safety: one thread runs the loop, and everything here belongs to it, except Mailbox, which
// is how other threads reach it. A Mailbox may outlive its loop: what is put into it then is
// refused.
//
// One turn of the loop: wait; tell the handlers of ready sockets; run what is in the mailbox; run
// timers that are due; run what was deferred. So requests that come together are written together.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
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

  /// The time at which this turn began.
  TimePoint now() const { return now_; }

  /// Runs a task at the end of this turn.
  void defer(Task task) { deferred_.push_back(std::move(task)); }
  /// Keeps something until the end of this turn: it may be in use further up the stack.
  void bury(std::shared_ptr<void> thing) { buried_.push_back(std::move(thing)); }

 private:
  friend class FdWatch;
  friend class LoopTimer;
  using TimerKey = std::pair<TimePoint, std::uint64_t>;

  int timeoutMillis() const;
  void runMailbox(bool last);
  void runTimers();
  void runDeferred();

  const int epollFd_;
  const std::shared_ptr<Mailbox> mailbox_;
  TimePoint now_ = Clock::now();
  std::uint64_t lastId_ = 0;
  bool stopping_ = false;
  std::unordered_map<std::uint64_t, EventHandler*> handlers_;  // by id: a descriptor is soon reused
  std::map<TimerKey, Task> timers_;
  std::vector<Task> deferred_, running_;
  std::vector<std::shared_ptr<void>> buried_;
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
