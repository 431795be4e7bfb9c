// The link between an operation that is under way and the coroutine that waits for it.
//
//   bool await_suspend(std::coroutine_handle<Promise> waiter) {
//     completion_ = std::make_shared<Completion>(waiter, waiter.promise().context());
//     start(..., completion_);          // which calls complete(), now or later, on any thread
//     return completion_->wait();       // false: it is complete, go on without waiting
//   }
//
// The coroutine goes on by its executor, never inside complete(). A coroutine that is destroyed
// while it waits abandons the operation: when abandon() has returned, the executor is not used any
// more, and what it still holds does nothing. The operation may hold the completion for longer, but
// not the executor, whose loop may be gone once the coroutine has gone on.
//
// Thread safety: every method may be called from any thread; wait() and abandon() belong to the
// coroutine. A coroutine has to be destroyed where its executor runs it, or when nothing runs it.
#pragma once

#include <functional>
#include <memory>

#include "kube/base/executor.h"
#include "kube/base/internal/coroutine.h"
#include "kube/base/internal/mutex.h"

namespace kube::detail {

class Completion : public std::enable_shared_from_this<Completion> {
 public:
  Completion(std::coroutine_handle<> waiter, Executor executor)
      : waiter_(waiter), executor_(std::move(executor)) {}

  /// Lets the coroutine go on. Only the first call has an effect; returns whether this is it.
  bool complete() noexcept;
  /// Returns whether the coroutine has to wait: false if complete() was called before.
  bool wait() noexcept;
  void abandon() noexcept;

 private:
  enum class State : unsigned char { Starting, Waiting, Complete, Abandoned };
  void resume();

  const std::coroutine_handle<> waiter_;
  Mutex stateMutex_;
  Executor executor_ KUBE_GUARDED_BY(stateMutex_);  // empty once it is not needed
  State state_ KUBE_GUARDED_BY(stateMutex_) = State::Starting;
};

}  // namespace kube::detail
