// The state that all handles of one SharedInformer share: the informer without its objects' C++
// type, so that it is compiled once. SharedInformer<T> documents the methods.
//
// It is the reflector's store: each change goes into the cache and to the queues of the handlers at
// once, on the thread that brought it.
//
// Thread safety: every method may be called from any thread. Order of locks: stateMutex_,
// changesMutex_.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "kube/base/internal/mutex.h"
#include "kube/base/string.h"
#include "kube/base/task.h"
#include "kube/cache/handler_options.h"
#include "kube/cache/informer_stats.h"
#include "kube/cache/internal/notification.h"
#include "kube/cache/internal/object_source.h"
#include "kube/cache/internal/untyped_store.h"
#include "kube/cache/reflector_options.h"
#include "kube/cache/reflector_store.h"
#include "kube/cache/shared_informer_options.h"
#include "kube/cache/transform.h"

namespace kube {

namespace detail {

class HandlerQueue;
class Handlers;
class ReflectorLoop;

class InformerCore final : private ReflectorStore<void> {
 public:
  using Object = std::shared_ptr<const void>;

  /// An index by namespace is added if `indexes` has none.
  InformerCore(std::unique_ptr<UntypedStore> store, std::unique_ptr<ObjectSource> source,
               SharedInformerOptions options, std::vector<UntypedStore::Index> indexes);
  ~InformerCore() override;

  /// The name of the objects: "pods".
  std::string_view name() const noexcept { return options_.name; }
  const std::shared_ptr<UntypedStore>& store() const noexcept { return store_; }
  const std::shared_ptr<Handlers>& handlers() const noexcept { return handlers_; }

  std::shared_ptr<HandlerQueue> addHandler(std::unique_ptr<const NotificationHandler> handler,
                                           const HandlerOptions& options);
  void addIndexes(std::vector<UntypedStore::Index> indexes);
  void fill(std::vector<Object> objects);
  void setTransform(UntypedTransform transform);
  void setWatchErrorHandler(WatchErrorHandler handler);

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
  bool shares() const { return static_cast<bool>(source_->executor()); }
  /// Returns whether shares(), and this is called where the executor runs it.
  bool isRunner() const;

  /// Marks the informer as a factory's: waitForSync() throws Error if the factory has not started
  /// it.
  void belongToFactory();
  /// Announces run(). Returns false if run() was announced or called before. willNotRun() takes the
  /// announcement back.
  bool willRun();
  void willNotRun();
  String lastSyncResourceVersion() const;
  InformerStats stats() const;
  std::string describe() const;

 private:
  enum class State : std::uint8_t { New, Starting, Running, Stopped };
  class Run;
  void expect(State latest, const char* what) const KUBE_REQUIRES(stateMutex_);
  ReflectorLoop& begin(const std::stop_token& stop);
  void noteRunner();
  void end() noexcept;

  // ---- Calls of the reflector.

  void add(Object object) override;
  void update(Object object) override;
  void remove(Object object) override;
  void replace(std::vector<Object> objects, const String& resourceVersion) override;
  Object held(const ObjectKey& key) const override {
    return store_->find({key.namespace_, key.name});
  }
  void reached(const String& resourceVersion) override {
    // A list that a stop has interrupted is not complete.
    if (!stop_.stop_requested()) store_->bookmark(resourceVersion);
  }
  void resync() override;

  std::vector<ObjectKey> keysMissingIn(const std::vector<Object>& objects) const;
  void apply(Object object);
  void drop(const ObjectKey& key, Object last, bool finalStateUnknown);
  void endOfList();

  const std::shared_ptr<UntypedStore> store_;
  const std::shared_ptr<Handlers> handlers_;

  const std::unique_ptr<ObjectSource> source_;
  // Only `onError` changes, and is guarded by stateMutex_ until run() has copied it.
  SharedInformerOptions options_;
  std::stop_token stop_;     // set before the reflector starts
  bool inFirstList_ = true;  // used by the reflector's calls alone

  mutable Mutex stateMutex_;
  State state_ KUBE_GUARDED_BY(stateMutex_) = State::New;
  bool ofFactory_ KUBE_GUARDED_BY(stateMutex_) = false;
  std::thread::id runner_ KUBE_GUARDED_BY(stateMutex_){};  // the thread that runs it
  UntypedTransform transform_ KUBE_GUARDED_BY(stateMutex_);
  std::unique_ptr<ReflectorLoop> reflector_ KUBE_GUARDED_BY(stateMutex_);

  // Held while the store and the queues of all handlers receive a change, so that a handler that is
  // added meanwhile sees it exactly once.
  Mutex changesMutex_;
};

/// The core of a new SharedInformer.
std::shared_ptr<InformerCore> makeInformer(std::unique_ptr<UntypedStore> store,
                                           std::unique_ptr<ObjectSource> source,
                                           SharedInformerOptions options,
                                           std::vector<UntypedStore::Index> indexes = {});

}  // namespace detail

}  // namespace kube
