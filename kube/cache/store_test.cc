#include "kube/cache/store.h"
#include "kube/base/internal/error_of_testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <set>
#include <thread>

#include "kube/api/core/v1.h"
#include "kube/base/error.h"
#include "kube/base/log.h"
#include "kube/meta/unstructured.h"

namespace kube {
namespace {

using corev1::Pod;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

Pod pod(std::string_view ns, std::string_view name, std::string_view node = {},
        std::string_view version = {}) {
  Pod result;
  result.metadata.namespace_ = ns;
  result.metadata.name = name;
  result.metadata.resourceVersion = version;
  if (!node.empty()) result.spec->nodeName = node;
  return result;
}

Strings nodeOf(const Pod& pod) { return {pod.spec->nodeName}; }
Strings usersOf(const Pod& pod) {
  Strings users;
  std::string_view text = pod.metadata.annotations["users"];
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    users.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return users;
}
Pod usedBy(std::string_view name, std::string_view users) {
  Pod result = pod("book", name);
  result.metadata.annotations["users"] = users;
  return result;
}

template <class T>
std::vector<std::string> names(const std::vector<std::shared_ptr<const T>>& objects) {
  std::vector<std::string> result;
  for (const auto& object : objects) result.push_back(keyOf(*object).str());
  return result;
}

TEST(StoreTest, AddedObjectsAreFoundByKey) {
  Store<Pod> store;
  EXPECT_EQ(store.getByKey({"book", "a"}), nullptr);
  EXPECT_EQ(store.size(), 0U);
  store.add(pod("book", "a", "n1"));
  store.add(pod("shelf", "a", "n2"));
  store.add(pod("", "a", "n3"));
  EXPECT_EQ(store.getByKey({"book", "a"})->spec->nodeName, "n1");
  EXPECT_EQ(store.getByKey("shelf", "a")->spec->nodeName, "n2");
  EXPECT_EQ(store.get(pod("", "a"))->spec->nodeName, "n3");
  EXPECT_EQ(store.getByKey({"a", "book"}), nullptr);
  EXPECT_TRUE(store.contains({"book", "a"}));
  EXPECT_FALSE(store.contains({"book", "b"}));
  EXPECT_EQ(store.size(), 3U);
  EXPECT_THAT(names<Pod>(store.list()), UnorderedElementsAre("book/a", "shelf/a", "a"));
  EXPECT_THAT(store.listKeys(), UnorderedElementsAre(ObjectKey{"book", "a"},
                                                     ObjectKey{"shelf", "a"}, ObjectKey{"", "a"}));
}

TEST(StoreTest, WhatWasAddedIsHandedOutItself) {
  Store<Pod> store;
  const auto object = std::make_shared<const Pod>(pod("book", "a"));
  store.add(object);
  EXPECT_EQ(store.getByKey({"book", "a"}), object);
  EXPECT_EQ(store.list()[0], object);
  EXPECT_THROW(store.add(std::shared_ptr<const Pod>()), Error);
}

TEST(StoreTest, AnUpdateTakesThePlaceAndReadersKeepWhatTheyHave) {
  Store<Pod> store({{"node", nodeOf}});
  store.add(pod("book", "a", "n1"));
  const auto before = store.getByKey({"book", "a"});
  store.update(pod("book", "a", "n2"));
  EXPECT_EQ(store.getByKey({"book", "a"})->spec->nodeName, "n2");
  EXPECT_EQ(before->spec->nodeName, "n1");
  EXPECT_EQ(store.size(), 1U);
  EXPECT_THAT(store.byIndex("node", "n1"), IsEmpty());
  EXPECT_EQ(store.byIndex("node", "n2").size(), 1U);
}

TEST(StoreTest, RemovingWorksByObjectAndKeyAndTwice) {
  Store<Pod> store({{"node", nodeOf}});
  store.add(pod("book", "a", "n1"));
  store.add(pod("book", "b", "n1"));
  store.add(pod("book", "c", "n1"));
  store.remove(pod("book", "a"));  // its state does not matter
  store.removeByKey({"book", "b"});
  store.removeByKey({"book", "b"});
  EXPECT_EQ(store.getByKey({"book", "a"}), nullptr);
  EXPECT_THAT(names<Pod>(store.list()), ElementsAre("book/c"));
  EXPECT_THAT(names<Pod>(store.byIndex("node", "n1")), ElementsAre("book/c"));
  store.remove(std::make_shared<const Pod>(pod("book", "c")));
  EXPECT_THAT(store.list(), IsEmpty());
  EXPECT_THAT(store.listIndexFuncValues("node"), IsEmpty());
}

TEST(StoreTest, ReplaceLeavesJustTheNewObjects) {
  Store<Pod> store({{"node", nodeOf}});
  for (const char* name : {"a", "b", "c", "d"}) store.add(pod("book", name, "n1"));
  store.replace({std::make_shared<const Pod>(pod("book", "b", "n2")),
                 std::make_shared<const Pod>(pod("book", "e", "n1"))},
                "7");
  EXPECT_THAT(names<Pod>(store.list()), UnorderedElementsAre("book/b", "book/e"));
  EXPECT_THAT(names<Pod>(store.byIndex("node", "n2")), ElementsAre("book/b"));
  EXPECT_THAT(names<Pod>(store.byIndex("node", "n1")), ElementsAre("book/e"));
  EXPECT_EQ(store.resourceVersion(), "7");
  store.bookmark("9");
  EXPECT_EQ(store.resourceVersion(), "9");
  EXPECT_THROW(store.replace({nullptr}), Error);
  EXPECT_EQ(store.size(), 2U);
  store.replace({});
  EXPECT_EQ(store.size(), 0U);
}

TEST(StoreTest, ReplaceTakesTheLastOfEqualKeys) {
  Store<Pod> store({{"node", nodeOf}});
  store.replace({std::make_shared<const Pod>(pod("book", "a", "n1")),
                 std::make_shared<const Pod>(pod("book", "a", "n2"))});
  EXPECT_EQ(store.size(), 1U);
  EXPECT_EQ(store.getByKey({"book", "a"})->spec->nodeName, "n2");
}

TEST(StoreTest, AReplacedObjectIsLetGo) {
  Store<Pod> store;
  store.add(pod("book", "a"));
  const std::weak_ptr<const Pod> first = store.getByKey({"book", "a"});
  store.update(pod("book", "a"));
  EXPECT_TRUE(first.expired());
  const std::weak_ptr<const Pod> second = store.getByKey({"book", "a"});
  store.removeByKey({"book", "a"});
  EXPECT_TRUE(second.expired());
}

TEST(StoreTest, ListsByLabels) {
  Store<Pod> store;
  Pod labeled = pod("book", "a");
  labeled.metadata.labels["app"] = "web";
  store.add(labeled);
  store.add(pod("book", "b"));
  EXPECT_THAT(names<Pod>(store.list(labels::Selector::parse("app=web"))), ElementsAre("book/a"));
  EXPECT_EQ(store.list(labels::Selector::everything()).size(), 2U);
  EXPECT_THAT(store.list(labels::Selector::nothing()), IsEmpty());
}

TEST(StoreTest, IndexesByOneValue) {
  Store<Pod> store({{"node", nodeOf}, {String(kNamespaceIndex), namespaceIndex<Pod>}});
  store.add(pod("book", "a", "n1"));
  store.add(pod("book", "b", "n2"));
  store.add(pod("shelf", "c", "n1"));
  store.add(pod("shelf", "d"));
  EXPECT_THAT(names<Pod>(store.byIndex("node", "n1")), UnorderedElementsAre("book/a", "shelf/c"));
  EXPECT_THAT(names<Pod>(store.byIndex("node", "")), ElementsAre("shelf/d"));
  EXPECT_THAT(store.byIndex("node", "n3"), IsEmpty());
  EXPECT_THAT(names<Pod>(store.byIndex(kNamespaceIndex, "book")),
              UnorderedElementsAre("book/a", "book/b"));
  EXPECT_THAT(names<Pod>(store.index("node", pod("", "", "n1"))),
              UnorderedElementsAre("book/a", "shelf/c"));
  EXPECT_THAT(store.indexKeys("node", "n1"),
              ElementsAre(ObjectKey{"book", "a"}, ObjectKey{"shelf", "c"}));
  EXPECT_THAT(store.listIndexFuncValues("node"), UnorderedElementsAre("n1", "n2", ""));
}

TEST(StoreTest, IndexesBySeveralValues) {
  Store<Pod> store({{"user", usersOf}});
  store.add(usedBy("one", "ernie,bert"));
  store.add(usedBy("two", "bert,oscar,bert"));
  store.add(usedBy("three", "ernie,elmo"));
  store.add(usedBy("none", ""));
  const auto of = [&](std::string_view user) { return names<Pod>(store.byIndex("user", user)); };
  EXPECT_THAT(of("ernie"), UnorderedElementsAre("book/one", "book/three"));
  EXPECT_THAT(of("bert"), UnorderedElementsAre("book/one", "book/two"));
  EXPECT_THAT(of("elmo"), ElementsAre("book/three"));
  EXPECT_THAT(of("oscar"), ElementsAre("book/two"));
  EXPECT_THAT(of("grover"), IsEmpty());
  // Each object once, although two values are shared.
  EXPECT_THAT(names<Pod>(store.index("user", usedBy("x", "ernie,bert,elmo"))),
              UnorderedElementsAre("book/one", "book/two", "book/three"));
  EXPECT_THAT(store.index("user", usedBy("x", "")), IsEmpty());

  store.removeByKey({"book", "three"});
  EXPECT_THAT(of("ernie"), ElementsAre("book/one"));
  EXPECT_THAT(of("elmo"), IsEmpty());
  store.update(usedBy("two", "oscar"));
  EXPECT_THAT(of("bert"), ElementsAre("book/one"));
  store.update(usedBy("two", "bert,oscar"));
  EXPECT_THAT(of("bert"), UnorderedElementsAre("book/one", "book/two"));
  EXPECT_THAT(store.listIndexFuncValues("user"), UnorderedElementsAre("ernie", "bert", "oscar"));
}

TEST(StoreTest, IndexersMayComeLater) {
  Store<Pod> store;
  EXPECT_FALSE(store.hasIndex("node"));
  store.add(pod("book", "a", "n1"));
  store.add(pod("book", "b", "n2"));
  store.addIndexer("node", nodeOf);
  EXPECT_TRUE(store.hasIndex("node"));
  EXPECT_THAT(names<Pod>(store.byIndex("node", "n2")), ElementsAre("book/b"));
  store.addIndexers({{"user", usersOf}, {"namespace", namespaceIndex<Pod>}});
  store.add(pod("book", "c", "n2"));
  EXPECT_EQ(store.byIndex("namespace", "book").size(), 3U);
  EXPECT_EQ(store.byIndex("node", "n2").size(), 2U);
}

TEST(StoreTest, AnIndexCannotBeAddedTwiceOrMissing) {
  Store<Pod> store({{"node", nodeOf}});
  EXPECT_THROW(store.addIndexers({{"user", usersOf}, {"node", nodeOf}}), Error);
  EXPECT_FALSE(store.hasIndex("user"));
  EXPECT_THROW(store.addIndexer("empty", nullptr), Error);
  EXPECT_THAT(errorOf<Error>([&] { store.byIndex("users", "x"); }),
              HasSubstr("there is no index \"users\""));
  EXPECT_THROW(store.index("users", pod("", "")), Error);
  EXPECT_THROW(store.indexKeys("users", "x"), Error);
  EXPECT_THROW(store.listIndexFuncValues("users"), Error);
}

TEST(StoreTest, AnIndexFunctionThatThrowsCostsOnlyItsIndex) {
  std::atomic<int> logged = 0;
  const LogSink before = setLogSink([&](const LogRecord& record) {
    logged += record.message.find("book/bad") != std::string_view::npos ? 1 : 0;
  });
  Store<Pod> store({{"node", nodeOf}, {"picky", [](const Pod& pod) -> Strings {
                                         if (pod.metadata.name == "bad")
                                           throw std::runtime_error("no");
                                         return {"x"};
                                       }}});
  store.add(pod("book", "bad", "n1"));
  store.add(pod("book", "good", "n1"));
  setLogSink(before);
  EXPECT_EQ(store.size(), 2U);
  EXPECT_EQ(store.byIndex("node", "n1").size(), 2U);
  EXPECT_THAT(names<Pod>(store.byIndex("picky", "x")), ElementsAre("book/good"));
  EXPECT_EQ(logged, 1);
  EXPECT_THROW(store.index("picky", pod("book", "bad")), std::runtime_error);
}

TEST(StoreTest, AnIndexFunctionMayReadTheStore) {
  Store<Pod> store;
  store.addIndexer("seen", [&](const Pod&) { return Strings{std::to_string(store.size())}; });
  store.add(pod("book", "a"));
  store.add(pod("book", "b"));
  EXPECT_THAT(names<Pod>(store.byIndex("seen", "1")), ElementsAre("book/b"));
}

TEST(StoreTest, HoldsObjectsWithoutStructToo) {
  Store<Unstructured> store({{String(kNamespaceIndex), namespaceIndex<Unstructured>}});
  Unstructured object;
  object.setName("a");
  object.setNamespace("book");
  object.setLabels({{"app", "web"}});
  store.add(object);
  object.setName("b");
  object.setLabels({});
  store.add(object);
  EXPECT_EQ(store.getByKey({"book", "a"})->name(), "a");
  EXPECT_EQ(store.byIndex(kNamespaceIndex, "book").size(), 2U);
  EXPECT_THAT(names<Unstructured>(store.list(labels::Selector::parse("app=web"))),
              ElementsAre("book/a"));
  EXPECT_THAT(names<Unstructured>(store.list(labels::Selector::parse("!app"))),
              ElementsAre("book/b"));

  Store<metav1::PartialObjectMetadata> partial;
  metav1::PartialObjectMetadata metadata;
  metadata.metadata.name = "node";
  partial.add(metadata);
  EXPECT_NE(partial.getByKey({"", "node"}), nullptr);
}

// Random changes, compared with a simple model.
TEST(StoreTest, AgreesWithASimpleModel) {
  std::mt19937 random(7);
  Store<Pod> store({{"node", nodeOf}, {"user", usersOf}});
  std::map<std::string, Pod> model;
  const auto randomPod = [&] {
    Pod result = usedBy("p" + std::to_string(random() % 60), "");
    result.metadata.namespace_ = "ns" + std::to_string(random() % 3);
    result.spec->nodeName = "n" + std::to_string(random() % 5);
    std::string users;
    for (unsigned i = random() % 4; i > 0; --i) users += "u" + std::to_string(random() % 6) + ",";
    result.metadata.annotations["users"] = users;
    return result;
  };
  for (int step = 0; step < 4000; ++step) {
    const Pod one = randomPod();
    const unsigned what = random() % 100;
    if (what < 55) {
      store.add(one);
      model[keyOf(one).str()] = one;
    } else if (what < 98) {
      store.remove(one);
      model.erase(keyOf(one).str());
    } else {
      model.clear();
      std::vector<std::shared_ptr<const Pod>> all;
      for (unsigned i = random() % 150; i > 0; --i) {
        all.push_back(std::make_shared<const Pod>(randomPod()));
        model[keyOf(*all.back()).str()] = *all.back();
      }
      store.replace(std::move(all));
    }
    if (step % 10 != 0) continue;
    std::vector<std::string> expected;
    std::map<std::string, std::vector<std::string>> byNode, byUser;
    for (const auto& [key, object] : model) {
      expected.push_back(key);
      byNode[object.spec->nodeName.str()].push_back(key);
      std::set<std::string> users;
      for (const String& user : usersOf(object)) users.insert(user.str());
      for (const std::string& user : users) byUser[user].push_back(key);
      ASSERT_EQ(*store.get(object), object);
    }
    ASSERT_THAT(names<Pod>(store.list()), ::testing::UnorderedElementsAreArray(expected));
    for (const auto& [index, values] : {std::pair("node", byNode), std::pair("user", byUser)}) {
      ASSERT_EQ(store.listIndexFuncValues(index).size(), values.size());
      for (const auto& [value, keys] : values) {
        ASSERT_THAT(names<Pod>(store.byIndex(index, value)),
                    ::testing::UnorderedElementsAreArray(keys));
      }
    }
  }
}

TEST(StoreTest, ManyObjectsComeAndGo) {
  Store<Pod> store({{"node", nodeOf}});
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 5000; ++i) {
      store.add(pod("book", std::to_string(i), i % 2 == 0 ? "even" : std::to_string(i)));
    }
    EXPECT_EQ(store.byIndex("node", "even").size(), 2500U);
    for (int i = 0; i < 5000; ++i) {
      ASSERT_NE(store.getByKey("book", std::to_string(i)), nullptr);
      store.removeByKey({"book", std::to_string(i)});
      ASSERT_EQ(store.getByKey("book", std::to_string(i)), nullptr);
    }
    EXPECT_EQ(store.size(), 0U);
    EXPECT_THAT(store.listIndexFuncValues("node"), IsEmpty());
  }
}

