#include "kube/cache/mutation_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "kube/api/core/v1.h"

namespace kube {
namespace {

using namespace std::chrono_literals;
using corev1::ConfigMap;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

ConfigMap map(std::string_view name, std::string_view version, std::string_view uid = "u",
              std::string_view color = "red") {
  ConfigMap result;
  result.metadata.namespace_ = "book";
  result.metadata.name = name;
  result.metadata.uid = uid;
  result.metadata.resourceVersion = version;
  result.metadata.labels["color"] = color;
  return result;
}

struct MutationCacheTest : ::testing::Test {
  FakeClock clock;
  std::shared_ptr<Store<ConfigMap>> store = std::make_shared<Store<ConfigMap>>(Indexers<ConfigMap>{
      {"color", [](const ConfigMap& object) { return Strings{object.metadata.labels["color"]}; }}});
  MutationCache<ConfigMap> cache{Lister<ConfigMap>(store), {.maxEntries = 3, .clock = &clock}};

  // As an informer does.
  void receive(ConfigMap object) {
    const String version = object.metadata.resourceVersion;
    store->add(std::move(object));
    store->reached(version);
  }
  void receiveDeletion(std::string_view name, const String& version) {
    store->removeByKey({"book", String(name)});
    store->reached(version);
  }
  std::string versionOf(std::string_view name) const {
    const auto found = cache.get({"book", String(name)});
    return found != nullptr ? found->metadata.resourceVersion.str() : "none";
  }
  std::vector<std::string> list(const char* selector = "") const {
    std::vector<std::string> result;
    for (const auto& object : cache.list(labels::Selector::parse(selector))) {
      result.push_back(object->metadata.name.str() + "@" + object->metadata.resourceVersion.str());
    }
    return result;
  }
};

TEST_F(MutationCacheTest, TheNewerObjectIsShown) {
  receive(map("a", "8"));
  EXPECT_EQ(versionOf("a"), "8");
  cache.mutation(map("a", "10"));
  EXPECT_EQ(versionOf("a"), "10");
  EXPECT_THAT(list(), ElementsAre("a@10"));
  cache.mutation(map("a", "9"));
  EXPECT_EQ(versionOf("a"), "10") << "a late answer";
  store->add(map("a", "11"));
  EXPECT_EQ(versionOf("a"), "11");
  EXPECT_THAT(list(), ElementsAre("a@11"));
}

TEST_F(MutationCacheTest, AWrittenObjectIsDroppedWhenTheStoreHasReachedItsVersion) {
  cache.mutation(map("a", "10"));
  EXPECT_EQ(cache.pending(), 1U);
  receive(map("b", "12"));
  EXPECT_EQ(versionOf("a"), "none") << "it was deleted, and no event told of it";
  EXPECT_EQ(cache.pending(), 0U);
}

TEST_F(MutationCacheTest, ADeletedUidIsHiddenUntilTheStoreHasSeenTheDeletion) {
  receive(map("a", "5", "one"));
  cache.removed(map("a", "5", "one"));
  EXPECT_EQ(versionOf("a"), "none");
  EXPECT_THAT(list(), IsEmpty());
  receive(map("a", "6", "one"));  // a change before the deletion
  EXPECT_EQ(versionOf("a"), "none");
  cache.mutation(map("a", "7", "one"));  // a late answer
  EXPECT_EQ(versionOf("a"), "none");
  receive(map("a", "9", "two"));
  EXPECT_EQ(versionOf("a"), "9") << "another object of that name";
  EXPECT_EQ(cache.pending(), 0U);
}

TEST_F(MutationCacheTest, AnObjectThatTheStoreHasNeverSeenIsHiddenWhenItComes) {
  receive(map("b", "1"));
  cache.mutation(map("a", "5", "one"));
  cache.removed(map("a", "5", "one"));
  EXPECT_EQ(versionOf("a"), "none");
  receive(map("a", "5", "one"));
  EXPECT_EQ(versionOf("a"), "none");
  receiveDeletion("a", "6");
  EXPECT_EQ(versionOf("a"), "none");
  EXPECT_EQ(cache.pending(), 0U);
}

TEST_F(MutationCacheTest, ListsAreSelectedByTheWrittenObject) {
  receive(map("a", "1"));
  receive(map("b", "2"));
  cache.mutation(map("a", "3", "u", "blue"));
  cache.mutation(map("c", "4"));
  EXPECT_THAT(list("color=red"), UnorderedElementsAre("b@2", "c@4"));
  EXPECT_THAT(list("color=blue"), ElementsAre("a@3"));
  EXPECT_EQ(cache.byIndex("color", "red").size(), 2U);
  EXPECT_EQ(cache.byIndex("color", "blue").size(), 1U);
  EXPECT_EQ(cache.byIndex("color", "red", labels::Selector::parse("color=blue")).size(), 0U);
  EXPECT_EQ(cache.list({}, "book").size(), 3U);
  EXPECT_THAT(cache.list({}, "other"), IsEmpty());
  EXPECT_THROW(cache.byIndex("none", "red"), Error);
}

TEST_F(MutationCacheTest, EntriesAreForgottenAfterTheirTime) {
  cache.mutation(map("a", "10"));
  clock.advance(4min);
  EXPECT_EQ(versionOf("a"), "10");
  clock.advance(1min);
  EXPECT_EQ(versionOf("a"), "none");
  cache.mutation(map("b", "11"));
  EXPECT_EQ(versionOf("b"), "11");
}

TEST_F(MutationCacheTest, TheOldestEntryMakesRoom) {
  for (const char* version : {"1", "2", "3", "4"}) cache.mutation(map(version, version));
  EXPECT_EQ(versionOf("1"), "none");
  EXPECT_EQ(versionOf("4"), "4");
  EXPECT_EQ(cache.pending(), 3U);
}

TEST_F(MutationCacheTest, AStoreWithoutVersionsShowsItsObjects) {
  cache.mutation(map("a", "10"));
  store->add(map("b", "20"));
  EXPECT_EQ(versionOf("a"), "10");
  store->add(map("a", "10"));
  EXPECT_EQ(versionOf("a"), "10");
  EXPECT_EQ(cache.pending(), 0U);
}

TEST_F(MutationCacheTest, ThreadsWriteAndReadTheirOwnObjects) {
  std::mutex serverMutex;
  int version = 1;
  std::deque<std::function<void()>> events;  // in order, and late
  const auto change = [&](std::function<ConfigMap(const std::string& version)> act) {
    const std::lock_guard lock(serverMutex);
    const ConfigMap changed = act(std::to_string(++version));
    while (events.size() > 20) {
      events.front()();
      events.pop_front();
    }
    return changed;
  };
  const MutationCache<ConfigMap> own(Lister<ConfigMap>(store), {.maxEntries = 1000});
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, name = "t" + std::to_string(t)] {
      for (int i = 0; i < 300; ++i) {
        const ConfigMap written = change([&](const std::string& number) {
          const ConfigMap result = map(name, number, name + std::to_string(i / 5));
          events.push_back([this, result] { receive(result); });
          return result;
        });
        own.mutation(written);
        const auto read = own.get({"book", name});
        ASSERT_NE(read, nullptr);
        EXPECT_EQ(*read, written);
        const auto all = own.list();
        EXPECT_TRUE(std::ranges::any_of(all, [&](const auto& one) { return *one == written; }));
        if (i % 5 != 4) continue;
        change([&](const std::string& number) {
          events.push_back([this, name, number] { receiveDeletion(name, number); });
          return ConfigMap();
        });
        own.removed(written);
        EXPECT_EQ(own.get({"book", name}), nullptr);
      }
    });
  }
}

}  // namespace
}  // namespace kube
