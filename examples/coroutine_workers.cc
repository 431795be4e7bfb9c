// The parts of a controller in coroutines, on the thread of main(): an election, an informer, and a
// queue with a hundred workers. kube::Controller does the same, and more.
//
//   coroutine_workers [NAMESPACE]        prints new and changed pods, while this copy leads
#include <fmt/core.h>

#include "kube/base/when.h"
#include "kube/client/async_resource_client.h"
#include "kube/kube.h"

namespace {

using namespace std::chrono_literals;
using kube::ObjectKey;
using kube::corev1::Pod;
using Queue = kube::RateLimitingQueue<ObjectKey>;

constexpr int kWorkers = 100;

kube::Task<> print(kube::Clientset clients, ObjectKey key) {
  const auto pods = clients.coreV1().pods(key.namespace_).async();
  const auto pod = co_await pods.find(key.name);
  fmt::print("{} {}\n", key, pod ? pod->status->phase.str() : "is gone");
}

kube::Task<> work(Queue& queue, kube::Clientset clients) {
  for (kube::WorkItem<ObjectKey> item;;) {
    const bool any = co_await queue.async().next(item);
    if (!any) break;
    try {
      co_await print(clients, *item);
      queue.forget(*item);
    } catch (const kube::Error& error) {
      fmt::print("{}: {}; trying again\n", *item, error.what());
      queue.addRateLimited(*item);
    }
  }
}

kube::Task<> follow(kube::Clientset clients, kube::String space) {
  Queue queue;
  kube::SharedInformerFactory factory(clients, {.namespace_ = space});
  const auto pods = factory.coreV1().pods();
  pods.addHandler({.onAdd = [&](const auto& pod) { queue.add(kube::keyOf(*pod)); },
                   .onUpdate = [&](const auto&, const auto& pod) { queue.add(kube::keyOf(*pod)); },
                   .onDelete = [&](const auto& last) { queue.add(last.key); }});
  factory.start();
  const bool synced = co_await factory.async().waitForSync();
  if (!synced) co_return;
  std::vector<kube::Task<>> workers;
  for (int i = 0; i < kWorkers; ++i) workers.push_back(work(queue, clients));
  co_await kube::whenAll(std::move(workers));
}

kube::Task<bool> lead(kube::Clientset clients, kube::String space) {
  kube::LeaderElector elector(clients.rest(), {.namespace_ = space,
                                               .name = "coroutine-workers",
                                               .identity = kube::uniqueIdentity(),
                                               .releaseOnCancel = true,
                                               .leading = [&] { return follow(clients, space); }});
  co_return co_await elector.async().run();
}

}  // namespace

int main(int argc, char** argv) try {
  const auto config = kube::Config::load();
  const kube::Clientset clients(config);
  const kube::String space = argc > 1 ? argv[1] : config.namespace_;
  return kube::blockOn(lead(clients, space), kube::signalStop()) ? 0 : 1;  // 1: the lease was lost
} catch (const kube::Error& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 1;
}
