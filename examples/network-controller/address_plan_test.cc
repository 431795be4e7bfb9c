// No threads.

#include "examples/network-controller/address_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace network {
namespace {

using kube::ObjectKey;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const ObjectKey a{"ns", "a"}, b{"ns", "b"}, c{"ns", "c"};

Ipv4Block block(std::string_view text) { return Ipv4Block::parse(text); }

TEST(AddressPlanTest, GrantsFreeBlocksOnly) {
  AddressPlan plan(block("10.0.0.0/8"));
  EXPECT_FALSE(plan.claim(a, block("192.168.0.0/16")));
  EXPECT_FALSE(plan.claim(a, block("192.168.0.0/16")));  // its own
  EXPECT_FALSE(plan.claim(b, block("192.169.0.0/16")));
  const auto inside = plan.claim(b, block("192.168.1.0/24"));
  ASSERT_TRUE(inside);
  EXPECT_EQ(inside->owner, a);
  EXPECT_EQ(inside->block.str(), "192.168.0.0/16");
  EXPECT_TRUE(plan.claim(b, block("0.0.0.0/0")));
}

TEST(AddressPlanTest, KnowsIfAnOwnerHasMoreBlocks) {
  AddressPlan plan(block("10.0.0.0/8"));
  EXPECT_FALSE(plan.hasMore(a));
  plan.claim(a, block("10.0.0.0/24"));
  EXPECT_TRUE(plan.hasMore(a));
  EXPECT_FALSE(plan.hasMore(a, block("10.0.0.0/24")));
  plan.claim(a, block("10.0.1.0/24"));
  EXPECT_TRUE(plan.hasMore(a, block("10.0.0.0/24")));
  plan.settle(a, block("10.0.1.0/24"));
  EXPECT_FALSE(plan.hasMore(a, block("10.0.1.0/24")));
  plan.release(a);
  EXPECT_FALSE(plan.hasMore(a));
}

TEST(AddressPlanTest, FindsFreeBlocksInThePool) {
  AddressPlan plan(block("10.0.0.0/22"));
  EXPECT_FALSE(plan.claim(c, block("10.0.1.128/25")));
  EXPECT_EQ(plan.claimAny(a, 24)->str(), "10.0.0.0/24");
  EXPECT_EQ(plan.claimAny(a, 24)->str(), "10.0.0.0/24");  // it has one
  EXPECT_EQ(plan.claimAny(b, 24)->str(), "10.0.2.0/24");
  EXPECT_EQ(plan.claimAny({"ns", "d"}, 25)->str(), "10.0.1.0/25");
  EXPECT_EQ(plan.claimAny({"ns", "e"}, 24)->str(), "10.0.3.0/24");
  EXPECT_FALSE(plan.claimAny({"ns", "f"}, 24));
  EXPECT_FALSE(plan.claimAny({"ns", "g"}, 8));  // larger than the pool
}

TEST(AddressPlanTest, ReturnsTheOwnersThatMayTryAgain) {
  AddressPlan plan(block("10.0.0.0/24"));
  EXPECT_FALSE(plan.claim(a, block("10.0.0.0/24")));
  EXPECT_TRUE(plan.claim(b, block("10.0.0.0/25")));
  EXPECT_FALSE(plan.claimAny(c, 26));
  EXPECT_THAT(plan.release(a), ElementsAre(b, c));
  EXPECT_FALSE(plan.claim(b, block("10.0.0.0/25")));
  EXPECT_EQ(plan.claimAny(c, 26)->str(), "10.0.0.128/26");
  EXPECT_THAT(plan.release(b), IsEmpty());
  EXPECT_THAT(plan.release(b), IsEmpty());
}

TEST(AddressPlanTest, AnOwnerKeepsBothBlocksUntilItSettles) {
  AddressPlan plan(block("10.0.0.0/8"));
  EXPECT_FALSE(plan.claim(a, block("10.0.0.0/16")));
  EXPECT_FALSE(plan.claim(a, block("10.0.1.0/24")));
  EXPECT_TRUE(plan.claim(b, block("10.0.2.0/24")));
  EXPECT_THAT(plan.settle(a, block("10.0.1.0/24")), ElementsAre(b));
  EXPECT_FALSE(plan.claim(b, block("10.0.2.0/24")));
  EXPECT_TRUE(plan.claim(c, block("10.0.1.0/25")));
  plan.forget(c);
  EXPECT_THAT(plan.release(a), IsEmpty());
}

TEST(AddressPlanTest, AgreesWithAPlainList) {
  std::mt19937 random(7);
  const Ipv4Block pool = block("10.0.0.0/26");
  AddressPlan plan(pool);
  std::map<ObjectKey, Ipv4Block> model;  // the block that each owner has settled for
  const auto isFree = [&](const ObjectKey& owner, const Ipv4Block& wanted) {
    return std::ranges::none_of(model, [&](const auto& entry) {
      return entry.first != owner && entry.second.overlaps(wanted);
    });
  };
  for (int i = 0; i < 20'000; ++i) {
    const ObjectKey owner{"ns", std::string(1, static_cast<char>('a' + random() % 12))};
    const int prefix = 26 + static_cast<int>(random() % 7);
    switch (random() % 3) {
      case 0: {
        const Ipv4Block wanted{
            (pool.first + static_cast<std::uint32_t>(random() % 64)) & Ipv4Block::mask(prefix),
            prefix};
        ASSERT_EQ(!plan.claim(owner, wanted), isFree(owner, wanted));
        if (isFree(owner, wanted)) {
          model[owner] = wanted;
          plan.settle(owner, wanted);
        }
        break;
      }
      case 1: {
        const auto given = plan.claimAny(owner, prefix);
        bool any = false;
        for (std::uint32_t at = pool.first; at <= pool.last(); at += 1U << (32 - prefix)) {
          any = any || isFree(owner, {at, prefix});
        }
        ASSERT_EQ(given.has_value(), any);
        if (given) {
          ASSERT_TRUE(isFree(owner, *given));
          model[owner] = *given;
          plan.settle(owner, *given);
        }
        break;
      }
      default:
        model.erase(owner);
        plan.release(owner);
    }
  }
}

}  // namespace
}  // namespace network
