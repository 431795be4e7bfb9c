#include "kube/base/internal/threads/after_turn.h"

#include <utility>

#include "kube/base/internal/guarded.h"
#include "kube/base/task.h"

namespace kube::detail {

namespace {

thread_local AfterTurn* receiver = nullptr;
thread_local AfterTurn* working = nullptr;

}  // namespace

bool AfterTurn::tryAdd(const std::shared_ptr<Work>& work) {
  return receiver != nullptr && receiver->add(work);
}

bool AfterTurn::isWorking() noexcept { return working != nullptr; }

void AfterTurn::aboutToBlock() noexcept {
  if (working != nullptr) working->onBlocking();
}

void AfterTurn::setReceiver(AfterTurn* newOne) noexcept { receiver = newOne; }

void AfterTurn::workHere() {
  setReceiver(nullptr);
  setMayBlock(true);
  working = this;
  while (const std::shared_ptr<Work> work = next()) {
    guarded("threads", "a task", [&] { work->runHere(); });
  }
  working = nullptr;
  setMayBlock(false);
  setReceiver(this);
}

}  // namespace kube::detail
