// Calls of a program's function that returns a value, or a task of one, from a coroutine.
//
//   const bool done = co_await detail::callTask(condition, object);
//
// The function and its arguments outlive the task.
#pragma once

#include <functional>
#include <type_traits>
#include <utility>

#include "kube/base/task.h"

namespace kube::detail {

template <class Result>
struct AwaitedResult {
  using type = std::decay_t<Result>;
  static constexpr bool isTask = false;
};
template <class T>
struct AwaitedResult<Task<T>> {
  using type = T;
  static constexpr bool isTask = true;
};

/// True for a function that returns a task.
template <class Call, class... Args>
inline constexpr bool returnsTask =
    AwaitedResult<std::remove_cvref_t<std::invoke_result_t<Call&, Args...>>>::isTask;

/// The function's result; of a task, the result of that.
template <class Call, class... Args>
using AwaitedOf =
    typename AwaitedResult<std::remove_cvref_t<std::invoke_result_t<Call&, Args...>>>::type;

template <class Call, class... Args>
Task<AwaitedOf<Call, Args...>> callTask(Call& call, Args... args) {
  if constexpr (returnsTask<Call, Args...>) {
    co_return co_await std::invoke(call, args...);
  } else {
    co_return std::invoke(call, args...);
  }
}

}  // namespace kube::detail
