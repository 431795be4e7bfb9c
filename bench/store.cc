#include "bench/store.h"

#include <fmt/core.h>

#include <future>
#include <memory>
#include <string>
#include <vector>

#include "bench/measure.h"
#include "bench/seed.h"
#include "kube/base/pool.h"
#include "kube/cache/store.h"
#include "kube/codec/protobuf.h"

namespace kube::bench {

int store(int threads) {
  using corev1::Pod;
  constexpr int kPods = 100000;
  constexpr int kRounds = 10;
  constexpr int kNodes = 200;
  std::vector<std::shared_ptr<const Pod>> pods;
  pods.reserve(kPods);
  Pool pool;  // like an informer's: the objects in its store come through a pool
  for (int i = 0; i < kPods; ++i) {
    pods.push_back(
        std::make_shared<const Pod>(fromProtobuf<Pod>(toProtobuf(makePod(i)), {.pool = &pool})));
  }

  Store<Pod> store({{String(kNamespaceIndex), namespaceIndex<Pod>},
                    {"node", [](const Pod& pod) { return Strings{pod.spec->nodeName}; }}});
  const long before = statusKb("VmRSS:");
  const Stopwatch adding;
  for (const auto& pod : pods) store.add(pod);
  const double add = adding.wall();
  const long held = (statusKb("VmRSS:") - before) * 1024 / kPods;

  // Keys of their own, not the objects' strings, which would compare equal by their address.
  std::vector<ObjectKey> keys;
  keys.reserve(kPods);
  for (const auto& pod : pods) keys.push_back(ObjectKey::parse(keyOf(*pod).str()));
  const auto getAll = [&] {
    std::size_t hits = 0;
    for (int round = 0; round < kRounds; ++round) {
      for (const ObjectKey& key : keys) {
        if (store.getByKey(key)) ++hits;
      }
    }
    return hits;
  };
  const auto byIndexAll = [&](int rounds) {
    std::size_t objects = 0;
    for (int round = 0; round < rounds; ++round) {
      for (int k = 0; k < kNodes; ++k) {
        objects += store.byIndex("node", "node-" + std::to_string(k)).size();
      }
    }
    return objects;
  };
  const Stopwatch getting;
  const std::size_t hits = getAll();
  const double get = getting.wall();

  const Stopwatch indexing;
  const std::size_t objects = byIndexAll(1);
  const double byIndex = indexing.wall();

  // Copies: updating with the same objects, as the peer does, would be no work here.
  std::vector<std::shared_ptr<const Pod>> copies;
  copies.reserve(kPods);
  for (const auto& pod : pods) copies.push_back(std::make_shared<const Pod>(*pod));
  const Stopwatch updating;
  for (const auto& pod : copies) store.update(pod);
  const double update = updating.wall();

  fmt::print(
      "{{\"impl\":\"kubexx\",\"bench\":\"store\",\"add_per_s\":{},\"get_per_s\":{},"
      "\"by_index_objects_per_s\":{},\"update_per_s\":{},\"bytes_per_object\":{}}}\n",
      static_cast<long>(kPods / add), static_cast<long>(static_cast<double>(hits) / get),
      static_cast<long>(static_cast<double>(objects) / byIndex), static_cast<long>(kPods / update),
      held);
  if (threads < 2) return 0;

  const auto together = [&](const std::function<std::size_t()>& work) {
    const Stopwatch watch;
    std::vector<std::future<std::size_t>> all;
    for (int t = 0; t < threads; ++t) all.push_back(std::async(std::launch::async, work));
    std::size_t total = 0;
    for (auto& one : all) total += one.get();
    return static_cast<double>(total) / watch.wall();
  };
  const double gets = together(getAll);
  const double byIndexes = together([&] { return byIndexAll(10); });
  fmt::print(
      "{{\"impl\":\"kubexx\",\"bench\":\"store\",\"threads\":{},\"get_per_s\":{},"
      "\"by_index_objects_per_s\":{}}}\n",
      threads, static_cast<long>(gets), static_cast<long>(byIndexes));
  return 0;
}

}  // namespace kube::bench
