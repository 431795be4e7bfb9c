#include "bench/reconciles.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <thread>

#include "bench/measure.h"
#include "kube/api/core/v1.h"
#include "kube/base/task.h"
#include "kube/cache/list_watch.h"
#include "kube/controller/controller.h"

namespace kube::bench {
namespace {

using corev1::ConfigMap;

constexpr std::chrono::milliseconds kOutside{10};

// An informer of nothing.
SharedInformer<ConfigMap> empty() {
  return SharedInformer<ConfigMap>(
      {.list =
           [](const auto&, const auto&, const auto&, Pool&) {
             metav1::ListMeta list;
             list.resourceVersion = "1";
             return list;
           },
       .watch = [](const auto&, const std::stop_token& stop, Pool&) -> EventSource<ConfigMap> {
         return [stop]() -> std::optional<WatchEvent<ConfigMap>> {
           realClock().sleepUntil(Clock::noDeadline, stop);
           return std::nullopt;
         };
       }},
      {.streamList = false});
}

}  // namespace

int reconciles(int count, int workers, int inFlight) {
  Config config;
  config.host = "http://127.0.0.1:1";  // never called
  const Clientset clients(config);
  SharedInformerFactory factory(clients);
  static_cast<void>(factory.informerFor<ConfigMap>(&empty));
  Metrics metrics;
  std::atomic<int> done = 0;
  std::atomic<bool> ready = false;

  Controller<ConfigMap> controller("bench", factory, {.metrics = &metrics});
  controller.workers(workers).beforeWork([&](const std::stop_token&) {
    ready = true;
    ready.notify_all();
  });
  if (inFlight > 0) {
    controller.inFlight(inFlight).reconcile([&](const ObjectKey&) -> Task<Requeue> {
      co_await sleepFor(kOutside);
      ++done;
      co_return {};
    });
  } else {
    controller.reconcile([&](const ObjectKey&) {
      std::this_thread::sleep_for(kOutside);
      ++done;
    });
  }
  factory.start();
  const long before = statusKb("VmRSS:");
  const Stopwatch watch;
  std::jthread runner([&](const std::stop_token& stop) { controller.run(stop); });
  ready.wait(false);
  for (int i = 0; i < count; ++i) controller.enqueue({"book", fmt::format("key-{}", i)});
  long threads = 0, memory = 0;
  while (done < count) {
    threads = std::max(threads, statusKb("Threads:"));
    memory = std::max(memory, statusKb("VmRSS:"));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  const double wall = watch.wall();
  const double cpu = watch.cpu();
  runner.request_stop();
  runner.join();
  fmt::print(
      "{{\"impl\":\"kubexx\",\"bench\":\"reconciles\",\"count\":{},\"workers\":{},"
      "\"in_flight\":{},\"wall_s\":{:.3f},\"cpu_s\":{:.3f},\"per_s\":{},\"us_cpu_each\":{:.1f},"
      "\"threads\":{},\"grown_kb\":{},\"peak_rss_kb\":{}}}\n",
      count, workers, inFlight, wall, cpu, static_cast<long>(count / wall), cpu / count * 1e6,
      threads, memory - before, statusKb("VmHWM:"));
  return 0;
}

}  // namespace kube::bench
