// A Store without its objects' C++ type, so that it is compiled once: the table, its indexes and
// their locks. Store<T> is a thin front of it, and documents the methods.
//
// Invariants: index functions and the table's indexes are in the same order. While an index is
// being added, the functions have one more at the end.
//
// Thread safety: every method may be called from any thread. Writers lock writesMutex_, prepare the
// change, and lock tableMutex_ only while they change the table. Holding either lock is enough to
// read.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/base/internal/mutex.h"
#include "kube/base/map.h"
#include "kube/cache/internal/object_table.h"
#include "kube/cache/internal/object_type.h"
#include "kube/cache/internal/read_mostly_mutex.h"
#include "kube/cache/internal/store_version.h"

namespace kube::detail {

/// The function of an index.
class IndexValues {
 public:
  virtual ~IndexValues() = default;
  virtual Strings of(const void* object) const = 0;
};

/// An index function of objects of type T.
template <class T>
class TypedIndexValues final : public IndexValues {
 public:
  explicit TypedIndexValues(std::function<Strings(const T&)> function)
      : function_(std::move(function)) {}
  Strings of(const void* object) const override {
    return function_(*static_cast<const T*>(object));
  }

 private:
  const std::function<Strings(const T&)> function_;
};

/// An index by namespace, for any type.
std::unique_ptr<IndexValues> namespaceValues(const ObjectType& type);

class UntypedStore {
 public:
  using Object = ObjectTable::Object;
  struct Index {
    String name;
    std::unique_ptr<IndexValues> values;  // null: an error
  };

  explicit UntypedStore(const ObjectType& type);
  virtual ~UntypedStore();
  UntypedStore(const UntypedStore&) = delete;
  UntypedStore& operator=(const UntypedStore&) = delete;

  const ObjectType& type() const noexcept { return type_; }

  // These two return the object that was there before; null if there was none.
  Object put(Object object);
  Object remove(KeyView key);
  void replace(std::vector<Object> objects, const String& resourceVersion);

  Object find(KeyView key) const;
  bool contains(KeyView key) const;
  std::vector<ObjectKey> listKeys() const;
  std::size_t size() const;
  String resourceVersion() const { return versions_->all()->get(); }
  void bookmark(const String& resourceVersion) {
    versions_->reached(versions_->all(), resourceVersion);
  }
  StoreVersions& versions() const noexcept { return *versions_; }
  const std::shared_ptr<StoreVersions>& sharedVersions() const noexcept { return versions_; }

  std::vector<ObjectKey> indexKeys(std::string_view name, std::string_view value) const;
  std::vector<String> listIndexFuncValues(std::string_view name) const;
  bool hasIndex(std::string_view name) const;
  /// Returns whether any object, of the store or not, has a value in an index.
  bool hasIndexValue(std::string_view name, std::string_view value, const void* object) const;
  void addIndexes(std::vector<Index> indexes);

  // ---- Methods that return many objects return pointers to T or to void. Making pointers of the
  // final type at once costs less than casting them later.

  template <class T>
  std::vector<std::shared_ptr<const T>> list(const labels::Selector& selector) const {
    const ReadLock lock(tableMutex_);
    return collectAll<T>(selector.empty() ? nullptr : &selector);
  }
  template <class T>
  std::vector<std::shared_ptr<const T>> byIndex(std::string_view name, std::string_view value,
                                                const labels::Selector& selector) const {
    const ReadLock lock(tableMutex_);
    return collect<T>(table_.index(numberOf(name)).rowsOf(value),
                      selector.empty() ? nullptr : &selector);
  }
  template <class T>
  std::vector<std::shared_ptr<const T>> index(std::string_view name, const void* object) const {
    const Strings values = indexNamed(name).of(object);
    std::vector<Row> several;
    const ReadLock lock(tableMutex_);
    return collect<T>(rowsOf(name, values, several), nullptr);
  }

