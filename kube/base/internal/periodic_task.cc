#include "kube/base/internal/periodic_task.h"

#include <condition_variable>
#include <utility>

#include "kube/base/internal/guarded.h"
#include "kube/base/internal/mutex.h"
#include "kube/base/log.h"

namespace kube {

class PeriodicTask::State : public std::enable_shared_from_this<State> {
 public:
  State(Clock& clock, Clock::Duration period, std::function<void()> function, TaskThreads& threads)
      : clock_(clock), period_(period), function_(std::move(function)), threads_(threads) {}

  void arm() {
    const detail::Lock lock(timerMutex_);
    if (stopped_) return;
    timer_ = clock_.callAfter(period_, [self = weak_from_this()] {
      if (const auto state = self.lock()) state->due();
    });
  }
  void stop() {
    Timer timer;
    detail::Lock lock(timerMutex_);
    stopped_ = true;
    timer = std::move(timer_);
    ended_.wait(lock, [&]() KUBE_REQUIRES(timerMutex_) { return !running_; });
    lock.unlock();  // cancelling waits for due(), which takes the lock
  }

 private:
  void due() {
    try {
      threads_.run([self = weak_from_this()] {
        if (const auto state = self.lock()) state->runOnce();
      });
    } catch (const std::exception& error) {
      Logger("periodic").error("a call is skipped until the next period: {}", error.what());
      arm();  // the last step of due(), so that stop() need not wait for it
    }
  }
  void runOnce() {
    {
      const detail::Lock lock(timerMutex_);
      if (stopped_) return;
      running_ = true;
    }
    detail::guarded("periodic", "the function", function_);
    {
      const detail::Lock lock(timerMutex_);
      running_ = false;
      ended_.notify_all();
    }
    arm();
  }

  Clock& clock_;
  const Clock::Duration period_;
  const std::function<void()> function_;
  TaskThreads& threads_;
  detail::Mutex timerMutex_;
  std::condition_variable ended_;
  Timer timer_ KUBE_GUARDED_BY(timerMutex_);
  bool running_ KUBE_GUARDED_BY(timerMutex_) = false;
  bool stopped_ KUBE_GUARDED_BY(timerMutex_) = false;
};

PeriodicTask::PeriodicTask(Clock& clock, Clock::Duration period, std::function<void()> function)
    : state_(std::make_shared<State>(clock, period, std::move(function), *threads_)) {
  state_->arm();
}

PeriodicTask::~PeriodicTask() { state_->stop(); }

}  // namespace kube
