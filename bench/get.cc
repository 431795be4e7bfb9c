#include "bench/get.h"

#include <fmt/core.h>
#include <malloc.h>

#include <future>
#include <vector>

#include "bench/config.h"
#include "bench/measure.h"
#include "bench/seed.h"
#include "kube/client/core/v1.h"

namespace kube::bench {

int get(const std::string& mode, int count, int threads) {
  if (count < 1 || threads < 1) throw Error("get: --count and --threads must be 1 or more");
  const Config config = configFor(mode);
  const Clientset clients(config);
  const corev1::Pod wanted = makePod(1);
  if (!clients.coreV1().pods(wanted.metadata.namespace_).find(wanted.metadata.name)) seed(2);

  const auto run = [&](const Clientset& through) {
    for (int i = 0; i < count; ++i) {
      through.coreV1().pods(wanted.metadata.namespace_).get(wanted.metadata.name);
    }
  };
  // A new client, like the peer's: opening the connection counts.
  const Clientset measured(config);
  const Stopwatch watch;
  if (threads == 1) {
    run(measured);
  } else {
    std::vector<std::future<void>> all;
    for (int i = 0; i < threads; ++i) {
      all.push_back(std::async(std::launch::async, [&] { run(measured); }));
    }
    for (std::future<void>& one : all) one.get();
  }
  const double total = static_cast<double>(count) * threads;
  fmt::print(
      "{{\"impl\":\"kubexx\",\"bench\":\"get\",\"mode\":\"{}\",\"n\":{},\"threads\":{},"
      "\"requests_per_s\":{},\"cpu_us_per_request\":{}}}\n",
      mode, static_cast<long>(total), threads, static_cast<long>(total / watch.wall()),
      static_cast<long>(watch.cpu() * 1e6 / total));
  return 0;
}

int rawList(const std::string& mode, int rounds) {
  Config config = configFor(mode);
  config.disableCompression = true;
  const char* accept = mode == "proto" ? "application/vnd.kubernetes.protobuf" : "application/json";
  const CoreV1Client core = Clientset(config).coreV1();
  for (int round = 0; round < rounds; ++round) {
    const Stopwatch watch;
    std::size_t bytes = 0;
    auto body = core.rest().get().resource("pods").header("Accept", accept).stream();
    while (const auto piece = body.read()) bytes += piece->size();
    const double wall = watch.wall();
    fmt::print(
        "{{\"impl\":\"kubexx\",\"bench\":\"list-raw\",\"mode\":\"{}\",\"bytes\":{},\"wall_s\":{:."
        "6f},"
        "\"cpu_s\":{:.6f},\"mb_per_s\":{}}}\n",
        mode, bytes, wall, watch.cpu(), static_cast<long>(static_cast<double>(bytes) / wall / 1e6));
  }
  return 0;
}

int list(const std::string& mode, int rounds) {
  const Clientset clients(configFor(mode));
  for (int round = 0; round < rounds; ++round) {
    const long base = statusKb("VmRSS:");
    resetPeak();
    const Stopwatch watch;
    const auto pods = clients.coreV1().pods().list();
    const double wall = watch.wall();
    const double cpu = watch.cpu();
    const long peak = statusKb("VmHWM:");
    malloc_trim(0);
    fmt::print(
        "{{\"impl\":\"kubexx\",\"bench\":\"list\",\"mode\":\"{}\",\"pods\":{},\"wall_s\":{:.6f},"
        "\"cpu_s\":{:.6f},\"base_rss_kb\":{},\"rss_kb\":{},\"peak_rss_kb\":{}}}\n",
        mode, pods.items.size(), wall, cpu, base, statusKb("VmRSS:"), peak);
  }
  return 0;
}

}  // namespace kube::bench
