#include "kube/cache/cached_client.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "kube/base/internal/error_of_testing.h"
#include "kube/base/internal/test_loop_testing.h"
#include "kube/cache/core/v1.h"
#include "kube/testing/api_server_testing.h"

namespace kube {
namespace {

using namespace std::chrono_literals;
using corev1::ConfigMap;
using corev1::Pod;
using testing::Begun;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::TestLoop;
using ::testing::UnorderedElementsAre;
using testing::WatchFault;

template <class Objects>
std::vector<std::string> namesOf(const Objects& objects) {
  std::vector<std::string> names;
  for (const auto& object : objects) names.push_back(detail::nameOf(*object).str());
  return names;
}

struct CachedClientTest : testing::ApiServerTest {
  FakeClock clock;
  SharedInformerFactory factory{clients};
  CachedClient client{clients, factory, {.clock = &clock}};
  CachedResourceClient<ConfigMap> cached = client.resource<ConfigMap>("default");

  // From now on the caches receive nothing more. A watch may open a moment after its list.
  void silence() const {
    const auto deadline = realClock().deadlineAfter(30s);
    while (server.failWatches(WatchFault::Silence) == 0) {
      ASSERT_LT(realClock().now(), deadline) << "there is no watch";
      realClock().sleepFor(1ms);
    }
  }
  // From now on the cache receives nothing more, and the server answers no reads.
  void cutOff() {
    cached.list();
    silence();
    for (const char* verb : {"get", "list"}) {
      server.inject({.verb = verb, .resource = "configmaps", .status = 500});
    }
  }
  void startCutOff() {
    factory.start();
    cutOff();
  }
  // Lets the informer list and watch again.
  void reconnect(bool newHistory = false) const {
    server.forgetAll();
    server.restart(newHistory);
    maps().list();  // a read is sent again on a new connection, a creation is not
  }
  void waitUntilReceived(const String& version) {
    EXPECT_TRUE(factory.coreV1().configMaps().store().waitForVersion(version));
  }
  std::string valueOf(std::string_view name) const { return cached.get(name).data["k"].str(); }
};

// ---- Reading.

TEST_F(CachedClientTest, ReadsComeFromTheInformer) {
  maps().create(map("a"));
  startCutOff();
  EXPECT_EQ(valueOf("a"), "v");
  EXPECT_EQ(cached.find("a")->metadata.name, "a");
  EXPECT_EQ(cached.find("b"), std::nullopt);
  EXPECT_THAT(namesOf(cached.list()), ElementsAre("a"));
  EXPECT_EQ(client.get<ConfigMap>({"default", "a"}).metadata.name, "a");
  EXPECT_EQ(client.find<ConfigMap>({"default", "b"}), std::nullopt);
}

TEST_F(CachedClientTest, AMissingObjectIsTheErrorOfTheServer) {
  factory.start();
  const std::string live = errorOf<ApiError>([&] { maps().get("none"); });
  EXPECT_THAT(live, HasSubstr("not found"));
  cutOff();
  EXPECT_EQ(errorOf<ApiError>([&] { cached.get("none"); }), live);
  EXPECT_EQ(errorOf<ApiError>([&] { blockOn(cached.async().get("none")); }), live);
}

TEST_F(CachedClientTest, TheFirstReadMakesTheInformer) {
  maps().create(map("a"));
  factory.start();
  EXPECT_FALSE(factory.findInformer<ConfigMap>());
  EXPECT_EQ(valueOf("a"), "v");
  ASSERT_TRUE(factory.findInformer<ConfigMap>());
  EXPECT_TRUE(factory.findInformer<ConfigMap>()->hasSynced());
}

TEST_F(CachedClientTest, TheServerIsAskedWhileTheFactoryDoesNotRun) {
  maps().create(map("a"));
  EXPECT_EQ(valueOf("a"), "v");
  EXPECT_FALSE(factory.findInformer<ConfigMap>()->hasStarted());
  factory.start();
  EXPECT_EQ(valueOf("a"), "v");
  factory.shutdown();
  maps().create(map("b"));
  EXPECT_EQ(valueOf("b"), "v");
}

TEST_F(CachedClientTest, TheServerIsAskedWhileTheInformerDoesNotSync) {
  maps().create(map("a"));
  const auto fault = server.inject({.verb = "watch", .resource = "configmaps", .status = 503});
  const auto lists = server.inject({.verb = "list", .resource = "configmaps", .status = 503});
  factory.start();
  std::jthread reader([&] { EXPECT_EQ(valueOf("a"), "v"); });
  clock.waitForWaiters(1);
  clock.advance(10s);
  reader.join();
  EXPECT_EQ(valueOf("a"), "v") << "without another wait";
  server.forget(fault);
  server.forget(lists);
  factory.waitForSync();
  cutOff();
  EXPECT_EQ(valueOf("a"), "v");
}

TEST_F(CachedClientTest, OptionsThatACacheCannotSatisfyAskTheServer) {
  maps().create(map("a"));
  factory.start();
  cached.list();
  silence();
  maps().create(map("b"));
  EXPECT_EQ(cached.find("b"), std::nullopt);
  EXPECT_NE(cached.find("b", {.resourceVersion = "0"}), std::nullopt);
  EXPECT_THAT(namesOf(cached.list({.fieldSelector = "metadata.name=b"})), ElementsAre("b"));
  EXPECT_EQ(cached.live().get("b").metadata.name, "b");
  EXPECT_EQ(client.live().coreV1().configMaps("default").get("b").metadata.name, "b");
}

TEST_F(CachedClientTest, NamespacesThatTheFactoryDoesNotCoverAreReadFromTheServer) {
  makeNamespace("other");
  maps("other").create(map("a"));
  SharedInformerFactory narrow(clients, {.namespace_ = "default"});
  const CachedClient reads(clients, narrow);
  narrow.start();
  EXPECT_THAT(reads.resource<ConfigMap>("default").list(), IsEmpty());
  EXPECT_EQ(reads.resource<ConfigMap>("other").get("a").metadata.name, "a");
  EXPECT_THAT(namesOf(reads.resource<ConfigMap>().list()), ElementsAre("a"));
  EXPECT_EQ(reads.resource<corev1::Namespace>().get("other").metadata.name, "other");
}

// ---- Several namespaces, and selections.

struct NamespacedClientTest : CachedClientTest {
  SharedInformerFactory several{clients, {.namespaces = Strings{"book", "films"}}};
  CachedClient reads{clients, several, {.clock = &clock}};
  CachedResourceClient<ConfigMap> book = reads.resource<ConfigMap>("book");
  CachedResourceClient<ConfigMap> films = reads.resource<ConfigMap>("films");
  CachedResourceClient<ConfigMap> music = reads.resource<ConfigMap>("music");

