// Coroutines that wait without blocking a thread.
//
//   kube::Task<int> restarts(kube::AsyncResourceClient<kube::corev1::Pod> pods) {
//     int sum = 0;
//     const auto list = co_await pods.list();
//     for (const auto& pod : list.items) sum += ...;
//     co_return sum;
//   }
//   int n = kube::blockOn(restarts(clients.coreV1().pods("book").async()));
//
// A Task does nothing until it is awaited, or begun as a root: by blockOn(), which runs it on the
// calling thread and waits for it; by a TaskScope, which runs tasks on an Executor; or, in programs
// with Boost.Asio, by <kube/asio.h>. A tree of tasks runs on the executor of its root, one
// coroutine at a time. It sees the stop token of its root: on a stop, each function that waits
// throws CanceledError (or returns early, where its documentation says so).
//
// A task that is destroyed before its end gives up everything that it waits for. It has to be
// destroyed where its executor runs it, or when nothing runs it any more.
//
// With g++ before version 13, give a struct in braces a name before it is used in a co_await
// expression: that compiler destroys the struct's members twice.
//
//   const kube::metav1::ListOptions web{.labelSelector = "app=web"};
//   auto list = co_await pods.list(web);                 // not: co_await pods.list({.label... })
//
// Thread safety: a Task belongs to one thread at a time. blockOn() may be called on any thread but
// the library's I/O threads, where it throws Error.
#pragma once

#include <concepts>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "kube/base/clock.h"
#include "kube/base/executor.h"
#include "kube/base/internal/completion.h"
#include "kube/base/internal/task_promise.h"

namespace kube {

namespace detail {

class TaskAccess;

[[noreturn]] void throwBegun();
/// Throws Error if a task was moved away or begun before: each can be awaited once.
template <class Promise>
void checkNotBegun(std::coroutine_handle<Promise> coroutine) {
  if (!coroutine || coroutine.promise().begun()) throwBegun();
}

}  // namespace detail

template <class T = void>
class [[nodiscard]] Task {
 public:
  using promise_type = detail::TaskPromise<T>;
  using Value = T;

  Task(Task&& other) noexcept : coroutine_(std::exchange(other.coroutine_, {})) {}
  Task& operator=(Task&& other) noexcept {
    const Task before(std::exchange(coroutine_, std::exchange(other.coroutine_, {})));
    return *this;
  }
  ~Task() {
    if (coroutine_) coroutine_.destroy();
  }

  class Awaiter {
   public:
    Awaiter(std::coroutine_handle<promise_type> coroutine, const detail::TaskContext* context)
        : coroutine_(coroutine), context_(context) {}
    bool await_ready() const noexcept { return false; }
    template <std::derived_from<detail::PromiseBase> Promise>
    bool await_suspend(std::coroutine_handle<Promise> awaiting) {
      detail::checkNotBegun(coroutine_);
      return coroutine_.promise().beginFor(
          coroutine_, awaiting, context_ != nullptr ? *context_ : awaiting.promise().context());
    }
    T await_resume() { return coroutine_.promise().result(); }

   private:
    const std::coroutine_handle<promise_type> coroutine_;
    const detail::TaskContext* const context_;
  };

  /// Runs the task and returns its result. In coroutines that return a Task.
  Awaiter operator co_await() && noexcept { return Awaiter(coroutine_, nullptr); }

 private:
  friend promise_type;
  friend class detail::TaskAccess;
  explicit Task(std::coroutine_handle<promise_type> coroutine) noexcept : coroutine_(coroutine) {}

