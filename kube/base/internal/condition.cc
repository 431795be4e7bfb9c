#include "kube/base/internal/condition.h"

#include <optional>
#include <utility>

namespace kube::detail {

// Waits for the next change, the deadline or a stop.
class Condition::Change {
 public:
  Change(Condition& condition, const Ready& ready, Clock& clock, Clock::TimePoint deadline)
      : condition_(condition), ready_(ready), clock_(clock), deadline_(deadline) {}
  ~Change() {
    if (completion_) completion_->abandon();
  }

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  KUBE_SUSPENDS bool await_suspend(std::coroutine_handle<Promise> self) {
    const TaskContext& context = self.promise().context();
    const auto completion = std::make_shared<Completion>(self, context.executor);
    completion_ = completion;
    if (!condition_.completeOnChange(completion, ready_)) return false;
    if (deadline_ != Clock::noDeadline) timer_ = clock_.callAt(deadline_, Complete{completion});
    if (context.stop.stop_possible()) onStop_.emplace(context.stop, Complete{completion});
    return completion->wait();
  }
  void await_resume() const noexcept {}

 private:
  struct Complete {
    std::shared_ptr<Completion> completion;
    void operator()() const noexcept { completion->complete(); }
  };
  Condition& condition_;
  const Ready& ready_;
  Clock& clock_;
  const Clock::TimePoint deadline_;
  std::shared_ptr<Completion> completion_;
  Timer timer_;
  std::optional<std::stop_callback<Complete>> onStop_;
};

void Condition::notifyAll() noexcept {
  threads.notify_all();
  for (const auto& completion : std::exchange(suspended_, {})) completion->complete();
}

bool Condition::completeOnChange(const std::shared_ptr<Completion>& completion,
                                 const Ready& ready) {
  const Lock lock(mutex_);
  if (ready()) return false;
  // Coroutines that were destroyed while they waited.
  std::erase_if(suspended_, [](const auto& other) { return other.use_count() == 1; });
  suspended_.push_back(completion);
  return true;
}

bool Condition::block(const std::stop_token& stop, const Ready& ready, Clock& clock,
                      Clock::TimePoint deadline) {
  Lock lock(mutex_);
  if (ready()) return true;
  checkMayBlock("a wait");
  return clock.waitUntil(threads, lock, stop, deadline, ready);
}

Task<bool> Condition::waitUntil(Ready ready, Clock& clock, Clock::TimePoint deadline) {
  const TaskContext& context = co_await CurrentContext();
  if (context.mayBlock) co_return block(context.stop, ready, clock, deadline);
  for (;;) {
    {
      const Lock lock(mutex_);
      if (ready()) co_return true;
    }
    if (context.stop.stop_requested() || clock.now() >= deadline) co_return false;
    Change change(*this, ready, clock, deadline);
    co_await change;
  }
}

}  // namespace kube::detail
