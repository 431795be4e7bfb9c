#include "kube/cache/internal/object_table.h"

#include <string>
#include <utility>

#include "kube/base/internal/hash.h"

namespace kube::detail {

std::uint64_t hashOf(KeyView key) noexcept {
  // The two parts are hashed separately, because concatenating them first takes longer than
  // hashing. The odd factor keeps all bits of the namespace's hash.
  return hash64(key.name) ^ (hash64(key.namespace_) * 0x9e3779b97f4a7c15U);
}

ObjectTable::Position ObjectTable::locate(KeyView key) const {
  const auto hash = static_cast<HashedIds::Hash>(hashOf(key));
  return {hash, rows_.find(hash, [&](Row row) { return keyOf(row) == key; })};
}

const ObjectTable::Object* ObjectTable::find(KeyView key) const {
  const Row row = locate(key).row;
  return row == kNone ? nullptr : &objects_[row];
}

ObjectTable::Object ObjectTable::put(Position at, Object object,
                                     std::span<const List<String>> values) {
  if (at.row != kNone) {
    for (std::size_t i = 0; i < indexes_.size(); ++i) indexes_[i].update(at.row, values[i]);
    objects_[at.row].swap(object);
    return object;
  }
  rows_.insert(at.hash, static_cast<Row>(objects_.size()));
  objects_.push_back(std::move(object));
  for (std::size_t i = 0; i < indexes_.size(); ++i) indexes_[i].append(values[i]);
  return nullptr;
}

ObjectTable::Object ObjectTable::remove(KeyView key) {
  const auto [hash, row] = locate(key);
  if (row == kNone) return nullptr;
  const auto last = static_cast<Row>(objects_.size() - 1);
  rows_.erase(hash, row);
  if (row != last) {
    rows_.renumber(static_cast<HashedIds::Hash>(hashOf(keyOf(last))), last, row);
    objects_[row].swap(objects_[last]);
  }
  Object removed = std::move(objects_.back());
  popAndShrink(objects_);
  for (ValueIndex& index : indexes_) index.remove(row);
  return removed;
}

void ObjectTable::reserve(std::size_t n) {
  objects_.reserve(n);
  rows_.reserve(n);
  for (ValueIndex& index : indexes_) index.reserve(n);
}

std::size_t ObjectTable::addIndex(std::span<const List<String>> valuesOfRows) {
  ValueIndex index;
  index.reserve(valuesOfRows.size());
  for (const List<String>& values : valuesOfRows) index.append(values);
  indexes_.push_back(std::move(index));
  return indexes_.size() - 1;
}

}  // namespace kube::detail