  std::coroutine_handle<promise_type> coroutine_;
};

namespace detail {

template <class T>
Task<T> TaskPromise<T>::get_return_object() noexcept {
  return Task<T>(std::coroutine_handle<TaskPromise>::from_promise(*this));
}
inline Task<void> TaskPromise<void>::get_return_object() noexcept {
  return Task<void>(std::coroutine_handle<TaskPromise>::from_promise(*this));
}

/// The parts of a Task that the library's own functions use.
class TaskAccess {
 public:
  template <class T>
  static auto coroutineOf(const Task<T>& task) noexcept {
    return task.coroutine_;
  }
  /// Awaits a task in another context, which lives until the task has ended.
  template <class T>
  static typename Task<T>::Awaiter inContext(Task<T>& task, const TaskContext& context) noexcept {
    return typename Task<T>::Awaiter(task.coroutine_, &context);
  }
};

/// The current span of the thread's blocking code, which its tasks begin with.
const std::shared_ptr<Span>& spanOfThread() noexcept;

/// To be called before a wait. Throws Error on a thread of the library that must not block.
void checkMayBlock(const char* what);
/// Returns false on a thread of the library that must not block.
bool mayBlock() noexcept;
/// Set by the library's threads that must not block.
void setMayBlock(bool may) noexcept;

/// Runs work on the calling thread until it has seen an end. Drops work that comes later.
class CallerLoop {
 public:
  CallerLoop();
  ~CallerLoop();
  CallerLoop(const CallerLoop&) = delete;
  CallerLoop& operator=(const CallerLoop&) = delete;

  Executor executor() const;
  /// Returns when `over` is true.
  void run(const bool& over) const;

 private:
  class State;
  const std::shared_ptr<State> state_;
};

template <class T>
T runHere(Task<T> task, const TaskContext& context, const CallerLoop* loop) {
  const auto coroutine = TaskAccess::coroutineOf(task);
  checkNotBegun(coroutine);
  bool over = false;
  coroutine.promise().beginAsRoot(
      coroutine, context, [](void* owner) noexcept { *static_cast<bool*>(owner) = true; }, &over);
  if (loop != nullptr) loop->run(over);
  return coroutine.promise().result();
}

/// The blocking form of a function of the library: a task that never waits for its executor,
/// because each operation in it blocks instead where it may. Those do their I/O on the calling
/// thread, which costs less than waking another.
template <class T>
T runBlocking(Task<T> task, const std::stop_token& stop) {
  const TaskContext context{.stop = stop, .span = spanOfThread(), .mayBlock = true};
  return runHere(std::move(task), context, nullptr);
}

/// Runs blocking work in a coroutine: at once where a coroutine may block, otherwise on a thread of
/// TaskThreads. Work that was begun goes on when the coroutine is destroyed, with a stop requested,
/// so it holds everything that it uses.
template <class Work>
Task<std::invoke_result_t<Work&, const std::stop_token&>> onThread(Work work);

/// Links two stop tokens: stops when either does.
class LinkedStop {
 public:
  LinkedStop(const std::stop_token& one, const std::stop_token& other)
      : onOne_(one, Request{source_}), onOther_(other, Request{source_}) {}

  std::stop_token token() const noexcept { return source_.get_token(); }
  void requestStop() noexcept { source_.request_stop(); }

 private:
  struct Request {
    std::stop_source source;
    void operator()() noexcept { source.request_stop(); }
  };
  std::stop_source source_;
  std::stop_callback<Request> onOne_, onOther_;
};

/// Waits for work on a thread of TaskThreads.
class ThreadWork {
 public:
  using Body = std::function<void(const std::stop_token&)>;

  explicit ThreadWork(Body body) : body_(std::move(body)) {}
  ~ThreadWork();

  bool await_ready() const noexcept { return false; }
  template <std::derived_from<PromiseBase> Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) {
    return suspend(self, self.promise().context());
  }
  void await_resume() noexcept { over_ = true; }

 private:
  KUBE_SUSPENDS bool suspend(std::coroutine_handle<> self, const TaskContext& context);

