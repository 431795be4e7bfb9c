#include "kube/base/clock.h"

#include <algorithm>
#include <compare>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "kube/base/error.h"
#include "kube/base/internal/guarded.h"
#include "kube/base/internal/mutex.h"
#include "kube/base/internal/start_thread.h"

namespace kube {

// The timers of one clock, ordered by time, then by creation. The queue does not read the time
// itself: its clock calls runDue().
class detail::TimerQueue {
 public:
  using TimePoint = Clock::TimePoint;

  struct Added {
    std::uint64_t id;
    bool first;  // no other timer is due earlier
  };

  Added add(TimePoint when, std::function<void()> function) {
    const Lock lock(timersMutex_);
    const std::uint64_t id = ++lastId_;
    auto at = pending_.emplace(Key{when, id}, std::move(function)).first;
    whenById_.emplace(id, when);
    return {id, at == pending_.begin()};
  }

  bool cancel(std::uint64_t id) {
    std::function<void()> dropped;  // destroyed without the lock: it may own timers
    Lock lock(timersMutex_);
    if (auto found = whenById_.find(id); found != whenById_.end()) {
      auto at = pending_.find(Key{found->second, id});
      dropped = std::move(at->second);
      pending_.erase(at);
      whenById_.erase(found);
      return true;
    }
    ended_.wait(lock, [&]() KUBE_REQUIRES(timersMutex_) {
      auto running = running_.find(id);
      return running == running_.end() || running->second == std::this_thread::get_id();
    });
    return false;
  }

  std::optional<TimePoint> next() const {
    const Lock lock(timersMutex_);
    if (pending_.empty()) return std::nullopt;
    return pending_.begin()->first.when;
  }

  std::size_t size() const {
    const Lock lock(timersMutex_);
    return pending_.size();
  }

  // Runs the first timer if its time has come.
  bool runDue(TimePoint now) {
    std::uint64_t id = 0;
    std::function<void()> function;
    {
      const Lock lock(timersMutex_);
      if (pending_.empty() || pending_.begin()->first.when > now) return false;
      auto first = pending_.begin();
      id = first->first.id;
      function = std::move(first->second);
      pending_.erase(first);
      whenById_.erase(id);
      running_.emplace(id, std::this_thread::get_id());
    }
    guarded("clock", "a timer's function", function);
    function = nullptr;  // destroys its captures before cancel() returns
    {
      const Lock lock(timersMutex_);
      running_.erase(id);
    }
    ended_.notify_all();
    return true;
  }

 private:
  struct Key {
    TimePoint when;
    std::uint64_t id;
    auto operator<=>(const Key&) const = default;
  };

  mutable Mutex timersMutex_;
  std::condition_variable ended_;
  std::map<Key, std::function<void()>> pending_ KUBE_GUARDED_BY(timersMutex_);
  std::map<std::uint64_t, TimePoint> whenById_
      KUBE_GUARDED_BY(timersMutex_);  // the same timers as pending_
  std::map<std::uint64_t, std::thread::id> running_ KUBE_GUARDED_BY(timersMutex_);
  std::uint64_t lastId_ KUBE_GUARDED_BY(timersMutex_) = 0;
};

Timer& Timer::operator=(Timer&& other) noexcept {
  if (this == &other) return *this;
  cancel();
  queue_ = std::move(other.queue_);
  id_ = other.id_;
  return *this;
}

bool Timer::cancel() {
  auto queue = std::exchange(queue_, nullptr);
  return queue && queue->cancel(id_);
}

Clock::Clock() : timers_(std::make_shared<detail::TimerQueue>()) {}
Clock::~Clock() = default;

Clock::TimePoint Clock::deadlineAfter(Duration d) const {
  const TimePoint start = now();
  return d > noDeadline - start ? noDeadline : start + d;
}

bool Clock::sleepUntil(TimePoint deadline, const std::stop_token& stop) {
  detail::Mutex mutex;  // guards nothing, but waits need one
  std::condition_variable_any never;
  detail::Lock lock(mutex);
  waitUntil(never, lock, stop, deadline, [] { return false; });
  return !stop.stop_requested();
}

bool Clock::sleepFor(Duration d, const std::stop_token& stop) {
  return sleepUntil(deadlineAfter(d), stop);
}

Timer Clock::callAt(TimePoint when, std::function<void()> function) {
  const auto added = timers_->add(when, std::move(function));
  Timer timer(timers_, added.id);
  timerAdded(added.first);  // if this throws, there is no timer
  return timer;
}

Timer Clock::callAfter(Duration d, std::function<void()> function) {
  return callAt(deadlineAfter(d), std::move(function));
}

namespace {

// Returns a predicate for the standard waits that lets exactly one notification through.
auto afterOneWait() {
  return [waited = false]() mutable { return std::exchange(waited, true); };
}

class RealClock final : public Clock {
 public:
  TimePoint now() const override { return std::chrono::steady_clock::now(); }

  WallTime wallNow() const override {
    return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
  }

 private:
  void waitOnce(std::condition_variable_any& changed, std::unique_lock<std::mutex>& lock,
                const std::stop_token& stop, TimePoint deadline) override {
    if (deadline == noDeadline) {
      changed.wait(lock, stop, afterOneWait());
    } else {
      changed.wait_until(lock, stop, deadline, afterOneWait());
    }
  }

