// What a C library calls back must not throw: the library's frames are no place for an exception to
// pass through, be it that there is no memory.
#pragma once

#include <exception>
#include <string>

namespace kube::detail {

/// What `act` returns; or `failure`, by which the library is told to give up, if it throws. What it
/// threw is in `thrown` then, for the caller of the library.
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
    return "something that is no std::exception was thrown";
  }
}

}  // namespace kube::detail
