// Who has which addresses. No two owners' blocks ever overlap.
//
// An owner whose block changes has both for a while: it claims the new one, writes it down, and
// settles for it. What is given back goes to who was refused it before, and is told by the
// functions that give back.
//
// Thread safety: every method may be called from any thread.
#pragma once

#include <array>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "examples/network-controller/ipv4_block.h"
#include "kube/meta/object_key.h"

namespace network {

class AddressPlan {
 public:
  /// Blocks that are asked for by size come from the pool.
  explicit AddressPlan(Ipv4Block pool) : pool_(pool) {}

  /// Forgets everything.
  void clear();

  /// In the way of a claim.
  struct Blocker {
    kube::ObjectKey owner;
    Ipv4Block block;
  };
  /// Null: it has the block now, besides what it had. Otherwise it waits for it.
  std::optional<Blocker> claim(const kube::ObjectKey& owner, Ipv4Block block);
  /// One of that size from the pool: the one it has, or the first that is free. None: it waits.
  std::optional<Ipv4Block> claimAny(const kube::ObjectKey& owner, int prefix);

  /// Whether the owner has anything but this block, or anything at all.
  bool hasMore(const kube::ObjectKey& owner, std::optional<Ipv4Block> than = {}) const;

  /// The owner keeps this block, and gives back all else. Returns who may try again.
  std::vector<kube::ObjectKey> settle(const kube::ObjectKey& owner, Ipv4Block block);
  /// The owner gives back all.
  std::vector<kube::ObjectKey> release(const kube::ObjectKey& owner);
  /// The owner waits no more.
  void forget(const kube::ObjectKey& owner);

 private:
  std::optional<Blocker> blockerOf(const kube::ObjectKey& owner, Ipv4Block block) const;
  void take(const kube::ObjectKey& owner, Ipv4Block block);
  std::vector<kube::ObjectKey> giveBack(const kube::ObjectKey& owner,
                                        std::optional<Ipv4Block> kept);

  const Ipv4Block pool_;
  mutable std::mutex mutex_;
  std::map<Ipv4Block, kube::ObjectKey> taken_;
  std::map<kube::ObjectKey, std::vector<Ipv4Block>> owned_;
  std::map<kube::ObjectKey, std::variant<Ipv4Block, int>> waiting_;  // for a block, or a size
  // Of each size, nothing is free in the pool before this address.
  std::array<std::optional<std::uint32_t>, 33> noneBefore_;
};

}  // namespace network
