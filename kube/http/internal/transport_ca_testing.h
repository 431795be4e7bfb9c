// One CA for all tests of transports: making one takes as long as many of them.
#pragma once

#include "kube/testing/test_ca.h"

namespace kube {

inline const TestCa& ca() {
  static const TestCa made;
  return made;
}

}  // namespace kube
