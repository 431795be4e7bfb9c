#include "examples/network-controller/address_plan.h"

#include <algorithm>

namespace network {

using kube::ObjectKey;

void AddressPlan::clear() {
  const std::lock_guard lock(mutex_);
  taken_.clear();
  owned_.clear();
  waiting_.clear();
  noneBefore_ = {};
}

// A block that overlaps this one either contains it (one candidate for each prefix length) or lies
// in it.
std::optional<AddressPlan::Blocker> AddressPlan::blockerOf(const ObjectKey& owner,
                                                           Ipv4Block block) const {
  for (int prefix = 0; prefix < block.prefix; ++prefix) {
    const auto around = taken_.find({block.first & Ipv4Block::mask(prefix), prefix});
    if (around != taken_.end() && around->second != owner) {
      return Blocker{around->second, around->first};
    }
  }
  for (auto inside = taken_.lower_bound({block.first, block.prefix});
       inside != taken_.end() && inside->first.first <= block.last(); ++inside) {
    if (inside->second != owner) return Blocker{inside->second, inside->first};
  }
  return std::nullopt;
}

void AddressPlan::take(const ObjectKey& owner, Ipv4Block block) {
  waiting_.erase(owner);
  if (taken_.try_emplace(block, owner).second) owned_[owner].push_back(block);
}

std::optional<AddressPlan::Blocker> AddressPlan::claim(const ObjectKey& owner, Ipv4Block block) {
  const std::lock_guard lock(mutex_);
  auto blocker = blockerOf(owner, block);
  if (blocker) {
    waiting_[owner] = block;
  } else {
    take(owner, block);
  }
  return blocker;
}

std::optional<Ipv4Block> AddressPlan::claimAny(const ObjectKey& owner, int prefix) {
  const std::lock_guard lock(mutex_);
  std::uint32_t from = noneBefore_[static_cast<std::size_t>(prefix)].value_or(pool_.first);
  if (const auto has = owned_.find(owner); has != owned_.end()) {
    for (const Ipv4Block& block : has->second) {
      if (!pool_.overlaps(block)) continue;
      if (block.prefix == prefix) return block;
      // The owner's own blocks do not count as taken.
      from = std::min(from, std::max(pool_.first, block.first & Ipv4Block::mask(prefix)));
    }
  }
  std::uint64_t next = from;
  const std::uint64_t size = std::uint64_t{1} << (32 - prefix);
  while (prefix >= pool_.prefix && next + size - 1 <= pool_.last()) {
    const Ipv4Block block{static_cast<std::uint32_t>(next), prefix};
    const auto blocker = blockerOf(owner, block);
    if (!blocker) {
      noneBefore_[static_cast<std::size_t>(prefix)] = block.first;
      take(owner, block);
      return block;
    }
    next = std::max<std::uint64_t>(next + size, std::uint64_t{blocker->block.last()} + 1);
  }
  waiting_[owner] = prefix;
  return std::nullopt;
}

bool AddressPlan::hasMore(const ObjectKey& owner, std::optional<Ipv4Block> than) const {
  const std::lock_guard lock(mutex_);
  const auto has = owned_.find(owner);
  return has != owned_.end() &&
         std::ranges::any_of(has->second, [&](const Ipv4Block& block) { return block != than; });
}

std::vector<ObjectKey> AddressPlan::giveBack(const ObjectKey& owner,
                                             std::optional<Ipv4Block> kept) {
  std::vector<ObjectKey> mayTryAgain;
  const auto has = owned_.find(owner);
  if (has == owned_.end()) return mayTryAgain;
  for (const Ipv4Block& block : has->second) {
    if (block == kept) continue;
    taken_.erase(block);
    for (int prefix = 0; prefix <= 32; ++prefix) {
      auto& before = noneBefore_[static_cast<std::size_t>(prefix)];
      const std::uint32_t freed = block.first & Ipv4Block::mask(prefix);
      if (before) before = std::max(pool_.first, std::min(*before, freed));
    }
    for (const auto& [key, wanted] : waiting_) {
      const auto* exactly = std::get_if<Ipv4Block>(&wanted);
      if (exactly == nullptr ? pool_.overlaps(block) : exactly->overlaps(block)) {
        mayTryAgain.push_back(key);
      }
    }
  }
  if (kept) {
    has->second.assign(1, *kept);
  } else {
    owned_.erase(has);
  }
  return mayTryAgain;
}

std::vector<ObjectKey> AddressPlan::settle(const ObjectKey& owner, Ipv4Block block) {
  const std::lock_guard lock(mutex_);
  return giveBack(owner, block);
}

std::vector<ObjectKey> AddressPlan::release(const ObjectKey& owner) {
  const std::lock_guard lock(mutex_);
  return giveBack(owner, std::nullopt);
}

void AddressPlan::forget(const ObjectKey& owner) {
  const std::lock_guard lock(mutex_);
  waiting_.erase(owner);
}

}  // namespace network
