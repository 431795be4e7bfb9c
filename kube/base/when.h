// Several tasks at a time, and limits of time.
//
//   auto [pod, node] = co_await kube::whenAll(pods.get("web"), nodes.get("n1"));
//   std::vector<kube::Task<corev1::Pod>> gets = ...;
//   std::vector<corev1::Pod> all = co_await kube::whenAll(std::move(gets));
//   auto first = co_await kube::whenAny(std::move(gets));       // first.index, first.value
//   auto list = co_await kube::within(2s, pods.list());
//
// Each of the tasks runs until it waits; then the next begins. whenAll() returns when all have
// ended. When one throws, the others are asked to stop, and the first exception is thrown when they
// have. whenAny() returns the first result, or throws the first exception; it asks the others to
// stop, and waits until they have. So no task outlives the call.
//
// Thread safety: as for Task. On an executor with several threads, the tasks run in parallel.
#pragma once

#include <atomic>
#include <cstddef>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "kube/base/error.h"
#include "kube/base/task.h"

namespace kube {

namespace detail {

/// Runs tasks side by side, as trees of their own, and waits for all of them. Where a coroutine may
/// block, the calling thread runs all of them meanwhile.
class TaskTogether {
 public:
  enum class StopAt : unsigned char { FirstFailure, FirstEnd };
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  TaskTogether(const TaskContext& outer, StopAt stopAt)
      : stop_(outer.stop, {}), stopAt_(stopAt), context_(outer) {
    context_.stop = stop_.token();
  }

  template <class T>
  void add(const Task<T>& task) {
    const auto coroutine = TaskAccess::coroutineOf(task);
    checkNotBegun(coroutine);
    children_.push_back({this, &coroutine.promise(), coroutine});
  }
  /// The task that has ended the wait of the others; kNone if there is none.
  std::size_t decisive() const noexcept { return decisive_.load(std::memory_order_relaxed); }

  bool await_ready() const noexcept { return children_.empty(); }
  KUBE_SUSPENDS bool await_suspend(std::coroutine_handle<> self);
  void await_resume() const noexcept {}

 private:
  struct Child {
    TaskTogether* group;
    PromiseBase* promise;
    std::coroutine_handle<> coroutine;
  };
  void begin();
  void ended(const Child& child) noexcept;

  LinkedStop stop_;
  const StopAt stopAt_;
  TaskContext context_;
  std::vector<Child> children_;
  std::coroutine_handle<> awaiting_;     // null if the calling thread waits
  bool over_ = false;                    // for that thread
  std::atomic<std::size_t> running_{0};  // and one for await_suspend()
  std::atomic<std::size_t> decisive_{kNone};
};

template <class T>
using ValueOf = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

template <class T>
ValueOf<T> resultOf(const Task<T>& task) {
  if constexpr (std::is_void_v<T>) {
    TaskAccess::coroutineOf(task).promise().result();
    return {};
  } else {
    return TaskAccess::coroutineOf(task).promise().result();
  }
}

}  // namespace detail

/// Returns the results in the order of the tasks.
template <class T>
Task<std::vector<detail::ValueOf<T>>> whenAll(std::vector<Task<T>> tasks) {
  const detail::TaskContext& context = co_await detail::CurrentContext();
  detail::TaskTogether together(context, detail::TaskTogether::StopAt::FirstFailure);
  for (const Task<T>& task : tasks) together.add(task);
  co_await together;
  if (const std::size_t failed = together.decisive(); failed < tasks.size()) {
    detail::resultOf(tasks[failed]);  // throws
  }
  std::vector<detail::ValueOf<T>> results;
  results.reserve(tasks.size());
  for (const Task<T>& task : tasks) results.push_back(detail::resultOf(task));
  co_return results;
}

/// Returns a tuple; the result of a Task<void> is a std::monostate.
template <class... T>
Task<std::tuple<detail::ValueOf<T>...>> whenAll(Task<T>... tasks) {
  const detail::TaskContext& context = co_await detail::CurrentContext();
  detail::TaskTogether together(context, detail::TaskTogether::StopAt::FirstFailure);
  (together.add(tasks), ...);
  co_await together;
  std::size_t index = 0;
  const std::size_t failed = together.decisive();
  ((index++ == failed ? static_cast<void>(detail::resultOf(tasks)) : void()), ...);  // throws
  co_return std::tuple<detail::ValueOf<T>...>{detail::resultOf(tasks)...};
}

/// The result of the first task that has ended.
template <class Value>
struct First {
  std::size_t index;
  Value value;
};

/// Throws Error if there is no task.
template <class T>
Task<First<detail::ValueOf<T>>> whenAny(std::vector<Task<T>> tasks) {
  if (tasks.empty()) throw Error("whenAny: there is no task to wait for");
  const detail::TaskContext& context = co_await detail::CurrentContext();
  detail::TaskTogether together(context, detail::TaskTogether::StopAt::FirstEnd);
  for (const Task<T>& task : tasks) together.add(task);
  co_await together;
  const std::size_t index = together.decisive();
  co_return First<detail::ValueOf<T>>{index, detail::resultOf(tasks[index])};
}

/// The same for tasks of several types: the value is a std::variant, whose index is the task's.
template <class... T>
Task<std::variant<detail::ValueOf<T>...>> whenAny(Task<T>... tasks) {
  const detail::TaskContext& context = co_await detail::CurrentContext();
  detail::TaskTogether together(context, detail::TaskTogether::StopAt::FirstEnd);
  (together.add(tasks), ...);
  co_await together;
  using Result = std::variant<detail::ValueOf<T>...>;
  co_return [&]<std::size_t... i>(std::index_sequence<i...>) {
    std::optional<Result> result;
    const std::size_t first = together.decisive();
    const auto all = std::tie(tasks...);
    ((i == first ? static_cast<void>(
                       result.emplace(std::in_place_index<i>, detail::resultOf(std::get<i>(all))))
                 : void()),
     ...);
    return std::move(*result);
  }
  (std::index_sequence_for<T...>());
}

/// The task, but not longer than this: then it is asked to stop, and TimeoutError is thrown.
template <class T>
Task<T> within(Clock::Duration time, Task<T> task, Clock& clock = realClock()) {
  const detail::TaskContext& outer = co_await detail::CurrentContext();
  std::stop_source late;
  const detail::LinkedStop either(outer.stop, late.get_token());
  detail::TaskContext inner = outer;
  inner.stop = either.token();
  const Timer timer = clock.callAfter(time, [late]() mutable { late.request_stop(); });
  try {
    co_return co_await detail::TaskAccess::inContext(task, inner);
  } catch (const CanceledError& error) {
    if (!late.stop_requested() || outer.stop.stop_requested()) throw;
    throw TimeoutError(std::string(error.what()) + ": it took too long");
  }
}

}  // namespace kube
