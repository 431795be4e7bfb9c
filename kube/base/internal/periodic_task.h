// Something that is done again and again, with a pause in between, on a thread of TaskThreads.
//
//   kube::PeriodicTask sweep(clock, 30s, [] { ... });
//
// The first time is after one period. Destroying it ends that, and waits for a call under way; the
// function itself must not do it. What the function throws is logged, and the next call follows.
//
// Thread safety: none needed; the function is called by one thread at a time.
#pragma once

#include <functional>
#include <memory>

#include "kube/base/clock.h"
#include "kube/base/task_threads.h"

namespace kube {

class PeriodicTask {
 public:
  /// The clock must outlive it.
  PeriodicTask(Clock& clock, Clock::Duration period, std::function<void()> function);
  ~PeriodicTask();
  PeriodicTask(const PeriodicTask&) = delete;
  PeriodicTask& operator=(const PeriodicTask&) = delete;

 private:
  class State;
  const std::shared_ptr<TaskThreads> threads_ = TaskThreads::shared();
  const std::shared_ptr<State> state_;
};

}  // namespace kube
