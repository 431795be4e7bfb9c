// A cache of the objects of one kind that is kept up to date, and tells of changes.
//
//   kube::SharedInformer<Pod> pods(kube::ListWatch<Pod>::fromClient(clients.coreV1().pods()));
//   pods.addIndexer("node", [](const Pod& p) { return Strings{p.spec->nodeName}; });
//   pods.addHandler({.onAdd = [](auto pod) { ... }, .onDelete = [](auto last) { ... }});
//   std::jthread runner([&](std::stop_token stop) { pods.run(stop); });
//   pods.waitForSync();
//   auto web = pods.lister().inNamespace("book").get("web-1");
//
// One list and one watch serve any number of handlers. Each handler has a queue and a thread of its
// own and is called with one change at a time, in order; a slow one delays nobody. The cache is
// always at least as new as what a handler is told. A handler that comes late is told of all
// objects there are, as if they had been added just then.
//
// The objects are those of the last state that the server has sent, in the end: a handler may miss
// states in between, and the deletion and new creation of an object may look like an update.
//
// What handlers throw is logged and counted. What goes wrong on the way to the server is retried;
// see Reflector.
//
// Thread safety: every method may be called from any thread. run() must have returned before the
// informer is destroyed. Handlers may call everything but run().
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kube/base/error.h"
#include "kube/cache/delta_fifo.h"
#include "kube/cache/event_handler.h"
#include "kube/cache/handlers.h"
#include "kube/cache/lister.h"
#include "kube/cache/reflector.h"

namespace kube {

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

struct HandlerOptions {
  /// For the log.
  std::string name = {};
  /// How often it is to be told of all objects anew, as updates without change; none for the
  /// informer's own period, 0 for never. At least 1 s, and not more often than the informer resyncs
  /// at all.
  std::optional<Clock::Duration> resync = {};
};

/// Its `resync` is that of handlers that ask for no other; `shouldResync` is the informer's own.
using SharedInformerOptions = ReflectorOptions;

template <Cacheable T>
class SharedInformer {
 public:
  /// There is an index by namespace anyway.
  explicit SharedInformer(ListWatch<T> source, SharedInformerOptions options = {},
                          Indexers<T> indexers = {});
  SharedInformer(const SharedInformer&) = delete;
  SharedInformer& operator=(const SharedInformer&) = delete;

  // ---- Setting up. All throw Error once the informer is stopped.

  HandlerRegistration addHandler(EventHandler<T> handler, HandlerOptions options = {});
  /// Also while it runs; throws Error if there is one of that name.
  void addIndexer(String name, IndexFunction<T> function) {
    addIndexers({{std::move(name), std::move(function)}});
  }
  void addIndexers(Indexers<T> indexers);
  /// Called with each object before it is stored or handed on, by one thread. Before run() only.
  void setTransform(Transform<T> transform);
  /// Instead of logging. Before run() only.
  void setWatchErrorHandler(WatchErrorHandler handler);

  /// Blocks until a stop is requested, and all handlers have returned. Once.
  void run(const std::stop_token& stop);

  // ---- Reading.

  Lister<T> lister() const { return Lister<T>(store_); }
  const Store<T>& store() const noexcept { return *store_; }
  /// Whether the store has all objects of the first list.
  bool hasSynced() const { return queue_->hasSynced(); }
  /// Blocks until then; false if a stop is requested before.
  bool waitForSync(const std::stop_token& stop = {}) const { return queue_->waitForSync(stop); }
  bool hasStarted() const {
    const std::lock_guard lock(stateMutex_);
    return state_ != State::New;
  }
  /// Whether run() has ended.
  bool isStopped() const {
    const std::lock_guard lock(stateMutex_);
    return state_ == State::Stopped;
  }
  String lastSyncResourceVersion() const {
    const std::lock_guard lock(stateMutex_);
    return reflector_ != nullptr ? reflector_->lastSyncResourceVersion() : String();
  }
  /// How often handlers have thrown.
  std::uint64_t handlerFailures() const { return handlers_->failures(); }

 private:
  enum class State : std::uint8_t { New, Running, Stopped };
  using Object = std::shared_ptr<const T>;
  using Notification = detail::Notification;

  static std::shared_ptr<Store<T>> makeStore(Indexers<T> indexers) {
    indexers.try_emplace(String(kNamespaceIndex), namespaceIndex<T>);
    return std::make_shared<Store<T>>(std::move(indexers));
  }
  static void deliver(const EventHandler<T>& handler, const Notification& notification);
  void process(const Deltas<T>& deltas);
  void expect(State before, const char* what) const;

  const std::shared_ptr<Store<T>> store_;
  const std::shared_ptr<DeltaFifo<T>> queue_;
  const std::shared_ptr<detail::Handlers> handlers_;

  // Order: stateMutex_, deltasMutex_.
  mutable std::mutex stateMutex_;
  State state_ = State::New;
  ListWatch<T> source_;
  SharedInformerOptions options_;
  Transform<T> transform_;
  std::unique_ptr<Reflector<T>> reflector_;

