// Starting a thread, so that one that cannot be had is an Error that says what for and why.
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

/// For tests: how many threads may be started yet; negative: as many as there can be.
extern std::atomic<int> threadsAllowed;

/// Throws as std::thread does where no more are allowed.
void takeThread();
/// Throws Error.
[[noreturn]] void throwNoThread(std::string_view what, const std::system_error& error);

/// For a thread of the library's own: signals are for the program's threads; and a write to a
/// closed connection must not kill it. Those that report a fault stay, for whoever handles them.
void blockSignals();

/// Calls `start`, which makes a thread, and returns what it does.
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
