// The code that README.md shows, run against a server in this process.

#include <fmt/core.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "kube/api/scheme.h"
#include "kube/codec/jsonpath/json_path.h"
#include "kube/codec/patch/patch.h"
#include "kube/codec/stream.h"
#include "kube/kube.h"
#include "kube/meta/describe.h"
#include "kube/testing/api_server.h"

using namespace std::chrono_literals;

struct NetworkSpec {
  kube::String cidr;
  std::optional<std::int32_t> mtu;
};
KUBE_DESCRIBE(NetworkSpec, (cidr, required), mtu);

namespace {

void clients() {
  kube::Clientset clients(kube::Config::load());  // kubectl's configuration, or the pod's
  auto pods = clients.coreV1().pods("book");

  auto pod = pods.get("example");
  pod.metadata.labels["tier"] = "backend";
  pods.update(pod);
  for (const auto& p : pods.list({.labelSelector = "app=web"}).items) {
    fmt::print("{} {}\n", p.metadata.name, p.status->phase);
  }
  for (const auto& event : pods.watch({.timeoutSeconds = 1})) {
    std::cout << event.type << ' ' << event.object.metadata.name << '\n';
  }
}

void informers(const kube::Clientset& clients) {
  kube::SharedInformerFactory factory(clients, {.resync = 30s});
  auto pods = factory.coreV1().pods();
  pods.addIndexer("node",
                  [](const kube::corev1::Pod& p) { return kube::Strings{p.spec->nodeName}; });
  pods.addHandler({.onAdd = [](auto pod) { fmt::print("+ {}\n", kube::keyOf(*pod)); },
                   .onUpdate = [](auto, auto after) { fmt::print("~ {}\n", kube::keyOf(*after)); },
                   .onDelete = [](auto last) { fmt::print("- {}\n", last.key); }});
  factory.start();
  factory.waitForSync();
  auto web = pods.lister().inNamespace("book").get("web-1");  // null if there is none
  for (const auto& p : pods.store().byIndex("node", "n1")) fmt::print("{}\n", p->metadata.name);
}

void server() {
  kube::testing::ApiServer server;  // TLS, watches, custom resources, owners, namespaces, ...
  kube::Clientset clients(server.config());
  server.inject({.verb = "list", .resource = "pods", .times = 3, .status = 500});
  server.failWatches(kube::testing::WatchFault::CutInFrame);
}

void objects(const std::string& text) {
  auto deployment = kube::fromYaml<kube::appsv1::Deployment>(text);

  for (const auto& c : std::as_const(deployment).spec->template_->spec->containers) {
    fmt::print("{} runs {} with {} of memory\n", c.name, c.image, c.resources->limits["memory"]);
  }

  auto scaled = deployment;   // shares all parts
  scaled.spec->replicas = 5;  // copies the spec alone
  scaled.metadata.labels["tier"] = "backend";
  std::cout << kube::toJson(scaled);

  std::string patch = kube::createTwoWayMergePatch(deployment, scaled);  // strategic
  fmt::print("\n{}\n", patch);
}

void lists(std::istream& body) {
  std::vector<kube::corev1::Pod> cache;
  std::string chunk;
  kube::ListDecoder<kube::corev1::Pod> list(
      [&](kube::corev1::Pod&& pod) { cache.push_back(std::move(pod)); });
  while (std::getline(body, chunk)) list.feed(chunk);  // JSON or protobuf, chunks of any size
  auto resourceVersion = list.finish().resourceVersion;
  fmt::print("{} pods as of {}\n", cache.size(), resourceVersion);
}

void tools(const kube::corev1::Pod& pod, const kube::autoscalingv1::HorizontalPodAutoscaler& v1) {
  auto web = kube::labels::Selector::parse("app in (web, shop), !canary");
  if (web.matches(pod.metadata.labels)) fmt::print("{} matches\n", pod.metadata.name);

  auto v2 = kube::builtInScheme().convertTo<kube::autoscalingv2::HorizontalPodAutoscaler>(v1);
  auto images = kube::JsonPath::parse("{.spec.containers[*].image}").print(pod);
  fmt::print("{} {}\n", images, v2.spec->maxReplicas);
}

}  // namespace

int main() {
  try {
    kube::testing::ApiServer server;
    const auto file = std::filesystem::temp_directory_path() / "kubexx-taste.kubeconfig";
    std::ofstream(file) << server.kubeconfig();
    setenv("KUBECONFIG", file.c_str(), 1);
    const kube::Clientset clients(server.config());
    kube::corev1::Namespace book;
    book.metadata.name = "book";
    clients.coreV1().namespaces().create(book);
    kube::corev1::Pod pod;
    pod.metadata.name = "example";
    pod.metadata.labels["app"] = "web";
    pod.spec->containers = {{.name = "web", .image = "nginx:1.25"}};
    pod = clients.coreV1().pods("book").create(pod);

    ::clients();
    informers(clients);
    ::server();
    objects("spec: {template: {spec: {containers: [{name: web, image: nginx}]}}}");
    std::stringstream body(R"({"kind":"PodList","metadata":{"resourceVersion":"7"},"items":[]})");
    lists(body);
    kube::autoscalingv1::HorizontalPodAutoscaler scaler;
    scaler.spec->maxReplicas = 9;
    tools(pod, scaler);
    std::cout << kube::toJson(NetworkSpec{.cidr = "10.0.0.0/8", .mtu = 1500}) << '\n';
    std::filesystem::remove(file);
  } catch (const kube::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
