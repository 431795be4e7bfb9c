// The objects of a store, found by key and by index: a Store without locks and without the objects'
// C++ type, so that it is compiled once.
//
// Objects are in rows without gaps; the last one fills the place of a removed one. Keys are read
// from the objects and not stored again. An object costs 16 bytes for its pointer, 8 to be found by
// its key, and 12 in each index, plus the unused capacity of the tables.
//
// Invariants: every row has a place in every index.
//
// Thread safety: any number of readers, or one writer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kube/base/internal/hashed_ids.h"
#include "kube/base/map.h"
#include "kube/cache/internal/object_access.h"
#include "kube/cache/internal/value_index.h"

namespace kube::detail {

class ObjectTable {
 public:
  using Object = std::shared_ptr<const void>;
  using Row = ValueIndex::Row;
  using KeyOf = KeyView (*)(const void* object) noexcept;

  explicit ObjectTable(KeyOf keys) : keyOf_(keys) {}

  std::span<const Object> objects() const noexcept { return objects_; }
  KeyView keyOf(Row row) const noexcept { return keyOf_(objects_[row].get()); }

  /// The position of a key, or where it would be added. Valid until the next change.
  struct Position {
    HashedIds::Hash hash;
    Row row;  // kNone: there is no such object
  };
  static constexpr Row kNone = HashedIds::kNone;
  Position locate(KeyView key) const;
  /// Null if there is none.
  const Object* find(KeyView key) const;

  /// Puts an object at the position of its key. Returns the previous object, so that the caller can
  /// destroy it without the lock. `values` are the object's values in each index.
  Object put(Position at, Object object, std::span<const List<String>> values);
  /// Returns the removed object; null if there was none.
  Object remove(KeyView key);
  void reserve(std::size_t n);

  /// Adds an index with the values of each row. Returns its number.
  std::size_t addIndex(std::span<const List<String>> valuesOfRows);
  const ValueIndex& index(std::size_t i) const { return indexes_[i]; }

 private:
  const KeyOf keyOf_;
  std::vector<Object> objects_;
  HashedIds rows_;
  std::vector<ValueIndex> indexes_;
};

}  // namespace kube::detail
