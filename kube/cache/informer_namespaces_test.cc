// Informers of several namespaces, which come and go.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "kube/base/internal/error_of_testing.h"
#include "kube/base/internal/logged_testing.h"
#include "kube/base/internal/sanitizer.h"
#include "kube/cache/core/v1.h"
#include "kube/cache/internal/namespace_round_testing.h"
#include "kube/cache/internal/seen_testing.h"
#include "kube/cache/resource_informer_factory.h"
#include "kube/cache/shared_informer_factory.h"
#include "kube/testing/api_server_testing.h"

namespace kube {
namespace {

using namespace std::chrono_literals;
using corev1::ConfigMap;
using ::testing::AllOf;
using testing::eventually;
using ::testing::HasSubstr;
using testing::Keys;
using testing::Seen;
using testing::WatchFault;

class InformerNamespacesTest : public testing::ApiServerTest {
 protected:
  InformerNamespacesTest() {
    for (const char* name : {"book", "films", "music"}) {
      makeNamespace(name);
      maps(name).create(map("a"));
    }
  }
  static InformerFactoryOptions in(Strings namespaces) {
    return {.namespaces = std::move(namespaces)};
  }
  const GroupVersionResource configMaps{"", "v1", "configmaps"};
  std::size_t watches() { return server.failWatches(WatchFault::End, "configmaps"); }

