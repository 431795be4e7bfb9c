// What went wrong, for tests to compare with.
#pragma once

#include <string>

#include "kube/base/error.h"

namespace kube {

/// The text of the DecodeError, or of the error of another type, that `act` throws; "" if it throws
/// nothing. Anything else passes.
template <class Thrown = DecodeError, class Act>
std::string errorOf(Act act) {
  try {
    act();
  } catch (const Thrown& error) {
    return error.what();
  }
  return {};
}

}  // namespace kube
