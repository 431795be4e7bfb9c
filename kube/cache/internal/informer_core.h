// The state that all handles of one SharedInformer share: the informer without its objects' C++
// type, so that it is compiled once. SharedInformer<T> documents the methods.
//
// An informer has one part, or one for each of its namespaces. Those come and go while it runs: a
// coroutine starts the parts of new namespaces, and clears those of removed ones when they have
// ended. A namespace that is added again has a new part, which waits for the old one.
//
// Thread safety: every method may be called from any thread. Order of locks: stateMutex_, that of
// the cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "kube/base/executor.h"
#include "kube/base/internal/condition.h"
#include "kube/base/internal/mutex.h"
#include "kube/base/map.h"
#include "kube/base/string.h"
#include "kube/base/task.h"
#include "kube/base/task_scope.h"
#include "kube/cache/handler_options.h"
#include "kube/cache/informer_stats.h"
#include "kube/cache/internal/informer_cache.h"
#include "kube/cache/internal/informer_part.h"
#include "kube/cache/internal/notification.h"
#include "kube/cache/internal/object_source.h"
#include "kube/cache/internal/untyped_store.h"
#include "kube/cache/reflector_options.h"
#include "kube/cache/shared_informer_options.h"
#include "kube/cache/transform.h"

namespace kube {

namespace detail {

class HandlerQueue;
class Handlers;

/// The sources of an informer with several namespaces.
struct NamespacedSources {
  /// The executor of all of them.
  Executor executor = {};
  std::function<std::unique_ptr<ObjectSource>(const String& namespaceName)> make = {};
};

class InformerCore final {
 public:
  using Object = std::shared_ptr<const void>;

  /// An index by namespace is added if `indexes` has none.
  InformerCore(std::unique_ptr<UntypedStore> store, std::unique_ptr<ObjectSource> source,
               SharedInformerOptions options, std::vector<UntypedStore::Index> indexes);
  InformerCore(std::unique_ptr<UntypedStore> store, NamespacedSources sources,
               const Strings& namespaces, SharedInformerOptions options);
  ~InformerCore();

  /// The name of the objects: "pods".
  std::string_view name() const noexcept { return options_.name; }
  const std::shared_ptr<UntypedStore>& store() const noexcept { return cache_.store(); }
  const std::shared_ptr<Handlers>& handlers() const noexcept { return cache_.handlers(); }

  std::shared_ptr<HandlerQueue> addHandler(std::unique_ptr<const NotificationHandler> handler,
                                           const HandlerOptions& options);
  void addIndexes(std::vector<UntypedStore::Index> indexes);
  void fill(std::vector<Object> objects);
  void setTransform(UntypedTransform transform);
  void setWatchErrorHandler(WatchErrorHandler handler);

  void addNamespace(const String& name);
  /// As addNamespace(), but returns false if the informer has stopped.
  bool offerNamespace(const String& name);
  void removeNamespace(std::string_view name);
  std::optional<Strings> namespaces() const;

  /// Runs on the calling thread.
  void run(const std::stop_token& stop);
  /// Runs on the executor of the source, if that has one, and otherwise on a thread of its own,
  /// which is returned for joining. Calls `ended`, which must not throw, when the last handler has
  /// returned. Throws Error if no thread can be started.
  [[nodiscard]] static std::thread start(const std::shared_ptr<InformerCore>& informer,
                                         const std::stop_token& stop, std::function<void()> ended);
  bool hasSynced() const;
  bool waitForSync(const std::stop_token& stop) const;
  /// The awaitable form.
  static Task<bool> waitForSync(std::shared_ptr<const InformerCore> informer);
  bool hasStarted() const;
  bool isStopped() const;
  /// Returns whether a handler calls this, or another function that run() calls.
  bool isWithin() const;
  /// Returns whether it runs on an executor that it shares with others.
  bool shares() const { return static_cast<bool>(sources_.executor); }
  /// Returns whether shares(), and this is called where the executor runs it.
  bool isRunner() const;

