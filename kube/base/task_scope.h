// Starts tasks, and owns them until they have ended.
//
//   kube::TaskScope tasks(loop);                 // an Executor, see kube/base/executor.h
//   tasks.start(serve(connection), "connection 7");
//   ...
//   tasks.requestStop();
//   co_await tasks.join();                       // or, on a thread outside of the loop:
//   tasks.wait()
//
// The tasks run on the executor, side by side, each as a tree of its own. Exceptions that they
// throw are logged and dropped, except CanceledError after a stop. Their results are dropped.
//
// Destroying the scope stops all tasks and gives them up: it destroys those that wait, and waits
// for those that just run on other threads until they wait or end. A task may destroy its own
// scope: it is then given up when it waits next. After that nothing of the scope is left in the
// executor but work that does nothing.
//
// Thread safety: every method may be called from any thread, tasks of the scope included.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "kube/base/executor.h"
#include "kube/base/task.h"

namespace kube {

namespace detail {

class ScopeState;

/// A task that was started, of any type.
class ScopedTask {
 public:
  explicit ScopedTask(std::string name) : name_(std::move(name)) {}
  ScopedTask(const ScopedTask&) = delete;
  ScopedTask& operator=(const ScopedTask&) = delete;
  virtual ~ScopedTask();

  virtual void begin(const TaskContext& context, PromiseBase::Ended ended) = 0;
  /// Throws the exception of a task that has ended.
  virtual void result() = 0;
  const std::string& name() const noexcept { return name_; }

  ScopeState* scope = nullptr;

 private:
  const std::string name_;
};

template <class T>
class ScopedTaskOf final : public ScopedTask {
 public:
  ScopedTaskOf(Task<T> task, std::string name)
      : ScopedTask(std::move(name)), task_(std::move(task)) {
    checkNotBegun(TaskAccess::coroutineOf(task_));
  }

  void begin(const TaskContext& context, PromiseBase::Ended ended) override {
    const auto coroutine = TaskAccess::coroutineOf(task_);
    coroutine.promise().beginAsRoot(coroutine, context, ended, static_cast<ScopedTask*>(this));
  }
  void result() override { static_cast<void>(TaskAccess::coroutineOf(task_).promise().result()); }

 private:
  Task<T> task_;
};

}  // namespace detail

class TaskScope {
 public:
  /// The tasks also stop when `stop` does.
  explicit TaskScope(const Executor& executor, const std::stop_token& stop = {});
  ~TaskScope();
  TaskScope(const TaskScope&) = delete;
  TaskScope& operator=(const TaskScope&) = delete;

  /// Begins the task soon. The name appears in the log.
  template <class T>
  void start(Task<T> task, std::string name = "a task") {
    add(std::make_unique<detail::ScopedTaskOf<T>>(std::move(task), std::move(name)));
  }

  /// The number of tasks that have not ended.
  std::size_t size() const;

  void requestStop() noexcept;
  /// The token that the tasks see.
  std::stop_token stopToken() const noexcept;

  /// Waits until no task is left. Not for tasks of the scope, which would wait for themselves.
  Task<void> join() const;
  /// The blocking form, for threads that do not run the executor. Throws Error in a task of the
  /// scope, and on the library's I/O threads.
  void wait() const;

 private:
  struct RequestStop {
    std::stop_source source;
    void operator()() noexcept { source.request_stop(); }
  };
  void add(std::unique_ptr<detail::ScopedTask> task);

  std::stop_source stop_;
  const std::shared_ptr<detail::ScopeState> state_;
  std::optional<std::stop_callback<RequestStop>> onStop_;
};

}  // namespace kube
