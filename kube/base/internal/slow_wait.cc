#include "kube/base/internal/slow_wait.h"

#include <fmt/core.h>

#include <utility>

#include "kube/base/internal/mutex.h"
#include "kube/base/log.h"

namespace kube::detail {

class SlowWait::State : public std::enable_shared_from_this<State> {
 public:
  State(Clock& clock, Report report)
      : clock_(clock), report_(std::move(report)), start_(clock.now()) {}

  // The next timer is set at the end of the report's own timer. So cancelling the last timer waits
  // for every report.
  void arm() {
    const Lock lock(timerMutex_);
    if (ended_) return;
    try {
      timer_ = clock_.callAt(start_ + next_, [self = weak_from_this()] {
        if (const auto state = self.lock()) state->onTime();
      });
    } catch (const std::exception& error) {
      Logger("clock").debug("a long wait will not be reported: {}", error.what());
    }
  }
  void end() {
    Timer last;
    const Lock lock(timerMutex_);
    ended_ = true;
    last = std::move(timer_);
  }

 private:
  void onTime() {
    {
      const Lock lock(timerMutex_);
      if (ended_) return;
      next_ *= 2;
    }
    report_(clock_.now() - start_);
    arm();
  }

  Clock& clock_;
  const Report report_;
  const Clock::TimePoint start_;
  Mutex timerMutex_;
  Clock::Duration next_ KUBE_GUARDED_BY(timerMutex_) = kFirst;
  bool ended_ KUBE_GUARDED_BY(timerMutex_) = false;
  Timer timer_ KUBE_GUARDED_BY(timerMutex_);
};

SlowWait::SlowWait(Clock& clock, Report report)
    : state_(std::make_shared<State>(clock, std::move(report))) {
  state_->arm();
}

SlowWait::~SlowWait() { state_->end(); }

std::string inSeconds(Clock::Duration time) {
  return fmt::format("{} s", std::chrono::duration_cast<std::chrono::seconds>(time).count());
}

}  // namespace kube::detail
