// Objects of one kind in memory, found by namespace and name and by indexes that the program
// defines.
//
//   kube::Store<Pod> pods({{kube::kNamespaceIndex, kube::namespaceIndex<Pod>},
//                          {"node", [](const Pod& p) { return Strings{p.spec->nodeName}; }}});
//   pods.add(std::make_shared<const Pod>(pod));
//   if (auto pod = pods.getByKey({"book", "web-1"})) ...
//   for (const auto& pod : pods.byIndex("node", "n1")) ...
//
// It is client-go's Store and Indexer in one. An informer keeps one up to date; a program may also
// fill its own. Returned objects are shared pointers to const objects: a reader may keep them while
// the store changes.
//
// An index function returns the values under which an object is found: one, several or none. It is
// called once for each object that is put in, may read the store, and must not write to it. If it
// throws, that is logged, and the object is not found by that index.
//
// Performance: readers do not wait for each other, and wait for a writer only while it applies a
// prepared change. Lookup and removal take constant time, also if an index value has many objects.
// In addition to the object itself, an entry takes about 30 bytes, and 20 for each index.
//
// Thread safety: every method may be called from any thread. Each sees the store as of one moment:
// a list() is never half of a replace().
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/base/clock.h"
#include "kube/base/error.h"
#include "kube/base/list.h"
#include "kube/base/log.h"  // setLogSink() receives exceptions of index functions
#include "kube/base/task.h"
#include "kube/cache/internal/object_access.h"
#include "kube/cache/internal/store_version.h"
#include "kube/cache/internal/untyped_store.h"
#include "kube/cache/reflector_store.h"

namespace kube {

/// Returns the values under which an object is found.
template <class T>
using IndexFunction = std::function<Strings(const T& object)>;

/// Index functions by the name of the index.
template <class T>
using Indexers = std::map<String, IndexFunction<T>, std::less<>>;

/// The index that Listers use for the objects of a namespace.
inline constexpr std::string_view kNamespaceIndex = "namespace";

template <Cacheable T>
Strings namespaceIndex(const T& object) {
  return Strings{detail::namespaceOf(object)};
}

/// The awaitable form of a store's waits. Thread safety: every method may be called from any
/// thread.
class AsyncStore {
 public:
  AsyncStore(std::shared_ptr<detail::StoreVersions> versions, std::string_view name)
      : versions_(std::move(versions)), name_(name) {}

  /// As waitForVersion() of the store: with the same errors, and false after a stop of the tree.
  Task<bool> waitForVersion(std::string_view version, Clock::TimePoint deadline = Clock::noDeadline,
                            std::string_view namespaceName = {}) const {
    return detail::StoreVersions::wait(versions_, String(version), name_, deadline,
                                       String(namespaceName));
  }

 private:
  std::shared_ptr<detail::StoreVersions> versions_;
  std::string_view name_;  // that of a type
};

template <Cacheable T>
class Store;

namespace detail {

/// Converts between a store and its untyped base.
struct StoreAccess {
  template <Cacheable T>
  static const UntypedStore* untyped(const Store<T>* store) noexcept {
    return store;
  }
  /// For stores that make() has made.
  template <Cacheable T>
  static const Store<T>* typed(const UntypedStore* store) noexcept {
    return static_cast<const Store<T>*>(store);
  }
  template <Cacheable T>
  static std::shared_ptr<const Store<T>> typed(const std::shared_ptr<UntypedStore>& store) {
    return {store, typed<T>(store.get())};
  }
  /// Makes a store. It uses `new`, because std::make_unique would be compiled for every type.
  template <Cacheable T>
  static std::unique_ptr<UntypedStore> make() {
    UntypedStore* const store = new Store<T>();
    return std::unique_ptr<UntypedStore>(store);
  }
};

/// The indexes as UntypedStore takes them.
template <Cacheable T>
std::vector<UntypedStore::Index> untypedIndexes(Indexers<T> indexers) {
  std::vector<UntypedStore::Index> indexes;
  for (auto& [name, function] : indexers) {
    std::unique_ptr<IndexValues> values;
    if (function) values.reset(new TypedIndexValues<T>(std::move(function)));
    indexes.push_back({name, std::move(values)});
  }
  return indexes;
}
template <Cacheable T>
std::vector<std::shared_ptr<const T>> typedObjects(
    std::vector<std::shared_ptr<const void>> objects) {
  std::vector<std::shared_ptr<const T>> result;
  result.reserve(objects.size());
  for (auto& object : objects)
    result.push_back(std::static_pointer_cast<const T>(std::move(object)));
  return result;
}
template <Cacheable T>
std::vector<std::shared_ptr<const void>> untypedObjects(
    std::vector<std::shared_ptr<const T>> objects) {
  std::vector<std::shared_ptr<const void>> result;
  result.reserve(objects.size());
  for (auto& object : objects) result.push_back(std::move(object));
  return result;
}

}  // namespace detail

template <Cacheable T>
class Store final : public ReflectorStore<T>, private detail::UntypedStore {
 public:
  using Object = std::shared_ptr<const T>;

