// Calls functions of the program in places where an exception cannot be passed on: it is logged and
// dropped.
#pragma once

#include <exception>
#include <string_view>

#include "kube/base/log.h"

namespace kube::detail {

/// `name` is the name of the function in the log.
template <class Function>
void guarded(const Logger& log, std::string_view name, Function&& function) noexcept {
  try {
    function();
  } catch (const std::exception& error) {
    log.error("{} threw: {}", name, error.what());
  } catch (...) {
    log.error("{} threw an exception that is not a std::exception", name);
  }
}

/// The same with a logger of that name, which is made only if it is needed.
template <class Function>
void guarded(const char* logger, std::string_view name, Function&& function) noexcept {
  try {
    function();
  } catch (...) {
    guarded(Logger(logger), name, [] { throw; });
  }
}

}  // namespace kube::detail
