// One index of a store: which rows have which values.
//
// A row may have any number of values, usually one. Every value has a bucket of rows; every row
// knows its buckets and its position in each. Removal therefore takes the same time however full a
// bucket is, and does not need the row's values. A bucket without rows is dropped.
//
// Invariants: rows are numbered from 0 without gaps. A row is in a bucket at most once.
//
// Thread safety: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "kube/base/internal/hashed_ids.h"
#include "kube/base/map.h"
#include "kube/base/string.h"

namespace kube::detail {

class ValueIndex {
 public:
  using Row = std::uint32_t;

  /// Adds a row after the last one.
  void append(const List<String>& values);
  void update(Row row, const List<String>& values);
  /// Removes a row; the last row takes its number.
  void remove(Row row);
  void reserve(std::size_t rows) { places_.reserve(rows); }

  /// In no order.
  std::span<const Row> rowsOf(std::string_view value) const;
  /// In no order.
  std::vector<String> values() const;

 private:
  using BucketId = std::uint32_t;
  // The position of a row in a bucket. See kNowhere and kMany.
  struct Place {
    BucketId bucket;
    std::uint32_t position;
  };
  static constexpr BucketId kNowhere = ~BucketId{0};
  static constexpr BucketId kMany = kNowhere - 1;  // `position` is an index into `many_`

  struct Bucket {
    String value;
    std::vector<Row> rows;
  };

  // Returns HashedIds::kNone if there is none.
  BucketId find(std::string_view value) const;
  BucketId bucketFor(const String& value);
  Place enter(Row row, const String& value);
  void leave(Place place);
  Place enterAll(Row row, const List<String>& values);
  void leaveAll(Row row);
  bool has(Row row, const List<String>& values) const;
  std::span<Place> placesOf(Row row);
  std::span<const Place> placesOf(Row row) const {
    return const_cast<ValueIndex*>(this)->placesOf(row);
  }

  std::vector<Place> places_;             // of each row
  std::vector<std::vector<Place>> many_;  // of rows with several values
  std::vector<std::uint32_t> freeMany_;
  std::vector<Bucket> buckets_;
  std::vector<BucketId> freeBuckets_;
  HashedIds ids_;  // of buckets, by value
};

}  // namespace kube::detail
