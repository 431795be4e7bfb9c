#include "kube/base/task_threads.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <thread>
#include <utility>
#include <vector>

#include "kube/base/error.h"
#include "kube/base/internal/guarded.h"
#include "kube/base/internal/join_later.h"
#include "kube/base/internal/mutex.h"
#include "kube/base/internal/start_thread.h"
#include "kube/base/log.h"

namespace kube {

using detail::startingThread;

namespace {

// Real time on purpose, here and below: this detects threads that make no progress.
using Time = std::chrono::steady_clock;

constexpr auto kPatience = std::chrono::milliseconds(5);  // until tasks count as stuck
constexpr auto kLinger = std::chrono::seconds(2);         // until a thread without work ends

}  // namespace

// As long as any task runs or is queued, at least one thread waits: for tasks, or for the time when
// the running tasks count as stuck.
class TaskThreads::State : public std::enable_shared_from_this<State> {
 public:
  void add(std::function<void()> task) {
    std::function<void()> refused;  // destroyed without the lock
    {
      const detail::Lock lock(tasksMutex_);
      tasks_.push_back(std::move(task));
      try {
        if (idle_ == 0) return startThread();
      } catch (const Error&) {
        refused = std::move(tasks_.back());
        tasks_.pop_back();
        throw;
      }
    }
    changed_.notify_one();  // without the lock, because the woken thread takes it
  }

  void close() {
    std::deque<std::function<void()>> dropped;
    std::vector<std::thread> threads;
    {
      const detail::Lock lock(tasksMutex_);
      closed_ = true;
      dropped.swap(tasks_);
      threads.swap(threads_);
      changed_.notify_all();
    }
    for (std::thread& thread : threads) {
      if (thread.get_id() == std::this_thread::get_id()) {
        joinLater(std::move(thread));
      } else {
        thread.join();
      }
    }
  }

  std::size_t size() const {
    const detail::Lock lock(tasksMutex_);
    return threads_.size() - ended_.size();
  }

 private:
  void startThread() KUBE_REQUIRES(tasksMutex_) {
    reap();
    threads_.reserve(threads_.size() + 1);  // adding a thread that runs must not fail
    try {
      threads_.push_back(startingThread("tasks", [this] {
        return std::thread([self = shared_from_this()] {
          pthread_setname_np(pthread_self(), "kubexx-tasks");
          self->work();
        });
      }));
    } catch (const Error& error) {
      if (running_ == 0) throw;
      Logger("threads").error("no more threads can be started, so tasks wait for each other: {}",
                              error.what());
      return;
    }
    ++idle_;  // the new thread counts as idle before it runs
  }
  // Joins threads that have announced their end, which takes no time.
  void reap() KUBE_REQUIRES(tasksMutex_) {
    for (const std::thread::id id : std::exchange(ended_, {})) {
      const auto thread = std::ranges::find(threads_, id, [](auto& one) { return one.get_id(); });
      thread->join();
      threads_.erase(thread);
    }
  }

  void work() {
    detail::Lock lock(tasksMutex_);
    for (;;) {
      if (closed_) return;
      if (tasks_.empty()) {
        if (idle_ == 1) {
          changed_.wait(lock);
        } else if (changed_.wait_for(lock, kLinger) == std::cv_status::timeout && tasks_.empty() &&
                   idle_ > 1 && !closed_) {
          --idle_;
          ended_.push_back(std::this_thread::get_id());
          return;
        }
      } else if (running_ < allowed_) {
        std::function<void()> task = next();
        lock.unlock();
        detail::guarded("threads", "a task", task);
        task = nullptr;  // destroyed without the lock
        lock.lock();
        --running_;
        ++idle_;
        if (running_ < cores_) allowed_ = cores_;
      } else if (const auto stuck = lastStart_ + kPatience; Time::now() >= stuck) {
        allowed_ = running_ * 2;
      } else {
        changed_.wait_until(lock, stuck);
      }
    }
  }

  // The next task, which counts as running.
  std::function<void()> next() KUBE_REQUIRES(tasksMutex_) {
    std::function<void()> task = std::move(tasks_.front());
    tasks_.pop_front();
    lastStart_ = Time::now();
    ++running_;
    --idle_;
    if (idle_ == 0) {
      startThread();
    } else if (!tasks_.empty()) {
      changed_.notify_one();
    }
    return task;
  }

  const std::size_t cores_ = std::max(2U, std::thread::hardware_concurrency());

  mutable detail::Mutex tasksMutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_ KUBE_GUARDED_BY(tasksMutex_);
  std::vector<std::thread> threads_ KUBE_GUARDED_BY(tasksMutex_);
  // The threads in `threads_` that have announced their end.
  std::vector<std::thread::id> ended_ KUBE_GUARDED_BY(tasksMutex_);
  // Threads without a task; `running_` counts those with a task.
  std::size_t idle_ KUBE_GUARDED_BY(tasksMutex_) = 0;
  std::size_t running_ KUBE_GUARDED_BY(tasksMutex_) = 0;
  std::size_t allowed_ KUBE_GUARDED_BY(tasksMutex_) = cores_;  // tasks that may run at once
  Time::time_point lastStart_ KUBE_GUARDED_BY(tasksMutex_){};
  bool closed_ KUBE_GUARDED_BY(tasksMutex_) = false;
};

TaskThreads::TaskThreads() : state_(std::make_shared<State>()) {}

TaskThreads::~TaskThreads() { state_->close(); }

std::shared_ptr<TaskThreads> TaskThreads::shared() {
  static detail::Mutex currentMutex;
  static std::weak_ptr<TaskThreads> current KUBE_GUARDED_BY(currentMutex);
  const detail::Lock lock(currentMutex);
  auto threads = current.lock();
  if (threads == nullptr) current = threads = std::make_shared<TaskThreads>();
  return threads;
}

void TaskThreads::run(std::function<void()> task) { state_->add(std::move(task)); }

std::size_t TaskThreads::size() const { return state_->size(); }

}  // namespace kube
