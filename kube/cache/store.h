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

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/base/error.h"
#include "kube/base/log.h"
#include "kube/base/map.h"
#include "kube/cache/object_access.h"
#include "kube/cache/object_table.h"
#include "kube/cache/read_mostly_mutex.h"
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
class Store final : public ReflectorStore<T> {
 public:
  using Object = std::shared_ptr<const T>;

  explicit Store(Indexers<T> indexers = {}) : table_(&keyViewOf) {
    addIndexers(std::move(indexers));
  }

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
  void remove(const T& object) { removeKey(keyViewOf(&object)); }
  void removeByKey(const ObjectKey& key) { removeKey({key.namespace_, key.name}); }

  /// Holds these and no others. Rows and indexes of objects that stay are kept.
  void replace(std::vector<Object> objects, const String& resourceVersion = {}) override;

  // ---- Reading.

  /// The object with the same key; null where there is none.
  Object get(const T& object) const { return find(keyViewOf(&object)); }
  Object getByKey(const ObjectKey& key) const { return find({key.namespace_, key.name}); }
  Object getByKey(std::string_view namespaceName, std::string_view name) const {
    return find({namespaceName, name});
  }
  bool contains(const ObjectKey& key) const {
    const std::shared_lock lock(mutex_);
    return table_.find({key.namespace_, key.name}) != nullptr;
  }

  /// In no order, as all that follow unless it is said.
  std::vector<Object> list() const {
    const std::shared_lock lock(mutex_);
    return collectAll([](const T&) { return true; });
  }
  std::vector<Object> list(const labels::Selector& selector) const {
    if (selector.empty()) return list();
    const std::shared_lock lock(mutex_);
    return collectAll([&](const T& object) { return detail::selects(selector, object); });
  }
  std::vector<ObjectKey> listKeys() const {
    const std::shared_lock lock(mutex_);
    std::vector<ObjectKey> keys;
    keys.reserve(table_.objects().size());
    for (const auto& object : table_.objects()) keys.push_back(keyOf(typed(object)));
    return keys;
  }
  std::size_t size() const {
    const std::shared_lock lock(mutex_);
    return table_.objects().size();
  }
  /// What replace() or bookmark() told last.
  String resourceVersion() const {
    const std::shared_lock lock(mutex_);
    return resourceVersion_;
  }
  void bookmark(const String& resourceVersion) override {
    const std::unique_lock lock(mutex_);
    resourceVersion_ = resourceVersion;
  }

  // ---- By index. All throw Error where there is no such index.

  /// Those that share a value with this object, each once.
  std::vector<Object> index(std::string_view name, const T& object) const;
  /// Those with this value.
  std::vector<Object> byIndex(std::string_view name, std::string_view value) const {
    return byIndex(name, value, {});
  }
  std::vector<Object> byIndex(std::string_view name, std::string_view value,
                              const labels::Selector& selector) const {
    const std::shared_lock lock(mutex_);
    const auto rows = table_.index(numberOf(name)).rowsOf(value);
    if (selector.empty()) return collect(rows, [](const T&) { return true; });
    return collect(rows, [&](const T& object) { return detail::selects(selector, object); });
  }
  /// The keys of those with this value, sorted.
  std::vector<ObjectKey> indexKeys(std::string_view name, std::string_view value) const;
  /// All values that some object has.
  std::vector<String> listIndexFuncValues(std::string_view name) const {
    const std::shared_lock lock(mutex_);
    return table_.index(numberOf(name)).values();
  }

  bool hasIndex(std::string_view name) const {
    const std::shared_lock lock(mutex_);
    return numbers_.find(name) != numbers_.end();
  }
  /// Objects that are there already are indexed too. Throws Error where there is an index of one of
  /// the names; then none is added.
  void addIndexers(Indexers<T> indexers);
  void addIndexer(String name, IndexFunction<T> function) {
    addIndexers({{std::move(name), std::move(function)}});
  }

 private:
  using Row = detail::ObjectTable::Row;
  using Untyped = detail::ObjectTable::Object;

