// The state of an informer, in numbers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kube/base/clock.h"
#include "kube/cache/reflector_options.h"

namespace kube {

/// The result of SharedInformer::stats(). `source` has the counts of its lists and watches.
struct InformerStats {
  std::size_t objects = 0;
  std::size_t handlers = 0;
  std::size_t pending = 0;            ///< Notifications that wait for handlers.
  Clock::Duration lag{};              ///< How long the oldest of these has waited.
  std::uint64_t handlerFailures = 0;  ///< Exceptions that handlers have thrown.
  ReflectorStats source = {};
};

}  // namespace kube
