// kubexx in programs with Boost.Asio: tasks with completion tokens.
//
//   boost::asio::awaitable<void> restart(kube::AsyncResourceClient<kube::corev1::Pod> pods) {
//     kube::corev1::Pod pod = co_await kube::asio::await(pods.get("web"),
//     boost::asio::use_awaitable);
//     ...
//   }
//   kube::asio::await(io, pods.get("web"), [](std::exception_ptr error, kube::corev1::Pod pod) {
//   ... }); std::future<kube::corev1::Pod> pod = kube::asio::await(io, pods.get("web"),
//   boost::asio::use_future);
//
// A task runs on the executor that is associated with the completion handler, and the handler is
// called there: in a coroutine, that is the coroutine's executor. await() with an executor (or an
// io_context) takes that for handlers without one, such as plain functions and use_future. On a
// context with several threads, the pieces of a task run one after the other; give a strand to
// whatever else has to.
//
// Errors arrive as std::exception_ptr, so use_awaitable throws them. With Boost 1.77 and newer, the
// cancellation slot of the handler stops the task, which then ends with CanceledError. A result
// without a default constructor arrives as a std::optional.
//
// A task that waits counts as outstanding work. Destroying the io_context destroys tasks that have
// not ended, as it does with Asio's own operations: nothing uses it after that.
//
// Coroutines of kubexx run on Asio too: executor() makes an Executor, for a TaskScope. Destroy the
// scope before the io_context.
//
// For Boost 1.74 and newer, headers only; with the archive of kubexx, the Boost that kubexx was
// built with. The context has to accept work from other threads, as all do by default (not
// BOOST_ASIO_CONCURRENCY_HINT_UNSAFE).
//
// Thread safety: await() and executor() may be called from any thread.
#pragma once

// First, because Boost 1.74 uses some of these without an include.
#include <concepts>
#include <exception>
#include <memory>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <unordered_set>
#include <utility>

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/version.hpp>
#if BOOST_VERSION >= 107700
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/cancellation_type.hpp>
#endif

#include "kube/base/executor.h"
#include "kube/base/internal/mutex.h"
#include "kube/base/task.h"

namespace kube::asio {

namespace detail {

namespace io = ::boost::asio;
using kube::detail::Lock;
using kube::detail::Mutex;
using kube::detail::TaskAccess;
using kube::detail::TaskContext;

template <class Context>
concept ExecutionContext = std::derived_from<Context, io::execution_context>;

template <class IoExecutor>
io::execution_context& contextOf(const IoExecutor& executor) {
  if constexpr (io::can_query<const IoExecutor&, io::execution::context_t>::value) {
    return io::query(executor, io::execution::context);
  } else {
    return executor.context();
  }
}

/// A task with its completion handler.
class Operation {
 public:
  Operation() = default;
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;
  virtual ~Operation() = default;
};

/// The operations of a context, which destroys those that are left at its end.
class Operations final : public io::execution_context::service {
 public:
  using key_type = Operations;
  static inline io::execution_context::id id;

  explicit Operations(io::execution_context& context) : service(context) {}

  void add(Operation& operation) {
    const Lock lock(operationsMutex_);
    operations_.insert(&operation);
  }
  void remove(Operation& operation) noexcept {
    const Lock lock(operationsMutex_);
    operations_.erase(&operation);
  }

 private:
  void shutdown() noexcept override {
    std::unordered_set<Operation*> left;
    {
      const Lock lock(operationsMutex_);
      left.swap(operations_);
    }
    for (Operation* operation : left) delete operation;
  }

  Mutex operationsMutex_;
  std::unordered_set<Operation*> operations_ KUBE_GUARDED_BY(operationsMutex_);
};

template <class T>
struct Result {
  using Type = std::conditional_t<std::default_initializable<T>, T, std::optional<T>>;
  using Signature = void(std::exception_ptr, Type);
};
template <>
struct Result<void> {
  using Type = bool;  // not passed on
  using Signature = void(std::exception_ptr);
};

/// The call of a handler, which is moved to the executor.
template <class T, class Handler, class IoExecutor>
struct Finish {
  Handler handler;
  io::executor_work_guard<IoExecutor> work;
  std::exception_ptr error;
  typename Result<T>::Type value;

  void operator()() {
    const auto working = std::move(work);
    if constexpr (std::is_void_v<T>) {
      std::move(handler)(std::move(error));
    } else {
      std::move(handler)(std::move(error), std::move(value));
    }
  }
};

template <class T, class Handler, class IoExecutor>
class TaskOperation final : public Operation {
 public:
  TaskOperation(Task<T> task, Handler handler, const IoExecutor& executor);

  void begin() {
    const auto coroutine = TaskAccess::coroutineOf(task_);
    coroutine.promise().beginAsRoot(
        coroutine, context_, [](void* self) noexcept { static_cast<TaskOperation*>(self)->end(); },
        this);
  }

