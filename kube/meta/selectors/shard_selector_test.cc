// No threads.
#include "kube/meta/selectors/shard_selector.h"

#include <gtest/gtest.h>

#include "kube/base/error.h"

namespace kube {
namespace {

TEST(ShardSelectorTest, HashesAreThoseOfTheServer) {
  // The test vectors of FNV-1a.
  EXPECT_EQ(shardHash(""), 0xcbf29ce484222325U);
  EXPECT_EQ(shardHash("a"), 0xaf63dc4c8601ec8cU);
  EXPECT_EQ(shardHash("foobar"), 0x85944171f73967e8U);
}

TEST(ShardSelectorTest, ATextHasTheBoundsInHexadecimal) {
  EXPECT_EQ(ShardSelector().str(), "");
  const auto halves = shardSelectors("object.metadata.uid", 2);
  EXPECT_EQ(halves[0].str(),
            "shardRange(object.metadata.uid, '0x0000000000000000', '0x7fffffffffffffff')");
  EXPECT_EQ(halves[1].str(),
            "shardRange(object.metadata.uid, '0x7fffffffffffffff', '0x10000000000000000')");
  EXPECT_EQ(ShardSelector("object.metadata.namespace", {{0, 1}, {4, 4}}).str(),
            "shardRange(object.metadata.namespace, '0x0000000000000000', '0x0000000000000002') || "
            "shardRange(object.metadata.namespace, '0x0000000000000004', '0x0000000000000005')");
}

TEST(ShardSelectorTest, EveryObjectHasOneShard) {
  for (const std::size_t count : {1U, 3U, 7U}) {
    const auto shards = shardSelectors("object.metadata.namespace", count);
    for (int i = 0; i < 100; ++i) {
      const metav1::ObjectMeta object{.namespace_ = "space-" + std::to_string(i)};
      int owners = 0;
      for (const ShardSelector& shard : shards) owners += shard.matches(object) ? 1 : 0;
      EXPECT_EQ(owners, 1) << count << " " << i;
    }
  }
  EXPECT_TRUE(ShardSelector().matches({}));
}

TEST(ShardSelectorTest, RefusesWhatAServerWouldRefuse) {
  EXPECT_THROW(ShardSelector("metadata.uid", {}), Error);
  EXPECT_THROW(ShardSelector("object.metadata.uid", {{2, 1}}), Error);
  EXPECT_THROW(shardSelectors("object.metadata.uid", 0), Error);
}

}  // namespace
}  // namespace kube
