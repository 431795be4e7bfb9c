// A function of the program as a source of keys.
//
// Thread safety: every method may be called from any thread.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "kube/base/internal/guarded.h"
#include "kube/base/internal/thread_tree.h"
#include "kube/base/task_scope.h"
#include "kube/controller/internal/controller_sources.h"

namespace kube {

/// The queue of a controller, for a function that feeds it. Does nothing after the end of the run.
///
/// Thread safety: a cheap, copyable handle; every method may be called from any thread.
template <ControllerKey Key = ObjectKey>
class SourceQueue {
 public:
  SourceQueue(std::shared_ptr<detail::ControllerIntake<Key>> intake, String source)
      : intake_(std::move(intake)), source_(std::move(source)) {}

  void add(const Key& key, int priority = 0) const {
    intake_->wake(key, priority, [&] { return WakeReason{.source = source_}; });
  }
  void addAfter(const Key& key, Clock::Duration delay, int priority = 0) const {
    intake_->wakeAfter(key, delay, priority);
  }

 private:
  std::shared_ptr<detail::ControllerIntake<Key>> intake_;
  String source_;
};

namespace detail {

/// A task that feeds a controller.
class RunningTask final : public RunningSource {
 public:
  RunningTask(Task<void> task, const std::stop_token& stop, const std::string& name)
      : scope_(std::in_place, taskThreadsExecutor(), stop) {
    scope_->start(std::move(task), name);
  }
  Task<bool> waitForSync() const override { co_return true; }
  // Gives up what is left. The task itself may call this.
  void end() override { scope_.reset(); }

 private:
  std::optional<TaskScope> scope_;
};

/// A thread that feeds a controller.
class RunningThread final : public RunningSource {
 public:
  /// `work` throws nothing. Throws Error if the thread cannot be started.
  RunningThread(std::function<void(std::stop_token)> work, const std::stop_token& stop,
                const std::string& name);
  ~RunningThread() override { end(); }
  Task<bool> waitForSync() const override { co_return true; }
  void end() override;

 private:
  LinkedStop stop_;
  std::thread thread_;
};

template <ControllerKey Key>
class FunctionSource final : public KeySource<Key> {
 public:
  using Intake = typename KeySource<Key>::Intake;
  using Blocking = std::function<void(SourceQueue<Key> queue, const std::stop_token& stop)>;
  using Awaitable = std::function<Task<void>(SourceQueue<Key> queue)>;

  FunctionSource(std::string name, Blocking function)
      : name_(std::move(name)), blocking_(std::make_shared<Blocking>(std::move(function))) {}
  FunctionSource(std::string name, Awaitable function)
      : name_(std::move(name)), awaitable_(std::make_shared<Awaitable>(std::move(function))) {}

  std::string name() const override { return name_; }
  std::shared_ptr<RunningSource> start(const Intake& intake, bool) const override {
    const std::string what =
        "the source \"" + name_ + "\" of controller \"" + intake->name() + "\"";
    SourceQueue<Key> queue(intake, String(name_));
    if (awaitable_) {
      return std::make_shared<RunningTask>(call(awaitable_, std::move(queue), intake, what),
                                           intake->stopToken(), what);
    }
    return std::make_shared<RunningThread>(
        [function = blocking_, queue = std::move(queue), intake,
         what](const std::stop_token& stop) {
          try {
            (*function)(queue, stop);
          } catch (...) {
            failed(*intake, what, stop);
          }
        },
        intake->stopToken(), what);
  }

 private:
  static Task<void> call(std::shared_ptr<Awaitable> function, SourceQueue<Key> queue, Intake intake,
                         std::string what) {
    const std::stop_token stop = co_await taskStop();
    try {
      co_await (*function)(std::move(queue));
    } catch (...) {
      failed(*intake, what, stop);
    }
  }
  static void failed(ControllerIntake<Key>& intake, const std::string& what,
                     const std::stop_token& stop) noexcept {
    if (stop.stop_requested()) return;  // most likely the cause
    guarded(intake.log(), what, [] { throw; });
    intake.fail(std::current_exception());
  }

  const std::string name_;
  const std::shared_ptr<Blocking> blocking_;  // one of the two is set
  const std::shared_ptr<Awaitable> awaitable_;
};

extern template class FunctionSource<ObjectKey>;

}  // namespace detail

}  // namespace kube
