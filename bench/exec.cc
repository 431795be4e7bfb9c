#include "bench/exec.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <thread>
#include <vector>

#include "bench/measure.h"
#include "kube/base/error.h"
#include "kube/client/core/v1.h"
#include "kube/testing/api_server.h"

namespace kube::bench {

namespace {

using Milliseconds = std::chrono::duration<double, std::milli>;

constexpr std::size_t kMegabyte = std::size_t{1} << 20;

void print(const char* what, std::size_t bytes, const Stopwatch& watch, long before) {
  const double wall = watch.wall();
  fmt::print(
      "{{\"impl\":\"kubexx\",\"bench\":\"exec\",\"direction\":\"{}\",\"bytes\":{},"
      "\"wall_s\":{:.3f},\"mb_per_s\":{},\"cpu_s\":{:.3f},\"peak_growth_kb\":{}}}\n",
      what, bytes, wall, static_cast<long>(static_cast<double>(bytes) / 1e6 / wall), watch.cpu(),
      statusKb("VmHWM:") - before);
}

void out(const PodClient& pods, testing::ApiServer& server, std::size_t megabytes) {
  server.containers().exec("", "", [megabytes](testing::Process& process) {
    const std::string block(kMegabyte, 'x');
    for (std::size_t i = 0; i < megabytes; ++i) process.write(block);
    return 0;
  });
  resetPeak();
  const long before = statusKb("VmRSS:");
  const Stopwatch watch;
  std::size_t bytes = 0;
  auto session = pods.exec("bench", {.command = {"x"}});
  while (const auto piece = session.read()) bytes += piece->bytes.size();
  if (session.wait() != 0) throw Error("exec: failed");
  print("stdout", bytes, watch, before);
}

void in(const PodClient& pods, testing::ApiServer& server, std::size_t megabytes) {
  server.containers().exec("", "", [](testing::Process& process) {
    while (process.read()) {
    }
    return 0;
  });
  resetPeak();
  const long before = statusKb("VmRSS:");
  const Stopwatch watch;
  const std::string block(kMegabyte, 'x');
  auto session = pods.exec("bench", {.command = {"x"}, .stdin = true});
  for (std::size_t i = 0; i < megabytes; ++i) session.write(block);
  session.closeStdin();
  if (session.wait() != 0) throw Error("exec: failed");
  print("stdin", megabytes * kMegabyte, watch, before);
}

// Measures the time from the stop request to the end of wait(), while data flows or not.
void cancel(const PodClient& pods, testing::ApiServer& server) {
  server.containers().exec("", "", testing::runBuiltIn);
  std::vector<double> times;
  constexpr int kRounds = 50;
  for (int i = 0; i < kRounds; ++i) {
    for (const char* command : {"yes", "sleep"}) {
      std::stop_source stop;
      auto session = pods.exec("bench", {.command = {command, "1000"}}, stop.get_token());
      std::promise<void> begun;
      auto ended = std::async(std::launch::async, [&] {
        begun.set_value();
        try {
          session.wait();
        } catch (const CanceledError&) {
        }
        return std::chrono::steady_clock::now();
      });
      begun.get_future().wait();
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      const auto asked = std::chrono::steady_clock::now();
      stop.request_stop();
      times.push_back(Milliseconds(ended.get() - asked).count());
    }
  }
  std::sort(times.begin(), times.end());
  fmt::print(
      "{{\"impl\":\"kubexx\",\"bench\":\"exec\",\"what\":\"cancel\",\"n\":{},\"median_ms\":{:.2f},"
      "\"most_ms\":{:.2f}}}\n",
      times.size(), times[times.size() / 2], times.back());
}

}  // namespace

int exec(std::size_t megabytes) {
  testing::ApiServer server({.keptRequests = 0});
  const Clientset clients(server.config());
  corev1::Pod pod;
  pod.metadata.name = "bench";
  pod.spec->nodeName = "node";
  pod.spec->containers.push_back({.name = "app", .image = "scratch"});
  const PodClient pods = clients.coreV1().pods("default");
  pods.create(pod);
  for (int round = 0; round < 3; ++round) {
    out(pods, server, megabytes);
    in(pods, server, megabytes);
  }
  cancel(pods, server);
  return 0;
}

}  // namespace kube::bench