  Seen seen;
};

TEST_F(InformerNamespacesTest, HaveOneInformer) {
  SharedInformerFactory factory(clients, in({"films", "book"}));
  const auto informer = factory.coreV1().configMaps();
  const auto nodes = factory.coreV1().nodes();  // in no namespace
  informer.addHandler(seen.handler());
  factory.start();
  ASSERT_TRUE(factory.waitForSync());
  EXPECT_EQ(informer.namespaces(), (Strings{"book", "films"}));
  EXPECT_EQ(nodes.namespaces(), std::nullopt);
  EXPECT_TRUE(seen.waitFor({"book/a", "films/a"}));
  EXPECT_EQ(informer.store().size(), 2U);
  EXPECT_NE(informer.lister().inNamespace("films").get("a"), nullptr);
  maps("music").create(map("b"));
  maps("films").create(map("b"));
  EXPECT_TRUE(seen.waitFor({"book/a", "films/a", "films/b"}));
  EXPECT_THAT(informer.describe(), HasSubstr("configmaps in 2 namespaces: synced at version "));
  EXPECT_EQ(informer.stats().source.lists, 2U);
  EXPECT_EQ(watches(), 2U);
  EXPECT_EQ(seen.wrong(), "");
}

TEST_F(InformerNamespacesTest, AreAddedWhileItRuns) {
  SharedInformerFactory factory(clients, in({"book"}));
  const auto informer = factory.coreV1().configMaps();
  informer.addHandler(seen.handler());
  factory.start();
  ASSERT_TRUE(factory.waitForSync());
  const auto fault = server.inject({.path = "/api/v1/namespaces/films", .status = 403});
  factory.addNamespace("films");
  factory.addNamespace("films");
  EXPECT_FALSE(informer.hasSynced());
  EXPECT_TRUE(eventually([&] { return informer.stats().source.errors > 0; }));
  EXPECT_THAT(factory.notSynced(),
              ::testing::ElementsAre(AllOf(HasSubstr("configmaps in 2 namespaces: not synced yet "
                                                     "in 1 (films); "),
                                           HasSubstr("the last: "), HasSubstr("403"))));
  // The others go on.
  maps("book").create(map("b"));
  EXPECT_TRUE(seen.waitFor({"book/a", "book/b"}));
  server.forget(fault);
  EXPECT_TRUE(informer.waitForSync());
  EXPECT_TRUE(factory.notSynced().empty());
  EXPECT_NE(informer.lister().inNamespace("films").get("a"), nullptr);
  EXPECT_TRUE(seen.waitFor({"book/a", "book/b", "films/a"}));
  // An informer that is requested later has the factory's namespaces of then.
  const auto secrets = factory.coreV1().secrets();
  EXPECT_EQ(secrets.namespaces(), (Strings{"book", "films"}));
  EXPECT_EQ(factory.namespaces(), (Strings{"book", "films"}));
}

TEST_F(InformerNamespacesTest, LeaveTheCacheWhenTheyAreRemoved) {
  SharedInformerFactory factory(clients, in({"book", "films"}));
  const auto informer = factory.coreV1().configMaps();
  informer.addHandler(seen.handler());
  factory.start();
  ASSERT_TRUE(factory.waitForSync());
  ASSERT_TRUE(seen.waitFor({"book/a", "films/a"}));
  const auto before = informer.stats().source;
  factory.removeNamespace("films");
  factory.removeNamespace("unknown");
  EXPECT_TRUE(seen.waitFor({"book/a"}));
  EXPECT_EQ(seen.unknown, 1) << "the object still exists on the server";
  EXPECT_EQ(informer.store().size(), 1U);
  EXPECT_TRUE(informer.hasSynced());
  maps("films").create(map("b"));
  maps("book").create(map("b"));
  EXPECT_TRUE(seen.waitFor({"book/a", "book/b"}));
  // Counts do not decrease, because metrics are made from them.
  EXPECT_GE(informer.stats().source.lists, before.lists);
  EXPECT_TRUE(eventually([&] { return watches() == 1; }));
  // It comes back.
  factory.addNamespace("films");
  EXPECT_TRUE(informer.waitForSync());
  EXPECT_TRUE(seen.waitFor({"book/a", "book/b", "films/a", "films/b"}));
  EXPECT_EQ(seen.wrong(), "");
}

TEST_F(InformerNamespacesTest, AreListedAgainEachForItself) {
  SharedInformerFactory factory(clients, {.namespaces = Strings{"book", "films"},
                                          .informer = {.backoff = {.initial = 1ms, .cap = 10ms}}});
  const auto informer = factory.coreV1().configMaps();
  informer.addHandler(seen.handler());
  factory.start();
  ASSERT_TRUE(factory.waitForSync());
  ASSERT_TRUE(seen.waitFor({"book/a", "films/a"}));
  // Nobody watches while the object is removed.
  const auto fault = server.inject({.verb = "watch", .status = 500});
  server.failWatches(WatchFault::End, "configmaps");
  maps("book").remove("a");
  server.expireRevisions();
  server.forget(fault);
  EXPECT_TRUE(seen.waitFor({"films/a"}));
  EXPECT_TRUE(eventually([&] { return informer.stats().source.lists >= 4; }));
  EXPECT_EQ(seen.deleted, 1);
  EXPECT_EQ(seen.wrong(), "");
}

TEST_F(InformerNamespacesTest, MayBeNoneForTheTimeBeing) {
  SharedInformerFactory factory(clients, in({}));
  const auto informer = factory.coreV1().configMaps();
  informer.addHandler(seen.handler());
  EXPECT_FALSE(informer.hasSynced());
  factory.start();
  ASSERT_TRUE(factory.waitForSync());
  EXPECT_EQ(informer.store().size(), 0U);
  informer.addNamespace("music");
  EXPECT_TRUE(informer.waitForSync());
  EXPECT_EQ(informer.store().size(), 1U);
  informer.removeNamespace("music");
  EXPECT_TRUE(seen.waitUntil([&] { return seen.deleted == 1; }));
}

TEST_F(InformerNamespacesTest, AreTheSameForInformersByName) {
  DynamicInformerFactory dynamic(DynamicClient(clients.rest()), in({"book", "films"}));
  MetadataInformerFactory metadata(MetadataClient(clients.rest()), in({"book"}));
  const auto whole = dynamic.forResource(configMaps);
  const auto partial = metadata.forResource(configMaps);
  dynamic.start();
  metadata.start();
  ASSERT_TRUE(dynamic.waitForSync());
  ASSERT_TRUE(metadata.waitForSync());
  EXPECT_EQ(whole.store().size(), 2U);
  EXPECT_EQ(partial.store().size(), 1U);
  metadata.addNamespace("music");
  dynamic.removeNamespace("book");
  EXPECT_TRUE(partial.waitForSync());
  EXPECT_EQ(partial.store().size(), 2U);
  EXPECT_TRUE(eventually([&] { return whole.store().size() == 1; }));
}

TEST_F(InformerNamespacesTest, AreChangedByItsHandlers) {
  for (const bool quick : {false, true}) {
    SharedInformerFactory factory(clients, in({"book"}));
    const auto informer = factory.coreV1().configMaps();
    Seen own;
    std::atomic<bool> done = false;
    informer.addHandler(own.handler(), {.quick = quick});
    informer.addHandler({.onAdd =
                             [&](const auto& object) {
                               if (object->metadata.namespace_ == "book") {
                                 factory.addNamespace("films");
                               } else {
                                 factory.removeNamespace("book");
                                 done = true;
                               }
                             }},
                        {.quick = quick});
    factory.start();
    EXPECT_TRUE(eventually([&] { return done.load(); }));
    EXPECT_TRUE(own.waitFor({"films/a"}));
    EXPECT_EQ(own.wrong(), "");
  }
}

TEST_F(InformerNamespacesTest, AreWatchedByAnInformerOnAThreadOfTheProgram) {
  SharedInformerFactory factory(clients, in({"book"}));
  const auto informer = factory.coreV1().configMaps();
  informer.addHandler(seen.handler());
  std::jthread runner([&](const std::stop_token& stop) { informer.run(stop); });
  EXPECT_TRUE(seen.waitFor({"book/a"}));
  informer.addNamespace("films");
  EXPECT_TRUE(seen.waitFor({"book/a", "films/a"}));
  informer.removeNamespace("book");
  EXPECT_TRUE(seen.waitFor({"films/a"}));
  runner.request_stop();
  runner.join();
  EXPECT_TRUE(informer.isStopped());
  EXPECT_THAT(errorOf<Error>([&] { informer.addNamespace("music"); }),
              HasSubstr("informer of configmaps: a namespace cannot be added: it has stopped"));
}

TEST_F(InformerNamespacesTest, LoseOtherObjectsThatItWasFilledWith) {
  SharedInformerFactory factory(clients, in({"book"}));
  const auto informer = factory.coreV1().configMaps();
  const auto object = [](std::string_view space, std::string_view name) {
    auto result = std::make_shared<ConfigMap>();
    result->metadata.namespace_ = space;
    result->metadata.name = name;
    return result;
  };
  informer.fill({object("book", "gone"), object("elsewhere", "b")});
  factory.start();
  ASSERT_TRUE(factory.waitForSync());
  EXPECT_EQ(informer.store().listKeys(), (std::vector<ObjectKey>{{"book", "a"}}));
}

TEST_F(InformerNamespacesTest, ResyncTogether) {
  FakeClock clock;
  SharedInformerFactory factory(
      clients,
      {.resync = 10s, .namespaces = Strings{"book", "films"}, .informer = {.clock = &clock}});
  factory.coreV1().configMaps().addHandler(seen.handler());
  factory.start();
  ASSERT_TRUE(factory.waitForSync());
  ASSERT_TRUE(seen.waitFor({"book/a", "films/a"}));
  clock.advance(10s);
  EXPECT_TRUE(seen.waitUntil([&] { return seen.updated == 2; }));
  EXPECT_EQ(seen.wrong(), "");
}

TEST_F(InformerNamespacesTest, ThatTakeLongAreLogged) {
  FakeClock clock;
  server.inject({.path = "/api/v1/namespaces/films", .status = 403});
  SharedInformerFactory factory(
      clients, {.namespaces = Strings{"book", "films"}, .informer = {.clock = &clock}});
  const auto informer = factory.coreV1().configMaps();
  factory.coreV1().secrets();
  factory.start();
  EXPECT_TRUE(eventually([&] { return informer.stats().source.errors > 0; }));
  const testing::Logged logged;
  std::stop_source stop;
  std::jthread waits([&] { EXPECT_FALSE(factory.waitForSync(stop.get_token())); });
  EXPECT_TRUE(eventually([&] {
    clock.advance(5s);
    return logged.text().find("has waited") != std::string::npos;
  }));
  EXPECT_THAT(logged.text(), AllOf(HasSubstr(" for configmaps in 2 namespaces: not synced yet in 1 "
                                             "(films)"),
                                   HasSubstr("the last: "), HasSubstr("403")));
  stop.request_stop();
}

TEST_F(InformerNamespacesTest, HaveToBeAskedFor) {
  SharedInformerFactory all(clients);
  EXPECT_THAT(errorOf<Error>([&] { all.addNamespace("book"); }),
              HasSubstr("a namespace cannot be added: it was made without namespaces"));
  EXPECT_THAT(errorOf<Error>([&] { all.removeNamespace("book"); }),
              HasSubstr("without namespaces"));
  EXPECT_THAT(errorOf<Error>([&] { all.coreV1().configMaps().addNamespace("book"); }),
              HasSubstr("informer of configmaps: a namespace cannot be added"));
  SharedInformerFactory some(clients, in({"book"}));
  EXPECT_THAT(errorOf<Error>([&] { some.addNamespace(""); }), HasSubstr("no name"));
  EXPECT_THAT(errorOf<Error>([&] { some.coreV1().configMaps().addNamespace(""); }),
              HasSubstr("no name"));
  EXPECT_THAT(errorOf<Error>([&] { SharedInformerFactory(clients, in({""})); }),
              HasSubstr("leave namespaces unset for all"));
  EXPECT_THAT(errorOf<Error>([&] {
                SharedInformerFactory(clients,
                                      {.namespace_ = "book", .namespaces = Strings{"films"}});
              }),
              HasSubstr("choose one of the two"));
}

TEST_F(InformerNamespacesTest, ComeAndGoWhileItStartsAndEnds) {
  for (int i = 0; i < 20; ++i) {
    auto factory = std::make_unique<SharedInformerFactory>(clients, in({"book"}));
    const auto informer = factory->coreV1().configMaps();
    Seen own;
    informer.addHandler(own.handler());
    std::jthread changes([&](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        factory->addNamespace("films");
        factory->removeNamespace("book");
        factory->addNamespace("book");
        factory->removeNamespace("films");
      }
    });
    factory->start();
    EXPECT_TRUE(own.waitUntil([&] { return own.added > i % 4; }));
    if (i % 2 == 0) factory->shutdown();
    changes.request_stop();
    changes.join();
    factory.reset();
    EXPECT_EQ(own.wrong(), "");
  }
}

// kubexx-soak runs longer ones.
TEST_F(InformerNamespacesTest, ComeAndGoUnderLoad) {
  const auto result =
      testing::NamespaceRound(server.config(), {.changes = detail::testAmount(1000)}).run();
  EXPECT_THAT(result.problems, ::testing::IsEmpty());
  EXPECT_GT(result.added, 0);
  EXPECT_GT(result.removed, 0);
}

}  // namespace
}  // namespace kube
