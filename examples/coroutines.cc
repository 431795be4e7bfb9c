// Calls in coroutines: one after the other, side by side, with a limit of time, and with a stop.
//
//   coroutines [NAMESPACE]

#include <fmt/core.h>

#include "kube/base/signal_stop.h"
#include "kube/base/when.h"
#include "kube/client/async_resource_client.h"
#include "kube/client/core/v1.h"

namespace {

using namespace std::chrono_literals;
namespace corev1 = kube::corev1;

kube::Task<int> restarts(kube::AsyncResourceClient<corev1::Pod> pods, std::string name) {
  const corev1::Pod pod = co_await pods.get(name);
  int sum = 0;
  for (const auto& container : pod.status->containerStatuses) sum += container.restartCount;
  co_return sum;
}

// All pods at the same time: hundreds of calls are under way on one thread.
kube::Task<int> allRestarts(kube::AsyncResourceClient<corev1::Pod> pods) {
  const kube::metav1::ListOptions first{.limit = 500};
  const auto list = co_await pods.list(first);
  std::vector<kube::Task<int>> tasks;
  for (const auto& pod : list.items) tasks.push_back(restarts(pods, pod.metadata.name.str()));
  int sum = 0;
  const auto counts = co_await kube::whenAll(std::move(tasks));
  for (const int count : counts) sum += count;
  co_return sum;
}

// Returns none if no pod changes for five seconds.
kube::Task<std::optional<std::string>> nextChange(kube::AsyncResourceClient<corev1::Pod> pods) {
  const auto list = co_await pods.list();
  const kube::metav1::ListOptions since{.resourceVersion = list.metadata.resourceVersion};
  auto watch = co_await pods.watch(since);
  try {
    const auto event = co_await kube::within(5s, watch.next());
    if (event) co_return fmt::format("{} {}", event->type, event->object.metadata.name);
  } catch (const kube::TimeoutError&) {
  }
  co_return std::nullopt;
}

kube::Task<> report(kube::Clientset clients, std::string space) {
  const auto pods = clients.coreV1().pods(space).async();
  const auto nodes = clients.coreV1().nodes().async();
  const auto [sum, nodeList] = co_await kube::whenAll(allRestarts(pods), nodes.list());
  fmt::print("{} restarts, {} nodes\n", sum, nodeList.items.size());
  const auto change = co_await nextChange(pods);
  fmt::print("{}\n", change ? *change : "no change");
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const auto config = kube::Config::load();
    const kube::Clientset clients(config);
    const std::stop_token stop = kube::signalStop();
    kube::blockOn(report(clients, argc > 1 ? argv[1] : config.namespace_), stop);
  } catch (const kube::CanceledError&) {
    return 0;  // Ctrl-C
  } catch (const kube::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
