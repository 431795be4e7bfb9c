// A cache of the objects of one kind that is kept up to date, and tells of changes.
//
//   kube::SharedInformer<Pod> pods(kube::ListWatch<Pod>::fromClient(clients.coreV1().pods()));
//   pods.addIndexer("node", [](const Pod& p) { return Strings{p.spec->nodeName}; });
//   pods.addHandler({.onAdd = [](auto pod) { ... }, .onDelete = [](auto last) { ... }});
//   std::jthread runner([&](std::stop_token stop) { pods.run(stop); });
//   pods.waitForSync();
//   auto web = pods.lister().inNamespace("book").get("web-1");
//
// A SharedInformerFactory has one for every kind, and runs them.
//
// One list and one watch serve any number of handlers. Each handler has a queue of its own and is
// called with one change at a time, in order; a slow one delays nobody. The cache is always at
// least as new as what a handler is told. A handler that comes late is told of all objects there
// are, as if they had been added just then.
//
// The objects are those of the last state that the server has sent, in the end: a handler may miss
// states in between, and the deletion and new creation of an object may look like an update.
//
// What handlers throw is logged and counted. What goes wrong on the way to the server is retried;
// see Reflector.
//
// Performance: it takes one thread, that of run(); handlers are called by threads that all
// informers of the process share, or on that one if they say that they are quick (HandlerOptions).
//
// Thread safety: a cheap, copyable handle; every method may be called from any thread. Handlers may
// call everything but run().
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "kube/cache/event_handler.h"
#include "kube/cache/informer_state.h"
#include "kube/cache/lister.h"

namespace kube {

class InformerFactory;

/// A handler that was added, to ask about it or remove it. Dropping this does not remove the
/// handler.
class HandlerRegistration {
 public:
  HandlerRegistration(std::shared_ptr<detail::Handlers> handlers,
                      std::shared_ptr<detail::HandlerQueue> queue)
      : handlers_(std::move(handlers)), queue_(std::move(queue)) {}

  /// Whether the handler has been called for every object of the initial list.
  bool hasSynced() const { return handlers_->upstream().hasSynced() && queue_->initialDelivered(); }
  /// Blocks until then; false if a stop is requested before, or the handler is removed.
  bool waitForSync(const std::stop_token& stop = {}) const {
    return handlers_->upstream().waitForSync(stop) && queue_->waitForInitial(stop);
  }
  /// The handler is not called any more; waits for a call under way, unless it is that call. May be
  /// called again.
  void remove() const { handlers_->remove(queue_); }
  /// How often the handler has thrown.
  std::uint64_t failures() const noexcept { return queue_->failures(); }
  /// How many notifications wait for it.
  std::size_t pending() const { return queue_->pending(); }

 private:
  std::shared_ptr<detail::Handlers> handlers_;
  std::shared_ptr<detail::HandlerQueue> queue_;
};

template <Cacheable T>
class SharedInformer {
 public:
  using Object = std::shared_ptr<const T>;

  /// There is an index by namespace anyway.
  explicit SharedInformer(ListWatch<T> source, SharedInformerOptions options = {},
                          Indexers<T> indexers = {})
      : state_(std::make_shared<detail::InformerState<T>>(std::move(source), std::move(options),
                                                          std::move(indexers))) {}

  // ---- Setting up. All throw Error once the informer is stopped.

  HandlerRegistration addHandler(EventHandler<T> handler, HandlerOptions options = {}) const {
    return {state_->handlers(), state_->addHandler(std::move(handler), std::move(options))};
  }
  /// Also while it runs; throws Error if there is one of that name.
  void addIndexer(String name, IndexFunction<T> function) const {
    addIndexers({{std::move(name), std::move(function)}});
  }
  void addIndexers(Indexers<T> indexers) const { state_->addIndexers(std::move(indexers)); }
  /// What is known from earlier, before run() only: handlers are not told of these, but of what
  /// the first list shows to have changed, or to be gone, since.
  void fill(std::vector<Object> objects) const { state_->fill(std::move(objects)); }
  /// Called with each object before it is stored or handed on, by one thread. Before run() only.
  void setTransform(Transform<T> transform) const { state_->setTransform(std::move(transform)); }
  /// Instead of logging. Before run() only.
  void setWatchErrorHandler(WatchErrorHandler handler) const {
    state_->setWatchErrorHandler(std::move(handler));
  }

  /// Blocks until a stop is requested, and all handlers have returned. Once.
  void run(const std::stop_token& stop) const {
    const auto keep = state_;
    keep->run(stop);
  }

  // ---- Reading.

  Lister<T> lister() const { return Lister<T>(state_->store()); }
  const Store<T>& store() const noexcept { return *state_->store(); }
  /// Whether the store has all objects of the first list.
  bool hasSynced() const { return state_->hasSynced(); }
  /// Blocks until then; false if a stop is requested before.
  bool waitForSync(const std::stop_token& stop = {}) const { return state_->waitForSync(stop); }
  bool hasStarted() const { return state_->hasStarted(); }
  /// Whether run() has ended.
  bool isStopped() const { return state_->isStopped(); }
  /// The version that the informer has been told of last; empty before the first list.
  String lastSyncResourceVersion() const { return state_->lastSyncResourceVersion(); }
  InformerStats stats() const { return state_->stats(); }
  /// The same for people, in a line.
  std::string describe() const { return state_->describe(); }

 private:
  friend class InformerFactory;
  explicit SharedInformer(std::shared_ptr<detail::InformerState<T>> state)
      : state_(std::move(state)) {}

  std::shared_ptr<detail::InformerState<T>> state_;
};

/// An informer with a handler and indexes, of a source of one's own, and perhaps with objects known
/// from earlier; see SharedInformer::fill().
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
/// Blocks until all have synced; false if a stop is requested before.
template <class... Synced>
bool waitForSync(const std::stop_token& stop, const Synced&... all) {
  return (all.waitForSync(stop) && ...);
}

}  // namespace kube
