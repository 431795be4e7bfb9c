// Starts a thread; a failure is an Error that names the thread's purpose and the cause.
//
//   thread_ = detail::startingThread("the informer of pods", [&] { return std::thread(run); });
//   detail::startingThread("a worker", [&] { workers.emplace_back(work); });
//
// Thread safety: every function may be called from any thread.
#pragma once

#include <atomic>
#include <string_view>
#include <system_error>

namespace kube::detail {

/// For tests: the number of threads that may still be started; negative means no limit.
extern std::atomic<int> threadsAllowed;

/// Counts a thread, or throws as std::thread does if no more are allowed.
void takeThread();
/// Throws Error.
[[noreturn]] void throwNoThread(std::string_view what, const std::system_error& error);

/// For threads of the library: signals are left to the program's threads, and a write to a closed
/// connection must not kill the process. Signals that report a fault stay unblocked for the
/// program's handlers.
void blockSignals();

/// Calls `start`, which makes a thread, and returns its result.
template <class Start>
decltype(auto) startingThread(std::string_view what, Start&& start) {
  try {
    takeThread();
    return start();
  } catch (const std::system_error& error) {
    throwNoThread(what, error);
  }
}

}  // namespace kube::detail
