// The algorithm of a Reflector, without its objects' C++ type, so that it is compiled once: when to
// list, when to watch, from which version, and how to recover from failures.
//
// Thread safety: run() and listAndWatch() are for one thread; the other methods for any.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "kube/base/clock.h"
#include "kube/base/internal/mutex.h"
#include "kube/base/log.h"
#include "kube/base/pool.h"
#include "kube/base/string.h"
#include "kube/cache/internal/object_source.h"
#include "kube/cache/internal/object_type.h"
#include "kube/cache/internal/reflector_pauses.h"
#include "kube/cache/internal/untyped_store.h"
#include "kube/cache/reflector_options.h"
#include "kube/cache/reflector_store.h"
#include "kube/cache/transform.h"
#include "kube/meta/v1.h"

namespace kube::detail {

class ReflectorLoop {
 public:
  /// The source and the store must outlive the loop. Throws Error if the source is not complete.
  ReflectorLoop(const ObjectType& type, ObjectSource& source, ReflectorStore<void>& store,
                ReflectorOptions options, UntypedTransform transform);

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
  void noteExpired();
  void resyncIfDue();
  metav1::ListOptions watchOptions() const;
  String relistVersion() const;
  void setLastVersion(String version);
  void report(const std::exception& error);
  bool transform(void* object);
  void collect(std::shared_ptr<void> object);
  void collect(SourceEvent event);
  void apply(SourceEvent event);
  void forgetCollected();
  void replaceWithCollected(const String& resourceVersion);

  const ObjectType& type_;
  ObjectSource& source_;
  ReflectorStore<void>& store_;
  const ReflectorOptions options_;
  const UntypedTransform transform_;
  Clock& clock_;
  const Logger log_;
  ReflectorPauses pauses_;
  bool canStreamList_;
  bool inPages_ = false;      // the last list came in several pages
  bool pagedResult_ = false;  // the server pages although it could answer from memory
  bool versionUnavailable_ =
      false;        // the server does not have the last known version: too old, or too new
  String expired_;  // the version from which the last watch was refused as too old

  Pool pool_;
  // The objects of a list that is not complete yet: from its pages, or from a stream's events.
  std::vector<std::shared_ptr<const void>> listed_;
  std::optional<UntypedStore> streamed_;

  std::atomic<std::uint64_t> lists_{0}, watches_{0}, events_{0}, errors_{0}, transformFailures_{0};
  // When these messages were logged last. They are logged at most every kQuietTime.
  std::optional<Clock::TimePoint> unreachedLoggedAt_, transformLoggedAt_;
  mutable Mutex reportedMutex_;
  String lastVersion_ KUBE_GUARDED_BY(reportedMutex_);
  std::string lastError_ KUBE_GUARDED_BY(reportedMutex_);
};

}  // namespace kube::detail