  Store() : UntypedStore(detail::kObjectType<T>) {}
  explicit Store(Indexers<T> indexers) : Store() { addIndexers(std::move(indexers)); }

  // ---- Writing.

  /// Adds an object, or replaces the one with the same key. An object that is already in the store
  /// (the same pointer) is not indexed again.
  void add(Object object) override { put(std::move(object)); }
  void add(T object) { put(std::make_shared<const T>(std::move(object))); }
  /// The same as add().
  void update(Object object) override { put(std::move(object)); }
  void update(T object) { put(std::make_shared<const T>(std::move(object))); }

  /// Removes the object with the same key, whatever its state.
  void remove(Object object) override { remove(*object); }
  void remove(const T& object) { UntypedStore::remove(type().keyViewOf(&object)); }
  void removeByKey(const ObjectKey& key) { UntypedStore::remove({key.namespace_, key.name}); }

  /// Replaces all objects. Rows and indexes of objects that stay are kept.
  void replace(std::vector<Object> objects, const String& resourceVersion = {}) override {
    UntypedStore::replace(detail::untypedObjects<T>(std::move(objects)), resourceVersion);
  }

  // ---- Reading.

  /// The object with the same key; null if there is none.
  Object get(const T& object) const { return typed(find(type().keyViewOf(&object))); }
  Object getByKey(const ObjectKey& key) const { return typed(find({key.namespace_, key.name})); }
  Object getByKey(std::string_view namespaceName, std::string_view name) const {
    return typed(find({namespaceName, name}));
  }
  bool contains(const ObjectKey& key) const {
    return UntypedStore::contains({key.namespace_, key.name});
  }

  /// All objects, in no order. (So are all results below unless stated otherwise.)
  std::vector<Object> list() const { return list({}); }
  std::vector<Object> list(const labels::Selector& selector) const {
    return UntypedStore::list<T>(selector);
  }
  using UntypedStore::listKeys;
  using UntypedStore::size;
  /// The version that the store has reached: that of the last list, event or bookmark of an
  /// informer or reflector, or the one that replace() or bookmark() received last. It is the oldest
  /// of an informer's namespaces, and empty before all have one.
  using UntypedStore::resourceVersion;
  void bookmark(const String& resourceVersion) override { UntypedStore::bookmark(resourceVersion); }
  void reached(const String& resourceVersion) override { UntypedStore::bookmark(resourceVersion); }
  /// Blocks until the store has reached a version, such as that of an object that was written.
  /// Returns false at the deadline, and if a stop is requested first. Throws Error once the
  /// informer has ended below that version, and for texts that are not versions.
  ///
  /// Each namespace of an informer with several has a version of its own. `namespaceName` waits for
  /// that of one, and throws Error if the informer does not have the namespace, or not any more.
  /// Empty: all namespaces that it has.
  bool waitForVersion(std::string_view version, const std::stop_token& stop = {},
                      Clock::TimePoint deadline = Clock::noDeadline,
                      std::string_view namespaceName = {}) const {
    return detail::runBlocking(async().waitForVersion(version, deadline, namespaceName), stop);
  }
  /// The awaitable form of waitForVersion(). The store may end meanwhile.
  AsyncStore async() const { return AsyncStore(sharedVersions(), type().info.name); }
  Object held(const ObjectKey& key) const override { return getByKey(key); }

  // ---- By index. All throw Error if there is no such index.

  /// The objects that share a value with this object, each once.
  std::vector<Object> index(std::string_view name, const T& object) const {
    return UntypedStore::index<T>(name, &object);
  }
  /// The objects with this value.
  std::vector<Object> byIndex(std::string_view name, std::string_view value) const {
    return byIndex(name, value, {});
  }
  std::vector<Object> byIndex(std::string_view name, std::string_view value,
                              const labels::Selector& selector) const {
    return UntypedStore::byIndex<T>(name, value, selector);
  }
  /// The keys of the objects with this value, sorted.
  using UntypedStore::indexKeys;
  /// All values that objects have in this index.
  using UntypedStore::listIndexFuncValues;

  using UntypedStore::hasIndex;
  /// Adds indexes, which include the objects that are in the store. Throws Error if an index of one
  /// of the names exists; then none is added.
  void addIndexers(Indexers<T> indexers) {
    addIndexes(detail::untypedIndexes<T>(std::move(indexers)));
  }
  void addIndexer(String name, IndexFunction<T> function) {
    addIndexers({{std::move(name), std::move(function)}});
  }

 private:
  friend struct detail::StoreAccess;

  static Object typed(std::shared_ptr<const void> object) {
    return std::static_pointer_cast<const T>(std::move(object));
  }
};

}  // namespace kube
