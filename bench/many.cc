#include "bench/many.h"

#include <fmt/core.h>
#include <malloc.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "bench/config.h"
#include "bench/measure.h"
#include "kube/cache/core/v1.h"
#include "kube/cache/shared_informer_factory.h"
#include "kube/client/core/v1.h"

namespace kube::bench {

namespace {

using corev1::ConfigMap;
constexpr int kObjectsEach = 10;

std::string namespaceOf(int i) { return fmt::format("many-{}", i); }

template <class Client, class Object>
void createUnlessThere(const Client& client, const Object& object) {
  try {
    client.create(object);
  } catch (const ApiError& error) {
    if (!isAlreadyExists(error)) throw;
  }
}

}  // namespace

int createConfigMaps(int namespaces) {
  const Clientset clients(unlimited());
  const Stopwatch watch;
  std::atomic<int> next = 0;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = next++; i < namespaces; i = next++) {
        corev1::Namespace space;
        space.metadata.name = namespaceOf(i);
        createUnlessThere(clients.coreV1().namespaces(), space);
        for (int k = 0; k < kObjectsEach; ++k) {
          ConfigMap map;
          map.metadata.name = fmt::format("map-{}", k);
          map.data["value"] = "0";
          createUnlessThere(clients.coreV1().configMaps(space.metadata.name), map);
        }
      }
    });
  }
  threads.clear();
  fmt::print("{{\"impl\":\"kubexx\",\"bench\":\"configmaps\",\"n\":{},\"wall_s\":{:.3f}}}\n",
             namespaces * kObjectsEach, watch.wall());
  return 0;
}

int informers(int count) {
  const Clientset clients(unlimited());
  const long base = statusKb("VmRSS:");
  const Stopwatch watch;
  std::vector<std::unique_ptr<SharedInformerFactory>> all;
  std::atomic<long> told = 0;
  for (int i = 0; i < count; ++i) {
    all.push_back(std::make_unique<SharedInformerFactory>(
        clients, InformerFactoryOptions{.namespace_ = namespaceOf(i)}));
    all.back()->coreV1().configMaps().addHandler({.onAdd = [&](const auto&) { ++told; }});
    all.back()->start();
  }
  std::size_t objects = 0;
  for (const auto& factory : all) {
    factory->waitForSync();
    objects += factory->coreV1().configMaps().store().size();
  }
  const double wall = watch.wall();
  const double cpu = watch.cpu();
  const long peak = statusKb("VmHWM:");
  malloc_trim(0);
  fmt::print(
      "{{\"impl\":\"kubexx\",\"bench\":\"informers\",\"n\":{},\"objects\":{},\"wall_s\":{:.6f},"
      "\"cpu_s\":{:.6f},\"threads\":{},\"base_rss_kb\":{},\"rss_kb\":{},\"peak_rss_kb\":{}}}\n",
      count, objects, wall, cpu, statusKb("Threads:"), base, statusKb("VmRSS:"), peak);
  return 0;
}

int watchers(int changes, int watches) {
  constexpr int kWriters = 4;
  const Clientset clients(unlimited());
  const auto maps = clients.coreV1().configMaps("default");
  const String since = maps.list().metadata.resourceVersion;
  std::atomic<int> wrong = 0;
  std::atomic<long> seen = 0;
  std::vector<std::jthread> readers;
  for (int w = 0; w < watches; ++w) {
    // Each watcher has a connection of its own, like a process of its own.
    Clientset own(unlimited());
    auto watch = own.coreV1().configMaps("default").watch({.resourceVersion = since});
    readers.emplace_back([&, own = std::move(own), watch = std::move(watch)]() mutable {
      std::vector<int> next(kWriters, 0);
      for (int i = 0; i < changes; ++i) {
        const auto event = watch.next();
        if (!event || event->type == EventType::Error) {
          ++wrong;
          return;
        }
        const auto& data = event->object.data;
        const auto writer = static_cast<std::size_t>(std::stoi(data.at("writer").str()));
        if (std::stoi(data.at("count").str()) != next.at(writer)++) ++wrong;
        ++seen;
      }
    });
  }
  const Stopwatch watch;
  std::vector<std::jthread> writers;
  for (int t = 0; t < kWriters; ++t) {
    writers.emplace_back([&, t] {
      ConfigMap map;
      map.metadata.name = fmt::format("watched-{}-{}", t, since);
      map.data["writer"] = std::to_string(t);
      for (int i = 0; i < changes / kWriters + (t < changes % kWriters ? 1 : 0); ++i) {
        map.data["count"] = std::to_string(i);
        i == 0 ? maps.create(map) : maps.update(map);
      }
    });
  }
  writers.clear();
  const double written = watch.wall();
  readers.clear();
  fmt::print(
      "{{\"impl\":\"kubexx\",\"bench\":\"watchers\",\"watchers\":{},\"changes\":{},\"wrong\":{},"
      "\"changes_per_s\":{:.0f},\"wall_s\":{:.6f},\"events_per_s\":{:.0f}}}\n",
      watches, changes, wrong.load(), changes / written, watch.wall(), seen / watch.wall());
  return wrong == 0 ? 0 : 1;
}

}  // namespace kube::bench
