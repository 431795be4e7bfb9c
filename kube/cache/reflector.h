// Keeps a store equal to what a server has: lists once, then watches, and goes on doing so whatever
// happens.
//
//   kube::Store<Pod> store;                                // or a DeltaFifo
//   kube::Reflector<Pod> reflector(kube::ListWatch<Pod>::fromClient(pods), store);
//   reflector.run(stop);                                   // until a stop is requested
//
// Programs mostly use a SharedInformer, which has one inside.
//
// A watch that ends or breaks is resumed from the last version seen. Where that is too old (410),
// or the server fails otherwise, everything is listed again, and the store told what there is now:
// it works out what has changed meanwhile. The same where the server does not know that version
// yet, since it was restored from a backup: client-go would miss what happens until it does.
// A watch that worked is followed by the next at once. Between attempts that a server answers with
// a failure lies a growing, random pause, 0.8 to 60 seconds, or what the server asks for; a server
// that cannot be reached is tried about once a second. All start over when a watch has worked.
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
#include <stop_token>
#include <utility>
#include <vector>

#include "kube/cache/internal/list_watch_source.h"
#include "kube/cache/internal/reflector_loop.h"
#include "kube/cache/reflector_store.h"
#include "kube/cache/transform.h"

namespace kube {

template <Cacheable T>
class Reflector final : private ReflectorStore<void> {
 public:
  /// The store must outlive it. Throws Error where a function is missing.
  Reflector(ListWatch<T> source, ReflectorStore<T>& store, ReflectorOptions options = {},
            Transform<T> transform = {})
      : source_(std::move(source)),
        store_(store),
        loop_(detail::kObjectType<T>, source_, *this, std::move(options),
              detail::untypedTransform<T>(std::move(transform))) {}

  /// Blocks until a stop is requested. Throws nothing.
  void run(const std::stop_token& stop) { loop_.run(stop); }
  /// One round of it: lists, and watches until that fails. Throws what the list has thrown, or that
  /// which made the watch fail.
  void listAndWatch(const std::stop_token& stop) { loop_.listAndWatch(stop); }

  /// The version that the store has been told of last; empty before the first list.
  String lastSyncResourceVersion() const { return loop_.lastSyncResourceVersion(); }
  ReflectorStats stats() const { return loop_.stats(); }

 private:
  using Object = std::shared_ptr<const void>;

  static std::shared_ptr<const T> typed(Object object) {
    return std::static_pointer_cast<const T>(std::move(object));
  }

  // ---- What the loop says, passed on.

  void add(Object object) override { store_.add(typed(std::move(object))); }
  void update(Object object) override { store_.update(typed(std::move(object))); }
  void remove(Object object) override { store_.remove(typed(std::move(object))); }
  void replace(std::vector<Object> objects, const String& resourceVersion) override {
    std::vector<std::shared_ptr<const T>> all;
    all.reserve(objects.size());
    for (Object& object : objects) all.push_back(typed(std::move(object)));
    objects = {};
    store_.replace(std::move(all), resourceVersion);
  }
  Object held(const ObjectKey& key) const override { return store_.held(key); }
  void resync() override { store_.resync(); }
  void bookmark(const String& resourceVersion) override { store_.bookmark(resourceVersion); }

  detail::ListWatchSource<T> source_;
  ReflectorStore<T>& store_;
  detail::ReflectorLoop loop_;
};

}  // namespace kube
