// Support for the fuzzers of this folder.
#pragma once

#include <cstdlib>
#include <memory>

#include "kube/base/pool.h"

namespace kube {

inline void check(bool holds) {
  if (!holds) std::abort();
}

/// A pool that is used for many inputs, so that an input meets the leftovers of others.
inline Pool& longLivedPool() {
  static auto pool = std::make_unique<Pool>();
  static int inputs = 0;
  if (++inputs % 20'000 == 0) pool = std::make_unique<Pool>();
  return *pool;
}

}  // namespace kube
