// The steps of docs/getting-started.md, in order.
//
//   kubexx serve --kubeconfig demo.kubeconfig &       # or use another cluster
//   KUBECONFIG=demo.kubeconfig getting_started

#include <chrono>
#include <iostream>

#include "kube/client/apps/v1.h"
#include "kube/client/core/v1.h"
#include "kube/client/retry.h"
#include "kube/client/wait.h"
#include "kube/codec/yaml.h"

namespace {

using namespace std::chrono_literals;
using kube::appsv1::Deployment;

constexpr const char* kManifest = R"(
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: "nginx:1.25"}]
)";

void connect(const kube::Clientset& clients) {
  for (const auto& node : clients.coreV1().nodes().list().items) {
    std::cout << node.metadata.name << ' ' << node.status->nodeInfo->kubeletVersion << '\n';
  }
}

void create(const kube::Clientset& clients) {
  kube::corev1::Namespace book;
  book.metadata.generateName = "book-";
  book = clients.coreV1().namespaces().create(book);
  const kube::String space = book.metadata.name;

  const auto deployments = clients.appsV1().deployments(space);
  Deployment made = deployments.create(kube::fromYaml<Deployment>(kManifest));
  std::cout << made.metadata.name << " has the uid " << made.metadata.uid << '\n';

  for (const auto& d : deployments.list({.labelSelector = "app=web"}).items) {
    std::cout << d.metadata.name << " wants " << d.spec->replicas.value_or(1) << '\n';
  }
  for (const auto& page : deployments.pages({.limit = 100})) {
    std::cout << page.items.size() << " in this page\n";
  }

  kube::retryOnConflict([&] {
    Deployment current = deployments.get("web");
    current.spec->replicas = 3;
    return deployments.update(current);
  });

  deployments.patch("web", kube::PatchType::Merge, R"({"metadata":{"labels":{"tier":"front"}}})");

  Deployment wanted;
  wanted.metadata.name = "web";
  wanted.metadata.annotations["example.com/owner"] = "ann";
  deployments.apply(wanted, {.fieldManager = "getting-started"});

  auto mine = kube::extract(deployments.get("web"), "getting-started");
  mine->metadata.annotations["example.com/reviewed"] = "";
  mine.set(mine->spec->paused, false);  // owned, although false is the default
  deployments.apply(mine, {.fieldManager = "getting-started"});

  for (const auto& event : deployments.watch({.timeoutSeconds = 1})) {
    if (event.type == kube::EventType::Error) break;  // event.status has the reason
    std::cout << event.type << ' ' << event.object.metadata.name << '\n';
  }

  deployments.remove("web", {.propagationPolicy = "Background"});
  kube::waitFor<Deployment>(
      deployments, "web", [](const Deployment* left) { return left == nullptr; }, 1min);
  clients.coreV1().namespaces().remove(space);
}

void fail(const kube::Clientset& clients) {
  try {
    clients.appsV1().deployments("default").get("nobody");
  } catch (const kube::ApiError& error) {
    if (!kube::isNotFound(error)) throw;
    std::cout << error.what() << '\n';
  }

  if (!clients.appsV1().deployments("default").find("nobody")) std::cout << "not found\n";
}

// Reading and writing objects needs no server.
void objects() {
  Deployment web;
  web.metadata.name = "web";
  web.spec->replicas = 2;  // a write creates the absent spec
  web.spec->template_->spec->containers = {{.name = "web", .image = "nginx:1.25"}};

  const Deployment before = web;          // shares all parts with web
  web.metadata.labels["tier"] = "front";  // web gets labels of its own

  if (web.spec->strategy->rollingUpdate->maxSurge || web.metadata.labels["team"] == "a") {
    std::cout << "not printed: neither is set\n";
  }
  std::cout << (web.spec->strategy ? "a strategy" : "no strategy") << '\n';  // no strategy
  std::cout << (before.metadata.labels.empty() ? "the copy has not changed\n" : "");

  if (!before.spec->strategy) std::cout << "no strategy is set\n";
  std::cout << "paused: " << before.spec->paused << '\n';
  std::cout << before.spec->strategy->rollingUpdate->maxSurge.has_value() << '\n';
}

}  // namespace

int main() {
  try {
    const auto config = kube::Config::load();
    const kube::Clientset clients(config);
    connect(clients);
    create(clients);
    fail(clients);
    objects();
  } catch (const kube::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
