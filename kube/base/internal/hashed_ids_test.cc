// No threads.

#include "kube/base/internal/hashed_ids.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdint>
#include <map>
#include <random>

#include "kube/base/internal/sanitizer.h"

namespace kube::detail {

namespace {

constexpr HashedIds::Hash kHash = 7;

HashedIds::Id findOne(const HashedIds& ids, HashedIds::Hash hash, HashedIds::Id wanted) {
  return ids.find(hash, [&](HashedIds::Id id) { return id == wanted; });
}

TEST(HashedIdsTest, FindsNothingInAnEmptyTable) {
  EXPECT_EQ(findOne(HashedIds(), kHash, 0), HashedIds::kNone);
}

TEST(HashedIdsTest, DistinguishesKeysOfOneHash) {
  HashedIds ids;
  for (HashedIds::Id id = 0; id < 100; ++id) ids.insert(kHash, id);
  for (HashedIds::Id id = 0; id < 100; ++id) EXPECT_EQ(findOne(ids, kHash, id), id);
  EXPECT_EQ(findOne(ids, kHash, 100), HashedIds::kNone);

  for (HashedIds::Id id = 0; id < 100; id += 2) ids.erase(kHash, id);
  ids.renumber(kHash, 51, 1000);
  EXPECT_EQ(ids.size(), 50u);
  EXPECT_EQ(findOne(ids, kHash, 1000), 1000u);
  for (HashedIds::Id id = 0; id < 100; ++id) {
    EXPECT_EQ(findOne(ids, kHash, id), id % 2 == 0 || id == 51 ? HashedIds::kNone : id) << id;
  }
}

TEST(HashedIdsTest, ComparesOnlyEntriesOfTheSameHash) {
  HashedIds ids;
  ids.insert(kHash, 1);
  ids.insert(kHash + 8, 2);  // the same slot in a table of eight
  ids.find(kHash, [](HashedIds::Id id) {
    EXPECT_EQ(id, 1u);
    return false;
  });
}

TEST(HashedIdsTest, KeepsEntriesThroughGrowthAndShrinking) {
  std::mt19937 random(1);
  HashedIds ids;
  std::map<HashedIds::Id, HashedIds::Hash> expected;
  const auto check = [&] {
    ASSERT_EQ(ids.size(), expected.size());
    for (const auto& [id, hash] : expected) ASSERT_EQ(findOne(ids, hash, id), id);
  };
  for (HashedIds::Id id = 0; id < 2000; ++id) {
    const HashedIds::Hash hash = random() % 512;  // some of the hashes occur several times
    ids.insert(hash, id);
    expected.emplace(id, hash);
  }
  check();
  while (!expected.empty()) {
    auto some = expected.lower_bound(random() % 2000);
    if (some == expected.end()) some = expected.begin();
    ids.erase(some->second, some->first);
    EXPECT_EQ(findOne(ids, some->second, some->first), HashedIds::kNone);
    expected.erase(some);
    if (expected.size() % 500 == 0) check();
  }
}

TEST(HashedIdsTest, FindsAllThroughEveryCycleOfATableThatKeepsItsMemory) {
  HashedIds ids(HashedIds::Memory::Kept);
  for (int cycle = 0; cycle < 3; ++cycle) {
    for (HashedIds::Id id = 0; id < 1000; ++id) ids.insert(id % 300, id);
    for (HashedIds::Id id = 0; id < 1000; ++id) ASSERT_EQ(findOne(ids, id % 300, id), id);
    for (HashedIds::Id id = 0; id < 1000; ++id) ids.erase(id % 300, id);
    EXPECT_EQ(ids.size(), 0u);
    EXPECT_EQ(findOne(ids, 7, 7), HashedIds::kNone);
  }
}

TEST(HashedIdsTest, ErasesWithoutMemoryForASmallerTable) {
  if (kSanitized) GTEST_SKIP() << "sanitizers need address space of their own";
  constexpr HashedIds::Id kIds = 400'000;
  const auto hashOf = [](HashedIds::Id id) { return id * 0x9E3779B1U; };
  HashedIds ids;
  for (HashedIds::Id id = 0; id < kIds; ++id) ids.insert(hashOf(id), id);
  // From now on, the system gives no more memory.
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  const rlimit none{.rlim_cur = 1, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_AS, &none), 0);
  for (HashedIds::Id id = 5; id < kIds; ++id) ids.erase(hashOf(id), id);
  setrlimit(RLIMIT_AS, &before);
  EXPECT_EQ(ids.size(), 5u);
  for (HashedIds::Id id = 0; id < 6; ++id) {
    EXPECT_EQ(findOne(ids, hashOf(id), id), id < 5 ? id : HashedIds::kNone);
  }
}

}  // namespace

}  // namespace kube::detail
