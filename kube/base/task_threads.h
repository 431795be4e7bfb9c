// Threads for short pieces of work that come now and then from many places, such as the calls of an
// informer's handlers: a few threads do for hundreds of sources, and yet a task that blocks holds
// up no other.
//
//   const auto threads = kube::TaskThreads::shared();
//   threads->run([] { ... });
//
// As many tasks as the machine has cores run at once. If those do not get on, because they wait for
// something, more threads are started, as many as it takes; threads that have had nothing to do for
// a while end. Tasks start in the order in which they came.
//
// What a task throws is logged and dropped.
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
  /// Tasks that have not started are dropped; waits for those that have, unless it is one of them
  /// that destroys this.
  ~TaskThreads();
  TaskThreads(const TaskThreads&) = delete;
  TaskThreads& operator=(const TaskThreads&) = delete;

  /// Those of the process. They end with the last who holds them.
  static std::shared_ptr<TaskThreads> shared();

  /// Throws Error where there is no thread for it, and none to be had. (Where there are some, but
  /// no more to be had, tasks wait for each other.)
  void run(std::function<void()> task);

  /// How many threads there are just now.
  std::size_t size() const;

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace kube
