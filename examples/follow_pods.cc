// Prints the logs of all pods with a label at the same time, each as soon as its pod runs, on one
// thread; and marks the pods that were read.
//
//   follow_pods LABEL=VALUE [NAMESPACE]

#include <fmt/core.h>

#include "kube/base/signal_stop.h"
#include "kube/base/when.h"
#include "kube/client/core/v1.h"
#include "kube/client/retry.h"
#include "kube/client/wait.h"

namespace {

using namespace std::chrono_literals;
namespace corev1 = kube::corev1;

// Reads the pod again each time that another client has changed it.
kube::Task<> mark(kube::AsyncPodClient pods, std::string name) {
  const auto change = [&]() -> kube::Task<> {
    corev1::Pod pod = co_await pods.get(name);
    pod.metadata.labels["example.com/read"] = "true";
    co_await pods.update(pod);
  };
  co_await kube::retryOnConflict(change);
}

kube::Task<> print(kube::AsyncPodClient pods, std::string name) {
  const auto runs = [](const corev1::Pod* pod) {
    return pod != nullptr && pod->status->phase != "Pending";
  };
  co_await kube::waitFor(pods, name, runs, 1min);
  auto log = co_await pods.followLogs(name);
  for (;;) {
    const auto line = co_await log.nextLine();
    if (!line) break;
    fmt::print("{}: {}\n", name, *line);
  }
  co_await mark(pods, name);
}

kube::Task<> printAll(kube::AsyncPodClient pods, std::string selector) {
  const kube::metav1::ListOptions selected{.labelSelector = selector};
  const auto list = co_await pods.list(selected);
  std::vector<kube::Task<>> tasks;
  for (const auto& pod : list.items) tasks.push_back(print(pods, pod.metadata.name.str()));
  co_await kube::whenAll(std::move(tasks));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: follow_pods LABEL=VALUE [NAMESPACE]\n");
    return 2;
  }
  try {
    const auto config = kube::Config::load();
    const kube::Clientset clients(config);
    const auto pods = clients.coreV1().pods(argc > 2 ? argv[2] : config.namespace_).async();
    kube::blockOn(printAll(pods, argv[1]), kube::signalStop());
  } catch (const kube::CanceledError&) {
    return 0;  // Ctrl-C
  } catch (const kube::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