  NamespacedClientTest() {
    for (const char* name : {"book", "films", "music"}) {
      makeNamespace(name);
      maps(name).create(map("a"));
    }
    several.start();
    EXPECT_EQ(book.list().size(), 1U);
  }
  // Makes reads of a namespace by requests fail.
  void cutOffReads(std::string_view namespaceName) {
    for (const char* verb : {"get", "list"}) cutOffReads(namespaceName, verb);
  }
  void cutOffReads(std::string_view namespaceName, const char* verb) {
    server.inject({.verb = verb,
                   .path = fmt::format("/api/v1/namespaces/{}/configmaps", namespaceName),
                   .status = 500});
  }
};

TEST_F(NamespacedClientTest, ReadsOfOneComeFromTheCache) {
  silence();
  for (const char* name : {"book", "films"}) cutOffReads(name);
  EXPECT_EQ(book.get("a").metadata.namespace_, "book");
  EXPECT_THAT(namesOf(films.list()), ElementsAre("a"));
  EXPECT_EQ(music.get("a").metadata.namespace_, "music") << "from the server";
  EXPECT_EQ(reads.resource<ConfigMap>().list().size(), 3U) << "from the server";
  EXPECT_FALSE(several.covers("music"));
  EXPECT_FALSE(several.covers(""));
  EXPECT_TRUE(several.covers("book"));
}

TEST_F(NamespacedClientTest, OwnWritesAreSeenByNamespace) {
  const auto informer = several.coreV1().configMaps();
  silence();
  EXPECT_EQ(book.create(map("b")).metadata.name, "b");
  EXPECT_EQ(films.create(map("b")).metadata.name, "b");
  for (const char* name : {"book", "films"}) cutOffReads(name);
  EXPECT_THAT(namesOf(book.list()), UnorderedElementsAre("a", "b"));
  EXPECT_THAT(namesOf(films.list()), UnorderedElementsAre("a", "b"));
  films.remove("a");
  EXPECT_THAT(namesOf(films.list()), ElementsAre("b"));
  EXPECT_THAT(namesOf(book.list()), UnorderedElementsAre("a", "b"));
  reconnect();
  const ConfigMap last = book.create(map("c"));
  const String& version = last.metadata.resourceVersion;
  EXPECT_TRUE(informer.store().waitForVersion(version, {}, Clock::noDeadline, "book"))
      << "films is quiet, and may be behind";
  EXPECT_TRUE(informer.store().contains({"book", "c"}));
  EXPECT_THAT(namesOf(book.list()), UnorderedElementsAre("a", "b", "c"));
}

TEST_F(NamespacedClientTest, ANamespaceThatIsBehindKeepsNoWritesOfOthers) {
  silence();
  films.create(map("b"));
  book.create(map("b"));
  for (const char* verb : {"get", "list", "watch"}) cutOffReads("films", verb);
  server.restart();
  maps("book").list();
  maps("book").remove("b");
  const String version = maps("book").create(map("c")).metadata.resourceVersion;
  const auto informer = several.coreV1().configMaps();
  EXPECT_TRUE(informer.store().waitForVersion(version, {}, Clock::noDeadline, "book"));
  EXPECT_EQ(book.find("b"), std::nullopt);
  EXPECT_THAT(namesOf(book.list()), UnorderedElementsAre("a", "c"));
  EXPECT_THAT(namesOf(films.list()), UnorderedElementsAre("a", "b"));
}

TEST_F(NamespacedClientTest, ARemovedNamespaceIsReadFromTheServer) {
  const auto informer = several.coreV1().configMaps();
  EXPECT_THAT(namesOf(films.list()), ElementsAre("a"));
  TestLoop loop;
  Begun<bool> ofFilms(informer.store().async().waitForVersion("999999", Clock::noDeadline, "films"),
                      loop.executor());
  several.removeNamespace("films");
  loop.runUntil([&] { return ofFilms.over(); });
  EXPECT_THAT(errorOf<Error>([&] { ofFilms.result(); }), HasSubstr("will not reach version"));
  EXPECT_THAT(
      errorOf<Error>([&] { informer.store().waitForVersion("1", {}, Clock::noDeadline, "films"); }),
      HasSubstr("it does not have the namespace films"));
  maps("films").create(map("b"));
  EXPECT_THAT(namesOf(films.list()), UnorderedElementsAre("a", "b"));
  several.removeNamespace("book");
  EXPECT_TRUE(informer.store().waitForVersion("999999")) << "there is nothing left to wait for";
}

TEST_F(NamespacedClientTest, AnAddedNamespaceIsReadFromTheCacheOnceItIsListed) {
  several.addNamespace("music");
  EXPECT_THAT(namesOf(music.list()), ElementsAre("a")) << "waits for the list";
  cutOffReads("music");
  EXPECT_THAT(namesOf(music.list()), ElementsAre("a"));
}

TEST_F(CachedClientTest, AnInformerWithSelectorsIsNotRead) {
  maps().create(map("a"));
  SharedInformerFactory part(clients, {.kinds = {byKind<ConfigMap>({.labelSelector = "app=web"})}});
  const CachedClient reads(clients, part);
  part.coreV1().configMaps();
  part.start();
  part.waitForSync();
  EXPECT_THAT(namesOf(reads.resource<ConfigMap>("default").list()), ElementsAre("a"))
      << "from the server";
  // One without selectors is, whatever the options of the kind.
  part.informerFor<ConfigMap>(metav1::ListOptions{});
  part.start();
  part.waitForSync();
  EXPECT_EQ(reads.resource<ConfigMap>("default").get("a").metadata.name, "a");
  server.inject({.verb = "list", .resource = "configmaps", .status = 500});
  EXPECT_THAT(namesOf(reads.resource<ConfigMap>("default").list()), ElementsAre("a"));
}

TEST_F(CachedClientTest, APolicyDecidesForEachKind) {
  const CachedClient reads(clients, factory,
                           {.reads = ReadPolicy::FailOnMissingInformer,
                            .kinds = {{gvkOf<corev1::Secret>(), ReadPolicy::Live}}});
  factory.start();
  EXPECT_THAT(reads.resource<corev1::Secret>("default").list(), IsEmpty());
  EXPECT_FALSE(factory.findInformer<corev1::Secret>());
  EXPECT_THAT(errorOf<Error>([&] { reads.resource<ConfigMap>("default").find("a"); }),
              HasSubstr("configmaps: read from the cache: there is no informer of this kind"));
  EXPECT_FALSE(factory.findInformer<ConfigMap>());
  factory.coreV1().configMaps();
  EXPECT_EQ(reads.resource<ConfigMap>("default").find("a"), std::nullopt);
  EXPECT_THAT(errorOf<Error>([&] {
                const CachedClient live(clients, factory, {.reads = ReadPolicy::Live});
                maps().create(map("a"));
                live.resource<ConfigMap>("default").byIndex("color", "blue");
              }),
              HasSubstr("index \"color\": there is no informer"));
}

// ---- Own writes, which the cache has not received.

TEST_F(CachedClientTest, WritesAreReadAtOnce) {
  startCutOff();
  ConfigMap made = cached.create(map("a"));
  EXPECT_EQ(cached.get("a"), made);
  made.data["k"] = "updated";
  made = cached.update(made);
  EXPECT_EQ(valueOf("a"), "updated");
  cached.patch("a", PatchType::Merge, R"({"data": {"k": "patched"}})");
  EXPECT_EQ(valueOf("a"), "patched");
  cached.apply(map("a", "applied"), {.force = true, .fieldManager = "test"});
  EXPECT_EQ(valueOf("a"), "applied");
  cached.apply(map("b", "made by apply"), {.force = true, .fieldManager = "test"});
  EXPECT_EQ(valueOf("b"), "made by apply");
  EXPECT_EQ(client.resource<ConfigMap>("default").get("b").data["k"], "made by apply");
  EXPECT_EQ(client.by(clients).get<ConfigMap>({"default", "b"}).data["k"], "made by apply");
}

TEST_F(CachedClientTest, ADeletedObjectIsGone) {
  maps().create(map("known"));
  startCutOff();
  cached.remove("known");
  EXPECT_EQ(cached.find("known"), std::nullopt);
  EXPECT_THAT(cached.list(), IsEmpty());
  cached.create(map("unknown"));
  cached.remove("unknown");
  EXPECT_EQ(cached.find("unknown"), std::nullopt);
  EXPECT_THAT(cached.list(), IsEmpty());
}

TEST_F(CachedClientTest, AnObjectThatIsCreatedAgainIsAnotherOne) {
  const String first = maps().create(map("a", "first")).metadata.uid;
  startCutOff();
  cached.remove("a");
  const String second = cached.create(map("a", "second")).metadata.uid;
  EXPECT_NE(first, second);
  EXPECT_EQ(cached.get("a").metadata.uid, second);
  EXPECT_EQ(cached.list().at(0)->metadata.uid, second);
  cached.remove("a");
  EXPECT_EQ(cached.find("a"), std::nullopt);
  reconnect();
  const String last = cached.create(map("b")).metadata.resourceVersion;
  waitUntilReceived(last);
  EXPECT_THAT(namesOf(cached.list()), ElementsAre("b"));
}

TEST_F(CachedClientTest, ADeletedObjectIsGoneWhereTheServerAnswersWithTheObject) {
  const auto pods = client.resource<Pod>("default");
  clients.coreV1().pods("default").create(pod("a"));
  factory.start();
  pods.list();
  silence();
  pods.remove("a", {.gracePeriodSeconds = 0});
  EXPECT_EQ(pods.find("a"), std::nullopt);
  EXPECT_THAT(pods.list(), IsEmpty());
}

TEST_F(CachedClientTest, ADeletionThatFindsNothingHidesWhatTheCacheShows) {
  maps().create(map("a"));
  startCutOff();
  maps().remove("a");
  EXPECT_NE(cached.find("a"), std::nullopt) << "the cache does not know";
  EXPECT_THROW(cached.remove("a"), ApiError);
  EXPECT_EQ(cached.find("a"), std::nullopt);
}

TEST_F(CachedClientTest, ADeletionWaitsForFinalizers) {
  ConfigMap held = map("a");
  held.metadata.finalizers = {"example.com/hold"};
  maps().create(held);
  factory.start();
  cached.list();
  silence();
  cached.remove("a");
  held = cached.get("a");
  EXPECT_FALSE(held.metadata.deletionTimestamp.isZero());
  EXPECT_FALSE(cached.list().at(0)->metadata.deletionTimestamp.isZero());
  held.metadata.finalizers = {};
  cached.update(held);
  EXPECT_EQ(cached.find("a"), std::nullopt);
  EXPECT_THAT(cached.list(), IsEmpty());
}

TEST_F(CachedClientTest, ListsShowWrites) {
  makeNamespace("other");
  for (const char* name : {"a", "b", "c"}) {
    ConfigMap labelled = map(name);
    labelled.metadata.labels["color"] = "red";
    maps().create(labelled);
  }
  factory.coreV1().configMaps().addIndexer(
      "value", [](const ConfigMap& object) { return Strings{object.data["k"]}; });
  startCutOff();
  ConfigMap blue = cached.get("b");
  blue.metadata.labels["color"] = "blue";
  blue.data["k"] = "w";
  cached.update(blue);
  cached.remove("c");
  cached.create(map("d", "w"));
  const auto elsewhere = cached.inNamespace("other");
  elsewhere.create(map("e", "w"));
  EXPECT_THAT(namesOf(cached.list()), UnorderedElementsAre("a", "b", "d"));
  EXPECT_THAT(namesOf(cached.list({.labelSelector = "color=red"})), ElementsAre("a"));
  EXPECT_THAT(namesOf(cached.list({.labelSelector = "color=blue"})), ElementsAre("b"));
  EXPECT_THAT(namesOf(elsewhere.list()), ElementsAre("e"));
  EXPECT_THAT(namesOf(client.resource<ConfigMap>().list()),
              UnorderedElementsAre("a", "b", "d", "e"));
  EXPECT_THAT(namesOf(cached.byIndex("value", "v")), ElementsAre("a"));
  EXPECT_THAT(namesOf(cached.byIndex("value", "w")), UnorderedElementsAre("b", "d"));
  EXPECT_THROW(cached.byIndex("none", "v"), Error);
}

TEST_F(CachedClientTest, LaterWritesOfOthersWin) {
  factory.start();
  cached.list();
  for (int i = 0; i < 20; ++i) {
    const String name = std::to_string(i);
    cached.create(map(name, "own"));
    waitUntilReceived(maps().update(map(name, "other")).metadata.resourceVersion);
    EXPECT_EQ(valueOf(name), "other");
    cached.update(map(name, "own again"));
    maps().remove(name);
    waitUntilReceived(maps().create(map(name + "-last")).metadata.resourceVersion);
    EXPECT_EQ(cached.find(name), std::nullopt) << "an own write must not stay";
  }
}

TEST_F(CachedClientTest, AWriteThatChangesNothingIsNotShown) {
  startCutOff();
  cached.create(map("a"), {.dryRun = {"All"}});
  EXPECT_EQ(cached.find("a"), std::nullopt);
  cached.create(map("a"));
  cached.remove("a", {.dryRun = {"All"}});
  EXPECT_NE(cached.find("a"), std::nullopt);
  EXPECT_THROW(cached.create(map("a")), ApiError);
  EXPECT_NE(cached.find("a"), std::nullopt);
}

TEST_F(CachedClientTest, ACollectionIsGoneAtOnce) {
  for (const char* name : {"a", "b", "c"}) {
    ConfigMap labelled = map(name);
    labelled.metadata.labels["color"] = name == std::string("c") ? "blue" : "red";
    maps().create(labelled);
  }
  factory.start();
  cached.list();
  silence();
  cached.removeCollection({}, {.labelSelector = "color=red"});
  EXPECT_THAT(namesOf(cached.list()), ElementsAre("c"));
  EXPECT_EQ(cached.find("a"), std::nullopt);
}

TEST_F(CachedClientTest, ASubresourceIsAWriteOfItsObject) {
  const auto deployments = client.resource<appsv1::Deployment>("default");
  clients.appsV1().deployments("default").create(deployment("web"));
  factory.start();
  deployments.list();
  silence();
  auto scale = deployments.getSubresource<autoscalingv1::Scale>("web", "scale");
  scale.spec->replicas = 5;
  deployments.updateSubresource<autoscalingv1::Scale>("web", "scale", scale);
  EXPECT_EQ(deployments.get("web").spec.read().replicas, 5);
  auto wanted = deployments.get("web");
  wanted.status->replicas = 4;
  deployments.updateStatus(wanted);
  EXPECT_EQ(deployments.get("web").status.read().replicas, 4);
}

// ---- Limits.

TEST_F(CachedClientTest, BeyondTheNumberOfWritesReadsAskTheServer) {
  const CachedClient small(clients, factory, {.maxOwnWrites = 2});
  const auto few = small.resource<ConfigMap>("default");
  factory.start();
  few.list();
  silence();
  for (int i = 0; i < 5; ++i) few.create(map(std::to_string(i)));
  EXPECT_EQ(few.list().size(), 5U);
  EXPECT_EQ(few.get("0").metadata.name, "0");
  for (int i = 0; i < 5; ++i) few.remove(std::to_string(i));
  EXPECT_THAT(few.list(), IsEmpty());
  reconnect();
  const String last = few.create(map("last")).metadata.resourceVersion;
  waitUntilReceived(last);
  for (const char* verb : {"get", "list"}) {
    server.inject({.verb = verb, .resource = "configmaps", .status = 500});
  }
  EXPECT_THAT(namesOf(few.list()), ElementsAre("last")) << "from the cache again";
}

TEST_F(CachedClientTest, AfterTheTimeReadsAskTheServer) {
  factory.start();
  cached.list();
  silence();
  cached.create(map("a"));
  cached.create(map("b"));
  cached.remove("b");
  clock.advance(6min);
  maps().update(map("a", "by another"));
  EXPECT_EQ(valueOf("a"), "by another") << "from the server";
  EXPECT_EQ(cached.find("b"), std::nullopt);
}

TEST_F(CachedClientTest, WritesBeforeTheFirstReadAreRead) {
  const String version = cached.create(map("a")).metadata.resourceVersion;
  cached.create(map("b"));
  cached.remove("b");
  factory.start();
  EXPECT_EQ(cached.get("a").metadata.resourceVersion, version);
  EXPECT_EQ(cached.find("b"), std::nullopt);
}

TEST_F(CachedClientTest, AServerWithAnotherHistoryIsBelieved) {
  for (int i = 0; i < 20; ++i) maps().create(map("old-" + std::to_string(i)));
  factory.start();
  cached.list();
  silence();
  cached.create(map("lost"));
  reconnect(true);
  const auto informer = factory.coreV1().configMaps();
  const String version = cached.create(map("new")).metadata.resourceVersion;
  EXPECT_EQ(valueOf("new"), "v");
  // The version goes back when the informer has listed anew.
  const auto deadline = realClock().deadlineAfter(30s);
  while (!informer.store().contains({"default", "new"}) && realClock().now() < deadline) {
    realClock().sleepFor(1ms);
  }
  EXPECT_EQ(valueOf("new"), "v");
  cached.remove("new");
  EXPECT_EQ(cached.find("new"), std::nullopt);
}

// ---- Other forms.

TEST_F(CachedClientTest, KindsWithoutAStructAreReadByTheirMapping) {
  define(testing::kNetworks);
  const RestMapping mapping{.gvr = {"sample.example.com", "v1", "networks"},
                            .gvk = {"sample.example.com", "v1", "Network"}};
  const auto networks = client.resource(mapping).inNamespace("default");
  factory.start();
  networks.list();
  silence();
  Unstructured made = networks.create(testing::network("a"));
  EXPECT_EQ(networks.get("a"), made);
  made.setNestedField("10.1.0.0/16", "spec", "cidr");
  networks.update(made);
  EXPECT_EQ(networks.get("a").nestedString("spec", "cidr"), "10.1.0.0/16");
  networks.remove("a");
  EXPECT_EQ(networks.find("a"), std::nullopt);
  EXPECT_THAT(networks.list(), IsEmpty());
}

Task<> writesAndReads(AsyncCachedResourceClient<ConfigMap> maps) {
  ConfigMap made;
  made.metadata.name = "a";
  made.metadata.labels["color"] = "red";
  made = co_await maps.create(made);
  const ConfigMap read = co_await maps.get("a");
  EXPECT_EQ(read, made);
  made.data["k"] = "w";
  made = co_await maps.update(made);
  const metav1::ListOptions red{.labelSelector = "color=red"};
  const auto listed = co_await maps.list(red);
  EXPECT_EQ(listed.size(), 1U);
  EXPECT_EQ(*listed.at(0), made);
  co_await maps.patch("a", PatchType::Merge, R"({"metadata": {"labels": {"color": "blue"}}})");
  const auto none = co_await maps.list(red);
  EXPECT_TRUE(none.empty());
  co_await maps.remove("a");
  const auto found = co_await maps.find("a");
  EXPECT_FALSE(found.has_value());
  const metav1::ApplyOptions me{.force = true, .fieldManager = "me"};
  ConfigMap wanted;
  wanted.metadata.name = "a";
  co_await maps.apply(wanted, me);
  const auto applied = co_await maps.inNamespace("default").find("a");
  EXPECT_TRUE(applied.has_value());
}

TEST_F(CachedClientTest, TheAwaitableFormHasTheSameNames) {
  factory.start();
  cached.list();
  silence();
  TestLoop loop;
  Begun<void> task(writesAndReads(cached.async()), loop.executor());
  loop.runUntil([&] { return task.over(); });
  task.result();
}

TEST_F(CachedClientTest, AStopEndsAReadThatWaitsForTheFirstList) {
  for (const char* verb : {"watch", "list"}) {
    server.inject({.verb = verb, .resource = "configmaps", .status = 503});
  }
  factory.start();
  TestLoop loop;
  std::stop_source stop;
  Begun<std::optional<ConfigMap>> waits(cached.async().find("a"), loop.executor(),
                                        stop.get_token());
  Begun<std::optional<ConfigMap>> destroyed(cached.async().find("a"), loop.executor());
  EXPECT_FALSE(waits.over());
  destroyed.destroy();
  stop.request_stop();
  loop.runUntil([&] { return waits.over(); });
  EXPECT_THROW(waits.result(), CanceledError);
}

TEST_F(CachedClientTest, HandlesAndTasksMayOutliveTheClient) {
  maps().create(map("a"));
  factory.start();
  auto own = std::make_unique<CachedClient>(clients, factory);
  const auto handle = own->resource<ConfigMap>("default").async();
  TestLoop loop;
  Begun<std::optional<ConfigMap>> task(handle.find("a"), loop.executor());
  own.reset();
  loop.runUntil([&] { return task.over(); });
  EXPECT_TRUE(task.result().has_value());
  EXPECT_TRUE(blockOn(handle.find("a")).has_value());
}

}  // namespace
}  // namespace kube
