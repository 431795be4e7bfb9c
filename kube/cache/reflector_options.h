// How a Reflector, and so an informer, goes about its work, and what it tells about that.
//
// Thread safety: values.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <string>

#include "kube/base/backoff.h"
#include "kube/base/clock.h"
#include "kube/base/log.h"
#include "kube/base/metrics.h"

namespace kube {

/// Told of everything that goes wrong on the way to the server. It should return quickly, and must
/// not throw.
using WatchErrorHandler = std::function<void(const std::exception& error)>;

/// Logs: at debug level what is ordinary, such as that a version is too old, else as a warning.
void logWatchError(const Logger& log, const std::exception& error);

struct ReflectorOptions {
  /// For the log and the metrics: "pods".
  std::string name = {};
  /// How often the store is told to resync; 0 for never.
  Clock::Duration resync = {};
  /// Asked before each resync; none for yes.
  std::function<bool()> shouldResync = {};
  /// Asks for the first state as a stream of events, where the server can do that; it costs the
  /// server less than a list.
  bool streamList = true;
  /// Of a list's pages. 0: 500 where pages make sense, and one large list where a server can answer
  /// it from its memory.
  std::int64_t pageSize = 0;
  /// A watch lasts this long, or up to twice as long, chosen at random. Less than 5 minutes is
  /// taken as 5 minutes, so that servers are spared.
  std::chrono::seconds minWatchTimeout{300};
  /// Between attempts that a server answers with a failure.
  BackoffOptions backoff = {.initial = std::chrono::milliseconds{800},
                            .factor = 2,
                            .cap = std::chrono::seconds{30},
                            .jitter = 1,
                            .resetAfter = std::chrono::minutes{2}};
  /// Between attempts to reach a server that cannot be reached, or whose connections break.
  /// Shorter, since such a try costs next to nothing, and what it ends is the time without events.
  BackoffOptions reconnect = {.initial = std::chrono::milliseconds{50},
                              .factor = 2,
                              .cap = std::chrono::milliseconds{500},
                              .jitter = 1,
                              .resetAfter = std::chrono::minutes{2}};
  /// None: logWatchError.
  WatchErrorHandler onError = {};
  Clock* clock = nullptr;      // null: the real one
  Metrics* metrics = nullptr;  // of an informer; null: defaultMetrics()
};

/// What has happened so far.
struct ReflectorStats {
  std::uint64_t lists = 0;    // of everything, to the end
  std::uint64_t watches = 0;  // that a server has begun
  std::uint64_t events = 0;   // of watches, without bookmarks and those of a streamed list
  std::uint64_t errors = 0;   // that were reported
  std::uint64_t transformFailures =
      0;                          // objects and events that were left out, since it has thrown
  std::uint64_t sharedBytes = 0;  // that came but were held already: Pool::sharedBytes()
  std::string lastError = {};
};

}  // namespace kube