 private:
  using Row = ObjectTable::Row;

  // Access to the table and the functions for writers, which read them with writesMutex_ alone: no
  // other thread can change them meanwhile. The compiler cannot be told that either of two locks is
  // enough.
  const ObjectTable& writersTable() const KUBE_REQUIRES(writesMutex_) KUBE_NOT_CHECKED {
    return table_;
  }
  const std::vector<Index>& writersFunctions() const KUBE_REQUIRES(writesMutex_) KUBE_NOT_CHECKED {
    return functions_;
  }

  Strings valuesOf(std::string_view name, const IndexValues& index, const void* object) const;
  void valuesOf(const void* object, std::vector<List<String>>& values) const
      KUBE_REQUIRES(writesMutex_);
  const IndexValues& indexNamed(std::string_view name) const;
  std::span<const Row> rowsOf(std::string_view name, const Strings& values,
                              std::vector<Row>& several) const KUBE_REQUIRES_SHARED(tableMutex_);
  std::size_t numberOf(std::string_view name) const KUBE_REQUIRES_SHARED(tableMutex_);
  template <class T>
  std::vector<std::shared_ptr<const T>> collectAll(const labels::Selector* selector) const
      KUBE_REQUIRES_SHARED(tableMutex_);
  template <class T>
  std::vector<std::shared_ptr<const T>> collect(std::span<const Row> rows,
                                                const labels::Selector* selector) const
      KUBE_REQUIRES_SHARED(tableMutex_);
  bool wanted(const Object& object, const labels::Selector* selector) const {
    return selector == nullptr || type_.selects(*selector, object.get());
  }
  // Copying a pointer writes to the first cache line of its object, which is rarely in the cache,
  // and each write waits for the one before. Prefetching the lines makes it three times as fast.
  static constexpr std::size_t kAhead = 8;
  static void prefetch(const Object& object) noexcept {
    constexpr std::ptrdiff_t kCounts = 16;  // before the object in make_shared's block
    __builtin_prefetch(static_cast<const char*>(object.get()) - kCounts, 1);
  }

  const ObjectType& type_;
  const std::shared_ptr<StoreVersions> versions_ = std::make_shared<StoreVersions>();
  Mutex writesMutex_;  // held by a writer from its preparations to its end
  mutable ReadMostlyMutex tableMutex_;
  ObjectTable table_ KUBE_GUARDED_BY(tableMutex_);
  // In the order of table_'s indexes.
  std::vector<Index> functions_ KUBE_GUARDED_BY(tableMutex_);
  std::map<String, std::size_t, std::less<>> numbers_ KUBE_GUARDED_BY(tableMutex_);
};

// ---- Implementation.

template <class T>
std::vector<std::shared_ptr<const T>> UntypedStore::collectAll(
    const labels::Selector* selector) const {
  const auto objects = table_.objects();
  std::vector<std::shared_ptr<const T>> result;
  result.reserve(objects.size());
  for (std::size_t i = 0; i < objects.size(); ++i) {
    if (i + kAhead < objects.size()) prefetch(objects[i + kAhead]);
    const Object& object = objects[i];
    if (wanted(object, selector)) result.push_back(std::static_pointer_cast<const T>(object));
  }
  return result;
}

template <class T>
std::vector<std::shared_ptr<const T>> UntypedStore::collect(
    std::span<const Row> rows, const labels::Selector* selector) const {
  const auto objects = table_.objects();
  std::vector<std::shared_ptr<const T>> result;
  result.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i + 2 * kAhead < rows.size()) __builtin_prefetch(&objects[rows[i + 2 * kAhead]]);
    if (i + kAhead < rows.size()) prefetch(objects[rows[i + kAhead]]);
    const Object& object = objects[rows[i]];
    if (wanted(object, selector)) result.push_back(std::static_pointer_cast<const T>(object));
  }
  return result;
}

}  // namespace kube::detail
