// Options and statistics of a Reflector, and so of an informer.
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

/// Receives every error of the lists and watches. Must return quickly, and must not throw.
using WatchErrorHandler = std::function<void(const std::exception& error)>;

/// Logs an error: at debug level if it is ordinary, such as a version that is too old, else as a
/// warning.
void logWatchError(const Logger& log, const std::exception& error);

struct ReflectorOptions {
  /// The name in the log and the metrics: "pods".
  std::string name = {};
  /// How often the store is told to resync; 0: never.
  Clock::Duration resync = {};
  /// Called before each resync, which is skipped if it returns false. Empty: never skipped.
  std::function<bool()> shouldResync = {};
  /// Requests the initial state as a stream of events if the server supports it; that costs the
  /// server less than a list.
  bool streamList = true;
  /// The size of a list's pages. 0: pages of 500, or one large list if the server can answer it
  /// from memory.
  std::int64_t pageSize = 0;
  /// A watch lasts this long, or up to twice as long, chosen at random. Less than 5 minutes counts
  /// as 5 minutes, to spare servers.
  std::chrono::seconds minWatchTimeout{300};
  /// The pause after a server has answered with a failure.
  BackoffOptions backoff = {.initial = std::chrono::milliseconds{800},
                            .factor = 2,
                            .cap = std::chrono::seconds{30},
                            .jitter = 1,
                            .resetAfter = std::chrono::minutes{2}};
  /// The pause after a server could not be reached, or a connection broke. Shorter than `backoff`,
  /// because such an attempt costs next to nothing and ends the time without events.
  BackoffOptions reconnect = {.initial = std::chrono::milliseconds{50},
                              .factor = 2,
                              .cap = std::chrono::milliseconds{500},
                              .jitter = 1,
                              .resetAfter = std::chrono::minutes{2}};
  /// Empty: logWatchError.
  WatchErrorHandler onError = {};
  Clock* clock = nullptr;      ///< Null: realClock().
  Metrics* metrics = nullptr;  ///< For the metrics of an informer. Null: defaultMetrics().
};

/// Counts since the reflector was made.
struct ReflectorStats {
  std::uint64_t lists = 0;    ///< Complete lists of all objects.
  std::uint64_t watches = 0;  ///< Watches that the server accepted.
  std::uint64_t events = 0;   ///< Events of watches, without bookmarks and streamed lists.
  std::uint64_t errors = 0;   ///< Errors that were reported.
  /// Objects and events that were left out because the transform threw.
  std::uint64_t transformFailures = 0;
  std::uint64_t sharedBytes = 0;  ///< Received bytes that were held already: Pool::sharedBytes().
  std::string lastError = {};

  /// Adds the counts of another reflector. Its last error wins.
  ReflectorStats& operator+=(const ReflectorStats& other) {
    lists += other.lists;
    watches += other.watches;
    events += other.events;
    errors += other.errors;
    transformFailures += other.transformFailures;
    sharedBytes += other.sharedBytes;
    if (!other.lastError.empty()) lastError = other.lastError;
    return *this;
  }
};

}  // namespace kube
