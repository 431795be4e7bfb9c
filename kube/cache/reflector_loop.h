// What a Reflector does, without its objects' C++ type, so that it is compiled once: when to list,
// when to watch, from which version, and what to do when that fails.
//
// Thread safety: run() and listAndWatch() by one thread; the other methods by any.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "kube/base/backoff.h"
#include "kube/base/clock.h"
#include "kube/base/log.h"
#include "kube/base/metrics.h"
#include "kube/base/pool.h"
#include "kube/base/string.h"
#include "kube/cache/object_source.h"
#include "kube/cache/object_type.h"
#include "kube/cache/reflector_store.h"
#include "kube/cache/untyped_store.h"
#include "kube/meta/v1.h"

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
  /// Between attempts that fail.
  BackoffOptions backoff = {.initial = std::chrono::milliseconds{800},
                            .factor = 2,
                            .cap = std::chrono::seconds{30},
                            .jitter = 1,
                            .resetAfter = std::chrono::minutes{2}};
  /// None: logWatchError.
  WatchErrorHandler onError = {};
  Clock* clock = nullptr;      // null: the real one
  Metrics* metrics = nullptr;  // of an informer; null: defaultMetrics()
};

/// What has happened so far.
struct ReflectorStats {
  std::uint64_t lists = 0;        // of everything, to the end
  std::uint64_t watches = 0;      // that a server has begun
  std::uint64_t events = 0;       // of watches, without bookmarks and those of a streamed list
  std::uint64_t errors = 0;       // that were reported
  std::uint64_t sharedBytes = 0;  // that came but were held already: Pool::sharedBytes()
  std::string lastError = {};
};

namespace detail {

/// That a server is not as far as the version that it was asked for.
bool isTooLargeVersion(const std::exception& error);

class ReflectorLoop {
 public:
  /// Changes an object before anybody sees it.
  using Transform = std::function<void(void* object)>;

  /// The source and the store must outlive it. Throws Error where the source is not complete.
  ReflectorLoop(const ObjectType& type, ObjectSource& source, ReflectorStore<void>& store,
                ReflectorOptions options, Transform transform);

  void run(const std::stop_token& stop);
  void listAndWatch(const std::stop_token& stop);
  String lastSyncResourceVersion() const;
  ReflectorStats stats() const;

 private:
  bool attempt(const std::stop_token& stop);
  void list(const std::stop_token& stop);
  metav1::ListMeta collectPages(metav1::ListOptions options, const std::stop_token& stop);
  bool streamList(const std::stop_token& stop);
  String collectInitialEvents(const std::stop_token& stop);
  void watch(const std::stop_token& stop, bool open);
  void passEvents(const std::stop_token& stop, bool fromVersion, std::size_t& events);
  void checkHistory(const std::stop_token& stop);
  bool pause(const std::exception& error, const std::stop_token& stop);
  void resyncIfDue();
  metav1::ListOptions watchOptions() const;
  String relistVersion() const;
  void setLastVersion(String version);
  void report(const std::exception& error);
  std::shared_ptr<const void> transformed(std::shared_ptr<void> object) const;
  void collect(SourceEvent event);
  void apply(SourceEvent event);
  void forgetCollected();
  void replaceWithCollected(const String& resourceVersion);

  const ObjectType& type_;
  ObjectSource& source_;
  ReflectorStore<void>& store_;
  const ReflectorOptions options_;
  const Transform transform_;
  Clock& clock_;
  const Logger log_;
  Backoff backoff_;
  bool canStreamList_;
  bool inPages_ = false;      // the last list was
  bool pagedResult_ = false;  // the server pages even what it could have in memory
  bool versionUnavailable_ =
      false;  // the last version known is too old, or too new, for the server

  Pool pool_;
  // A list that is not complete yet: what its pages had, or what its events say.
  std::vector<std::shared_ptr<const void>> listed_;
  std::optional<UntypedStore> streamed_;

  std::atomic<std::uint64_t> lists_{0}, watches_{0}, events_{0}, errors_{0};
  mutable std::mutex versionMutex_;
  String lastVersion_;
  std::string lastError_;
};

}  // namespace detail

}  // namespace kube
