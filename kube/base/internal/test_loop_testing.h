// An executor whose work runs when the test says so, and tasks that are begun on it and destroyed
// at any time.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "kube/base/executor.h"
#include "kube/base/task.h"

namespace kube::testing {

class TestLoop {
 public:
  TestLoop() = default;
  TestLoop(const TestLoop&) = delete;
  TestLoop& operator=(const TestLoop&) = delete;
  ~TestLoop() {
    std::deque<Executor::Work> dropped;
    const std::lock_guard lock(workMutex_);
    dropped.swap(work_);
  }

  Executor executor() {
    return Executor([this](Executor::Work work) {
      const std::lock_guard lock(workMutex_);
      work_.push_back(std::move(work));
      changed_.notify_all();
    });
  }

  std::size_t queued() const {
    const std::lock_guard lock(workMutex_);
    return work_.size();
  }
  /// Waits for work, and runs it.
  void runOne() {
    Executor::Work work;
    {
      std::unique_lock lock(workMutex_);
      changed_.wait(lock, [&] { return !work_.empty(); });
      work = std::move(work_.front());
      work_.pop_front();
    }
    work();
  }
  /// Runs all queued work, and the work that it adds.
  void runAll() {
    while (queued() > 0) runOne();
  }
  template <class Predicate>
  void runUntil(Predicate predicate) {
    while (!predicate()) runOne();
  }

 private:
  mutable std::mutex workMutex_;
  std::condition_variable changed_;
  std::deque<Executor::Work> work_;
};

/// A task that has begun on an executor. Destroying it gives the task up.
template <class T>
class Begun {
 public:
  Begun(Task<T> task, Executor executor, std::stop_token stop = {})
      : context_{.executor = std::move(executor), .stop = std::move(stop)}, task_(std::move(task)) {
    const auto coroutine = detail::TaskAccess::coroutineOf(*task_);
    coroutine.promise().beginAsRoot(
        coroutine, context_,
        [](void* self) noexcept {
          auto& over = static_cast<Begun*>(self)->over_;
          over = true;
          over.notify_all();
        },
        this);
  }
  Begun(const Begun&) = delete;
  Begun& operator=(const Begun&) = delete;

  bool over() const { return over_; }
  /// On another thread than the executor's.
  void wait() const { over_.wait(false); }
  T result() { return detail::TaskAccess::coroutineOf(*task_).promise().result(); }
  void destroy() { task_.reset(); }

 private:
  const detail::TaskContext context_;
  std::atomic<bool> over_ = false;
  std::optional<Task<T>> task_;
};

}  // namespace kube::testing
