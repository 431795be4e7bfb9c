// What the handles of one SharedInformer share.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/base/error.h"
#include "kube/cache/delta_fifo.h"
#include "kube/cache/event_handler.h"
#include "kube/cache/handlers.h"
#include "kube/cache/informer_metrics.h"
#include "kube/cache/reflector.h"

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

namespace detail {

/// What does not depend on the objects' type.
class InformerBase {
 public:
  virtual ~InformerBase() = default;

  /// What it is of, for people: "pods".
  virtual std::string_view name() const noexcept = 0;
  virtual void run(const std::stop_token& stop) = 0;
  virtual bool hasSynced() const = 0;
  virtual bool waitForSync(const std::stop_token& stop) const = 0;
  virtual InformerStats stats() const = 0;

  bool hasStarted() const {
    const std::lock_guard lock(stateMutex_);
    return state_ != State::New;
  }
  bool isStopped() const {
    const std::lock_guard lock(stateMutex_);
    return state_ == State::Stopped;
  }
  virtual String lastSyncResourceVersion() const = 0;
  std::string describe() const;

 protected:
  enum class State : std::uint8_t { New, Running, Stopped };
  /// Throws Error if it is further on than that. Called with the lock.
  void expect(State latest, const char* what) const;

  mutable std::mutex stateMutex_;
  State state_ = State::New;
};

/// It is the reflector's store: what that says goes through the queue and out of it at once, on the
/// thread that brought it.
template <Cacheable T>
class InformerState final : public InformerBase, private ReflectorStore<T> {
 public:
  using Object = std::shared_ptr<const T>;

  InformerState(ListWatch<T> source, SharedInformerOptions options, Indexers<T> indexers)
      : store_(makeStore(std::move(indexers))),
        queue_(std::make_shared<DeltaFifo<T>>(DeltaFifoOptions<T>{.known = store_.get()})),
        handlers_(std::make_shared<Handlers>(
            // With the store, which the queue refers to: a registration may outlive the informer.
            Upstream{.hasSynced = [queue = queue_, store = store_] { return queue->hasSynced(); },
                     .waitForSync =
                         [queue = queue_, store = store_](const std::stop_token& stop) {
                           return queue->waitForSync(stop);
                         }},
            options.resync, options.clock != nullptr ? *options.clock : realClock())),
        source_(std::move(source)),
        options_(std::move(options)) {
    if (options_.name.empty()) options_.name = TypeOf<T>::info.name;
  }

  std::string_view name() const noexcept override { return options_.name; }
  const std::shared_ptr<Store<T>>& store() const noexcept { return store_; }
  const std::shared_ptr<Handlers>& handlers() const noexcept { return handlers_; }

  std::shared_ptr<HandlerQueue> addHandler(EventHandler<T> handler, HandlerOptions options);
  void addIndexers(Indexers<T> indexers) {
    const std::lock_guard lock(stateMutex_);
    expect(State::Running, "an index cannot be added");
    store_->addIndexers(std::move(indexers));
  }
  void fill(std::vector<Object> objects) {
    const std::lock_guard lock(stateMutex_);
    expect(State::New, "it cannot be filled");
    store_->replace(std::move(objects));
  }
  void setTransform(Transform<T> transform) {
    const std::lock_guard lock(stateMutex_);
    expect(State::New, "a transform cannot be set");
    transform_ = std::move(transform);
  }
  void setWatchErrorHandler(WatchErrorHandler handler) {
    const std::lock_guard lock(stateMutex_);
    expect(State::New, "a handler of watch errors cannot be set");
    options_.onError = std::move(handler);
  }

  void run(const std::stop_token& stop) override;
  bool hasSynced() const override { return queue_->hasSynced(); }
  bool waitForSync(const std::stop_token& stop) const override { return queue_->waitForSync(stop); }
  String lastSyncResourceVersion() const override {
    const std::lock_guard lock(stateMutex_);
    return reflector_ != nullptr ? reflector_->lastSyncResourceVersion() : String();
  }
  InformerStats stats() const override;

 private:
  static std::shared_ptr<Store<T>> makeStore(Indexers<T> indexers) {
    indexers.try_emplace(String(kNamespaceIndex), namespaceIndex<T>);
    return std::make_shared<Store<T>>(std::move(indexers));
  }

