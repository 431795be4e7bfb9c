#include "kube/controller/internal/time_limit.h"

#include <utility>

namespace kube::detail {

TimeLimit::TimeLimit(Clock& clock, Clock::Duration limit, const std::stop_token& stop,
                     std::function<void()> onOver)
    : deadline_(clock.deadlineAfter(limit)),
      stop_(stop, std::stop_token()),
      timer_(clock.callAt(deadline_, [this, onOver = std::move(onOver)] {
        over_ = true;
        onOver();
        stop_.requestStop();
      })) {}

}  // namespace kube::detail
