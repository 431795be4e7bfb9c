// How a controller is tested: against an API server in the process, which fails when asked to, and
// with a clock that stands still. docs/testing.md goes through it. With a test framework, each
// function is a test and `expect` its macro.

#include <chrono>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>

#include "kube/client/core/v1.h"
#include "kube/codec/yaml.h"
#include "kube/controller/create_or_update.h"
#include "kube/meta/api_error.h"
#include "kube/meta/owner.h"
#include "kube/testing/api_server.h"
#include "kube/workqueue/delaying_queue.h"

namespace {

using namespace std::chrono_literals;
using kube::ObjectKey;
using kube::corev1::ConfigMap;
using kube::corev1::Service;

// What is tested: beside every Service there is a ConfigMap of its name, with its address.
void reconcile(const kube::Clientset& clients, const ObjectKey& key) {
  const auto service = clients.coreV1().services(key.namespace_).find(key.name);
  if (!service) return;  // its ConfigMap goes with it
  ConfigMap map;
  map.metadata.namespace_ = key.namespace_;
  map.metadata.name = key.name;
  kube::createOrUpdate(clients.coreV1().configMaps(key.namespace_), map, [&] {
    map.data["address"] = service->spec->clusterIP;
    kube::setControllerReference(*service, map);
  });
}

void expect(bool holds, const std::string& what) {
  if (!holds) throw std::logic_error("expected that " + what);
}

const ObjectKey kWeb{"default", "web"};

Service createService(const kube::Clientset& clients) {
  return clients.coreV1().services("default").create(kube::fromYaml<Service>(R"(
metadata: {name: web}
spec: {ports: [{port: 80}]}
)"));
}

void makesAndRepairsTheConfigMap() {
  kube::testing::ApiServer server;
  const kube::Clientset clients(server.config());
  const auto maps = clients.coreV1().configMaps("default");

  const Service service = createService(clients);
  reconcile(clients, kWeb);
  ConfigMap map = maps.get("web");
  expect(map.data["address"] == service.spec->clusterIP, "it has the address");

  map.data["address"] = "elsewhere";
  maps.update(map);
  reconcile(clients, kWeb);
  expect(maps.get("web").data["address"] == service.spec->clusterIP, "it is repaired");

  const kube::String version = maps.get("web").metadata.resourceVersion;
  reconcile(clients, kWeb);
  expect(maps.get("web").metadata.resourceVersion == version, "nothing is written for nothing");

  clients.coreV1().services("default").remove("web");
  server.settle();  // the garbage collector has been there
  expect(!maps.find("web"), "it goes with its owner");
}

void bearsAServerThatFails() {
  kube::testing::ApiServer server;
  const kube::Clientset clients(server.config());
  createService(clients);

  server.inject({.verb = "create", .resource = "configmaps", .times = 1, .status = 500});
  try {
    reconcile(clients, kWeb);
    expect(false, "the first try fails");
  } catch (const kube::ApiError& error) {
    expect(kube::isInternalError(error), "it is the server's error");
  }
  reconcile(clients, kWeb);  // as the queue would have it done
  expect(clients.coreV1().configMaps("default").find("web").has_value(), "the second one helps");
}

void waitsAsLongAsItShould() {
  kube::FakeClock clock;
  kube::DelayingQueue<ObjectKey> queue({.clock = &clock});
  queue.addAfter(kWeb, 30s);
  clock.advance(29s);
  expect(queue.len() == 0, "it is not time yet");
  clock.advance(1s);
  expect(queue.get() == kWeb, "now it is");
}

}  // namespace

int main() {
  try {
    makesAndRepairsTheConfigMap();
    bearsAServerThatFails();
    waitsAsLongAsItShould();
    std::cout << "all is well\n";
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
