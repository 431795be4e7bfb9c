// A cache of the objects of one kind that is kept up to date and reports changes.
//
//   kube::SharedInformer<Pod> pods(kube::ListWatch<Pod>::fromClient(clients.coreV1().pods()));
//   pods.addIndexer("node", [](const Pod& p) { return Strings{p.spec->nodeName}; });
//   pods.addHandler({.onAdd = [](auto pod) { ... }, .onDelete = [](auto last) { ... }});
//   std::jthread runner([&](std::stop_token stop) { pods.run(stop); });
//   pods.waitForSync();
//   auto web = pods.lister().inNamespace("book").get("web-1");
//
// A SharedInformerFactory holds one for every kind, and runs them.
//
// One list and one watch serve any number of handlers. Each handler has its own queue and is called
// with one change at a time, in order; a slow handler delays no other. The cache is always at least
// as new as what a handler receives. A handler that is added later receives all existing objects
// first, as if they had just been added.
//
// The cache converges to the server's state. A handler may miss states in between, and a deletion
// followed by a new creation may look like an update.
//
// Exceptions of handlers are logged and counted. Errors on the way to the server are retried; see
// Reflector.
//
// Performance: run() needs a thread; informers of a factory share one. Handlers that are brief, or
// promise to be quick (HandlerOptions), are called by that thread of a factory, and others by
// threads that all informers of the process share.
//
// Thread safety: a cheap, copyable handle; every method may be called from any thread. Handlers may
// call everything but run().
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/cache/async_caches.h"
#include "kube/cache/event_handler.h"
#include "kube/cache/handler_options.h"
#include "kube/cache/handler_registration.h"
#include "kube/cache/internal/informer_core.h"
#include "kube/cache/internal/list_watch_source.h"
#include "kube/cache/lister.h"
#include "kube/cache/shared_informer_options.h"
#include "kube/cache/transform.h"

namespace kube {

namespace detail {

/// Calls a handler with objects of its type.
template <Cacheable T>
class TypedHandler final : public NotificationHandler {
 public:
  explicit TypedHandler(EventHandler<T> handler) : handler_(std::move(handler)) {}
  void handle(const Notification& notification) const override {
    switch (notification.type) {
      case Notification::Type::Add:
        if (!handler_.onAdd) return;
        return handler_.onAdd(typed(notification.after), notification.inInitialList);
      case Notification::Type::Update:
        if (!handler_.onUpdate) return;
        return handler_.onUpdate(typed(notification.before), typed(notification.after));
      case Notification::Type::Delete:
        if (!handler_.onDelete) return;
        return handler_.onDelete(
            {notification.key, typed(notification.before), notification.finalStateUnknown});
    }
  }

 private:
  static std::shared_ptr<const T> typed(const std::shared_ptr<const void>& object) {
    return std::static_pointer_cast<const T>(object);
  }

  const EventHandler<T> handler_;
};

struct InformerAccess;

}  // namespace detail

template <Cacheable T>
class SharedInformer {
 public:
  using Object = std::shared_ptr<const T>;

  /// An index by namespace is added if `indexers` has none.
  explicit SharedInformer(ListWatch<T> source, SharedInformerOptions options = {},
                          Indexers<T> indexers = {})
      : core_(detail::makeInformer(detail::StoreAccess::make<T>(),
                                   std::unique_ptr<detail::ObjectSource>(
                                       new detail::ListWatchSource<T>(std::move(source))),
                                   std::move(options),
                                   detail::untypedIndexes<T>(std::move(indexers)))) {}

  // ---- Setting up. All throw Error once the informer is stopped.

  HandlerRegistration addHandler(EventHandler<T> handler, HandlerOptions options = {}) const {
    return {core_->handlers(),
            core_->addHandler(std::unique_ptr<const detail::NotificationHandler>(
                                  new detail::TypedHandler<T>(std::move(handler))),
                              std::move(options))};
  }
  /// May be called while the informer runs. Throws Error if an index of that name exists.
  void addIndexer(String name, IndexFunction<T> function) const {
    addIndexers({{std::move(name), std::move(function)}});
  }
  void addIndexers(Indexers<T> indexers) const {
    core_->addIndexes(detail::untypedIndexes<T>(std::move(indexers)));
  }
  /// Puts objects that are known from earlier into the cache. Handlers are not called for these,
  /// but for the changes and deletions that the first list reveals. Before run() only.
  void fill(std::vector<Object> objects) const {
    core_->fill(detail::untypedObjects<T>(std::move(objects)));
  }
  /// Sets a function that changes each object before it is stored or passed on; one thread calls
  /// it. Before run() only.
  void setTransform(Transform<T> transform) const {
    core_->setTransform(detail::untypedTransform<T>(std::move(transform)));
  }
  /// Sets a function that receives errors, which are logged otherwise. Before run() only.
  void setWatchErrorHandler(WatchErrorHandler handler) const {
    core_->setWatchErrorHandler(std::move(handler));
  }

