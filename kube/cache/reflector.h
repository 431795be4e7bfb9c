// Keeps a store equal to the objects on a server: lists once, then watches, and recovers from every
// failure.
//
//   kube::Store<Pod> store;                                // or a DeltaFifo
//   kube::Reflector<Pod> reflector(kube::ListWatch<Pod>::fromClient(pods), store);
//   reflector.run(stop);                                   // until a stop is requested
//
// Most programs use a SharedInformer, which contains a reflector.
//
// Recovery: a watch that ends or breaks is resumed from the last version seen. If the server no
// longer has that version (410), or fails in another way, the reflector lists again and passes the
// new list to the store, which works out the changes. The same happens if the server does not know
// the version yet because it was restored from a backup; client-go misses all changes until the
// server reaches that version.
//
// Pauses: after a watch that worked, the next one starts at once. If the server answers with
// failures, attempts are separated by a growing, random pause of 0.8 to 60 seconds, or by the time
// that the server asks for. If the server cannot be reached, the reflector tries about once a
// second. A watch that works resets all pauses.
//
// Memory: objects are decoded as they arrive, through one pool that lives as long as the reflector.
// Equal parts of objects share memory, and a list under way takes little more memory than its
// objects.
//
// Thread safety: run() and listAndWatch() are for one thread; the other methods for any. If there
// is a resync period, another thread calls the store's resync().
#pragma once

#include <memory>
#include <stop_token>
#include <utility>
#include <vector>

#include "kube/cache/internal/list_watch_source.h"
#include "kube/cache/internal/object_type.h"
#include "kube/cache/reflector_options.h"
#include "kube/cache/reflector_store.h"
#include "kube/cache/transform.h"

namespace kube {

namespace detail {

class ReflectorLoop;

/// A Reflector without its objects' C++ type.
class ReflectorBase : protected ReflectorStore<void> {
 public:
  ReflectorBase(const ReflectorBase&) = delete;
  ReflectorBase& operator=(const ReflectorBase&) = delete;
  ~ReflectorBase() override;

  /// Blocks until a stop is requested. Throws nothing.
  void run(const std::stop_token& stop);
  /// One round of run(): lists, and watches until the watch fails. Throws the error of the list or
  /// of the watch.
  void listAndWatch(const std::stop_token& stop);

  /// The version of the last list or event that the store has received; empty before the first
  /// list.
  String lastSyncResourceVersion() const;
  ReflectorStats stats() const;

 protected:
  ReflectorBase(const ObjectType& type, std::unique_ptr<ObjectSource> source,
                ReflectorOptions options, UntypedTransform transform);

 private:
  const std::unique_ptr<ObjectSource> source_;
  const std::unique_ptr<ReflectorLoop> loop_;
};

}  // namespace detail

template <Cacheable T>
class Reflector final : public detail::ReflectorBase {
 public:
  /// The store must outlive the reflector. Throws Error if a function of `source` is missing.
  Reflector(ListWatch<T> source, ReflectorStore<T>& store, ReflectorOptions options = {},
            Transform<T> transform = {})
      : ReflectorBase(detail::kObjectType<T>,
                      std::unique_ptr<detail::ObjectSource>(
                          new detail::ListWatchSource<T>(std::move(source))),
                      std::move(options), detail::untypedTransform<T>(std::move(transform))),
        store_(store) {}

 private:
  using Object = std::shared_ptr<const void>;

  static std::shared_ptr<const T> typed(Object object) {
    return std::static_pointer_cast<const T>(std::move(object));
  }

  // ---- Calls of the loop, passed on to the store.

  void add(Object object) override { store_.add(typed(std::move(object))); }
  void update(Object object) override { store_.update(typed(std::move(object))); }
  void remove(Object object) override { store_.remove(typed(std::move(object))); }
  // A Store<T> converts the vector back, so a list's pointers are copied twice. That costs little
  // beside decoding the objects, and informers, which have no types in between, do not pay it.
  void replace(std::vector<Object> objects, const String& resourceVersion) override {
    std::vector<std::shared_ptr<const T>> all;
    all.reserve(objects.size());
    for (Object& object : objects) all.push_back(typed(std::move(object)));
    objects = {};
    store_.replace(std::move(all), resourceVersion);
  }
  Object held(const ObjectKey& key) const override { return store_.held(key); }
  void resync() override { store_.resync(); }
  void reached(const String& resourceVersion) override { store_.reached(resourceVersion); }
  void bookmark(const String& resourceVersion) override { store_.bookmark(resourceVersion); }

  ReflectorStore<T>& store_;
};

}  // namespace kube
