// Runs a task on TaskThreads, for work that blocks now and then, such as the use of files.
//
//   co_return co_await onTaskThreads(copy(...));
//
// A task that may block anyway runs where it is. Otherwise the task becomes a tree of its own,
// which holds a thread while it works and none while it waits. The awaiting task goes on by its own
// executor. After a stop, or when the awaiting task is destroyed, the other is given up, which
// waits for its present piece of work.
#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include "kube/base/error.h"
#include "kube/base/internal/condition.h"
#include "kube/base/internal/mutex.h"
#include "kube/base/task_scope.h"
#include "kube/base/task_threads.h"

namespace kube::detail {

/// An executor of the process's TaskThreads.
inline Executor taskThreadsExecutor() {
  return Executor(
      [threads = TaskThreads::shared()](Executor::Work work) { threads->run(std::move(work)); });
}

template <class T>
struct TreeResult {
  Mutex resultMutex;
  Condition ended{resultMutex};
  bool over KUBE_GUARDED_BY(resultMutex) = false;
  // Not guarded: written before `over` is.
  std::optional<T> value;
  std::exception_ptr error;
};

template <class T>
Task<void> keepResult(Task<T> task, std::shared_ptr<TreeResult<T>> result) {
  try {
    result->value.emplace(co_await std::move(task));
  } catch (...) {
    result->error = std::current_exception();
  }
  const Lock lock(result->resultMutex);
  result->over = true;
  result->ended.notifyAll();
}

template <class T>
Task<T> onTaskThreads(Task<T> task) {
  const TaskContext& context = co_await CurrentContext();
  if (context.mayBlock) co_return co_await std::move(task);
  const auto result = std::make_shared<TreeResult<T>>();
  TaskScope tree(taskThreadsExecutor(), context.stop);
  tree.start(keepResult(std::move(task), result));
  const auto ready = [&result]() KUBE_REQUIRES(result->resultMutex) { return result->over; };
  const bool over = co_await result->ended.wait(ready);
  if (!over) throw CanceledError("canceled");
  if (result->error) std::rethrow_exception(std::exchange(result->error, nullptr));
  co_return std::move(*result->value);
}

}  // namespace kube::detail
