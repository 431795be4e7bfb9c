#include "kube/base/internal/completion.h"

#include <utility>

#include "kube/base/internal/guarded.h"

namespace kube::detail {

bool Completion::complete() noexcept {
  const Lock lock(stateMutex_);
  switch (state_) {
    case State::Starting:
      state_ = State::Complete;
      return true;
    case State::Waiting: {
      state_ = State::Complete;
      // With the lock: abandon() and the resumed coroutine wait until the executor is not used any
      // more.
      const Executor executor = std::exchange(executor_, Executor());
      guarded("task", "the executor of a task",
              [&] { executor.post([self = shared_from_this()] { self->resume(); }); });
      return true;
    }
    case State::Complete:
    case State::Abandoned:
      return false;
  }
  return false;
}

bool Completion::wait() noexcept {
  const Lock lock(stateMutex_);
  if (state_ == State::Complete) {
    executor_ = Executor();
    return false;
  }
  state_ = State::Waiting;
  return true;
}

void Completion::abandon() noexcept {
  const Lock lock(stateMutex_);
  state_ = State::Abandoned;
  executor_ = Executor();
}

void Completion::resume() {
  {
    const Lock lock(stateMutex_);
    if (state_ == State::Abandoned) return;
  }
  waiter_.resume();
}

}  // namespace kube::detail