  struct RequestStop {
    std::stop_source source;
    void operator()() noexcept { source.request_stop(); }
  };
  Body body_;
  std::stop_source stop_;
  std::shared_ptr<Completion> completion_;
  std::optional<std::stop_callback<RequestStop>> onStop_;
  bool over_ = false;
};

template <class Work>
Task<std::invoke_result_t<Work&, const std::stop_token&>> onThread(Work work) {
  using Result = std::invoke_result_t<Work&, const std::stop_token&>;
  const TaskContext& context = co_await CurrentContext();
  if (context.mayBlock) co_return work(context.stop);
  struct Shared {
    Work work;
    std::optional<std::conditional_t<std::is_void_v<Result>, bool, Result>> result;
    std::exception_ptr error;
  };
  const auto shared = std::make_shared<Shared>(Shared{std::move(work), {}, {}});
  ThreadWork onOther([shared](const std::stop_token& stop) {
    try {
      if constexpr (std::is_void_v<Result>) {
        shared->work(stop);
      } else {
        shared->result.emplace(shared->work(stop));
      }
    } catch (...) {
      shared->error = std::current_exception();
    }
  });
  co_await onOther;
  if (shared->error) std::rethrow_exception(std::exchange(shared->error, nullptr));
  if constexpr (!std::is_void_v<Result>) co_return std::move(*shared->result);
}

class Sleep {
 public:
  Sleep(Clock& clock, Clock::TimePoint deadline) : clock_(clock), deadline_(deadline) {}
  ~Sleep();

  bool await_ready() const noexcept { return false; }
  template <std::derived_from<PromiseBase> Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) {
    return suspend(self, self.promise().context());
  }
  bool await_resume() const noexcept { return !stop_.stop_requested(); }

 private:
  KUBE_SUSPENDS bool suspend(std::coroutine_handle<> self, const TaskContext& context);

  struct Complete {
    std::shared_ptr<Completion> completion;
    void operator()() const noexcept;
  };
  Clock& clock_;
  const Clock::TimePoint deadline_;
  std::stop_token stop_;
  std::shared_ptr<Completion> completion_;
  Timer timer_;
  std::optional<std::stop_callback<Complete>> onStop_;
};

/// The task with another stop token than that of its tree.
template <class T>
Task<T> underStop(Task<T> task, std::stop_token stop) {
  const TaskContext& outer = co_await CurrentContext();
  TaskContext inner = outer;
  inner.stop = stop;
  co_return co_await TaskAccess::inContext(task, inner);
}

}  // namespace detail

/// Runs a task on the calling thread, and returns its result. Tasks that it begins, by whenAll()
/// and the like, run on this thread too. Throws Error on the library's I/O threads.
template <class T>
T blockOn(Task<T> task, const std::stop_token& stop = {}) {
  detail::checkMayBlock("blockOn");
  const detail::CallerLoop loop;
  const detail::TaskContext context{
      .executor = loop.executor(), .stop = stop, .span = detail::spanOfThread()};
  return detail::runHere(std::move(task), context, &loop);
}

/// `co_await kube::taskStop()` is the stop token of the coroutine's tree.
inline Task<std::stop_token> taskStop() {
  const detail::TaskContext& context = co_await detail::CurrentContext();
  co_return context.stop;
}
/// `co_await kube::taskExecutor()` is the executor of the coroutine's tree.
inline Task<Executor> taskExecutor() {
  const detail::TaskContext& context = co_await detail::CurrentContext();
  co_return context.executor;
}

/// `co_await kube::sleepFor(5s)` waits; false: a stop was requested before.
inline Task<bool> sleepUntil(Clock::TimePoint deadline, Clock& clock = realClock()) {
  detail::Sleep sleep(clock, deadline);
  co_return co_await sleep;
}
/// The time begins when the task does.
inline Task<bool> sleepFor(Clock::Duration time, Clock& clock = realClock()) {
  detail::Sleep sleep(clock, clock.deadlineAfter(time));
  co_return co_await sleep;
}

/// The task, with one more stop token.
template <class T>
Task<T> withStop(Task<T> task, std::stop_token stop) {
  const detail::TaskContext& outer = co_await detail::CurrentContext();
  const detail::LinkedStop either(outer.stop, stop);
  detail::TaskContext inner = outer;
  inner.stop = either.token();
  co_return co_await detail::TaskAccess::inContext(task, inner);
}

}  // namespace kube
