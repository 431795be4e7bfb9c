// The inside of kube::Task: what every coroutine of the library has in common.
//
// A task begins when another awaits it, or as the root of a tree: blockOn() and TaskScope begin
// roots. All coroutines of a tree share a TaskContext. A coroutine that ends resumes the one that
// awaits it at once, without its executor, because both run in the same place.
//
// Thread safety: the coroutines of a tree run one at a time (whenAll() makes several trees), but
// with an executor of several threads each piece may run on another one. `met_` is for that: the
// awaiting coroutine may not be suspended completely when the awaited one ends.
#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include "kube/base/executor.h"
#include "kube/base/internal/coroutine.h"

namespace kube {

class Span;
template <class T>
class Task;

namespace detail {

/// Where the coroutines of a tree run, and until when.
struct TaskContext {
  Executor executor = {};
  std::stop_token stop = {};
  /// The current span (kube/base/trace.h); null if there is none.
  std::shared_ptr<Span> span = {};
  /// True if the tree has a thread of its own that waits for it, so that a coroutine may block.
  bool mayBlock = false;
};

class PromiseBase {
 public:
  /// Called when the root of a tree has ended; it may destroy the coroutine.
  using Ended = void (*)(void* owner) noexcept;

  PromiseBase() = default;
  PromiseBase(const PromiseBase&) = delete;
  PromiseBase& operator=(const PromiseBase&) = delete;

  const TaskContext& context() const noexcept { return *context_; }
  bool begun() const noexcept { return context_ != nullptr; }
  bool failed() const noexcept { return error_ != nullptr; }

  std::suspend_always initial_suspend() const noexcept { return {}; }
  void unhandled_exception() noexcept { error_ = std::current_exception(); }

  /// Begins the coroutine as a part of the awaiting one's tree. Returns whether that has to wait.
  bool beginFor(std::coroutine_handle<> self, std::coroutine_handle<> awaiting,
                const TaskContext& context) {
    context_ = &context;
    awaiting_ = awaiting;
    self.resume();
    return !met_.exchange(true, std::memory_order_acq_rel);
  }
  /// Begins the coroutine as a root. The context lives as long as the coroutine.
  void beginAsRoot(std::coroutine_handle<> self, const TaskContext& context, Ended ended,
                   void* owner) {
    context_ = &context;
    ended_ = ended;
    owner_ = owner;
    met_.store(true, std::memory_order_relaxed);
    self.resume();
  }

  struct AtTheEnd {
    bool await_ready() const noexcept { return false; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> self) const noexcept {
      PromiseBase& promise = self.promise();
      // The second of two callers lets the awaiting coroutine go on.
      if (!promise.met_.exchange(true, std::memory_order_acq_rel)) return;
      if (promise.ended_ != nullptr) return promise.ended_(promise.owner_);
      promise.awaiting_.resume();
    }
    void await_resume() const noexcept {}
  };
  AtTheEnd final_suspend() const noexcept { return {}; }

 protected:
  void rethrow() {
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }

 private:
  const TaskContext* context_ = nullptr;
  std::coroutine_handle<> awaiting_;
  Ended ended_ = nullptr;
  void* owner_ = nullptr;
  std::exception_ptr error_;
  std::atomic<bool> met_ = false;
};

template <class T>
class TaskPromise final : public PromiseBase {
 public:
  Task<T> get_return_object() noexcept;
  template <class U = T>  // `co_return {}` works
  void return_value(U&& value) {
    value_.emplace(std::forward<U>(value));
  }
  T result() {
    rethrow();
    return std::move(*value_);
  }

 private:
  std::optional<T> value_;
};

template <>
class TaskPromise<void> final : public PromiseBase {
 public:
  Task<void> get_return_object() noexcept;
  void return_void() const noexcept {}
  void result() { rethrow(); }
};

/// Gives a coroutine the context that it runs in: `co_await CurrentContext()`.
class CurrentContext {
 public:
  bool await_ready() const noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    context_ = &self.promise().context();
    return false;
  }
  const TaskContext& await_resume() const noexcept { return *context_; }

 private:
  const TaskContext* context_ = nullptr;
};

}  // namespace detail

}  // namespace kube