  void timerAdded(bool first) override {
    if (!first) return;
    const detail::Lock lock(wakeMutex_);
    wake_ = true;
    if (!timerThread_.joinable()) {
      timerThread_ = detail::startingThread("the clock's timers", [this] {
        return std::thread([this] {
          detail::blockSignals();
          runTimers();
        });
      });
    }
    wakeChanged_.notify_all();
  }

  void runTimers() {
    for (;;) {
      while (timers_->runDue(now())) {
      }
      detail::Lock lock(wakeMutex_);
      // A timer that was added after runDue() has set wake_, so the wait ends at once.
      const TimePoint next = timers_->next().value_or(noDeadline);
      waitUntil(wakeChanged_, lock, {}, next, [&]() KUBE_REQUIRES(wakeMutex_) { return wake_; });
      wake_ = false;
    }
  }

  detail::Mutex wakeMutex_;
  std::condition_variable_any wakeChanged_;
  bool wake_ KUBE_GUARDED_BY(wakeMutex_) = false;
  std::thread timerThread_ KUBE_GUARDED_BY(wakeMutex_);
};

}  // namespace

Clock& realClock() {
  // Never destroyed: objects of static storage may use it until the process ends.
  static RealClock* const clock = new RealClock;
  return *clock;
}

// A thread in waitOnce(). The Waiter lives on that thread's stack. advance() must lock the waiter's
// mutex without holding timeMutex_, so it pins the waiter first.
struct FakeClock::Waiter {
  std::condition_variable_any& changed;
  std::mutex& mutex;  // the lock is the caller's, so this is a plain one
  TimePoint deadline;
  // Guarded by timeMutex_ of the clock:
  bool due = false;
  bool pinned = false;
};

namespace {
// Not zero, because code may take zero to mean "never".
constexpr Clock::TimePoint fakeStart{std::chrono::hours{1000}};
}  // namespace

FakeClock::FakeClock(WallTime wallStart) : now_(fakeStart), wallStart_(wallStart) {}
FakeClock::~FakeClock() = default;

Clock::TimePoint FakeClock::now() const {
  const detail::Lock lock(timeMutex_);
  return now_;
}

Clock::WallTime FakeClock::wallNow() const { return wallStart_ + (now() - fakeStart); }

void FakeClock::advance(Duration d) {
  const TimePoint target = deadlineAfter(d);
  for (;;) {
    const auto next = timers_->next();
    if (!next || *next > target) break;
    moveTo(*next);
    timers_->runDue(*next);
  }
  moveTo(target);
}

void FakeClock::moveTo(TimePoint time) {
  std::vector<Waiter*> due;
  {
    const detail::Lock lock(timeMutex_);
    now_ = std::max(now_, time);
    auto firstDue = std::stable_partition(waiting_.begin(), waiting_.end(),
                                          [now = now_](Waiter* w) { return w->deadline > now; });
    due.assign(firstDue, waiting_.end());
    waiting_.erase(firstDue, waiting_.end());
    for (Waiter* w : due) w->due = w->pinned = true;
  }
  std::stable_sort(due.begin(), due.end(),
                   [](Waiter* a, Waiter* b) { return a->deadline < b->deadline; });
  for (Waiter* w : due) {
    {
      // A waiter holds its mutex from before it is listed until it really waits. So this
      // notification cannot come too early.
      const std::lock_guard lock(w->mutex);
      w->changed.notify_all();
    }
    const detail::Lock lock(timeMutex_);
    w->pinned = false;
    waiterReleased_.notify_all();
  }
}

std::size_t FakeClock::waitersLocked() const { return waiting_.size() + timers_->size(); }

std::size_t FakeClock::waiters() const {
  const detail::Lock lock(timeMutex_);
  return waitersLocked();
}

void FakeClock::waitForWaiters(std::size_t n, Duration patience) const {
  detail::Lock lock(timeMutex_);
  const bool enough = waitersChanged_.wait_for(
      lock, patience, [&]() KUBE_REQUIRES(timeMutex_) { return waitersLocked() >= n; });
  if (enough) return;
  throw TimeoutError("fake clock: waited for " + std::to_string(n) + " waiters, there are " +
                     std::to_string(waitersLocked()));
}

void FakeClock::waitOnce(std::condition_variable_any& changed, std::unique_lock<std::mutex>& lock,
                         const std::stop_token& stop, TimePoint deadline) {
  if (deadline == noDeadline) {
    changed.wait(lock, stop, afterOneWait());
    return;
  }
  Waiter waiter{.changed = changed, .mutex = *lock.mutex(), .deadline = deadline};
  {
    const detail::Lock timeLock(timeMutex_);
    if (now_ >= deadline) return;
    waiting_.push_back(&waiter);
    waitersChanged_.notify_all();
  }
  changed.wait(lock, stop, afterOneWait());

  detail::Lock timeLock(timeMutex_);
  if (!waiter.due) std::erase(waiting_, &waiter);
  if (!waiter.pinned) return;
  // advance() is about to lock the mutex, or has just unlocked it. Let it finish before the Waiter
  // is destroyed.
  lock.unlock();
  waiterReleased_.wait(timeLock, [&] { return !waiter.pinned; });
  timeLock.unlock();
  lock.lock();
}

void FakeClock::timerAdded(bool /*first*/) {
  const detail::Lock lock(timeMutex_);
  waitersChanged_.notify_all();
}

}  // namespace kube
