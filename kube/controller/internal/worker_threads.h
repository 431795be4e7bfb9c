// A fixed number of threads that run the work of an executor, in the order in which it was posted.
//
//   detail::WorkerThreads threads("a worker of controller \"networks\"", 2);
//   TaskScope tasks(threads.executor());
//
// The destructor drops the work that is left, and joins the threads. Executors may outlive it; they
// drop their work then.
//
// Thread safety: every method may be called from any thread.
#pragma once

#include <memory>
#include <string_view>
#include <thread>
#include <vector>

#include "kube/base/executor.h"

namespace kube::detail {

class WorkerThreads {
 public:
  /// Throws Error if the threads cannot be started; `what` names each in the message.
  WorkerThreads(std::string_view what, int count);
  ~WorkerThreads();
  WorkerThreads(const WorkerThreads&) = delete;
  WorkerThreads& operator=(const WorkerThreads&) = delete;

  Executor executor() const;

 private:
  class State;
  void end();

  const std::shared_ptr<State> state_;
  std::vector<std::thread> threads_;
};

}  // namespace kube::detail