// Two writers swap the whole contents. Readers must never see a mixture, nor an index that does not
// match the objects.
TEST(StoreTest, ReadersSeeOneMoment) {
  Store<Pod> store({{"node", nodeOf}});
  const auto generation = [](std::string_view node) {
    std::vector<std::shared_ptr<const Pod>> all;
    for (int i = 0; i < 50; ++i) {
      all.push_back(std::make_shared<const Pod>(pod("book", std::to_string(i), node)));
    }
    return all;
  };
  const auto even = generation("even"), odd = generation("odd");
  store.replace(even);
  std::atomic<bool> done = false;
  std::atomic<int> wrong = 0, reads = 0;
  std::vector<std::thread> readers;
  for (int r = 0; r < 3; ++r) {
    readers.emplace_back([&] {
      do {
        const auto all = store.list();
        for (const auto& one : all) wrong += one->spec->nodeName != all[0]->spec->nodeName ? 1 : 0;
        wrong += all.size() == 50 ? 0 : 1;
        const std::size_t n = store.byIndex("node", "even").size();
        wrong += n == 0 || n == 50 ? 0 : 1;
        wrong += store.getByKey("book", "7") == nullptr ? 1 : 0;
        ++reads;
      } while (!done);
    });
  }
  std::thread other([&] {
    for (int i = 0; i < 200; ++i) store.replace(i % 2 == 0 ? odd : even);
  });
  for (int i = 0; i < 200; ++i) store.replace(i % 2 == 0 ? even : odd);
  other.join();
  done = true;
  for (auto& reader : readers) reader.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(reads, 0);
}

TEST(StoreTest, WritersAndReadersOfSingleObjects) {
  Store<Pod> store({{"node", nodeOf}});
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(static_cast<unsigned>(t));
      for (int i = 0; i < 1000; ++i) {
        const std::string name = std::to_string(random() % 100);
        switch (random() % 5) {
          case 0:
            store.add(pod("book", name, name));
            break;
          case 1:
            store.removeByKey({"book", name});
            break;
          case 2:
            if (const auto got = store.getByKey("book", name)) {
              wrong += got->metadata.name == name ? 0 : 1;
            }
            break;
          case 3:
            wrong += store.byIndex("node", name).size() > 1 ? 1 : 0;
            break;
          default:
            if (t == 0 && i % 100 == 0) store.addIndexer("x" + std::to_string(i), nodeOf);
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace kube
