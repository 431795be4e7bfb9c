#include "kube/base/task_scope.h"

#include <algorithm>
#include <condition_variable>
#include <thread>
#include <unordered_map>
#include <vector>

#include "kube/base/error.h"
#include "kube/base/internal/condition.h"
#include "kube/base/internal/finally.h"
#include "kube/base/internal/mutex.h"
#include "kube/base/log.h"

namespace kube {

namespace detail {

ScopedTask::~ScopedTask() = default;

// The tasks of a scope, and the gate that each piece of them passes on its way from the executor.
// Work in the executor, and tasks that join, may outlive the scope: they hold this.
class ScopeState : public std::enable_shared_from_this<ScopeState> {
 public:
  ScopeState(Executor executor, std::stop_token stop) : executor_(std::move(executor)) {
    context_.stop = std::move(stop);
  }

  /// To be called once, first.
  void open(bool canWait) {
    const auto weak = weak_from_this();  // this owns the executor
    Executor::Post post = [weak](Executor::Work work) {
      if (const auto self = weak.lock()) self->post(std::move(work));
    };
    Executor::PostAfter postAfter;
    if (canWait) {
      postAfter = [weak](Clock::Duration delay, Executor::Work work) {
        const auto self = weak.lock();
        if (!self) return;
        if (const Executor executor = self->executor()) executor.postAfter(delay, std::move(work));
      };
    }
    context_.executor = Executor(std::move(post), std::move(postAfter));
  }

  void add(std::unique_ptr<ScopedTask> task) {
    ScopedTask* const added = task.get();
    added->scope = this;
    {
      const Lock lock(tasksMutex_);
      if (closed_) return;
      tasks_.emplace(added, std::move(task));
      ++left_;
    }
    try {
      post([this, added] { begin(*added); });
    } catch (...) {
      remove(*added);
      throw;
    }
  }

  std::size_t size() const {
    const Lock lock(tasksMutex_);
    return left_;
  }

  static Task<void> join(std::shared_ptr<ScopeState> self) {
    const auto ready = [&self]() KUBE_REQUIRES(self->tasksMutex_) { return self->left_ == 0; };
    const bool over = co_await self->ended_.wait(ready);
    if (!over) throw CanceledError("TaskScope: canceled while waiting for its tasks");
  }

  void wait() const {
    Lock lock(tasksMutex_);
    if (isInside()) {
      throw Error("TaskScope: a task must not wait for the scope that it belongs to");
    }
    changed_.wait(lock, [this]() KUBE_REQUIRES(tasksMutex_) { return left_ == 0; });
  }

  /// Gives up all tasks.
  void close() {
    Lock lock(tasksMutex_);
    closed_ = true;
    if (isInside()) {
      orphaned_ = true;
      return;
    }
    changed_.wait(lock, [this]() KUBE_REQUIRES(tasksMutex_) { return inside_.empty(); });
    lock.unlock();
    destroyTasks();
  }

 private:
  // Empty after the end.
  Executor executor() const {
    const Lock lock(tasksMutex_);
    return executor_;
  }

  void post(Executor::Work work) {
    Executor executor;
    {
      const Lock lock(tasksMutex_);
      if (over_) return;
      executor = executor_;
    }
    executor.post([self = shared_from_this(), work = std::move(work)] { self->pass(work); });
  }

  // Runs a piece of a task.
  void pass(const Executor::Work& work) {
    {
      const Lock lock(tasksMutex_);
      if (closed_) return;
      inside_.push_back(std::this_thread::get_id());
    }
    const Finally left([this] { leave(); });
    work();
  }

  void leave() {
    {
      const Lock lock(tasksMutex_);
      inside_.erase(std::ranges::find(inside_, std::this_thread::get_id()));
      if (!closed_ || !inside_.empty()) return;
      if (!orphaned_) return changed_.notify_all();
    }
    destroyTasks();
  }

  bool isInside() const KUBE_REQUIRES(tasksMutex_) {
    return std::ranges::find(inside_, std::this_thread::get_id()) != inside_.end();
  }

  void begin(ScopedTask& task) {
    task.begin(context_, [](void* owner) noexcept {
      auto& ended = *static_cast<ScopedTask*>(owner);
      ended.scope->end(ended);
    });
  }

  void end(ScopedTask& task) noexcept {
    const auto log = [&](const char* why) {
      Logger("task").error("{} threw: {}", task.name(), why);
    };
    try {
      task.result();
    } catch (const CanceledError& error) {
      if (!context_.stop.stop_requested()) log(error.what());
    } catch (const std::exception& error) {
      log(error.what());
    } catch (...) {
      log("an exception that is not a std::exception");
    }
    remove(task);
  }

  // A task counts until it is destroyed.
  void remove(ScopedTask& task) {
    decltype(tasks_)::node_type removed;
    {
      const Lock lock(tasksMutex_);
      removed = tasks_.extract(&task);
    }
    const std::size_t count = removed.empty() ? 0 : 1;
    removed = {};
    discount(count);
  }
  void destroyTasks() {
    decltype(tasks_) destroyed;
    {
      const Lock lock(tasksMutex_);
      destroyed.swap(tasks_);
    }
    const std::size_t count = destroyed.size();
    destroyed.clear();
    Executor notNeeded;  // its loop may be gone before the last who joins
    {
      const Lock lock(tasksMutex_);
      notNeeded = std::move(executor_);
      over_ = true;
    }
    discount(count);
  }
  void discount(std::size_t count) {
    const Lock lock(tasksMutex_);
    left_ -= count;
    if (left_ > 0) return;
    ended_.notifyAll();
    changed_.notify_all();
  }

  TaskContext context_;  // const once it is open

  mutable Mutex tasksMutex_;
  Executor executor_ KUBE_GUARDED_BY(tasksMutex_);
  mutable std::condition_variable changed_;
  std::unordered_map<ScopedTask*, std::unique_ptr<ScopedTask>> tasks_ KUBE_GUARDED_BY(tasksMutex_);
  std::size_t left_ KUBE_GUARDED_BY(tasksMutex_) = 0;
  Condition ended_{tasksMutex_};
  // The threads that run pieces of tasks.
  std::vector<std::thread::id> inside_ KUBE_GUARDED_BY(tasksMutex_);
  bool closed_ KUBE_GUARDED_BY(tasksMutex_) = false;
  // Closed by a task: the last thread that leaves destroys the tasks.
  bool orphaned_ KUBE_GUARDED_BY(tasksMutex_) = false;
  bool over_ KUBE_GUARDED_BY(tasksMutex_) = false;  // all tasks were given up
};

}  // namespace detail

TaskScope::TaskScope(const Executor& executor, const std::stop_token& stop)
    : state_(std::make_shared<detail::ScopeState>(executor, stop_.get_token())) {
  state_->open(executor.canWait());
  if (stop.stop_possible()) onStop_.emplace(stop, RequestStop{stop_});
}

TaskScope::~TaskScope() {
  onStop_.reset();
  stop_.request_stop();
  state_->close();
}

void TaskScope::add(std::unique_ptr<detail::ScopedTask> task) { state_->add(std::move(task)); }

std::size_t TaskScope::size() const { return state_->size(); }

void TaskScope::requestStop() noexcept { stop_.request_stop(); }

std::stop_token TaskScope::stopToken() const noexcept { return stop_.get_token(); }

Task<void> TaskScope::join() const { return detail::ScopeState::join(state_); }

void TaskScope::wait() const {
  detail::checkMayBlock("TaskScope::wait");
  state_->wait();
}

}  // namespace kube
