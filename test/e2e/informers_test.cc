// Tests informers while a real API server is killed, restarted, and its history compacted. Needs a
// cluster that the test may break: the one that ./dev e2e starts, at $KUBEXX_E2E_CLUSTER.

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>

#include "kube/client/core/v1.h"
#include "kube/client/dynamic_client.h"
#include "kube/http/transport.h"
#include "test/e2e/cluster.h"
#include "test/soak/subject.h"

namespace kube {
namespace {

using namespace std::chrono_literals;
using corev1::ConfigMap;
using e2e::Cluster;
using e2e::insist;
using soak::eventually;
using soak::Problems;
using soak::Subject;

Config config() {
  Config config = Config::load();
  config.qps = -1;
  return config;
}

SharedInformerOptions options(bool streamed, std::int64_t pageSize = 0) {
  return {.streamList = streamed,
          .pageSize = pageSize,
          .backoff = {.initial = 20ms, .factor = 2, .cap = 500ms, .jitter = 1},
          .onError = [](const std::exception&) {}};
}

// Changes the objects of a namespace until it is stopped, and tolerates a missing server.
class Writer {
 public:
  explicit Writer(const ResourceClient<ConfigMap>& maps)
      : thread_([this, maps](const std::stop_token& stop) {
          for (int i = 0; !stop.stop_requested(); ++i) {
            try {
              change(maps, i, stop);
              ++changes_;
            } catch (const Error&) {
              realClock().sleepFor(20ms, stop);
            }
          }
        }) {}

  bool waitForMore(int changes) const {
    const int before = changes_;
    return eventually([&] { return changes_ >= before + changes; });
  }

 private:
  static void change(const ResourceClient<ConfigMap>& maps, int i, const std::stop_token& stop) {
    ConfigMap map;
    map.metadata.name = fmt::format("map-{}", i * 7 % 50);
    map.data["value"] = fmt::format("{}", i);
    if (i % 5 == 4) {
      maps.remove(map.metadata.name, {}, stop);
    } else if (maps.find(map.metadata.name, {}, stop)) {
      maps.update(map, {}, stop);
    } else {
      maps.create(map, {}, stop);
    }
  }

  std::atomic<int> changes_{0};
  std::jthread thread_;
};

TEST(InformersTest, SurviveAServerThatIsKilledAndCompacted) {
  if (!Cluster::isThere()) {
    GTEST_SKIP() << "needs a cluster that it may break, but KUBEXX_E2E_CLUSTER is not set "
                    "(./dev e2e sets it if it can start a real API server)";
  }
  const Cluster cluster;
  const Clientset clients(config());
  corev1::Namespace space;
  space.metadata.generateName = "kubexx-informers-";
  ASSERT_TRUE(insist(cluster, [&] { space = clients.coreV1().namespaces().create(space); }));
  const String name = space.metadata.name;
  const auto maps = clients.coreV1().configMaps(name);

  Problems problems;
  const std::atomic<int> histories{0};
  const GroupVersionResource gvr{"", "v1", "configmaps"};
  Subject<ConfigMap> typed("typed", maps, options(true), problems, histories);
  Subject<ConfigMap> paged("paged", maps, options(false, 7), problems, histories);
  Subject<Unstructured> dynamic("dynamic",
                                DynamicClient(clients.rest()).resource(gvr).inNamespace(name),
                                options(true), problems, histories);
  Subject<metav1::PartialObjectMetadata> metadata(
      "metadata", MetadataClient(clients.rest()).resource(gvr).inNamespace(name), options(true),
      problems, histories);
  typed.observe({.name = "plain"});
  paged.observe({.name = "plain"});
  dynamic.observe({.name = "plain"});
  metadata.observe({.name = "plain"});
  soak::AnySubject* const all[] = {&typed, &paged, &dynamic, &metadata};
  for (soak::AnySubject* subject : all) subject->start();
  for (soak::AnySubject* subject : all) {
    EXPECT_TRUE(eventually([&] { return subject->stats().source.lists != 0; }));
  }

  {
    const Writer writer{Clientset(config()).coreV1().configMaps(name)};
    const auto goOn = [&] {
      cluster.start();
      ASSERT_TRUE(writer.waitForMore(60));
    };
    goOn();
    cluster.compact();  // under a running server
    goOn();
    for (int i = 0; i < 3; ++i) {
      cluster.kill();
      if (i != 0) cluster.compact();  // so that watches cannot resume
      goOn();
    }
  }
  ConfigMap last;
  last.metadata.name = "the-last";
  ASSERT_TRUE(insist(cluster, [&] {
    const auto found = maps.find("the-last");
    last = found ? *found : maps.create(last);
  }));
  for (soak::AnySubject* subject : all) {
    subject->check(keyOf(last), last.metadata.resourceVersion);
    std::printf("%s\n", subject->describe().c_str());
    EXPECT_LT(subject->stop(), 5s);
  }
  for (const std::string& problem : problems.texts()) ADD_FAILURE() << problem;
  insist(cluster, [&] { clients.coreV1().namespaces().remove(name); });
}

}  // namespace
}  // namespace kube
