#include "test/soak/many.h"

#include <fmt/core.h>

#include <atomic>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "bench/measure.h"
#include "kube/cache/core/v1.h"
#include "kube/cache/shared_informer.h"
#include "kube/client/core/v1.h"
#include "test/soak/server_process.h"

namespace kube::soak {

namespace {

using bench::statusKb;
using corev1::ConfigMap;

// Creates the objects, on threads that end before anything is measured.
void populate(const Config& config, int namespaces, int objectsEach) {
  const Clientset clients(config);
  std::vector<std::jthread> threads;
  std::atomic<int> next{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = next++; i < namespaces; i = next++) {
        corev1::Namespace space;
        space.metadata.name = fmt::format("many-{}", i);
        clients.coreV1().namespaces().create(space);
        for (int k = 0; k < objectsEach; ++k) {
          ConfigMap map;
          map.metadata.name = fmt::format("map-{}", k);
          map.data["value"] = "0";
          clients.coreV1().configMaps(space.metadata.name).create(map);
        }
      }
    });
  }
}

void report(const char* when, int informers, const bench::Stopwatch& watch) {
  fmt::print(
      "{{\"bench\":\"informers\",\"n\":{},\"when\":\"{}\",\"threads\":{},\"rss_kb\":{},"
      "\"peak_rss_kb\":{},\"cpu_s\":{:.3f},\"wall_s\":{:.3f}}}\n",
      informers, when, statusKb("Threads:"), statusKb("VmRSS:"), statusKb("VmHWM:"), watch.cpu(),
      watch.wall());
  std::fflush(stdout);
}

}  // namespace

int runMany(int informers, int objectsEach) {
  const ServerProcess server;
  Config config = Config::fromKubeconfig(server.kubeconfig());
  config.qps = -1;
  populate(config, informers, objectsEach);

  const bench::Stopwatch watch;
  const Clientset clients(config);
  report("before", informers, watch);
  std::latch updated(informers);
  std::vector<std::unique_ptr<SharedInformer<ConfigMap>>> all;
  std::vector<std::jthread> runners;
  for (int i = 0; i < informers; ++i) {
    all.push_back(std::make_unique<SharedInformer<ConfigMap>>(
        ListWatch<ConfigMap>::fromClient(clients.coreV1().configMaps(fmt::format("many-{}", i)))));
    all.back()->addHandler({.onUpdate = [&](const auto&, const auto& after) {
      if (after->data["value"] == "1") updated.count_down();
    }});
    runners.emplace_back(
        [informer = all.back().get()](const std::stop_token& stop) { informer->run(stop); });
  }
  std::size_t objects = 0;
  for (const auto& informer : all) {
    informer->waitForSync();
    objects += informer->store().size();
  }
  report("synced", informers, watch);
  for (int i = 0; i < informers; ++i) {
    ConfigMap map;
    map.metadata.name = "map-0";
    map.data["value"] = "1";
    clients.coreV1().configMaps(fmt::format("many-{}", i)).update(map);
  }
  updated.wait();
  report("each has had an update", informers, watch);
  for (std::jthread& runner : runners) runner.request_stop();
  for (std::jthread& runner : runners) runner.join();
  report("stopped", informers, watch);
  const auto expected = static_cast<std::size_t>(informers) * static_cast<std::size_t>(objectsEach);
  if (objects < expected) {
    fmt::print("the caches have only {} of {} objects\n", objects, expected);
    return 1;
  }
  return 0;
}

}  // namespace kube::soak
