#include "bench/awaited.h"

#include <fmt/core.h>
#include <time.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "bench/config.h"
#include "bench/measure.h"
#include "bench/seed.h"
#include "kube/asio.h"
#include "kube/base/when.h"
#include "kube/cache/core/v1.h"
#include "kube/cache/shared_informer_factory.h"
#include "kube/client/async_resource_client.h"
#include "kube/client/core/v1.h"

namespace kube::bench {

namespace {

using Pods = AsyncResourceClient<corev1::Pod>;

Task<> getUntil(Pods pods, std::string name, std::atomic<int>& left) {
  while (left.fetch_sub(1) > 0) co_await pods.get(name);
}

Task<> getAll(Pods pods, std::string name, std::atomic<int>& left, int inFlight) {
  std::vector<Task<>> all;
  for (int i = 0; i < inFlight; ++i) all.push_back(getUntil(pods, name, left));
  co_await whenAll(std::move(all));
}

double threadCpuMillis() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

// Ticks on an io_context, and notes by how much a tick was late, and how much CPU time of the
// thread went elsewhere since the tick before.
class Ticker {
 public:
  explicit Ticker(boost::asio::io_context& io) : timer_(io) { next(); }

  double latest() const { return latest_; }
  double busiest() const { return busiest_; }
  void stop() { timer_.cancel(); }

 private:
  void next() {
    cpu_ = threadCpuMillis();
    timer_.expires_after(std::chrono::microseconds(500));
    timer_.async_wait([this](const boost::system::error_code& error) {
      if (error) return;
      const auto late = std::chrono::steady_clock::now() - timer_.expiry();
      latest_ = std::max(latest_, std::chrono::duration<double, std::milli>(late).count());
      busiest_ = std::max(busiest_, threadCpuMillis() - cpu_);
      next();
    });
  }

  boost::asio::steady_timer timer_;
  double latest_ = 0, busiest_ = 0, cpu_ = 0;
};

}  // namespace

int awaitedGets(int count, int inFlight, bool blocking) {
  if (count < 1 || inFlight < 1) throw Error("awaited: N and --in-flight must be 1 or more");
  const Config config = unlimited();
  const corev1::Pod wanted = makePod(1);
  const std::string name = wanted.metadata.name.str();
  if (!Clientset(config).coreV1().pods(wanted.metadata.namespace_).find(name)) seed(2);

  const Clientset clients(config);
  const auto pods = clients.coreV1().pods(wanted.metadata.namespace_);
  std::atomic<int> left = count;
  long threads = 0;
  const Stopwatch watch;
  if (blocking) {
    std::vector<std::jthread> all;
    for (int i = 0; i < inFlight; ++i) {
      all.emplace_back([&] {
        while (left.fetch_sub(1) > 0) pods.get(name);
      });
    }
    threads = statusKb("Threads:");
    all.clear();
  } else {
    blockOn(getAll(pods.async(), name, left, inFlight));
    threads = statusKb("Threads:");
  }
  fmt::print(
      "{{\"impl\":\"kubexx\",\"bench\":\"awaited\",\"form\":\"{}\",\"n\":{},\"in_flight\":{},"
      "\"threads\":{},\"requests_per_s\":{:.0f},\"cpu_us_per_request\":{:.0f},\"peak_rss_kb\":{}}}"
      "\n",
      blocking ? "blocking" : "awaited", count, inFlight, threads, count / watch.wall(),
      watch.cpu() * 1e6 / count, statusKb("VmHWM:"));
  return 0;
}

int stall(const std::string& mode) {
  boost::asio::io_context io(1);
  SharedInformerFactory factory{Clientset(configFor(mode))};
  const auto pods = factory.coreV1().pods();
  std::size_t told = 0;
  const auto registration =
      pods.addHandler({.onAdd = [&](const auto&) { ++told; }}, {.executor = asio::executor(io)});
  Ticker ticker(io);
  factory.start();
  const Stopwatch watch;
  while (!registration.hasSynced()) io.run_one();
  const double wall = watch.wall();
  fmt::print(
      "{{\"impl\":\"kubexx\",\"bench\":\"stall\",\"mode\":\"{}\",\"pods\":{},\"wall_s\":{:.3f},"
      "\"late_ms\":{:.3f},\"busy_ms\":{:.3f}}}\n",
      mode, told, wall, ticker.latest(), ticker.busiest());
  factory.shutdown();
  return 0;
}

}  // namespace kube::bench
