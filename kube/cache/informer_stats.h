// The state of an informer, in numbers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kube/base/clock.h"
#include "kube/cache/reflector_options.h"

namespace kube {

/// What SharedInformer::stats() returns.
struct InformerStats {
  std::size_t objects = 0;
  std::size_t handlers = 0;
  std::size_t pending = 0;            // notifications that wait for handlers
  Clock::Duration lag{};              // how long the oldest of them has
  std::uint64_t handlerFailures = 0;  // how often handlers have thrown
  ReflectorStats source = {};
};

}  // namespace kube
