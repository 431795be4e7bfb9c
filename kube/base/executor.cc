#include "kube/base/executor.h"

#include "kube/base/error.h"

namespace kube {

void Executor::post(Work work) const {
  if (functions_ == nullptr) throw Error("executor: it has no function to run anything");
  functions_->post(std::move(work));
}

void Executor::postAfter(Clock::Duration delay, Work work) const {
  if (!canWait()) throw Error("executor: it has no function to wait");
  functions_->postAfter(delay, std::move(work));
}

}  // namespace kube
