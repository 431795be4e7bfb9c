#include "kube/apiserver/storage/storage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

#include "kube/api/core/v1.h"
#include "kube/base/error.h"
#include "kube/meta/object_key.h"
#include "kube/meta/unstructured.h"

namespace kube::apiserver {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

AnyObject map(std::string_view name, std::string_view value = "v",
              std::string_view space = "book") {
  corev1::ConfigMap object;
  object.metadata.name = name;
  object.metadata.namespace_ = space;
  object.data["k"] = value;
  return AnyObject(object);
}

std::string valueOf(const ObjectPtr& object) {
  return object->object().as<corev1::ConfigMap>()->data.at("k").str();
}

std::vector<std::string> names(const Page& page) {
  std::vector<std::string> result;
  for (const ObjectPtr& object : page.objects) result.push_back(object->meta().name.str());
  return result;
}

class StorageTest : public ::testing::Test {
 protected:
  ObjectPtr put(std::string_view name, std::string_view value = "v") {
    const std::string key = "book/" + std::string(name);
    return storage.put(*maps, key, storage.get(*maps, key), map(name, value));
  }
  ObjectPtr erase(std::string_view name) {
    const std::string key = "book/" + std::string(name);
    const ObjectPtr stored = storage.get(*maps, key);
    return storage.erase(*maps, key, stored, stored->object());
  }

