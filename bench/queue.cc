#include "bench/queue.h"

#include <fmt/core.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "bench/measure.h"
#include "kube/meta/object_key.h"
#include "kube/workqueue/rate_limiting_queue.h"

namespace kube::bench {
namespace {

constexpr int kKeys = 100'000;
constexpr int kAdds = 2'000'000;

template <class Key>
void measure(const std::vector<Key>& keys, int workers, bool named) {
  QueueOptions options;
  if (named) options.name = fmt::format("bench-{}", workers);
  RateLimitingQueue<Key> queue(options);
  const Stopwatch watch;
  std::atomic<long> handled = 0;
  std::vector<std::jthread> threads;
  for (int w = 0; w < workers; ++w) {
    threads.emplace_back([&] {
      for (WorkItem<Key> item; queue.next(item);) {
        queue.forget(*item);
        ++handled;
      }
    });
  }
  for (int i = 0; i < kAdds; ++i) queue.add(keys[static_cast<std::size_t>(i % kKeys)]);
  while (queue.len() > 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
  queue.shutDown();
  threads.clear();
  const double wall = watch.wall();
  fmt::print(
      "{{\"impl\":\"kubexx\",\"bench\":\"queue\",\"workers\":{},\"adds\":{},\"handled\":{},"
      "\"adds_per_s\":{},\"cpu_s\":{:.6f},\"named\":{}}}\n",
      workers, kAdds, handled.load(), static_cast<long>(kAdds / wall), watch.cpu(), named);
}

}  // namespace

int queue(bool objectKeys, bool named, const std::vector<int>& workerCounts) {
  std::vector<String> names;
  std::vector<ObjectKey> objects;
  for (int i = 0; i < kKeys; ++i) {
    const std::string space = fmt::format("ns-{}", i % 50);
    const std::string name = fmt::format("pod-{}", i);
    if (objectKeys) {
      objects.push_back({space, name});
    } else {
      names.emplace_back(space + "/" + name);
    }
  }
  for (const int workers : workerCounts) {
    if (objectKeys) {
      measure(objects, workers, named);
    } else {
      measure(names, workers, named);
    }
  }
  return 0;
}

}  // namespace kube::bench
