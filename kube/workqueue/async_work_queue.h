// Coroutines as workers of a queue.
//
//   for (kube::WorkItem<kube::ObjectKey> item;;) {
//     const bool any = co_await queue.async().next(item);
//     if (!any) break;
//     co_await reconcile(*item);
//   }
//
// Any number of them may wait, on any executors, beside threads that wait in WorkQueue::next(). An
// item goes to the first worker that comes: one whose executor is busy delays no item while other
// workers have time.
//
// Thread safety: as WorkQueue. The queue outlives the tasks.
#pragma once

#include <concepts>
#include <memory>
#include <optional>
#include <stop_token>

#include "kube/base/internal/completion.h"
#include "kube/base/task.h"
#include "kube/workqueue/work_queue.h"

namespace kube {

/// The awaitable form of a WorkQueue, also of a delaying or rate limiting one. After a stop of the
/// tree, both functions return as when there is no item. A task that is destroyed while it waits
/// takes none.
template <QueueKey T>
class AsyncWorkQueue {
 public:
  explicit AsyncWorkQueue(WorkQueue<T>& queue) noexcept : queue_(&queue) {}

  /// As WorkQueue::next(). The item outlives the task.
  Task<bool> next(WorkItem<T>& item) const { return nextOf(*queue_, item); }
  /// As WorkQueue::get().
  Task<std::optional<T>> get() const { return getOf(*queue_); }

 private:
  static Task<bool> nextOf(WorkQueue<T>& queue, WorkItem<T>& item);
  static Task<std::optional<T>> getOf(WorkQueue<T>& queue);

  WorkQueue<T>* queue_;
};

/// Waits in a coroutine: `co_await` sleeps once, if there is no item, and returns whether the wait
/// is over. The item is empty then if there was none.
template <QueueKey T>
class WorkQueue<T>::Waiting {
 public:
  Waiting(WorkQueue& queue, WorkItem<T>& item) : queue_(queue), item_(item) {}
  ~Waiting() {
    if (!completion_) return;
    completion_->abandon();
    const Turn turn(queue_);  // another worker is called instead
    queue_.parking_.getUp(bed_);
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

  bool await_ready() const noexcept { return false; }
  template <std::derived_from<detail::PromiseBase> Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) {
    return suspend(self, self.promise().context());
  }
  bool await_resume() noexcept {
    onStop_.reset();
    return over_;
  }

 private:
  KUBE_SUSPENDS bool suspend(std::coroutine_handle<> self, const detail::TaskContext& context) {
    std::shared_ptr<detail::Completion> completion;
    {
      [[maybe_unused]] T finished;
      Turn turn(queue_);
      queue_.parking_.getUp(bed_);
      completion_ = nullptr;
      queue_.admit();
      queue_.finishPrevious(item_, finished);
      const bool stopped = context.stop.stop_requested();
      over_ = stopped || queue_.items_.waiting() > 0 || queue_.parking_.closed();
      if (!stopped && queue_.items_.waiting() > 0) queue_.give(item_, queue_.items_.take());
      if (over_) return false;
      completion = std::make_shared<detail::Completion>(self, context.executor);
      completion_ = completion;
      queue_.parking_.fallAsleep(bed_, completion);
    }
    if (context.stop.stop_possible()) onStop_.emplace(context.stop, Complete{completion});
    return completion->wait();
  }

  struct Complete {
    std::shared_ptr<detail::Completion> completion;
    void operator()() const noexcept { completion->complete(); }
  };
  WorkQueue& queue_;
  WorkItem<T>& item_;
  bool over_ = false;
  detail::WorkerParking::Bed bed_;  // guarded by the queue's lock
  std::shared_ptr<detail::Completion> completion_;
  std::optional<std::stop_callback<Complete>> onStop_;
};

template <QueueKey T>
Task<bool> AsyncWorkQueue<T>::nextOf(WorkQueue<T>& queue, WorkItem<T>& item) {
  const detail::TaskContext& context = co_await detail::CurrentContext();
  if (context.mayBlock) co_return queue.next(item, context.stop);
  if (item.queue_ != &queue) item.done();
  typename WorkQueue<T>::Waiting waiting(queue, item);
  for (;;) {
    const bool over = co_await waiting;
    if (over) co_return static_cast<bool>(item);
  }
}

template <QueueKey T>
Task<std::optional<T>> AsyncWorkQueue<T>::getOf(WorkQueue<T>& queue) {
  WorkItem<T> item;
  const bool any = co_await nextOf(queue, item);
  if (!any) co_return std::nullopt;
  item.queue_ = nullptr;  // done() has to follow
  co_return item.entry_->key;
}

}  // namespace kube
