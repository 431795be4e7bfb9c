#include "kube/workqueue/internal/item_hash.h"

#include "kube/base/internal/hash.h"

namespace kube::detail {

std::uint64_t hashItem(std::string_view item) noexcept { return hash64(item); }

std::uint64_t hashItem(const ObjectKey& item) noexcept {
  const std::uint64_t space = hash64(item.namespace_);
  // The factor makes a difference between a/b and b/a.
  return (space * 0x9E3779B97F4A7C15U) ^ hash64(item.name);
}

}  // namespace kube::detail
