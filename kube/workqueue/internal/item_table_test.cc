// No threads.

#include "kube/workqueue/internal/item_table.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

#include "kube/base/string.h"

namespace kube::detail {
namespace {

// A key with only five hashes.
struct Colliding {
  int value = 0;
  bool operator==(const Colliding&) const = default;
};

template <class T>
struct Entry {
  T key = {};
  TableSlot slot = {};
  Entry* next = nullptr;
  int mark = 0;
};

template <class T, class Make>
void compareWithMap(Make make) {
  ItemTable<Entry<T>> table;
  std::map<int, Entry<T>*> expected;
  std::mt19937 random(7);
  for (int i = 0; i < 20'000; ++i) {
    const int number = static_cast<int>(random() % 700);
    const T key = make(number);
    const std::uint32_t hash = ItemTable<Entry<T>>::hashOf(key);
    Entry<T>* found = table.find(key, hash);
    const auto at = expected.find(number);
    ASSERT_EQ(found, at == expected.end() ? nullptr : at->second);
    if (found == nullptr) {
      Entry<T>& added = table.insert(key, hash);
      added.mark = number;
      expected.emplace(number, &added);
    } else {
      ASSERT_EQ(found->mark, number);
      ASSERT_EQ(found->key, key);
      if (random() % 3 != 0) {
        ASSERT_EQ(table.erase(*found), key);
        expected.erase(at);
      }
    }
    ASSERT_EQ(table.size(), expected.size());
  }
}

}  // namespace
}  // namespace kube::detail

template <>
struct std::hash<kube::detail::Colliding> {
  std::size_t operator()(const kube::detail::Colliding& item) const noexcept {
    return static_cast<std::size_t>(item.value % 5);
  }
};

namespace kube::detail {
namespace {

TEST(ItemTableTest, BehavesAsAMap) {
  compareWithMap<int>([](int i) { return i; });
  compareWithMap<String>([](int i) { return String("key-" + std::to_string(i)); });
}

TEST(ItemTableTest, DistinguishesKeysWhoseHashesCollide) {
  compareWithMap<Colliding>([](int i) { return Colliding{i}; });
}

TEST(ItemTableTest, KeepsNoErasedKey) {
  ItemTable<Entry<std::shared_ptr<int>>> table;
  auto key = std::make_shared<int>(1);
  const auto hash = decltype(table)::hashOf(key);
  auto& entry = table.insert(key, hash);
  EXPECT_EQ(key.use_count(), 2);
  table.erase(entry);
  EXPECT_EQ(key.use_count(), 1);
}

TEST(ItemHashTest, DistinguishesNamespaceAndName) {
  const ItemHash<ObjectKey> hash;
  EXPECT_EQ(hash({"a", "b"}), hash({"a", "b"}));
  EXPECT_NE(hash({"a", "b"}), hash({"b", "a"}));
  EXPECT_NE(hash({"a", "a"}), hash({"b", "b"}));
  EXPECT_NE(hash({"", "ab"}), hash({"a", "b"}));
}

}  // namespace
}  // namespace kube::detail
