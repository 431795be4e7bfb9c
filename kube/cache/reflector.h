// Keeps a store equal to what a server has: lists once, then watches, and goes on doing so whatever
// happens.
//
//   kube::Store<Pod> store;                                // or a DeltaFifo
//   kube::Reflector<Pod> reflector(kube::ListWatch<Pod>::fromClient(clients.coreV1().pods()),
//   store); reflector.run(stop);                                   // until a stop is requested
//
// Programs mostly use a SharedInformer, which has one inside.
//
// A watch that ends or breaks is resumed from the last version seen. Where that is too old (410),
// or the server fails otherwise, everything is listed again, and the store told what there is now:
// it works out what has changed meanwhile. The same where the server does not know that version
// yet, since it was restored from a backup: client-go would miss what happens until it does.
// Between attempts that fail lies a growing, random pause, 0.8 to 60 seconds; it starts over after
// two minutes without failure.
//
// Objects are decoded as they arrive, through one pool for the life of the reflector, so equal
// parts of all objects are one memory, and while a list is read there is little more than the
// objects.
//
// Thread safety: run() by one thread; the other methods by any. The store's resync() is called by
// other threads if there is a resync period.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "kube/base/block.h"
#include "kube/base/pool.h"
#include "kube/cache/list_watch.h"
#include "kube/cache/reflector_loop.h"
#include "kube/cache/reflector_store.h"
#include "kube/cache/store.h"

namespace kube {

/// Changes an object before anybody sees it, to leave out what nobody needs.
template <class T>
using Transform = std::function<void(T& object)>;

template <Cacheable T>
class Reflector final : private detail::ReflectorLoop {
 public:
  /// The store must outlive it. Throws Error where a function is missing.
  Reflector(ListWatch<T> source, ReflectorStore<T>& store, ReflectorOptions options = {},
            Transform<T> transform = {})
      : ReflectorLoop(named(std::move(options))),
        source_(std::move(source)),
        store_(store),
        transform_(std::move(transform)) {
    if (!source_.list || !source_.watch)
      throw Error("reflector: list and watch must both be given");
  }

  /// Blocks until a stop is requested. Throws nothing.
  void run(const std::stop_token& stop) { ReflectorLoop::run(stop); }
  /// One round of it: lists, and watches until that fails. Throws what the list has thrown, or that
  /// which made the watch fail.
  void listAndWatch(const std::stop_token& stop) { ReflectorLoop::listAndWatch(stop); }

  /// The version that the store has been told of last; empty before the first list.
  String lastSyncResourceVersion() const { return ReflectorLoop::lastSyncResourceVersion(); }
  ReflectorStats stats() const {
    ReflectorStats stats = ReflectorLoop::stats();
    stats.sharedBytes = pool_.sharedBytes();
    return stats;
  }

 private:
  static ReflectorOptions named(ReflectorOptions options) {
    const ResourceInfo* resource = TypeOf<T>::info.resource;
    if (options.name.empty() && resource != nullptr) options.name = resource->plural;
    return options;
  }
  std::shared_ptr<const T> shared(T&& object) const {
    if (transform_) transform_(object);
    return std::allocate_shared<T>(detail::BlockAllocator<T>(), std::move(object));
  }

  metav1::ListMeta collectPage(const metav1::ListOptions& options,
                               const std::stop_token& stop) override {
    return source_.list(
        options, [this](T&& object) { listed_.push_back(shared(std::move(object))); }, stop, pool_);
  }
  void openWatch(const metav1::ListOptions& options, const std::stop_token& stop) override {
    events_ = source_.watch(options, stop, pool_);
  }
  void closeWatch() override {
    events_ = nullptr;
    event_.reset();
  }
  bool nextEvent(detail::EventHead& head) override {
    event_ = events_();
    if (!event_) return false;
    head.type = event_->type;
    if (head.type == EventType::Error) {
      head.status = std::move(event_->status);
      return true;
    }
    head.resourceVersion = detail::resourceVersionIn(event_->object);
    head.endsInitialEvents =
        head.type == EventType::Bookmark &&
        detail::annotationIn(event_->object, "k8s.io/initial-events-end") == "true";
    return true;
  }
  void collectEvent() override {
    if (!streamed_) streamed_.emplace();
    pass(*streamed_);
  }
  void applyEvent() override { pass(store_); }
  void pass(ReflectorStore<T>& to) {
    switch (event_->type) {
      case EventType::Added:
        return to.add(shared(std::move(event_->object)));
      case EventType::Modified:
        return to.update(shared(std::move(event_->object)));
      case EventType::Deleted:
        return to.remove(shared(std::move(event_->object)));
      case EventType::Bookmark:
        return to.bookmark(detail::resourceVersionIn(event_->object));
      case EventType::Error:
        return;
    }
  }
  void forgetCollected() override {
    listed_ = {};
    streamed_.reset();
  }
  void replaceWithCollected(const String& resourceVersion) override {
    if (streamed_) listed_ = streamed_->list();
    streamed_.reset();
    store_.replace(std::exchange(listed_, {}), resourceVersion);
  }
  void resyncStore() override { store_.resync(); }
  bool hasReached(const String& resourceVersion, const std::stop_token& stop) override {
    return !source_.reached || source_.reached(resourceVersion, stop);
  }

  const ListWatch<T> source_;
  ReflectorStore<T>& store_;
  const Transform<T> transform_;
  Pool pool_;
  EventSource<T> events_;  // of the watch under way
  std::optional<WatchEvent<T>> event_;
  std::vector<std::shared_ptr<const T>> listed_;
  std::optional<Store<T>> streamed_;
};

}  // namespace kube
