// Callbacks of C libraries must not throw: an exception cannot pass through the library's frames.
// This includes std::bad_alloc.
#pragma once

#include <exception>
#include <string>

namespace kube::detail {

/// Returns the result of `act`. If it throws, returns `failure`, which makes the library give up,
/// and stores the exception in `thrown` for the caller of the library.
template <class Result, class Act>
Result guardedCallback(std::exception_ptr& thrown, Result failure, Act act) noexcept {
  try {
    return act();
  } catch (...) {
    thrown = std::current_exception();
    return failure;
  }
}

inline std::string messageOf(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "an exception that is not a std::exception";
  }
}

}  // namespace kube::detail