 private:
  void end() noexcept {
    Finish<T, Handler, IoExecutor> finish{std::move(handler_), std::move(work_), nullptr, {}};
    try {
      if constexpr (std::is_void_v<T>) {
        TaskAccess::coroutineOf(task_).promise().result();
      } else {
        finish.value = TaskAccess::coroutineOf(task_).promise().result();
      }
    } catch (...) {
      finish.error = std::current_exception();
    }
    clearSlot(finish.handler);
    operations_.remove(*this);
    const IoExecutor executor = std::move(executor_);
    delete this;
    // Not called here: a handler may throw, and is never called where the operation begins.
    io::post(executor, std::move(finish));
  }

#if BOOST_VERSION >= 107700
  void assignSlot() {
    auto slot = io::get_associated_cancellation_slot(handler_);
    if (!slot.is_connected()) return;
    slot.assign([stop = stop_](io::cancellation_type type) mutable {
      if (type != io::cancellation_type::none) stop.request_stop();
    });
  }
  static void clearSlot(const Handler& handler) {
    auto slot = io::get_associated_cancellation_slot(handler);
    if (slot.is_connected()) slot.clear();
  }
#else
  void assignSlot() {}
  static void clearSlot(const Handler&) {}
#endif

  Operations& operations_;
  IoExecutor executor_;
  Handler handler_;
  io::executor_work_guard<IoExecutor> work_;
  std::stop_source stop_;
  const TaskContext context_;
  Task<T> task_;  // destroyed first
};

}  // namespace detail

/// Makes an Executor of one of Asio's, which has to outlive everything that runs on it.
template <class IoExecutor>
requires(!detail::ExecutionContext<IoExecutor>) Executor executor(const IoExecutor& executor) {
  return Executor(
      [executor](Executor::Work work) { ::boost::asio::post(executor, std::move(work)); });
}
/// For io_context and other contexts.
template <detail::ExecutionContext Context>
Executor executor(Context& context) {
  return asio::executor(context.get_executor());
}

namespace detail {

template <class T, class Handler, class IoExecutor>
TaskOperation<T, Handler, IoExecutor>::TaskOperation(Task<T> task, Handler handler,
                                                     const IoExecutor& executor)
    : operations_(io::use_service<Operations>(contextOf(executor))),
      executor_(executor),
      handler_(std::move(handler)),
      work_(io::make_work_guard(executor)),
      context_{.executor = asio::executor(executor), .stop = stop_.get_token()},
      task_(std::move(task)) {
  kube::detail::checkNotBegun(TaskAccess::coroutineOf(task_));
  assignSlot();
  operations_.add(*this);
}

template <class T, class Handler, class IoExecutor>
void beginOn(const IoExecutor& executor, Task<T> task, Handler handler) {
  using Started = TaskOperation<T, Handler, IoExecutor>;
  // The context owns it.
  auto* const started = new Started(std::move(task), std::move(handler), executor);
  io::dispatch(executor, [started] { started->begin(); });
}

struct Begin {
  template <class Handler, class T>
  void operator()(Handler&& handler, Task<T> task) const {
    const auto executor = io::get_associated_executor(handler);
    beginOn(executor, std::move(task), std::decay_t<Handler>(std::forward<Handler>(handler)));
  }
};

template <class IoExecutor>
struct BeginOn {
  IoExecutor fallback;
  template <class Handler, class T>
  void operator()(Handler&& handler, Task<T> task) const {
    const auto executor = io::get_associated_executor(handler, fallback);
    beginOn(executor, std::move(task), std::decay_t<Handler>(std::forward<Handler>(handler)));
  }
};

}  // namespace detail

/// Begins the task, and completes with std::exception_ptr and its result.
template <class T, class Token>
auto await(Task<T> task, Token&& token) {
  return ::boost::asio::async_initiate<Token, typename detail::Result<T>::Signature>(
      detail::Begin(), token, std::move(task));
}

/// The same for tokens whose handlers have no executor.
template <class IoExecutor, class T, class Token>
requires(!detail::ExecutionContext<IoExecutor>) auto await(const IoExecutor& executor, Task<T> task,
                                                           Token&& token) {
  return ::boost::asio::async_initiate<Token, typename detail::Result<T>::Signature>(
      detail::BeginOn<IoExecutor>{executor}, token, std::move(task));
}
template <detail::ExecutionContext Context, class T, class Token>
auto await(Context& context, Task<T> task, Token&& token) {
  return asio::await(context.get_executor(), std::move(task), std::forward<Token>(token));
}

#if defined(BOOST_ASIO_HAS_CO_AWAIT)
/// In coroutines of Asio: `co_await kube::asio::await(pods.get("web"))`.
template <class T>
auto await(Task<T> task) {
  return asio::await(std::move(task), ::boost::asio::use_awaitable);
}
#endif

}  // namespace kube::asio
