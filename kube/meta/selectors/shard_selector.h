// Selects a share of the objects of a kind by hashes of their uids or namespaces, so that several
// programs divide the objects among them.
//
//   const auto shards = shardSelectors("object.metadata.uid", 3);
//   pods.list({.shardSelector = shards[0].str()});
//   if (shards[0].matches(pod.metadata)) ...              // the same rule, in the program
//
// A server needs the feature gate for sharded lists and watches; others ignore the option, so a
// program checks ListMeta::shardInfo, or filters itself.
//
// The hash is FNV-1a with 64 bits. A range has a first hash and the one after its last. A selector
// matches an object in any of its ranges; without ranges it matches all.
//
// Thread safety: as any C++ value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kube/meta/v1.h"

namespace kube {

/// FNV-1a with 64 bits.
std::uint64_t shardHash(std::string_view value) noexcept;

struct ShardRange {
  std::uint64_t first = 0;
  std::uint64_t last = ~std::uint64_t{0};  // included

  bool operator==(const ShardRange&) const = default;
};

class ShardSelector {
 public:
  /// Matches everything.
  ShardSelector() = default;
  /// The field is "object.metadata.uid" or "object.metadata.namespace". Throws Error for another
  /// one, and for a range that ends before it begins.
  ShardSelector(std::string field, std::vector<ShardRange> ranges);

  bool empty() const noexcept { return ranges_.empty(); }
  bool matches(const metav1::ObjectMeta& object) const noexcept;
  const std::string& field() const noexcept { return field_; }
  const std::vector<ShardRange>& ranges() const noexcept { return ranges_; }
  /// The text for ListOptions::shardSelector; empty if it matches everything.
  std::string str() const;

  bool operator==(const ShardSelector&) const = default;

 private:
  std::string field_;
  std::vector<ShardRange> ranges_;
};

/// Divides all hashes into `count` ranges of nearly equal size. Throws Error unless it is positive.
std::vector<ShardSelector> shardSelectors(const std::string& field, std::size_t count);

}  // namespace kube