  Storage storage{100};
  std::shared_ptr<Collection> maps = storage.add("configmaps");
  std::shared_ptr<Collection> others = storage.add("secrets");
};

// The next calls would deadlock.
TEST_F(StorageTest, SelectorsMayLookIntoTheStorage) {
  for (const char* name : {"a", "b", "c", "d", "e"}) put(name);
  const auto picked = [&](const StoredObject& object) {
    return storage.get(*maps, keyOf(object.meta()).str())->meta().name != "b";
  };
  Page page = storage.list(*maps, {.prefix = "book/", .limit = 2, .matches = picked});
  EXPECT_THAT(names(page), ElementsAre("a", "c"));
  EXPECT_EQ(page.last, "book/c");
  EXPECT_EQ(page.remaining, 2u);
  page =
      storage.list(*maps, {.prefix = "book/", .after = page.last, .limit = 2, .matches = picked});
  EXPECT_THAT(names(page), ElementsAre("d", "e"));
  EXPECT_EQ(page.last, "");
}

TEST_F(StorageTest, AFrameMayBeMadeOfAnother) {
  put("a");
  const ChangePtr change = storage.changes(*maps, 0, 1).changes.at(0);
  const String made = change->frame(
      "outer", [&] { return "[" + change->frame("inner", [] { return std::string("x"); }) + "]"; });
  EXPECT_EQ(made, "[x]");
  EXPECT_TRUE(made.sharesWith(change->frame("outer", [] { return std::string("anew"); })));
}

TEST_F(StorageTest, AFrameThatCannotBeMadeIsMadeByTheNext) {
  put("a");
  const ChangePtr change = storage.changes(*maps, 0, 1).changes.at(0);
  EXPECT_THROW(change->frame("f", []() -> std::string { throw Error("no"); }), Error);
  EXPECT_EQ(change->frame("f", [] { return std::string("x"); }), "x");
}

TEST_F(StorageTest, SomebodyWhoDecodesHoldsUpNobody) {
  const Pool* first = maps->decode([](const Pool& pool) { return &pool; });
  EXPECT_EQ(first, maps->decode([](const Pool& pool) { return &pool; }));
  EXPECT_NE(first, maps->decode([&](Pool&) {
    return maps->decode([](const Pool& pool) { return &pool; });
  }));
}

TEST_F(StorageTest, OneCounterNumbersAllChanges) {
  const std::int64_t before = storage.revision();
  const ObjectPtr a = put("a");
  const ObjectPtr other = storage.put(*others, "book/x", nullptr, map("x"));
  EXPECT_EQ(a->revision(), before + 1);
  EXPECT_EQ(other->revision(), before + 2);
  EXPECT_EQ(erase("a")->revision(), before + 3);
  EXPECT_EQ(storage.revision(), before + 3);
}

TEST_F(StorageTest, TheRevisionIsTheResourceVersion) {
  const ObjectPtr made = put("a");
  EXPECT_EQ(made->meta().resourceVersion, std::to_string(storage.revision()));
  const ObjectPtr last = erase("a");
  EXPECT_EQ(last->meta().resourceVersion, std::to_string(storage.revision()));

  Unstructured dynamic;
  dynamic.setGvk({"sample.example.com", "v1", "Network"});
  dynamic.setName("n");
  const ObjectPtr stored = storage.put(*others, "n", nullptr, AnyObject(dynamic));
  EXPECT_EQ(stored->meta().resourceVersion, std::to_string(storage.revision()));
  EXPECT_EQ(stored->object().as<Unstructured>()->resourceVersion(),
            std::to_string(storage.revision()));
}

TEST_F(StorageTest, OnlyWhoHasReadTheLatestMayWrite) {
  const ObjectPtr first = put("a", "1");
  EXPECT_EQ(storage.put(*maps, "book/a", nullptr, map("a")), nullptr) << "it is there already";
  const ObjectPtr second = storage.put(*maps, "book/a", first, map("a", "2"));
  ASSERT_NE(second, nullptr);
  const std::int64_t revision = storage.revision();
  EXPECT_EQ(storage.put(*maps, "book/a", first, map("a", "3")), nullptr);
  EXPECT_EQ(storage.erase(*maps, "book/a", first, map("a")), nullptr);
  EXPECT_EQ(storage.revision(), revision) << "what is refused is no change";
  EXPECT_EQ(valueOf(storage.get(*maps, "book/a")), "2");
  EXPECT_NE(storage.erase(*maps, "book/a", second, map("a")), nullptr);
  EXPECT_EQ(storage.put(*maps, "book/a", second, map("a")), nullptr) << "it is gone";
  EXPECT_EQ(storage.get(*maps, "book/a"), nullptr);
}

TEST_F(StorageTest, WhatWasAtARevisionCanBeListedAgain) {
  put("a", "1");
  put("b", "1");
  const std::int64_t then = storage.revision();
  put("a", "2");
  erase("b");
  put("c");
  const Page past = storage.list(*maps, {.revision = then});
  EXPECT_EQ(past.revision, then);
  EXPECT_THAT(names(past), ElementsAre("a", "b"));
  EXPECT_EQ(valueOf(past.objects[0]), "1");
  const Page between = storage.list(*maps, {.revision = then + 1});
  EXPECT_THAT(names(between), ElementsAre("a", "b"));
  EXPECT_EQ(valueOf(between.objects[0]), "2");
  EXPECT_THAT(names(storage.list(*maps, {})), ElementsAre("a", "c"));
  EXPECT_EQ(storage.count(*maps), 2u);
}

TEST_F(StorageTest, ARangeIsAboutAPrefix) {
  put("a");
  storage.put(*maps, "boo/b", nullptr, map("b", "v", "boo"));
  storage.put(*maps, "bookshop/c", nullptr, map("c", "v", "bookshop"));
  EXPECT_THAT(names(storage.list(*maps, {.prefix = "book/"})), ElementsAre("a"));
  EXPECT_THAT(names(storage.list(*maps, {.prefix = "boo/"})), ElementsAre("b"));
  EXPECT_THAT(names(storage.list(*maps, {.prefix = "none/"})), IsEmpty());
}

TEST_F(StorageTest, PagesOfOneListAreOfOneRevision) {
  for (const char* name : {"a", "b", "c", "d", "e"}) put(name, "old");
  const Page first = storage.list(*maps, {.limit = 2});
  EXPECT_THAT(names(first), ElementsAre("a", "b"));
  EXPECT_EQ(first.remaining, 3u);
  put("c", "new");
  put("bb");
  erase("d");
  const Page second =
      storage.list(*maps, {.revision = first.revision, .after = first.last, .limit = 2});
  EXPECT_THAT(names(second), ElementsAre("c", "d"));
  EXPECT_EQ(valueOf(second.objects[0]), "old");
  const Page third =
      storage.list(*maps, {.revision = first.revision, .after = second.last, .limit = 2});
  EXPECT_THAT(names(third), ElementsAre("e"));
  EXPECT_EQ(third.last, "");
  EXPECT_EQ(third.remaining, 0u);
}

TEST_F(StorageTest, PagesHoldWhatMatches) {
  for (int i = 0; i < 10; ++i) put("m" + std::to_string(i), i % 3 == 0 ? "yes" : "no");
  const auto yes = [](const StoredObject& object) {
    return object.object().as<corev1::ConfigMap>()->data.at("k") == "yes";
  };
  const Page first = storage.list(*maps, {.limit = 2, .matches = yes});
  EXPECT_THAT(names(first), ElementsAre("m0", "m3"));
  const Page second =
      storage.list(*maps, {.revision = first.revision, .after = first.last, .matches = yes});
  EXPECT_THAT(names(second), ElementsAre("m6", "m9"));
}

TEST_F(StorageTest, ChangesComeInOrderAndInBatches) {
  const std::int64_t start = storage.revision();
  for (int i = 0; i < 5; ++i) put("a", std::to_string(i));
  storage.put(*others, "book/x", nullptr, map("x"));
  const Changes first = storage.changes(*maps, start, 2);
  ASSERT_THAT(first.changes, SizeIs(2));
  EXPECT_EQ(first.changes[0]->before, nullptr);
  EXPECT_EQ(valueOf(first.changes[1]->before), "0");
  EXPECT_EQ(valueOf(first.changes[1]->after), "1");
  EXPECT_EQ(first.revision, first.changes[1]->revision);
  const Changes rest = storage.changes(*maps, first.revision, 100);
  EXPECT_THAT(rest.changes, SizeIs(3));
  EXPECT_EQ(rest.revision, storage.revision()) << "also past other collections' changes";
  EXPECT_THAT(storage.changes(*maps, rest.revision, 100).changes, IsEmpty());
  erase("a");
  const Changes last = storage.changes(*maps, rest.revision, 100);
  ASSERT_THAT(last.changes, SizeIs(1));
  EXPECT_TRUE(last.changes[0]->deleted);
}

TEST_F(StorageTest, TheWindowBoundsWhatIsRemembered) {
  const std::int64_t start = storage.revision();
  put("gone");
  erase("gone");
  for (int i = 0; i < 200; ++i) put("a", std::to_string(i));
  EXPECT_TRUE(storage.changes(*maps, start, 10).gone);
  EXPECT_EQ(storage.list(*maps, {.revision = start + 1}).revision, 0);
  const std::int64_t first = storage.compacted(*maps);
  EXPECT_EQ(first, storage.revision() - 100);
  EXPECT_EQ(storage.list(*maps, {.revision = first}).revision, first);
  EXPECT_EQ(valueOf(storage.list(*maps, {.revision = first}).objects.at(0)), "99");
  EXPECT_THAT(storage.changes(*maps, first, 1000).changes, SizeIs(100));
  EXPECT_FALSE(storage.changes(*others, start, 10).gone) << "windows are each collection's own";
}

TEST_F(StorageTest, CompactionKeepsWhatIsThere) {
  put("a", "1");
  put("a", "2");
  put("b");
  erase("b");
  const std::int64_t now = storage.revision();
  storage.compactAll();
  EXPECT_EQ(storage.compacted(*maps), now);
  EXPECT_EQ(storage.list(*maps, {.revision = now - 1}).revision, 0);
  EXPECT_THAT(names(storage.list(*maps, {.revision = now})), ElementsAre("a"));
  EXPECT_TRUE(storage.changes(*maps, now - 1, 10).gone);
  EXPECT_FALSE(storage.changes(*maps, now, 10).gone);
}

TEST_F(StorageTest, WhoHasSeenAllChangesMissesNothingByCompaction) {
  put("a");
  const std::int64_t seen = storage.changes(*maps, 0, 10).revision;
  storage.put(*others, "book/x", nullptr, map("x"));
  storage.compactAll();
  put("a", "2");
  const Changes next = storage.changes(*maps, seen, 10);
  EXPECT_FALSE(next.gone);
  EXPECT_THAT(next.changes, SizeIs(1));
}

TEST_F(StorageTest, RewindingKeepsObjectsAndForgetsRevisions) {
  for (int i = 0; i < 50; ++i) put("a", std::to_string(i));
  put("b");
  erase("b");
  const std::int64_t old = storage.revision();
  storage.rewindRevision(10);
  EXPECT_EQ(storage.revision(), 10);
  EXPECT_EQ(storage.get(*maps, "book/a")->meta().resourceVersion, "10");
  EXPECT_EQ(valueOf(storage.get(*maps, "book/a")), "49");
  EXPECT_EQ(storage.list(*maps, {.revision = 9}).revision, 0);
  EXPECT_TRUE(storage.changes(*maps, 9, 10).gone);
  EXPECT_THAT(storage.changes(*maps, old, 10).changes, IsEmpty());
  EXPECT_EQ(put("a", "new")->revision(), 11);
}

TEST_F(StorageTest, WatchersAreWokenByTheirCollectionUntilTheyLeave) {
  int woken = 0;
  const std::uint64_t id = storage.watch(*maps, [&] { ++woken; });
  put("a");
  storage.put(*others, "book/x", nullptr, map("x"));
  EXPECT_EQ(woken, 1);
  storage.unwatch(*maps, id);
  put("b");
  EXPECT_EQ(woken, 1);
}

TEST_F(StorageTest, ARemovedCollectionIsOverForItsWatchers) {
  put("a");
  put("b");
  int woken = 0;
  storage.watch(*maps, [&] { ++woken; });
  storage.remove(*maps);
  EXPECT_EQ(woken, 1);
  EXPECT_FALSE(storage.changes(*maps, 0, 1).over) << "there is something left to see";
  EXPECT_TRUE(storage.changes(*maps, 0, 10).over);
}

TEST_F(StorageTest, FramesAreMadeOncePerForm) {
  put("a");
  const ChangePtr change = storage.changes(*maps, 0, 1).changes.at(0);
  int made = 0;
  const auto encode = [&] { return std::to_string(++made); };
  EXPECT_EQ(change->frame("json", encode), "1");
  EXPECT_EQ(change->frame("json", encode), "1");
  EXPECT_EQ(change->frame("protobuf", encode), "2");
  change->forgetFrames();
  EXPECT_EQ(change->frame("json", encode), "3");
  EXPECT_EQ(change->frame("json", encode), "4") << "an old change keeps none";
}

TEST_F(StorageTest, WritersOnManyThreadsLoseNoUpdate) {
  constexpr int kThreads = 4, kEach = 250;
  put("counter", "0");
  std::atomic<int> refused{0};
  std::vector<std::jthread> writers;
  for (int t = 0; t < kThreads; ++t) {
    writers.emplace_back([&] {
      for (int i = 0; i < kEach;) {
        const ObjectPtr now = storage.get(*maps, "book/counter");
        const int next = std::stoi(valueOf(now)) + 1;
        if (storage.put(*maps, "book/counter", now, map("counter", std::to_string(next)))) {
          ++i;
        } else {
          ++refused;
        }
      }
    });
  }
  writers.clear();
  EXPECT_EQ(valueOf(storage.get(*maps, "book/counter")), std::to_string(kThreads * kEach));
}

TEST(StorageThreadsTest, ReadersSeeEveryRevisionWhole) {
  // Each writer changes its own object. A reader that follows the changes sees all of them in
  // order, and a list at any revision agrees with the changes up to it.
  constexpr int kThreads = 4, kEach = 300;
  Storage storage(10'000);
  const auto maps = storage.add("configmaps");
  std::vector<std::jthread> writers;
  for (int t = 0; t < kThreads; ++t) {
    writers.emplace_back([&, t] {
      const std::string name = "m" + std::to_string(t);
      for (int i = 0; i < kEach; ++i) {
        const ObjectPtr now = storage.get(*maps, "book/" + name);
        storage.put(*maps, "book/" + name, now, map(name, std::to_string(i)));
      }
    });
  }
  std::map<std::string, std::string> seen;
  std::int64_t at = 0, last = 0;
  for (int count = 0; count < kThreads * kEach;) {
    const Changes next = storage.changes(*maps, at, 64);
    ASSERT_FALSE(next.gone);
    for (const ChangePtr& change : next.changes) {
      EXPECT_GT(change->revision, last);
      last = change->revision;
      seen[change->after->meta().name.str()] = valueOf(change->after);
      ++count;
    }
    if (!next.changes.empty()) {
      at = next.changes.back()->revision;
      const Page page = storage.list(*maps, {.revision = at});
      ASSERT_EQ(page.objects.size(), seen.size());
      for (const ObjectPtr& object : page.objects) {
        EXPECT_EQ(valueOf(object), seen[object->meta().name.str()]);
      }
    }
  }
}

}  // namespace
}  // namespace kube::apiserver
