// Objects of one kind in memory, found by namespace and name and by indexes of one's own.
//
//   kube::Store<Pod> pods({{kube::kNamespaceIndex, kube::namespaceIndex<Pod>},
//                          {"node", [](const Pod& p) { return Strings{p.spec->nodeName}; }}});
//   pods.add(std::make_shared<const Pod>(pod));
//   if (auto pod = pods.getByKey({"book", "web-1"})) ...
//   for (const auto& pod : pods.byIndex("node", "n1")) ...
//
// It is client-go's Store and Indexer in one. An informer keeps one up to date; a program may also
// fill its own. What it hands out are shared pointers to objects that nobody changes: a reader
// keeps what it has got for as long as it likes, while the store goes on.
//
// An index function gives the values that an object is to be found under: one, several or none. It
// is called once for each object that is put in, may read the store, and must not write to it. If
// it throws, that is logged, and the object is not found by that index.
//
// Performance: readers wait for no other reader, and for a writer only while it puts in what it has
// prepared. Looking up and removing take the same time however many objects there are, also in
// one index value. Beside the object itself one takes some 30 bytes, and 20 for each index.
//
// Thread safety: every method may be called from any thread. Each sees the store as of one moment:
// a list() is never half of a replace().
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/base/error.h"
#include "kube/base/list.h"
#include "kube/base/log.h"  // setLogSink() has what index functions throw
#include "kube/cache/internal/object_access.h"
#include "kube/cache/internal/untyped_store.h"
#include "kube/cache/reflector_store.h"

namespace kube {

/// The values that an object is to be found under.
template <class T>
using IndexFunction = std::function<Strings(const T& object)>;

/// By the name of the index.
template <class T>
using Indexers = std::map<String, IndexFunction<T>, std::less<>>;

/// The index that a Lister looks objects of a namespace up in.
inline constexpr std::string_view kNamespaceIndex = "namespace";

template <Cacheable T>
Strings namespaceIndex(const T& object) {
  return Strings{detail::namespaceIn(object)};
}

template <Cacheable T>
class Store;

namespace detail {

/// Between a store and what it is without the type.
struct StoreAccess {
  template <Cacheable T>
  static const UntypedStore* untyped(const Store<T>* store) noexcept {
    return store;
  }
  /// Of one that make() has made.
  template <Cacheable T>
  static const Store<T>* typed(const UntypedStore* store) noexcept {
    return static_cast<const Store<T>*>(store);
  }
  template <Cacheable T>
  static std::shared_ptr<const Store<T>> typed(const std::shared_ptr<UntypedStore>& store) {
    return {store, typed<T>(store.get())};
  }
  /// As all that makes parts for what is compiled once: straight as a pointer to the base, since a
  /// std::make_shared or make_unique would be compiled for every type.
  template <Cacheable T>
  static std::unique_ptr<UntypedStore> make() {
    UntypedStore* const store = new Store<T>();
    return std::unique_ptr<UntypedStore>(store);
  }
};

/// As the parts that are compiled once have them.
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

  /// Puts it in, in place of the one with the same key if there is one. What is there already, the
  /// same pointer, is not indexed again.
  void add(Object object) override { put(std::move(object)); }
  void add(T object) { put(std::make_shared<const T>(std::move(object))); }
  /// The same as add().
  void update(Object object) override { put(std::move(object)); }
  void update(T object) { put(std::make_shared<const T>(std::move(object))); }

  /// Removes the one with the same key, whatever its state.
  void remove(Object object) override { remove(*object); }
  void remove(const T& object) { UntypedStore::remove(type().keyViewOf(&object)); }
  void removeByKey(const ObjectKey& key) { UntypedStore::remove({key.namespace_, key.name}); }

  /// Holds these and no others. Rows and indexes of objects that stay are kept.
  void replace(std::vector<Object> objects, const String& resourceVersion = {}) override {
    UntypedStore::replace(detail::untypedObjects<T>(std::move(objects)), resourceVersion);
  }

  // ---- Reading.

  /// The object with the same key; null where there is none.
  Object get(const T& object) const { return typed(find(type().keyViewOf(&object))); }
  Object getByKey(const ObjectKey& key) const { return typed(find({key.namespace_, key.name})); }
  Object getByKey(std::string_view namespaceName, std::string_view name) const {
    return typed(find({namespaceName, name}));
  }
  bool contains(const ObjectKey& key) const {
    return UntypedStore::contains({key.namespace_, key.name});
  }

  /// In no order, as all that follow unless it is said.
  std::vector<Object> list() const { return list({}); }
  std::vector<Object> list(const labels::Selector& selector) const {
    return UntypedStore::list<T>(selector);
  }
  using UntypedStore::listKeys;
  using UntypedStore::size;
  /// What replace() or bookmark() told last.
  using UntypedStore::resourceVersion;
  void bookmark(const String& resourceVersion) override { UntypedStore::bookmark(resourceVersion); }
  Object held(const ObjectKey& key) const override { return getByKey(key); }

  // ---- By index. All throw Error where there is no such index.

  /// Those that share a value with this object, each once.
  std::vector<Object> index(std::string_view name, const T& object) const {
    return UntypedStore::index<T>(name, &object);
  }
  /// Those with this value.
  std::vector<Object> byIndex(std::string_view name, std::string_view value) const {
    return byIndex(name, value, {});
  }
  std::vector<Object> byIndex(std::string_view name, std::string_view value,
                              const labels::Selector& selector) const {
    return UntypedStore::byIndex<T>(name, value, selector);
  }
  /// The keys of those with this value, sorted.
  using UntypedStore::indexKeys;
  /// All values that some object has.
  using UntypedStore::listIndexFuncValues;

  using UntypedStore::hasIndex;
  /// Objects that are there already are indexed too. Throws Error where there is an index of one of
  /// the names; then none is added.
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
