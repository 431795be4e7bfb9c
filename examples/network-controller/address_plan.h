// The owners of address blocks. Blocks of two owners never overlap.
//
// An owner that changes its block has both blocks for a while: it claims the new one, stores the
// decision, and settles for it. Functions that give blocks back return the owners that were refused
// these addresses before.
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
  /// Blocks that are requested by size are taken from the pool.
  explicit AddressPlan(Ipv4Block pool) : pool_(pool) {}

  /// Forgets everything.
  void clear();

  /// The block that a claim overlaps, and its owner.
  struct Blocker {
    kube::ObjectKey owner;
    Ipv4Block block;
  };
  /// Gives the owner a block in addition to those it has, and returns nothing; or returns the
  /// blocker, and the owner waits for the block.
  std::optional<Blocker> claim(const kube::ObjectKey& owner, Ipv4Block block);
  /// Returns a block of that size from the pool: one that the owner has, or the first free one. If
  /// there is none, the owner waits.
  std::optional<Ipv4Block> claimAny(const kube::ObjectKey& owner, int prefix);

  /// Returns whether the owner has a block other than `than`, or any block.
  bool hasMore(const kube::ObjectKey& owner, std::optional<Ipv4Block> than = {}) const;

  /// Lets the owner keep this block and give back all others. Returns the owners that may try
  /// again, as does release().
  std::vector<kube::ObjectKey> settle(const kube::ObjectKey& owner, Ipv4Block block);
  /// Takes back all blocks of the owner.
  std::vector<kube::ObjectKey> release(const kube::ObjectKey& owner);
  /// Ends the owner's waiting.
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
  // For each prefix length, the pool has no free block before this address.
  std::array<std::optional<std::uint32_t>, 33> noneBefore_;
};

}  // namespace network
