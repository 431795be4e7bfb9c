// A controller from its parts, as client-go's workqueue example has it: an informer whose handlers
// put keys into a queue, and workers that take them out. kube::Controller does the same, and more.
//
//   plain_controller [namespace]        tells of pods as they come, change and go; Ctrl-C ends it
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

// What the controller is for. It gets a key, not an event: what there is now is in the cache.
void sync(const kube::Lister<Pod>& pods, const ObjectKey& key) {
  const auto pod = pods.get(key);
  if (!pod) {
    fmt::print("{} is gone\n", key);
    return;
  }
  if (pod->metadata.annotations["example.com/fail"] == "true") throw kube::Error("as it asks for");
  fmt::print("{} is {}\n", key, pod->status->phase);
}

// Takes one key after the other, until the queue is shut down.
void work(Queue& queue, const kube::Lister<Pod>& pods) {
  for (kube::WorkItem<ObjectKey> item; queue.next(item);) {
    try {
      sync(pods, *item);
      queue.forget(*item);  // it begins anew when it next fails
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
    // Whatever should end a worker, it begins again a second later.
    workers.emplace_back([&] { kube::until(1s, stop, [&] { work(queue, pods.lister()); }); });
  }
  kube::realClock().sleepUntil(kube::Clock::noDeadline, stop);
  queue.shutDown();  // workers finish what waits, and go
} catch (const std::exception& error) {
  fmt::print(stderr, "plain_controller: {}\n", error.what());
  return 1;
}
