#include "kube/cache/internal/handler_queue.h"

#include <fmt/core.h>

#include <chrono>
#include <optional>
#include <utility>

#include "kube/base/error.h"
#include "kube/base/internal/finally.h"
#include "kube/base/internal/slow_wait.h"

namespace kube::detail {

namespace {
// After this many notifications in a row, other tasks that wait for a thread come first.
constexpr int kInARow = 64;
// A handler that took longer is called on another thread for so many times as the next constant
// says, and then for as long as it takes that long again.
constexpr auto kBrief = std::chrono::microseconds(200);
constexpr int kElsewhere = 16;

// Real time on purpose: it measures the handler.
using Time = std::chrono::steady_clock;
}  // namespace

HandlerQueue::HandlerQueue(const ObjectType& type, std::string_view resource,
                           HandlerOptions options,
                           std::unique_ptr<const NotificationHandler> handler, TaskThreads& threads,
                           Clock& clock)
    : type_(type),
      name_(std::move(options.name)),
      log_(Logger("informer").with("resource", resource)),
      quick_(options.quick),
      executor_(std::move(options.executor)),
      handler_(std::move(handler)),
      threads_(threads),
      clock_(clock) {
  if (quick_ && executor_) {
    throw Error(fmt::format(
        "informer of {}: the handler{}{} is quick and has an executor: choose one of the two",
        resource, name_.empty() ? "" : " ", name_));
  }
}

void HandlerQueue::start() {
  {
    const Lock lock(pendingMutex_);
    started_ = true;
    if (!becomesDue()) return;
  }
  schedule();
}

void HandlerQueue::push(Notification notification) {
  notification.since = clock_.now();
  const Lock lock(pendingMutex_);
  if (stopped_) return;
  if (notification.inInitialList) ++initial_;
  pending_.push_back(std::move(notification));
}

void HandlerQueue::deliver() {
  bool here = false;
  {
    const Lock lock(pendingMutex_);
    if (!becomesDue()) return;
    here = !executor_ && elsewhere_ == 0 && pending_.size() <= kInARow;
  }
  if (quick_) return run();
  if (here && AfterTurn::tryAdd(shared_from_this())) return;
  scheduleOrRun();
}

void HandlerQueue::scheduleOrRun() {
  if (!trySchedule() && !executor_) run();
}

// Whether a thread has to be scheduled now. If so, counts it as scheduled.
bool HandlerQueue::becomesDue() {
  if (scheduled_ || stopped_ || !started_ || pending_.empty()) return false;
  scheduled_ = true;
  return true;
}

// Lets run() be called elsewhere. After stop(), neither the executor nor the threads are used.
void HandlerQueue::schedule() {
  {
    const Lock lock(pendingMutex_);
    if (stopped_) return;
    ++posting_;
  }
  const Finally posted([this] {
    const Lock lock(pendingMutex_);
    --posting_;
    changed_.notifyAll();
  });
  auto work = [self = shared_from_this()] { self->run(); };
  if (executor_) {
    executor_.post(std::move(work));
  } else {
    threads_.run(std::move(work));
  }
}

// Returns false if there is no thread, or the executor refuses the work.
bool HandlerQueue::trySchedule() {
  try {
    schedule();
    return true;
  } catch (const std::exception& error) {
    if (!executor_) {
      log_.error("no thread for handlers, so the informer calls them itself: {}", error.what());
      return false;
    }
    log_.error("the executor of the handler{}{} has refused to call it: {}",
               name_.empty() ? "" : " ", name_, error.what());
  }
  const Lock lock(pendingMutex_);
  scheduled_ = false;  // the next notification tries again
  return false;
}

void HandlerQueue::stop() {
  std::deque<Notification> dropped;
  {
    Lock lock(pendingMutex_);
    stopped_ = true;
    dropped.swap(pending_);
    changed_.notifyAll();
    changed_.threads.wait(lock, [&]() KUBE_REQUIRES(pendingMutex_) { return posting_ == 0; });
    if (delivering_ == std::thread::id() || delivering_ == std::this_thread::get_id()) return;
  }
  const SlowWait slow(clock_, [this](Clock::Duration) {
    log_.warning("waiting for a handler to return: {}", busyWith());
  });
  Lock lock(pendingMutex_);
  changed_.threads.wait(
      lock, [&]() KUBE_REQUIRES(pendingMutex_) { return delivering_ == std::thread::id(); });
  lock.unlock();  // before `dropped` is destroyed, and SlowWait waits for its report
}

bool HandlerQueue::isDelivering() const {
  const Lock lock(pendingMutex_);
  return delivering_ == std::this_thread::get_id();
}

std::string HandlerQueue::busyWith() const {
  const Lock lock(pendingMutex_);
  if (delivering_ == std::thread::id()) return {};
  const Clock::Duration busy = clock_.now() - since_;
  if (busy < std::chrono::seconds(1)) return {};
  return fmt::format("handler{} is busy for {} with {}",
                     name_.empty() ? "" : fmt::format(" \"{}\"", name_), inSeconds(busy),
                     current_.str());
}

bool HandlerQueue::initialDelivered() const {
  const Lock lock(pendingMutex_);
  return initial_ == 0;
}

Task<bool> HandlerQueue::waitForInitial() const {
  const auto over = [this]() KUBE_REQUIRES(pendingMutex_) { return initial_ == 0 || stopped_; };
  co_await changed_.wait(over);
  co_return initialDelivered();
}

std::size_t HandlerQueue::pending() const {
  const Lock lock(pendingMutex_);
  return pending_.size();
}

Clock::Duration HandlerQueue::lag() const {
  const Lock lock(pendingMutex_);
  return pending_.empty() ? Clock::Duration{} : clock_.now() - pending_.front().since;
}

void HandlerQueue::run() {
  Lock lock(pendingMutex_);
  for (;;) {
    const Time::time_point begin = Time::now();
    for (int i = 0; i < kInARow && !pending_.empty(); ++i) {
      Notification notification = std::move(pending_.front());
      pending_.pop_front();
      const bool deleted = notification.type == Notification::Type::Delete;
      current_ = deleted ? notification.key : type_.keyOf(notification.after.get());
      delivering_ = std::this_thread::get_id();
      since_ = clock_.now();
      lock.unlock();
      call(notification);
      const bool initial = notification.inInitialList;
      notification = {};  // destroyed without the lock
      lock.lock();
      delivering_ = {};
      if (initial) --initial_;
      if (stopped_ || (initial && initial_ == 0)) changed_.notifyAll();
    }
    scheduled_ = false;
    if (Time::now() - begin > kBrief) {
      elsewhere_ = kElsewhere;
    } else if (elsewhere_ > 0) {
      --elsewhere_;
    }
    if (!becomesDue()) return;
    // Other tasks of the thread get their turn.
    lock.unlock();
    if (trySchedule() || executor_) return;
    lock.lock();
  }
}

void HandlerQueue::call(const Notification& notification) {
  const auto failed = [&](std::string_view what) {
    ++failures_;
    log_.error("the handler{}{} has thrown: {}", name_.empty() ? "" : " ", name_, what);
  };
  try {
    handler_->handle(notification);
  } catch (const std::exception& error) {
    failed(error.what());
  } catch (...) {
    failed("an exception that is not a std::exception");
  }
}

}  // namespace kube::detail
