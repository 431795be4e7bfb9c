// The algorithm of a Reflector, without its objects' C++ type, so that it is compiled once: when to
// list, when to watch, from which version, and how to recover from failures.
//
// It is a coroutine: the loop runs on the thread of an informer, or on an executor that many
// reflectors share. What to do after a failure is decided by judgeStream() and judgeWatch(): they
// return the pause before the next attempt, or throw the error again to begin with a new list.
//
// Thread safety: run() and listAndWatch() are for one task; the other methods for any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kube/base/clock.h"
#include "kube/base/internal/mutex.h"
#include "kube/base/log.h"
#include "kube/base/pool.h"
#include "kube/base/string.h"
#include "kube/base/task.h"
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

  /// Lists and watches until a stop is requested. Both end with the tasks' stop token.
  Task<void> run();
  Task<void> listAndWatch();
  String lastSyncResourceVersion() const;
  ReflectorStats stats() const;

 private:
  /// A watch, from its request to its end.
  struct Watched {
    Clock::TimePoint start;
    bool open = false;        // the server has accepted it
    bool fromVersion = true;  // its first events are changes, in the order of versions
    std::size_t events = 0;
    int broken = 0;  // watches in a row, up to this one, that broke before any event
  };
  enum class Listed : std::uint8_t { Yes, Again, InPages };
  using Pause = ReflectorPauses::Pause;

  Task<void> list();
  Task<metav1::ListMeta> collectPages(metav1::ListOptions options);
  Task<bool> streamList();
  Task<void> streamOnce();
  Listed judgeStream(const Error& error, std::optional<Pause>& pause);
  Task<String> collectInitialEvents();
  Task<void> watch(bool open);
  Task<void> watchOnce(Watched& watched);
  Pause judgeWatch(const Error& error, Watched& watched);
  Pause judgeEnd(Watched& watched);
  void pass(SourceEvent event, Watched& watched);
  Task<void> checkHistory();
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
