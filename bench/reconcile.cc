#include "bench/reconcile.h"

#include <fmt/core.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "bench/config.h"
#include "bench/measure.h"
#include "examples/network-controller/definition.h"
#include "examples/network-controller/network.h"
#include "examples/network-controller/network_controller.h"
#include "kube/base/poll.h"
#include "kube/controller/manager.h"
#include "kube/meta/api_error.h"
#include "kube/meta/conditions.h"

namespace kube::bench {
namespace {

using samplecrdv1::Network;
using namespace std::chrono_literals;

}  // namespace

int createNetworks(int count) {
  const Clientset clients(unlimited());
  (void)network::installDefinition(clients.rest());
  const ResourceClient<Network> networks(clients.rest(), "default");
  // A server serves the resource a moment after it has taken the definition.
  poll({.interval = 20ms, .timeout = 30s}, {}, [&] {
    try {
      networks.list({.limit = 1});
      return true;
    } catch (const ApiError& error) {
      if (!isNotFound(error)) throw;
      return false;
    }
  });
  const Stopwatch watch;
  std::atomic<int> next = 0;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 16; ++t) {
    threads.emplace_back([&] {
      for (int i = next++; i < count; i = next++) {
        Network network;
        network.metadata.name = fmt::format("network-{}", i);
        network.spec->cidr = "/24";
        networks.create(network);
      }
    });
  }
  threads.clear();
  fmt::print("{{\"impl\":\"kubexx\",\"bench\":\"networks\",\"count\":{},\"wall_s\":{:.3f}}}\n",
             count, watch.wall());
  return 0;
}

int reconcile(int count, int workers) {
  Metrics metrics;
  Manager manager(unlimited(), {.metrics = &metrics});
  (void)network::installDefinition(manager.clients().rest());
  network::NetworkController networks(manager, {.workers = workers});

  std::mutex mutex;
  std::condition_variable changed;
  std::optional<Stopwatch> watch;  // from the first Network in the cache to the last ready one
  int ready = 0;
  const auto isReady = [](const Network& network) {
    return isStatusConditionTrue(network.status->conditions, "Ready");
  };
  manager.informers().informerFor<Network>().addHandler(
      {.onAdd =
           [&](const auto& network) {
             const std::lock_guard lock(mutex);
             if (!watch) watch.emplace();
             if (isReady(*network)) ++ready;
             changed.notify_all();
           },
       .onUpdate =
           [&](const auto& before, const auto& after) {
             if (isReady(*before) || !isReady(*after)) return;
             const std::lock_guard lock(mutex);
             if (++ready == count) changed.notify_all();
           }});
  std::jthread runner([&](const std::stop_token& stop) { manager.run(stop); });
  const long before = statusKb("VmRSS:");
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return ready >= count; });
  }
  const double wall = watch->wall();
  const double cpu = watch->cpu();
  const auto calls =
      metrics.counters("controller_runtime_reconcile_total", "", {"controller", "result"})
          .with({"networks", "success"})
          .value();
  const auto errors =
      metrics.counters("controller_runtime_reconcile_errors_total", "", {"controller"})
          .with({"networks"})
          .value();
  fmt::print(
      "{{\"impl\":\"kubexx\",\"bench\":\"reconcile\",\"networks\":{},\"workers\":{},"
      "\"wall_s\":{:.3f},\"cpu_s\":{:.3f},\"per_s\":{},\"us_cpu_each\":{},\"reconciles\":{},"
      "\"errors\":{},\"rss_before_kb\":{},\"rss_kb\":{},\"peak_rss_kb\":{}}}\n",
      count, workers, wall, cpu, static_cast<long>(count / wall),
      static_cast<long>(cpu / count * 1e6), calls, errors, before, statusKb("VmRSS:"),
      statusKb("VmHWM:"));
  runner.request_stop();
  runner.join();
  return 0;
}

}  // namespace kube::bench
