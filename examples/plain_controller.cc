// A controller from its parts, like client-go's workqueue example: an informer whose handlers put
// keys into a queue, and workers that take them out. kube::Controller does the same, and more.
//
//   plain_controller [namespace]        prints new, changed and deleted pods, until Ctrl-C
#include <fmt/core.h>

#include <chrono>
#include <exception>
#include <string>
#include <thread>
#include <vector>

#include "kube/kube.h"

namespace {

using namespace std::chrono_literals;
using kube::ObjectKey;
using kube::corev1::Pod;

constexpr int kWorkers = 2;
constexpr int kRetries = 5;

using Queue = kube::RateLimitingQueue<ObjectKey>;

// The task of the controller. It gets a key, not an event, and reads the current state in the
// cache.
void sync(const kube::Lister<Pod>& pods, const ObjectKey& key) {
  const auto pod = pods.get(key);
  if (!pod) {
    fmt::print("{} is gone\n", key);
    return;
  }
  if (pod->metadata.annotations["example.com/fail"] == "true") throw kube::Error("asked to fail");
  fmt::print("{} is {}\n", key, pod->status->phase);
}

// Handles one key after the other, until the queue is shut down.
void work(Queue& queue, const kube::Lister<Pod>& pods) {
  for (kube::WorkItem<ObjectKey> item; queue.next(item);) {
    try {
      sync(pods, *item);
      queue.forget(*item);  // the next failure counts as the first
    } catch (const std::exception& error) {
      if (queue.numRequeues(*item) < kRetries) {
        fmt::print("{}: {}; trying again\n", *item, error.what());
        queue.addRateLimited(*item);
      } else {
        fmt::print("{}: {}; dropped after {} retries\n", *item, error.what(), kRetries);
        queue.forget(*item);
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) try {
  const std::stop_token stop = kube::signalStop();
  const kube::Clientset clients(kube::Config::load());
  kube::SharedInformerFactory factory(clients, {.namespace_ = argc > 1 ? argv[1] : ""});
  Queue queue({.name = "pods"});

  const auto pods = factory.coreV1().pods();
  pods.addHandler({.onAdd = [&](const auto& pod) { queue.add(kube::keyOf(*pod)); },
                   .onUpdate = [&](const auto&, const auto& pod) { queue.add(kube::keyOf(*pod)); },
                   .onDelete = [&](const auto& last) { queue.add(last.key); }});
  factory.start(stop);
  if (!factory.waitForSync(stop)) return 0;

  std::vector<std::jthread> workers;
  for (int i = 0; i < kWorkers; ++i) {
    // A worker that ends for any other reason starts again a second later.
    workers.emplace_back([&] { kube::until(1s, stop, [&] { work(queue, pods.lister()); }); });
  }
  kube::realClock().sleepUntil(kube::Clock::noDeadline, stop);
  queue.shutDown();  // the workers handle the remaining keys and end
} catch (const std::exception& error) {
  fmt::print(stderr, "plain_controller: {}\n", error.what());
  return 1;
}