  std::mutex deltasMutex_;  // held while the store and all handlers' queues get a change
};

/// Blocks until all have synced; false if a stop is requested before.
template <class... Synced>
bool waitForSync(const std::stop_token& stop, const Synced&... all) {
  return (all.waitForSync(stop) && ...);
}

// ---- What follows is how it is done.

template <Cacheable T>
SharedInformer<T>::SharedInformer(ListWatch<T> source, SharedInformerOptions options,
                                  Indexers<T> indexers)
    : store_(makeStore(std::move(indexers))),
      queue_(std::make_shared<DeltaFifo<T>>(DeltaFifoOptions<T>{.known = store_.get()})),
      handlers_(std::make_shared<detail::Handlers>(
          // With the store, which the queue refers to: a registration may outlive the informer.
          detail::Upstream{
              .hasSynced = [queue = queue_, store = store_] { return queue->hasSynced(); },
              .waitForSync = [queue = queue_, store = store_](
                                 const std::stop_token& stop) { return queue->waitForSync(stop); }},
          options.resync, options.clock != nullptr ? *options.clock : realClock())),
      source_(std::move(source)),
      options_(std::move(options)) {}

template <Cacheable T>
void SharedInformer<T>::expect(State before, const char* what) const {
  if (state_ <= before) return;
  throw Error(fmt::format("informer of {}: {}: it {}", TypeOf<T>::info.name, what,
                          state_ == State::Stopped ? "has stopped" : "is running already"));
}

template <Cacheable T>
void SharedInformer<T>::addIndexers(Indexers<T> indexers) {
  const std::lock_guard lock(stateMutex_);
  expect(State::Running, "an index cannot be added");
  store_->addIndexers(std::move(indexers));
}

template <Cacheable T>
void SharedInformer<T>::setTransform(Transform<T> transform) {
  const std::lock_guard lock(stateMutex_);
  expect(State::New, "a transform cannot be set");
  transform_ = std::move(transform);
}

template <Cacheable T>
void SharedInformer<T>::setWatchErrorHandler(WatchErrorHandler handler) {
  const std::lock_guard lock(stateMutex_);
  expect(State::New, "a handler of watch errors cannot be set");
  options_.onError = std::move(handler);
}

template <Cacheable T>
void SharedInformer<T>::deliver(const EventHandler<T>& handler, const Notification& notification) {
  const auto typed = [](const std::shared_ptr<const void>& object) {
    return std::static_pointer_cast<const T>(object);
  };
  switch (notification.type) {
    case Notification::Type::Add:
      if (handler.onAdd) handler.onAdd(typed(notification.after), notification.inInitialList);
      return;
    case Notification::Type::Update:
      if (handler.onUpdate) handler.onUpdate(typed(notification.before), typed(notification.after));
      return;
    case Notification::Type::Delete:
      if (!handler.onDelete) return;
      handler.onDelete(
          {notification.key, typed(notification.before), notification.finalStateUnknown});
      return;
  }
}

template <Cacheable T>
HandlerRegistration SharedInformer<T>::addHandler(EventHandler<T> handler, HandlerOptions options) {
  auto queue = std::make_shared<detail::HandlerQueue>(
      std::move(options.name), [handler = std::move(handler)](const Notification& notification) {
        deliver(handler, notification);
      });
  const std::lock_guard lock(stateMutex_);
  expect(State::Running, "a handler cannot be added");
  const Clock::Duration resync = options.resync.value_or(options_.resync);
  if (state_ == State::New) {
    handlers_->add(queue, resync);
    return {handlers_, std::move(queue)};
  }
  // Between two changes: what is in the store is told now, what comes later from the queue.
  const std::lock_guard between(deltasMutex_);
  for (Object& object : store_->list()) {
    queue->push(
        {.type = Notification::Type::Add, .inInitialList = true, .after = std::move(object)});
  }
  handlers_->add(queue, resync);
  queue->start();
  return {handlers_, std::move(queue)};
}

template <Cacheable T>
void SharedInformer<T>::process(const Deltas<T>& deltas) {
  const std::lock_guard lock(deltasMutex_);
  for (const Delta<T>& delta : deltas.changes) {
    Object before = store_->getByKey(deltas.key);
    if (delta.type == DeltaType::Deleted) {
      store_->removeByKey(deltas.key);
      Object last = delta.object != nullptr ? delta.object : before;
      if (last == nullptr) continue;
      handlers_->distribute({.type = Notification::Type::Delete,
                             .finalStateUnknown = delta.finalStateUnknown,
                             .before = std::move(last),
                             .key = deltas.key},
                            false);
      continue;
    }
    store_->update(delta.object);
    if (before == nullptr) {
      handlers_->distribute({.type = Notification::Type::Add,
                             .inInitialList = deltas.inInitialList,
                             .after = delta.object},
                            false);
      continue;
    }
    // Nothing new is told only to those who are due for a resync.
    const bool sync =
        detail::resourceVersionIn(*before) == detail::resourceVersionIn(*delta.object);
    handlers_->distribute(
        {.type = Notification::Type::Update, .before = std::move(before), .after = delta.object},
        sync);
  }
}

template <Cacheable T>
void SharedInformer<T>::run(const std::stop_token& stop) {
  {
    const std::lock_guard lock(stateMutex_);
    expect(State::New, "run() may be called once");
    ReflectorOptions options = options_;
    options.resync = handlers_->start();
    options.shouldResync = [handlers = handlers_] { return handlers->shouldResync(); };
    reflector_ = std::make_unique<Reflector<T>>(source_, *queue_, std::move(options), transform_);
    state_ = State::Running;
  }
  {
    const std::jthread reflecting([&] { reflector_->run(stop); });
    while (queue_->pop(stop, [&](const Deltas<T>& deltas) { process(deltas); })) {
    }
  }
  {
    const std::lock_guard lock(stateMutex_);
    state_ = State::Stopped;
  }
  handlers_->stop();
}

}  // namespace kube
