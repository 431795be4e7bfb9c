// What the fuzzers of this folder share.
#pragma once

#include <cstdlib>
#include <memory>

#include "kube/base/pool.h"

namespace kube {

inline void check(bool holds) {
  if (!holds) std::abort();
}

/// One that outlives many inputs, so that one sees what another has left behind.
inline Pool& longLivedPool() {
  static auto pool = std::make_unique<Pool>();
  static int inputs = 0;
  if (++inputs % 20'000 == 0) pool = std::make_unique<Pool>();
  return *pool;
}

}  // namespace kube
