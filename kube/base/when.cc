#include "kube/base/when.h"

namespace kube::detail {

bool TaskTogether::await_suspend(std::coroutine_handle<> self) {
  awaiting_ = self;
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
  return running_.fetch_sub(1, std::memory_order_acq_rel) != 1;
}

void TaskTogether::ended(const Child& child) noexcept {
  if (stopAt_ == StopAt::FirstEnd || child.promise->failed()) {
    std::size_t none = kNone;
    const auto index = static_cast<std::size_t>(&child - children_.data());
    if (decisive_.compare_exchange_strong(none, index, std::memory_order_relaxed)) {
      stop_.requestStop();
    }
  }
  // The awaiting coroutine may destroy this object.
  if (running_.fetch_sub(1, std::memory_order_acq_rel) == 1) awaiting_.resume();
}

}  // namespace kube::detail
