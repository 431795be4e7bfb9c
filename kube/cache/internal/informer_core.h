// What the handles of one SharedInformer share: the informer itself, without its objects' C++ type,
// so that it is compiled once. SharedInformer<T> says what it does.
//
// It is the reflector's store: what that says goes through the queue and out of it at once, on the
// thread that brought it.
//
// Thread safety: every method may be called from any thread. Order of locks: stateMutex_,
// deltasMutex_.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "kube/base/clock.h"
#include "kube/base/string.h"
#include "kube/cache/informer_stats.h"
#include "kube/cache/internal/notification.h"
#include "kube/cache/internal/object_source.h"
#include "kube/cache/internal/untyped_store.h"
#include "kube/cache/reflector_options.h"
#include "kube/cache/reflector_store.h"
#include "kube/cache/transform.h"

namespace kube {

struct HandlerOptions {
  /// For the log.
  std::string name = {};
  /// That the handler returns at once and waits for nobody, like one that puts keys into a queue.
  /// It is then called on the informer's own thread, which is cheaper than to wake another; if it
  /// does block after all, the informer waits.
  bool quick = false;
  /// How often it is to be told of all objects anew, as updates without change; none for the
  /// informer's own period, 0 for never. At least 1 s, and not more often than the informer resyncs
  /// at all.
  std::optional<Clock::Duration> resync = {};
};

/// Its `resync` is that of handlers that ask for no other; `shouldResync` is the informer's own.
using SharedInformerOptions = ReflectorOptions;

template <class T>
struct Deltas;

namespace detail {

class DeltaQueue;
class HandlerQueue;
class Handlers;
class ReflectorLoop;

class InformerCore final : private ReflectorStore<void> {
 public:
  using Object = std::shared_ptr<const void>;

  /// There is an index by namespace anyway.
  InformerCore(std::unique_ptr<UntypedStore> store, std::unique_ptr<ObjectSource> source,
               SharedInformerOptions options, std::vector<UntypedStore::Index> indexes);
  ~InformerCore() override;

  /// What it is of, for people: "pods".
  std::string_view name() const noexcept { return options_.name; }
  const std::shared_ptr<UntypedStore>& store() const noexcept { return store_; }
  const std::shared_ptr<Handlers>& handlers() const noexcept { return handlers_; }

  std::shared_ptr<HandlerQueue> addHandler(std::unique_ptr<const NotificationHandler> handler,
                                           HandlerOptions options);
  void addIndexes(std::vector<UntypedStore::Index> indexes);
  void fill(std::vector<Object> objects);
  void setTransform(UntypedTransform transform);
  void setWatchErrorHandler(WatchErrorHandler handler);

  void run(const std::stop_token& stop);
  bool hasSynced() const;
  bool waitForSync(const std::stop_token& stop) const;
  bool hasStarted() const;
  bool isStopped() const;
  /// Whether this is called by one of its handlers, or by anything else that run() calls.
  bool isWithin() const;

  /// From now on nothing but its factory runs it: waiting for one that the factory has not started
  /// is an Error.
  void belongToFactory();
  /// That run() is about to be called; false where that has happened already. willNotRun(): not
  /// yet, after all.
  bool willRun();
  void willNotRun();
  String lastSyncResourceVersion() const;
  InformerStats stats() const;
  std::string describe() const;

 private:
  enum class State : std::uint8_t { New, Starting, Running, Stopped };
  void expect(State latest, const char* what) const;

  // ---- What the reflector says.

  void add(Object object) override;
  void update(Object object) override;
  void remove(Object object) override;
  void replace(std::vector<Object> objects, const String& resourceVersion) override;
  Object held(const ObjectKey& key) const override {
    return store_->find({key.namespace_, key.name});
  }
  void resync() override;

  void drain();
  void process(const Deltas<void>& deltas);

  const std::shared_ptr<UntypedStore> store_;
  const std::shared_ptr<DeltaQueue> queue_;
  const std::shared_ptr<Handlers> handlers_;

  mutable std::mutex stateMutex_;
  State state_ = State::New;
  bool ofFactory_ = false;
  std::thread::id runner_{};  // the thread in run()
  const std::unique_ptr<ObjectSource> source_;
  SharedInformerOptions options_;
  UntypedTransform transform_;
  std::unique_ptr<ReflectorLoop> reflector_;
  std::stop_token stop_;

  std::mutex deltasMutex_;  // held while the store and all handlers' queues get a change
};

/// As all handles have it: SharedInformer's constructor.
std::shared_ptr<InformerCore> makeInformer(std::unique_ptr<UntypedStore> store,
                                           std::unique_ptr<ObjectSource> source,
                                           SharedInformerOptions options,
                                           std::vector<UntypedStore::Index> indexes = {});

}  // namespace detail

}  // namespace kube