  /// Marks the informer as a factory's: waitForSync() throws Error if the factory has not started
  /// it. `selection` ("labelSelector ...") appears in describe(); empty: all objects.
  void belongToFactory(std::string selection);
  /// Marks that it has all objects of a namespace, or of all if that is empty; or of those that it
  /// was made with. Comes before all other threads.
  void holdAll(const String& namespaceName);
  /// Returns whether it is known to have all objects of a namespace; of all if it is empty.
  bool covers(std::string_view namespaceName) const;
  /// Announces run(). Returns false if run() was announced or called before. willNotRun() takes the
  /// announcement back.
  bool willRun();
  void willNotRun();
  /// Stops an informer that nothing has run.
  void retire();
  /// The oldest version of all namespaces; empty while one of them has none.
  String lastSyncResourceVersion() const;
  InformerStats stats() const;
  std::string describe() const;
  /// The reason why hasSynced() is false, with the last error: `configmaps: not synced yet; ...`.
  std::string describeSync() const;

 private:
  enum class State : std::uint8_t { New, Starting, Running, Stopped };
  class Run;
  struct Member {
    std::shared_ptr<InformerPart> part = {};
    bool wanted = true;    // false: its namespace is removed
    bool running = false;  // or has run
    bool over = false;
    bool listed = false;
  };
  InformerCore(std::unique_ptr<UntypedStore> store, NamespacedSources sources,
               SharedInformerOptions options, std::vector<UntypedStore::Index> indexes);

  void expect(State latest, const char* what) const KUBE_REQUIRES(stateMutex_);
  void expectNamespaces(const char* what) const;
  void begin(const std::stop_token& stop);
  void beginPart(Member& member) KUBE_REQUIRES(stateMutex_);
  Task<void> runAll();
  Task<void> runNamespaces();
  Task<void> runPart(std::shared_ptr<InformerPart> part);
  void advance(TaskScope& scope);
  void dropOthers();
  void resyncIfDue();
  void end() noexcept;

  Member* find(const InformerPart* part) KUBE_REQUIRES(stateMutex_);
  Member* find(std::string_view namespaceName) KUBE_REQUIRES(stateMutex_);
  void note(const InformerPart* part, bool Member::*what);
  void noteSync() KUBE_REQUIRES(stateMutex_);
  void noteChange() KUBE_REQUIRES(stateMutex_);
  std::string title() const;
  std::string stateText(ReflectorStats& missing) const;

  // Only `onError` changes, and is guarded by stateMutex_ until run() has copied it.
  SharedInformerOptions options_;
  InformerCache cache_;
  const NamespacedSources sources_;  // without `make`: there is one part
  bool holdsAll_ = false;            // set by holdAll()
  std::stop_token stop_;             // set by begin()
  Clock::Duration resyncPeriod_{};   // set by begin()

  mutable Mutex stateMutex_;
  mutable Condition changed_{stateMutex_};  // for runNamespaces()
  State state_ KUBE_GUARDED_BY(stateMutex_) = State::New;
  bool ofFactory_ KUBE_GUARDED_BY(stateMutex_) = false;
  std::string selection_ KUBE_GUARDED_BY(stateMutex_);
  UntypedTransform transform_ KUBE_GUARDED_BY(stateMutex_);
  std::vector<Member> members_ KUBE_GUARDED_BY(stateMutex_);
  bool membersChanged_ KUBE_GUARDED_BY(stateMutex_) = true;
  ReflectorStats statsOfRemoved_ KUBE_GUARDED_BY(stateMutex_);
};

/// The core of a new SharedInformer.
std::shared_ptr<InformerCore> makeInformer(std::unique_ptr<UntypedStore> store,
                                           std::unique_ptr<ObjectSource> source,
                                           SharedInformerOptions options,
                                           std::vector<UntypedStore::Index> indexes = {});

}  // namespace detail

}  // namespace kube