  static detail::KeyView keyViewOf(const void* object) noexcept {
    const T& typed = *static_cast<const T*>(object);
    return {detail::namespaceIn(typed), detail::nameIn(typed)};
  }
  static const T& typed(const Untyped& object) noexcept {
    return *static_cast<const T*>(object.get());
  }
  static void check(const Object& object) {
    if (object == nullptr) throw Error("store: an object to be added is null");
  }

  void put(Object object);
  void removeKey(detail::KeyView key);
  Object find(detail::KeyView key) const {
    const std::shared_lock lock(mutex_);
    const Untyped* found = table_.find(key);
    return found != nullptr ? std::static_pointer_cast<const T>(*found) : nullptr;
  }
  Strings valuesOf(std::size_t index, const T& object) const;
  void valuesOf(const T& object, std::vector<List<String>>& values) const;
  std::size_t numberOf(std::string_view name) const;
  template <class Wanted>
  std::vector<Object> collectAll(Wanted wanted) const;
  template <class Wanted>
  std::vector<Object> collect(std::span<const Row> rows, Wanted wanted) const;
  // Taking a reference writes to the object's first line, which is seldom in the cache, and one
  // such write waits for the last: asking for the lines ahead is worth a factor of three.
  static constexpr std::size_t kAhead = 8;
  static void expect(const Untyped& object) noexcept {
    constexpr std::ptrdiff_t kCounts = 16;  // before an object that make_shared has made
    __builtin_prefetch(static_cast<const char*>(object.get()) - kCounts, 1);
  }

  // Writers take `writes_` first, prepare, and hold `mutex_` only while they change the table. What
  // `mutex_` guards may so be read by who holds either.
  std::mutex writes_;
  mutable detail::ReadMostlyMutex mutex_;
  detail::ObjectTable table_;
  std::vector<std::pair<String, IndexFunction<T>>> functions_;  // in the order of table_'s indexes
  std::map<String, std::size_t, std::less<>> numbers_;
  String resourceVersion_;
};

// ---- What follows is how it is done.

template <Cacheable T>
Strings Store<T>::valuesOf(std::size_t index, const T& object) const {
  const auto& [name, function] = functions_[index];
  try {
    return function(object);
  } catch (const std::exception& error) {
    Logger("store").error(
        "{}: index \"{}\": the function has thrown, so the object is not in it: {}",
        keyOf(object).str(), name.view(), error.what());
  } catch (...) {
    Logger("store").error("{}: index \"{}\": the function has thrown, so the object is not in it",
                          keyOf(object).str(), name.view());
  }
  return {};
}

template <Cacheable T>
void Store<T>::valuesOf(const T& object, std::vector<List<String>>& values) const {
  for (std::size_t i = 0; i < functions_.size(); ++i) values.push_back(valuesOf(i, object));
}

template <Cacheable T>
void Store<T>::put(Object object) {
  check(object);
  Untyped before;  // let go after the locks
  std::vector<List<String>> values;
  const std::lock_guard writing(writes_);
  const auto at = table_.locate(keyViewOf(object.get()));
  // A resync brings objects that are here already. They cannot have changed.
  if (at.row != table_.kNone && table_.objects()[at.row] == object) return;
  values.reserve(functions_.size());
  valuesOf(*object, values);
  const std::unique_lock lock(mutex_);
  before = table_.put(at, std::move(object), values);
}

template <Cacheable T>
void Store<T>::removeKey(detail::KeyView key) {
  Untyped before;
  const std::lock_guard writing(writes_);
  const std::unique_lock lock(mutex_);
  before = table_.remove(key);
}

template <Cacheable T>
void Store<T>::replace(std::vector<Object> objects, const String& resourceVersion) {
  for (const Object& object : objects) check(object);
  std::vector<Untyped> before;
  before.reserve(objects.size());
  std::vector<List<String>> values;
  const std::lock_guard writing(writes_);
  const std::size_t width = functions_.size();
  values.reserve(objects.size() * width);
  for (const Object& object : objects) valuesOf(*object, values);
  // By address, for the question which are to go.
  std::vector<const void*> kept;
  kept.reserve(objects.size());
  for (const Object& object : objects) kept.push_back(object.get());
  std::sort(kept.begin(), kept.end());

  const std::unique_lock lock(mutex_);
  table_.reserve(objects.size());
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const std::span row(values.data() + i * width, width);
    const auto at = table_.locate(keyViewOf(objects[i].get()));
    before.push_back(table_.put(at, std::move(objects[i]), row));
  }
  for (std::size_t row = 0; row < table_.objects().size();) {
    const Untyped& object = table_.objects()[row];
    if (std::binary_search(kept.begin(), kept.end(), object.get())) {
      ++row;
    } else {
      before.push_back(table_.remove(keyViewOf(object.get())));  // another one is in the row now
    }
  }
  resourceVersion_ = resourceVersion;
}