  // ---- Namespaces, for informers of a factory that was given some: see InformerFactoryOptions.

  /// Lists and watches the objects of one more namespace from now on. Does nothing if it is there
  /// already. Throws Error if the informer has no list of namespaces, or is stopped.
  void addNamespace(const String& name) const { core_->addNamespace(name); }
  /// Ends the watch of a namespace, and then drops its objects: handlers receive deletions with
  /// `finalStateUnknown`. Does not wait for that. Throws Error if the informer has no list of
  /// namespaces.
  void removeNamespace(std::string_view name) const { core_->removeNamespace(name); }
  /// The namespaces, sorted. None: the informer has no list of namespaces.
  std::optional<Strings> namespaces() const { return core_->namespaces(); }

  /// Runs the informer: blocks until a stop is requested and all handlers have returned. Throws
  /// Error if it is called a second time.
  void run(const std::stop_token& stop) const {
    const auto keep = core_;
    keep->run(stop);
  }

  // ---- Reading.

  Lister<T> lister() const { return Lister<T>(detail::StoreAccess::typed<T>(core_->store())); }
  const Store<T>& store() const noexcept {
    return *detail::StoreAccess::typed<T>(core_->store().get());
  }
  /// Returns whether the store has all objects of the first list. With several namespaces: of the
  /// first lists of all that are wanted now, so it is false again while an added one is listed.
  bool hasSynced() const { return core_->hasSynced(); }
  /// Blocks until hasSynced(). Returns false if a stop is requested first, or run() ends. Throws
  /// Error for a factory's informer that the factory has not started. A wait of some seconds is
  /// logged, with the reason.
  bool waitForSync(const std::stop_token& stop = {}) const { return core_->waitForSync(stop); }
  /// The awaitable form of waitForSync().
  AsyncCaches async() const {
    return AsyncCaches([core = core_] { return detail::InformerCore::waitForSync(core); });
  }
  bool hasStarted() const { return core_->hasStarted(); }
  /// Returns whether run() has ended.
  bool isStopped() const { return core_->isStopped(); }
  /// The version of the last list or event; empty before the first list. With several namespaces:
  /// the oldest of theirs.
  String lastSyncResourceVersion() const { return core_->lastSyncResourceVersion(); }
  InformerStats stats() const { return core_->stats(); }
  /// The stats as one line of text.
  std::string describe() const { return core_->describe(); }

 private:
  friend struct detail::InformerAccess;
  explicit SharedInformer(std::shared_ptr<detail::InformerCore> core) : core_(std::move(core)) {}

  std::shared_ptr<detail::InformerCore> core_;
};

/// Converts between the handle of an informer and its core, which has no type.
struct detail::InformerAccess {
  template <Cacheable T>
  static SharedInformer<T> handleOf(std::shared_ptr<InformerCore> core) {
    return SharedInformer<T>(std::move(core));
  }
  template <Cacheable T>
  static const std::shared_ptr<InformerCore>& coreOf(const SharedInformer<T>& informer) noexcept {
    return informer.core_;
  }
};

/// An informer with a handler and indexes, for a given source; `known` are objects from earlier,
/// see SharedInformer::fill().
template <Cacheable T>
SharedInformer<T> newIndexerInformer(ListWatch<T> source, EventHandler<T> handler,
                                     Indexers<T> indexers, SharedInformerOptions options = {},
                                     std::vector<std::shared_ptr<const T>> known = {}) {
  SharedInformer<T> informer(std::move(source), std::move(options), std::move(indexers));
  informer.fill(std::move(known));
  informer.addHandler(std::move(handler));
  return informer;
}
template <Cacheable T>
SharedInformer<T> newInformer(ListWatch<T> source, EventHandler<T> handler,
                              SharedInformerOptions options = {}) {
  return newIndexerInformer(std::move(source), std::move(handler), {}, std::move(options));
}
/// Blocks until all have synced. Returns false if a stop is requested first.
template <class... Synced>
bool waitForSync(const std::stop_token& stop, const Synced&... all) {
  return (all.waitForSync(stop) && ...);
}

}  // namespace kube
