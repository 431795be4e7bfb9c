#include "bench/latency.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "bench/config.h"
#include "bench/measure.h"
#include "kube/cache/core/v1.h"
#include "kube/cache/shared_informer_factory.h"
#include "kube/client/core/v1.h"

namespace kube::bench {

namespace {

using corev1::ConfigMap;
constexpr const char* kPacedNamespace = "latency";
constexpr int kPacedObjects = 64;
constexpr int kPacedWriters = 16;

/// A version and the time at which this process saw it. Any process has the same clock.
using Seen = std::pair<String, std::int64_t>;

std::int64_t wallNanos() {
  return std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count();
}

void writeSeen(const std::string& file, const std::vector<Seen>& all) {
  std::ofstream out(file);
  for (const auto& [version, time] : all) out << version << ' ' << time << '\n';
  if (!out.flush()) throw Error(fmt::format("{}: cannot be written", file));
}

std::string pacedName(int i) { return fmt::format("object-{}", i); }

void createPaced(const Clientset& clients) {
  corev1::Namespace space;
  space.metadata.name = kPacedNamespace;
  ConfigMap map;
  const auto create = [](const auto& client, const auto& object) {
    try {
      client.create(object);
    } catch (const ApiError& error) {
      if (!isAlreadyExists(error)) throw;
    }
  };
  create(clients.coreV1().namespaces(), space);
  for (int i = 0; i < kPacedObjects; ++i) {
    map.metadata.name = pacedName(i);
    create(clients.coreV1().configMaps(kPacedNamespace), map);
  }
}

}  // namespace

int latency(const std::string& mode, int seconds, const std::string& file) {
  const Clientset clients(configFor(mode));
  SharedInformerFactory factory(clients, {.namespace_ = kPacedNamespace});
  std::mutex seenMutex;
  std::vector<Seen> seen;
  seen.reserve(100'000);
  factory.coreV1().configMaps().addHandler({.onUpdate = [&](const auto&, const auto& after) {
    const std::int64_t time = wallNanos();
    const std::lock_guard lock(seenMutex);
    seen.emplace_back(after->metadata.resourceVersion, time);
  }});
  factory.start();
  factory.waitForSync();
  fmt::print("ready\n");
  std::fflush(stdout);
  const Stopwatch watch;
  std::this_thread::sleep_for(std::chrono::seconds(seconds));
  const double cpu = watch.cpu();
  factory.shutdown();
  writeSeen(file, seen);
  fmt::print(
      "{{\"impl\":\"kubexx\",\"bench\":\"latency\",\"mode\":\"{}\",\"n\":{},"
      "\"cpu_us_per_event\":{:.1f}}}\n",
      mode, seen.size(), seen.empty() ? 0 : cpu * 1e6 / static_cast<double>(seen.size()));
  return 0;
}

int pacedWrites(int rate, int seconds, const std::string& file) {
  if (rate < 1 || seconds < 1) throw Error("paced: the rate and the time must be 1 or more");
  const Clientset clients(unlimited());
  createPaced(clients);
  const long count = static_cast<long>(rate) * seconds;
  const auto start = std::chrono::steady_clock::now();
  const auto end = start + std::chrono::seconds(seconds);
  std::atomic<long> next = 0;
  std::mutex seenMutex;
  std::vector<Seen> seen;
  const auto work = [&] {
    const auto maps = clients.coreV1().configMaps(kPacedNamespace);
    for (long i = next++; i < count; i = next++) {
      std::this_thread::sleep_until(start + std::chrono::nanoseconds(1'000'000'000L * i / rate));
      if (std::chrono::steady_clock::now() > end) return;
      const ConfigMap changed =
          maps.patch(pacedName(static_cast<int>(i % kPacedObjects)), PatchType::Merge,
                     fmt::format(R"({{"data":{{"now":"{}"}}}})", wallNanos()));
      const std::int64_t time = wallNanos();
      const std::lock_guard lock(seenMutex);
      seen.emplace_back(changed.metadata.resourceVersion, time);
    }
  };
  std::vector<std::jthread> writers;
  for (int i = 0; i < std::min(rate, kPacedWriters); ++i) writers.emplace_back(work);
  writers.clear();
  const double took =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  writeSeen(file, seen);
  fmt::print(
      "{{\"impl\":\"kubexx\",\"bench\":\"paced\",\"rate\":{},\"n\":{},\"writes_per_s\":{:.0f}}}\n",
      rate, seen.size(), static_cast<double>(seen.size()) / took);
  return 0;
}

}  // namespace kube::bench