template <Cacheable T>
std::size_t Store<T>::numberOf(std::string_view name) const {
  const auto found = numbers_.find(name);
  if (found != numbers_.end()) return found->second;
  throw Error(fmt::format("store: there is no index \"{}\": add it with addIndexers()", name));
}

template <Cacheable T>
template <class Wanted>
auto Store<T>::collectAll(Wanted wanted) const -> std::vector<Object> {
  const auto objects = table_.objects();
  std::vector<Object> result;
  result.reserve(objects.size());
  for (std::size_t i = 0; i < objects.size(); ++i) {
    if (i + kAhead < objects.size()) expect(objects[i + kAhead]);
    if (wanted(typed(objects[i]))) result.push_back(std::static_pointer_cast<const T>(objects[i]));
  }
  return result;
}

template <Cacheable T>
template <class Wanted>
auto Store<T>::collect(std::span<const Row> rows, Wanted wanted) const -> std::vector<Object> {
  const auto objects = table_.objects();
  std::vector<Object> result;
  result.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i + 2 * kAhead < rows.size()) __builtin_prefetch(&objects[rows[i + 2 * kAhead]]);
    if (i + kAhead < rows.size()) expect(objects[rows[i + kAhead]]);
    const Untyped& object = objects[rows[i]];
    if (wanted(typed(object))) result.push_back(std::static_pointer_cast<const T>(object));
  }
  return result;
}

template <Cacheable T>
auto Store<T>::index(std::string_view name, const T& object) const -> std::vector<Object> {
  IndexFunction<T> function;
  {
    const std::shared_lock lock(mutex_);
    function = functions_[numberOf(name)].second;
  }
  const Strings values = function(object);
  const std::shared_lock lock(mutex_);
  const detail::ValueIndex& index = table_.index(numberOf(name));
  const auto all = [](const T&) { return true; };
  if (values.size() == 1) return collect(index.rowsOf(values[0]), all);
  std::vector<Row> rows;
  for (const String& value : values) {
    const auto some = index.rowsOf(value);
    rows.insert(rows.end(), some.begin(), some.end());
  }
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return collect(rows, all);
}

template <Cacheable T>
std::vector<ObjectKey> Store<T>::indexKeys(std::string_view name, std::string_view value) const {
  std::vector<ObjectKey> keys;
  {
    const std::shared_lock lock(mutex_);
    for (const Row row : table_.index(numberOf(name)).rowsOf(value)) {
      keys.push_back(keyOf(typed(table_.objects()[row])));
    }
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

template <Cacheable T>
void Store<T>::addIndexers(Indexers<T> indexers) {
  const std::lock_guard writing(writes_);
  for (const auto& [name, function] : indexers) {
    if (numbers_.find(name) != numbers_.end()) {
      throw Error(fmt::format("store: there is an index \"{}\" already", name.view()));
    }
    if (!function) throw Error(fmt::format("store: index \"{}\" has no function", name.view()));
  }
  for (auto& [name, function] : indexers) {
    const std::size_t number = functions_.size();
    std::vector<List<String>> values;
    {
      // Readers look at the functions too.
      const std::unique_lock lock(mutex_);
      functions_.emplace_back(name, std::move(function));
    }
    values.reserve(table_.objects().size());
    for (const Untyped& object : table_.objects()) {
      values.push_back(valuesOf(number, typed(object)));
    }
    const std::unique_lock lock(mutex_);
    table_.addIndex(values);
    numbers_.emplace(name, number);
  }
}

}  // namespace kube
