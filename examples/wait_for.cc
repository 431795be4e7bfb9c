// Waits for objects in three ways: for one by its name, for all of a selector, and in a cache; and
// follows changes without a cache. It runs against an API server in the process.

#include <chrono>
#include <exception>
#include <iostream>

#include "kube/cache/core/v1.h"
#include "kube/cache/shared_informer_factory.h"
#include "kube/cache/wait_for_cached.h"
#include "kube/client/conditions.h"
#include "kube/client/core/v1.h"
#include "kube/client/resuming_watch.h"
#include "kube/client/wait.h"
#include "kube/codec/yaml.h"
#include "kube/testing/api_server.h"

namespace {

using namespace std::chrono_literals;
using kube::corev1::Pod;
namespace conditions = kube::conditions;

// Makes a pod and reports that it runs, as a kubelet would.
void run(const kube::Clientset& clients) {
  const auto pods = clients.coreV1().pods("default");
  Pod pod = pods.create(kube::fromYaml<Pod>(R"(
metadata: {name: web, labels: {app: web}}
spec: {containers: [{name: web, image: example.com/web}]}
)"));
  pod.status->phase = "Running";
  pod.status->conditions.push_back({.type = "Ready", .status = "True"});
  pods.updateStatus(pod);
}

void wait(const kube::Clientset& clients) {
  const auto pods = clients.coreV1().pods("default");
  kube::waitFor(pods, "web", conditions::podReady, 1min);
  const auto all = kube::waitForObjects(pods, {.labelSelector = "app=web"},
                                        conditions::every(conditions::podReady), {.timeout = 1min});
  std::cout << all.size() << " of app=web\n";

  kube::SharedInformerFactory factory(clients);
  const auto cached = factory.coreV1().pods();
  factory.start();
  const auto pod = kube::waitFor(cached, {"default", "web"}, conditions::podRunning);
  std::cout << pod->metadata.name << " is " << pod->status->phase << '\n';
}

void follow(const kube::Clientset& clients) {
  const auto pods = clients.coreV1().pods("default");
  const auto list = pods.list();
  kube::ResumingWatch<Pod> watch(pods, {.resourceVersion = list.metadata.resourceVersion});
  pods.remove("web", {.gracePeriodSeconds = 0});
  while (const auto event = watch.next()) {
    std::cout << event->type << ' ' << event->object.metadata.name << '\n';
    if (event->type == kube::EventType::Deleted) break;
  }
}

}  // namespace

int main() {
  try {
    kube::testing::ApiServer server;
    const kube::Clientset clients(server.config());
    run(clients);
    wait(clients);
    follow(clients);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
