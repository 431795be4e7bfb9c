#include "kube/base/pool.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kube/base/internal/hash.h"
#include "kube/base/list.h"

namespace kube {
namespace {

using Node = List<String>;

Pool::Hash hashOf(std::uint64_t n) {
  // Any bits will do, as long as different numbers give different hashes.
  return {n * 0x9E3779B97F4A7C15U, n};
}

// Acts as a decoder does on a value whose wire bytes hash to `hash`.
Node decoded(Pool& pool, const Pool::Hash& hash, const std::string& text) {
  if (detail::Block* known = pool.find(hash, text)) return detail::adopt<Node>(known);
  detail::Block* fresh = detail::release(Node{pool.string(text)});
  pool.insert(hash, fresh, &Node::drop);
  return detail::adopt<Node>(fresh);
}

// The only site of a pool that a test needs.
Pool::Site& siteIn(Pool& pool) {
  static constexpr char kSomeType = 0;
  return pool.sites(&kSomeType, 1)[0];
}

std::string text(int n) { return "the text with the number " + std::to_string(n); }

TEST(PoolTest, EqualStringsAreTheSameMemory) {
  Pool pool;
  Pool::Site& site = siteIn(pool);
  const String a = pool.string("abc");
  const String b = pool.string(std::string("abc"));
  const String c = pool.string("abc", site);
  const String other = pool.string("abd");
  EXPECT_TRUE(a.sharesWith(b) && a.sharesWith(c));
  EXPECT_FALSE(a.sharesWith(other));
  EXPECT_EQ(other, "abd");
  EXPECT_EQ(pool.stats().strings, 2u);
  EXPECT_EQ(pool.stats().hits, 2u);
  EXPECT_EQ(pool.stats().misses, 2u);
}

TEST(PoolTest, StringsOfOneLengthAndDifferentTextStayDifferent) {
  Pool pool;
  std::vector<String> all;
  for (int i = 1000; i < 6000; ++i) all.push_back(pool.string(std::to_string(i)));
  for (int i = 1000; i < 6000; ++i)
    EXPECT_EQ(all[static_cast<std::size_t>(i - 1000)], std::to_string(i));
}

TEST(PoolTest, EmptyStringIsNotKept) {
  Pool pool;
  Pool::Site& site = siteIn(pool);
  EXPECT_TRUE(pool.string("").empty());
  EXPECT_TRUE(pool.string("", site).empty());
  EXPECT_EQ(pool.stats().strings, 0u);
}

TEST(PoolTest, SameTextInARowIsTheSameMemory) {
  Pool pool;
  Pool::Site& site = siteIn(pool);
  const String a = pool.string("abc", site);
  std::vector<String> again;
  for (int i = 0; i < 100; ++i) again.push_back(pool.string("abc", site));
  for (const String& one : again) EXPECT_TRUE(one.sharesWith(a));
  EXPECT_EQ(pool.string("abd", site), "abd");
  EXPECT_TRUE(pool.string("abc", site).sharesWith(a));
  EXPECT_EQ(pool.stats().strings, 2u);
}

TEST(PoolTest, TheLastValueOfASiteIsForgottenLikeTheRest) {
  Pool pool;
  Pool::Site& site = siteIn(pool);
  for (int i = 0; i < 100; ++i) pool.string("abc", site);
  for (int sweep = 0; sweep < 3; ++sweep) pool.sweep();
  EXPECT_EQ(pool.stats().strings, 0u);
  EXPECT_EQ(pool.string("abc", site), "abc");
}

TEST(PoolTest, EqualNodesAreTheSameMemory) {
  Pool pool;
  EXPECT_EQ(pool.find(hashOf(1), "abc"), nullptr);
  const Node a = decoded(pool, hashOf(1), "abc");
  const Node b = decoded(pool, hashOf(1), "abc");
  EXPECT_TRUE(a.sharesWith(b));
  EXPECT_EQ(pool.stats().nodes, 1u);
}

TEST(PoolTest, CountsTheBytesThatWereKnown) {
  Pool pool;
  Pool::Site& site = siteIn(pool);
  pool.string("0123456789", site);
  EXPECT_EQ(pool.sharedBytes(), 0u);
  for (int i = 0; i < 40; ++i) pool.string("0123456789", site);
  EXPECT_EQ(pool.sharedBytes(), 320u);  // repeats are counted in bulk
  pool.string("other", site);
  EXPECT_EQ(pool.sharedBytes(), 400u);
  pool.string("0123456789");
  EXPECT_EQ(pool.sharedBytes(), 410u);
  const Node node = decoded(pool, hashOf(1), "four");
  EXPECT_EQ(pool.sharedBytes(), 410u);
  const Node again = decoded(pool, hashOf(1), "four");
  EXPECT_EQ(pool.sharedBytes(), 414u);
}

TEST(PoolTest, BothHalvesOfAHashCount) {
  Pool pool;
  const Node a = decoded(pool, {256, 1}, "a");
  const Node b = decoded(pool, {256, 2}, "b");
  const Node c = decoded(pool, {512, 1}, "c");
  EXPECT_EQ(decoded(pool, {256, 1}, "?")[0], "a");
  EXPECT_EQ(decoded(pool, {256, 2}, "?")[0], "b");
  EXPECT_EQ(decoded(pool, {512, 1}, "?")[0], "c");
}

TEST(PoolTest, NodesAreFoundAtASiteAsWithoutOne) {
  Pool pool;
  Pool::Site& site = siteIn(pool);
  EXPECT_EQ(pool.again("one", site), nullptr);
  EXPECT_EQ(pool.find(hashOf(1), "one", site), nullptr);
  const Node a = decoded(pool, hashOf(1), "a");
  const Node b = decoded(pool, hashOf(2), "b");
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(pool.again("one", site), nullptr);
    EXPECT_TRUE(detail::adopt<Node>(pool.find(hashOf(1), "one", site)).sharesWith(a));
    EXPECT_TRUE(detail::adopt<Node>(pool.again("one", site)).sharesWith(a));
    EXPECT_EQ(pool.again("two", site), nullptr);
    EXPECT_TRUE(detail::adopt<Node>(pool.find(hashOf(2), "two", site)).sharesWith(b));
    EXPECT_TRUE(detail::adopt<Node>(pool.again("two", site)).sharesWith(b));
  }
  EXPECT_EQ(pool.find(hashOf(3), "three", site), nullptr);
}

TEST(PoolTest, NodesOfAnyLengthAreSeenAgainOrFoundAgain) {
  Pool pool;
  Pool::Site& site = siteIn(pool);
  const Node node = decoded(pool, hashOf(1), "node");
  for (const std::size_t size : {0, 1, 3, 7, 8, 16, 17, 32, 33, 64, 65, 1024, 1025, 100'000, 5}) {
    std::string bytes(size, 'x');
    EXPECT_TRUE(detail::adopt<Node>(pool.find(hashOf(1), bytes, site)).sharesWith(node)) << size;
    if (detail::Block* last = pool.again(bytes, site)) {
      EXPECT_TRUE(detail::adopt<Node>(last).sharesWith(node)) << size;
    } else {
      EXPECT_GT(size, 1024u);
    }
    for (std::size_t i = 0; i < size; i += size / 7 + 1) {
      bytes[i] = 'y';
      EXPECT_EQ(pool.again(bytes, site), nullptr) << size << ' ' << i;
      bytes[i] = 'x';
    }
    EXPECT_EQ(pool.again(bytes + 'x', site), nullptr) << size;
  }
}

TEST(PoolTest, WritingAPooledValueLeavesThePoolAlone) {
  Pool pool;
  Node mine = decoded(pool, hashOf(1), "abc");
  mine.push_back("more");
  mine[0] = "changed";
  EXPECT_EQ(decoded(pool, hashOf(1), "?"), (Node{"abc"}));
}

TEST(PoolTest, NothingIsLostThroughGrowth) {
  Pool pool;
  std::vector<String> strings;
  std::vector<Node> nodes;
  for (int i = 0; i < 5'000; ++i) {
    strings.push_back(pool.string(text(i)));
    nodes.push_back(decoded(pool, hashOf(static_cast<std::uint64_t>(i)), text(i)));
  }
  EXPECT_EQ(pool.stats().strings, 5'000u);
  EXPECT_EQ(pool.stats().nodes, 5'000u);
  for (int i = 0; i < 5'000; ++i) {
    const auto at = static_cast<std::size_t>(i);
    ASSERT_TRUE(pool.string(text(i)).sharesWith(strings[at]));
    ASSERT_TRUE(decoded(pool, hashOf(at), "?").sharesWith(nodes[at]));
  }
  EXPECT_EQ(pool.stats().strings, 5'000u);
}

TEST(PoolTest, HeldValuesSurviveSweepsAndAreStillFound) {
  Pool pool;
  std::vector<String> held;
  for (int i = 0; i < 3'000; ++i) {
    const String one = pool.string(text(i));
    if (i % 3 == 0) held.push_back(one);
  }
  for (int sweep = 0; sweep < 3; ++sweep) pool.sweep();
  EXPECT_EQ(pool.stats().strings, 1'000u);
  EXPECT_EQ(pool.stats().swept, 2'000u);
  for (int i = 0; i < 3'000; i += 3) {
    ASSERT_TRUE(pool.string(text(i)).sharesWith(held[static_cast<std::size_t>(i / 3)]));
  }
}

TEST(PoolTest, EntriesYoungerThanOneSweepStay) {
  Pool pool;
  pool.string("a");
  decoded(pool, hashOf(1), "b");
  pool.sweep();
  EXPECT_EQ(pool.stats().strings, 2u);
  EXPECT_EQ(pool.stats().nodes, 1u);
  pool.sweep();
  EXPECT_EQ(pool.stats().strings, 0u);
  EXPECT_EQ(pool.stats().nodes, 0u);
  EXPECT_EQ(pool.stats().swept, 3u);
}

TEST(PoolTest, ForgottenNodeReleasesWhatItHeld) {
  Pool pool;
  std::optional<Node> held = decoded(pool, hashOf(1), "inside");
  for (int sweep = 0; sweep < 3; ++sweep) pool.sweep();
  EXPECT_EQ(pool.stats().nodes, 1u);
  EXPECT_EQ(pool.stats().strings, 1u);
  held.reset();
  pool.sweep();
  pool.sweep();
  EXPECT_EQ(pool.stats().nodes, 0u);
  EXPECT_EQ(pool.stats().strings, 0u);
}

TEST(PoolTest, ForgottenValuesAreMadeAnew) {
  Pool pool;
  pool.string("a");
  pool.sweep();
  pool.sweep();
  const std::size_t misses = pool.stats().misses;
  EXPECT_EQ(pool.string("a"), "a");
  EXPECT_EQ(pool.stats().misses, misses + 1);
  EXPECT_EQ(pool.find(hashOf(1), "abc"), nullptr);
}

TEST(PoolTest, SettlingSweepsSoThatChurnDoesNotGrowThePool) {
  Pool pool;
  for (int i = 0; i < 100'000; ++i) {
    pool.string(text(i));
    pool.settle();
  }
  const Pool::Stats stats = pool.stats();
  EXPECT_LT(stats.strings, 40'000u);
  EXPECT_EQ(stats.strings + stats.swept, 100'000u);
  EXPECT_LT(stats.overhead, 4u << 20);
}

TEST(PoolTest, ValuesSurviveThePool) {
  String string;
  Node node;
  {
    Pool pool;
    string = pool.string("outlives the pool");
    node = decoded(pool, hashOf(1), "so does this");
  }
  EXPECT_EQ(string, "outlives the pool");
  EXPECT_EQ(node, (Node{"so does this"}));
}

TEST(PoolTest, SitesOfATypeAreTheSameEveryTime) {
  Pool pool;
  const int a = 0;
  const int b = 0;
  Pool::Site* sites = pool.sites(&a, 3);
  EXPECT_EQ(pool.sites(&a, 3), sites);
  EXPECT_NE(pool.sites(&b, 3), sites);
}

TEST(PoolTest, SiteThatNeverHitsRestsAndComesBack) {
  Pool pool;
  Pool::Site& site = siteIn(pool);
  int next = 0;
  // Returns whether the pool kept one more string that was not in it before.
  const auto keepsOne = [&] {
    const std::size_t before = pool.stats().strings;
    EXPECT_EQ(pool.string(text(next), site), text(next));
    ++next;
    return pool.stats().strings > before;
  };
  while (next < 10'000 && keepsOne()) {
  }
  ASSERT_LT(next, 10'000) << "the site never rests";
  EXPECT_GT(next, 100);

  // A resting site makes strings without the pool, even equal ones.
  const std::size_t kept = pool.stats().strings;
  const String one = pool.string("twice", site);
  const String two = pool.string("twice", site);
  EXPECT_EQ(one, two);
  EXPECT_FALSE(one.sharesWith(two));
  EXPECT_EQ(pool.stats().strings, kept);

  while (next < 100'000 && !keepsOne()) {
  }
  ASSERT_LT(next, 100'000) << "the site never comes back";
  const String three = pool.string("twice", site);
  EXPECT_TRUE(pool.string("twice", site).sharesWith(three));
}

TEST(PoolTest, SiteThatHitsOftenEnoughNeverRests) {
  Pool pool;
  Pool::Site& site = siteIn(pool);
  const String repeated = pool.string("repeated");
  for (int i = 0; i < 10'000; ++i) {
    if (i % 8 == 0) {
      ASSERT_TRUE(pool.string("repeated", site).sharesWith(repeated)) << i;
    } else {
      pool.string(text(i), site);
    }
  }
}

TEST(PoolTest, ValuesAreDroppedOnOtherThreadsWhileThePoolSweeps) {
  Pool pool;
  for (int round = 0; round < 50; ++round) {
    std::vector<String> strings;
    std::vector<Node> nodes;
    for (int i = 0; i < 100; ++i) {
      strings.push_back(pool.string(text(i)));
      nodes.push_back(decoded(pool, hashOf(static_cast<std::uint64_t>(i)), text(i)));
    }
    std::jthread other([s = std::move(strings), n = std::move(nodes)]() mutable {
      for (const Node& node : n) ASSERT_FALSE(node[0].empty());
      s.clear();
      n.clear();
    });
    pool.sweep();
  }
  pool.sweep();
  pool.sweep();
  EXPECT_EQ(pool.stats().strings, 0u);
}

// Initialized before static objects without a priority, which have no defined order.
[[gnu::init_priority(102)]] const std::string atTheStart =
    std::to_string(detail::hash64("some text"));

TEST(HashTest, TheSecretIsInitializedBeforeStaticObjects) {
  EXPECT_EQ(atTheStart, std::to_string(detail::hash64("some text")));
}

}  // namespace
}  // namespace kube
