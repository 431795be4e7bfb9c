#include "bench/informers.h"

#include <fmt/core.h>
#include <malloc.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <vector>

#include "bench/config.h"
#include "bench/measure.h"
#include "bench/seed.h"
#include "kube/cache/core/v1.h"
#include "kube/cache/resource_informer_factory.h"
#include "kube/client/core/v1.h"

namespace kube::bench {

namespace {

const GroupVersionResource kPods{"", "v1", "pods"};

template <class T>
int measure(InformerFactory& factory, const SharedInformer<T>& pods, const std::string& bench,
            const std::string& mode) {
  std::atomic<long> told{0};
  pods.addHandler({.onAdd = [&](auto) { ++told; }});
  const long base = statusKb("VmRSS:");
  resetPeak();
  const Stopwatch watch;
  factory.start();
  factory.waitForSync();
  const double wall = watch.wall();
  const double cpu = watch.cpu();
  const long before = statusKb("VmRSS:");
  const long peak = statusKb("VmHWM:");
  // The peer collects garbage here and returns free memory to the system.
  malloc_trim(0);
  const long held = statusKb("VmRSS:");
  const auto objects = static_cast<long>(pods.store().size());
  fmt::print(
      "{{\"impl\":\"kubexx\",\"bench\":\"{}\",\"mode\":\"{}\",\"pods\":{},\"wall_s\":{:.6f},"
      "\"cpu_s\":{:.6f},\"base_rss_kb\":{},\"rss_kb\":{},\"rss_before_gc_kb\":{},"
      "\"peak_rss_kb\":{},\"bytes_per_pod\":{}}}\n",
      bench, mode, objects, wall, cpu, base, held, before, peak,
      objects == 0 ? 0 : (held - base) * 1024 / objects);
  factory.shutdown();
  return 0;
}

}  // namespace

int sync(const std::string& mode, bool paged) {
  const InformerFactoryOptions options{.informer = {.streamList = !paged}};
  if (mode == "dynamic") {
    DynamicInformerFactory factory(DynamicClient(configFor("json")), options);
    return measure(factory, factory.forResource(kPods), "dynsync", "json");
  }
  if (mode == "metadata") {
    MetadataInformerFactory factory(MetadataClient(configFor("proto")), options);
    return measure(factory, factory.forResource(kPods), "metasync", "proto");
  }
  SharedInformerFactory factory(Clientset(configFor(mode)), options);
  return measure(factory, factory.coreV1().pods(), "sync", mode);
}

int events(const std::string& mode, int count) {
  SharedInformerFactory factory{Clientset(configFor(mode))};
  std::mutex mutex;
  std::condition_variable changed;
  int seen = 0;
  factory.coreV1().pods().addHandler({.onUpdate =
                                          [&](auto, auto) {
                                            const std::lock_guard lock(mutex);
                                            if (++seen == count) changed.notify_one();
                                          }},
                                     {.quick = true});  // like a controller's handlers
  factory.start();
  factory.waitForSync();
  fmt::print("ready\n");
  std::fflush(stdout);
  const Stopwatch watch;
  {
    std::unique_lock lock(mutex);
    while (!changed.wait_for(lock, std::chrono::seconds(10), [&] { return seen >= count; })) {
      fmt::print(stderr, "{} of {} events; {}", seen, count, factory.describe());
    }
  }
  fmt::print(
      "{{\"impl\":\"kubexx\",\"bench\":\"events\",\"mode\":\"{}\",\"n\":{},\"wall_s\":{:.6f},"
      "\"cpu_us_per_event\":{:.1f}}}\n",
      mode, count, watch.wall(), watch.cpu() * 1e6 / count);
  factory.shutdown();
  return 0;
}

int churn(int count) {
  constexpr int kThreads = 8;
  constexpr int kSeeded = 10'000;
  const Clientset clients(configFor("proto"));
  std::atomic<int> next{0};
  const auto work = [&] {
    for (int i = next++; i < count; i = next++) {
      const corev1::Pod pod = makePod(i % kSeeded);
      const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
      clients.coreV1()
          .pods(pod.metadata.namespace_)
          .patch(pod.metadata.name, PatchType::Merge,
                 fmt::format(R"({{"metadata":{{"labels":{{"churn":"{}"}}}}}})", now));
    }
  };
  const Stopwatch watch;
  std::vector<std::future<void>> all;
  for (int i = 0; i < kThreads; ++i) all.push_back(std::async(std::launch::async, work));
  for (std::future<void>& one : all) one.get();
  fmt::print("{{\"impl\":\"kubexx\",\"bench\":\"churn\",\"n\":{},\"patches_per_s\":{}}}\n", count,
             static_cast<long>(count / watch.wall()));
  return 0;
}

}  // namespace kube::bench
