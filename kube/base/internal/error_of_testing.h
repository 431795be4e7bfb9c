// Error texts for tests to compare.
#pragma once

#include <string>

#include "kube/base/error.h"

namespace kube {

/// Returns the text of the DecodeError, or of the error type `Thrown`, that `act` throws; "" if it
/// throws nothing. Other exceptions pass through.
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
