#include "kube/base/when.h"

namespace kube::detail {

bool TaskTogether::await_suspend(std::coroutine_handle<> self) {
  if (!context_.mayBlock) {
    awaiting_ = self;
    begin();
    return running_.fetch_sub(1, std::memory_order_acq_rel) != 1;
  }
  checkMayBlock("whenAll");
  const CallerLoop loop;
  context_.executor = loop.executor();
  context_.mayBlock = false;
  begin();
  if (running_.fetch_sub(1, std::memory_order_acq_rel) != 1) loop.run(over_);
  return false;
}

void TaskTogether::begin() {
  running_.store(children_.size() + 1, std::memory_order_relaxed);
  for (Child& child : children_) {
    child.promise->beginAsRoot(
        child.coroutine, context_,
        [](void* owner) noexcept {
          const Child& ended = *static_cast<Child*>(owner);
          ended.group->ended(ended);
        },
        &child);
  }
}

void TaskTogether::ended(const Child& child) noexcept {
  if (stopAt_ == StopAt::FirstEnd || child.promise->failed()) {
    std::size_t none = kNone;
    const auto index = static_cast<std::size_t>(&child - children_.data());
    if (decisive_.compare_exchange_strong(none, index, std::memory_order_relaxed)) {
      stop_.requestStop();
    }
  }
  if (running_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  over_ = true;
  if (awaiting_) awaiting_.resume();  // which may destroy this object
}

}  // namespace kube::detail
