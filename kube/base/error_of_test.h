// What went wrong, for tests to compare with.
#pragma once

#include <string>

#include "kube/base/error.h"

namespace kube {

/// The text of the error of that type that `act` throws, or "" if it throws nothing. Anything else
/// passes.
template <class Thrown = Error, class Act>
std::string errorOf(Act act) {
  try {
    act();
  } catch (const Thrown& error) {
    return error.what();
  }
  return {};
}

}  // namespace kube
