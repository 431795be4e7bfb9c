// A function that is called periodically on a thread of TaskThreads.
//
//   kube::PeriodicTask sweep(clock, 30s, [] { ... });
//
// The first call is after one period. The destructor ends the calls, and waits for a call under
// way; so the function itself must not destroy the task. Exceptions that the function throws are
// logged, and the next call follows.
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
  /// The clock must outlive the task.
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
