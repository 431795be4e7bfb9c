// A function that may block for long, in a coroutine that must not.
//
//   co_await detail::onOwnThread("the work of manager \"networks\"", [&](const auto& stop) { ...
//   });
//
// Unlike onThread(), destroying the task requests a stop and waits until the function has returned,
// so the function may use whatever outlives the task. A wait that takes long is logged.
//
// Thread safety: as for Task.
#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "kube/base/task.h"

namespace kube::detail {

/// Calls the function with the stop token of the tree, on a thread of its own, or at once where a
/// coroutine may block. Throws what the function throws, and Error if no thread can be started;
/// `what` names the function then. A stop does not end the wait.
Task<void> onOwnThread(std::string what, std::function<void(const std::stop_token&)> function);

}  // namespace kube::detail
