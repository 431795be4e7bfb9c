// Threads for short tasks that arrive irregularly from many places, such as calls of informers'
// handlers. A few threads serve hundreds of sources, but a task that blocks delays no other task.
//
//   const auto threads = kube::TaskThreads::shared();
//   threads->run([] { ... });
//
// As many tasks run at once as the machine has cores. If they do not finish, because they wait for
// something, more threads are started, as many as needed. Threads that were idle for a while end.
// Tasks start in the order in which they were added.
//
// Exceptions that a task throws are logged and dropped.
//
// Thread safety: every method may be called from any thread, tasks included.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace kube {

class TaskThreads {
 public:
  TaskThreads();
  /// Drops tasks that have not started, and waits for the running ones. A task that destroys this
  /// itself is not waited for.
  ~TaskThreads();
  TaskThreads(const TaskThreads&) = delete;
  TaskThreads& operator=(const TaskThreads&) = delete;

  /// The threads of the process. They end with the last holder.
  static std::shared_ptr<TaskThreads> shared();

  /// Throws Error if there is no thread for the task and none can be started. (If there are
  /// threads, but no more can be started, tasks wait for each other.)
  void run(std::function<void()> task);

  /// The current number of threads.
  std::size_t size() const;

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace kube