  // ---- What the reflector says.

  void add(Object object) override {
    queue_->add(std::move(object));
    drain();
  }
  void update(Object object) override {
    queue_->update(std::move(object));
    drain();
  }
  void remove(Object object) override {
    queue_->remove(std::move(object));
    drain();
  }
  void replace(std::vector<Object> objects, const String& resourceVersion) override {
    queue_->replace(std::move(objects), resourceVersion);
    drain();
  }
  void resync() override {
    queue_->resync();
    drain();
  }
  // Threads are woken for many changes at a time: of a list, one would be done with each before the
  // next is there, and sleep again.
  void drain() {
    constexpr int kAtATime = 256;
    struct CallOthers {
      const Handlers& handlers;
      ~CallOthers() { handlers.callOthers(); }
    } const atTheEnd{*handlers_};
    for (int i = 1; !stop_.stop_requested() &&
                    queue_->tryPop([&](const Deltas<T>& deltas) { process(deltas); });
         ++i) {
      handlers_->callQuickOnes();
      if (i % kAtATime == 0) handlers_->callOthers();
    }
  }
  void process(const Deltas<T>& deltas);

  const std::shared_ptr<Store<T>> store_;
  const std::shared_ptr<DeltaFifo<T>> queue_;
  const std::shared_ptr<Handlers> handlers_;

  // Order: stateMutex_, deltasMutex_.
  ListWatch<T> source_;
  SharedInformerOptions options_;
  Transform<T> transform_;
  std::unique_ptr<Reflector<T>> reflector_;
  std::stop_token stop_;

  std::mutex deltasMutex_;  // held while the store and all handlers' queues get a change
};

template <Cacheable T>
void deliverTo(const EventHandler<T>& handler, const Notification& notification) {
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
std::shared_ptr<HandlerQueue> InformerState<T>::addHandler(EventHandler<T> handler,
                                                           HandlerOptions options) {
  auto queue = std::make_shared<HandlerQueue>(
      std::move(options.name), options.quick,
      [handler = std::move(handler)](const Notification& notification) {
        deliverTo(handler, notification);
      },
      handlers_->threads(), handlers_->clock());
  const std::lock_guard lock(stateMutex_);
  expect(State::Running, "a handler cannot be added");
  const Clock::Duration resync = options.resync.value_or(options_.resync);
  if (state_ == State::New) {
    handlers_->add(queue, resync);
    return queue;
  }
  // Between two changes: what is in the store is told now, what comes later from the queue.
  const std::lock_guard between(deltasMutex_);
  for (Object& object : store_->list()) {
    queue->push(
        {.type = Notification::Type::Add, .inInitialList = true, .after = std::move(object)});
  }
  handlers_->add(queue, resync);
  queue->start();
  return queue;
}

template <Cacheable T>
void InformerState<T>::process(const Deltas<T>& deltas) {
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
void InformerState<T>::run(const std::stop_token& stop) {
  {
    const std::lock_guard lock(stateMutex_);
    expect(State::New, "run() may be called once");
    ReflectorOptions options = options_;
    options.resync = handlers_->start();
    options.shouldResync = [handlers = handlers_] { return handlers->shouldResync(); };
    reflector_ = std::make_unique<Reflector<T>>(source_, static_cast<ReflectorStore<T>&>(*this),
                                                std::move(options), transform_);
    stop_ = stop;
    state_ = State::Running;
  }
  {
    const InformerMetrics metrics(
        options_.metrics != nullptr ? *options_.metrics : defaultMetrics(), name(),
        [this] { return stats(); });
    const std::stop_callback abandon(stop, [this] { queue_->abandon(); });
    reflector_->run(stop);
  }
  {
    const std::lock_guard lock(stateMutex_);
    state_ = State::Stopped;
  }
  handlers_->stop();
}

template <Cacheable T>
InformerStats InformerState<T>::stats() const {
  InformerStats stats{.objects = store_->size(),
                      .handlers = handlers_->size(),
                      .pending = handlers_->pending(),
                      .lag = handlers_->lag(),
                      .handlerFailures = handlers_->failures()};
  const std::lock_guard lock(stateMutex_);
  if (reflector_ != nullptr) stats.source = reflector_->stats();
  return stats;
}

}  // namespace detail

}  // namespace kube
