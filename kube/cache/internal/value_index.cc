#include "kube/cache/internal/value_index.h"

#include <algorithm>

#include "kube/base/internal/hash.h"

namespace kube::detail {

namespace {

HashedIds::Hash hashOfValue(std::string_view value) {
  return static_cast<HashedIds::Hash>(hash64(value));
}

}  // namespace

std::span<ValueIndex::Place> ValueIndex::placesOf(Row row) {
  Place& place = places_[row];
  if (place.bucket == kNowhere) return {};
  if (place.bucket == kMany) return many_[place.position];
  return {&place, 1};
}

ValueIndex::BucketId ValueIndex::find(std::string_view value) const {
  return ids_.find(hashOfValue(value), [&](BucketId id) { return buckets_[id].value == value; });
}

ValueIndex::BucketId ValueIndex::bucketFor(const String& value) {
  BucketId id = find(value);
  if (id != HashedIds::kNone) return id;
  if (freeBuckets_.empty()) {
    id = static_cast<BucketId>(buckets_.size());
    buckets_.emplace_back();
  } else {
    id = freeBuckets_.back();
    freeBuckets_.pop_back();
  }
  buckets_[id].value = value;
  ids_.insert(hashOfValue(value), id);
  return id;
}

ValueIndex::Place ValueIndex::enter(Row row, const String& value) {
  const BucketId id = bucketFor(value);
  std::vector<Row>& rows = buckets_[id].rows;
  rows.push_back(row);
  return {id, static_cast<std::uint32_t>(rows.size() - 1)};
}

void ValueIndex::leave(Place place) {
  Bucket& bucket = buckets_[place.bucket];
  const Row moved = bucket.rows.back();
  for (Place& one : placesOf(moved)) {
    if (one.bucket == place.bucket) one.position = place.position;
  }
  bucket.rows[place.position] = moved;
  popAndShrink(bucket.rows);
  if (!bucket.rows.empty()) return;
  ids_.erase(hashOfValue(bucket.value), place.bucket);
  bucket = {};
  freeBuckets_.push_back(place.bucket);
}

ValueIndex::Place ValueIndex::enterAll(Row row, const List<String>& values) {
  if (values.empty()) return {kNowhere, 0};
  if (values.size() == 1) return enter(row, values[0]);
  std::vector<Place> places;
  for (const String* value = values.begin(); value != values.end(); ++value) {
    if (std::find(values.begin(), value, *value) == value) places.push_back(enter(row, *value));
  }
  if (places.size() == 1) return places[0];
  if (freeMany_.empty()) {
    freeMany_.push_back(static_cast<std::uint32_t>(many_.size()));
    many_.emplace_back();
  }
  const std::uint32_t at = freeMany_.back();
  freeMany_.pop_back();
  many_[at] = std::move(places);
  return {kMany, at};
}

void ValueIndex::leaveAll(Row row) {
  const Place place = places_[row];
  if (place.bucket == kNowhere) return;
  if (place.bucket != kMany) {
    leave(place);
  } else {
    for (const Place& one : many_[place.position]) leave(one);
    many_[place.position] = {};
    freeMany_.push_back(place.position);
  }
  places_[row] = {kNowhere, 0};
}

bool ValueIndex::has(Row row, const List<String>& values) const {
  return std::ranges::equal(placesOf(row), values, [&](const Place& place, const String& value) {
    return buckets_[place.bucket].value == value;
  });
}

void ValueIndex::append(const List<String>& values) {
  const Row row = static_cast<Row>(places_.size());
  places_.push_back({kNowhere, 0});
  places_[row] = enterAll(row, values);
}

void ValueIndex::update(Row row, const List<String>& values) {
  if (has(row, values)) return;
  leaveAll(row);
  places_[row] = enterAll(row, values);
}

void ValueIndex::remove(Row row) {
  leaveAll(row);
  const Row last = static_cast<Row>(places_.size() - 1);
  if (row != last) {
    for (const Place& place : placesOf(last)) buckets_[place.bucket].rows[place.position] = row;
    places_[row] = places_[last];
  }
  popAndShrink(places_);
}

std::span<const ValueIndex::Row> ValueIndex::rowsOf(std::string_view value) const {
  const BucketId id = find(value);
  if (id == HashedIds::kNone) return {};
  return buckets_[id].rows;
}

std::vector<String> ValueIndex::values() const {
  std::vector<String> values;
  values.reserve(ids_.size());
  for (const Bucket& bucket : buckets_) {
    if (!bucket.rows.empty()) values.push_back(bucket.value);
  }
  return values;
}

}  // namespace kube::detail
