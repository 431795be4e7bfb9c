// One CA for all tests of transports: creating a CA takes longer than many of these tests.
#pragma once

#include "kube/testing/test_ca.h"

namespace kube {

inline const TestCa& ca() {
  static const TestCa made;
  return made;
}

}  // namespace kube
