#include "kube/meta/selectors/shard_selector.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "kube/base/error.h"

namespace kube {

namespace {

constexpr std::string_view kUid = "object.metadata.uid";
constexpr std::string_view kNamespace = "object.metadata.namespace";
constexpr std::uint64_t kLast = ~std::uint64_t{0};

// The hash after the last one, which needs 17 digits at the end.
std::string after(std::uint64_t last) {
  return last == kLast ? "0x10000000000000000" : fmt::format("0x{:016x}", last + 1);
}

}  // namespace

std::uint64_t shardHash(std::string_view value) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : value) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3;
  }
  return hash;
}

ShardSelector::ShardSelector(std::string field, std::vector<ShardRange> ranges)
    : field_(std::move(field)), ranges_(std::move(ranges)) {
  if (field_ != kUid && field_ != kNamespace) {
    throw Error(fmt::format("shard selector: unsupported field \"{}\"; use {} or {}", field_, kUid,
                            kNamespace));
  }
  for (const ShardRange& range : ranges_) {
    if (range.first <= range.last) continue;
    throw Error(fmt::format("shard selector: the range 0x{:016x} to 0x{:016x} is empty",
                            range.first, range.last));
  }
}

bool ShardSelector::matches(const metav1::ObjectMeta& object) const noexcept {
  if (empty()) return true;
  const std::uint64_t hash = shardHash(field_ == kUid ? object.uid : object.namespace_);
  return std::ranges::any_of(
      ranges_, [&](const ShardRange& range) { return range.first <= hash && hash <= range.last; });
}

std::string ShardSelector::str() const {
  std::string text;
  for (const ShardRange& range : ranges_) {
    if (!text.empty()) text += " || ";
    text +=
        fmt::format("shardRange({}, '0x{:016x}', '{}')", field_, range.first, after(range.last));
  }
  return text;
}

std::vector<ShardSelector> shardSelectors(const std::string& field, std::size_t count) {
  if (count == 0) throw Error("shard selectors: the number of shards must be positive");
  const std::uint64_t size = kLast / count;
  std::vector<ShardSelector> shards;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t last = i + 1 == count ? kLast : size * (i + 1) - 1;
    shards.emplace_back(field, std::vector<ShardRange>{{.first = size * i, .last = last}});
  }
  return shards;
}

}  // namespace kube
