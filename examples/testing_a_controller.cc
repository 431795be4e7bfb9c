// Tests a controller against an API server in the process, which fails on request, and with a clock
// that the test advances. docs/testing.md explains it. With a test framework, each function is a
// test, and `expect` is its macro.

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

// The code under test. Every Service gets a ConfigMap with its name and address.
void reconcile(const kube::Clientset& clients, const ObjectKey& key) {
  const auto service = clients.coreV1().services(key.namespace_).find(key.name);
  if (!service) return;  // the server deletes its ConfigMap
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
  expect(maps.get("web").metadata.resourceVersion == version, "nothing is written without need");

  clients.coreV1().services("default").remove("web");
  server.settle();  // waits for the garbage collector
  expect(!maps.find("web"), "it is deleted with its owner");
}

void retriesAfterAServerError() {
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
  reconcile(clients, kWeb);  // the retry of the work queue
  expect(clients.coreV1().configMaps("default").find("web").has_value(), "the retry works");
}

void asksForLittle() {
  kube::testing::ApiServer server;
  const kube::Clientset clients(server.config());
  const auto webhook = server.react({.verb = "create", .resource = "services"},
                                    {.before = [](kube::testing::ReactorCall& call) {
                                      auto service = kube::testing::bodyOf<Service>(call.request);
                                      service.spec->clusterIP = "10.96.0.7";
                                      kube::testing::setBody(call.request, service);
                                    }});
  createService(clients);
  server.forgetRequests();
  reconcile(clients, kWeb);
  const auto writes = server.requests({.verb = "create"});
  expect(writes.size() == 1 && writes[0].resource.resource == "configmaps", "one object is made");
  expect(clients.coreV1().configMaps("default").get("web").data["address"] == "10.96.0.7",
         "the address is that of the webhook");
}

void waitsForTheDelay() {
  kube::FakeClock clock;
  kube::DelayingQueue<ObjectKey> queue({.clock = &clock});
  queue.addAfter(kWeb, 30s);
  clock.advance(29s);
  expect(queue.len() == 0, "the key still waits");
  clock.advance(1s);
  expect(queue.get() == kWeb, "the key is in the queue");
}

}  // namespace

int main() {
  try {
    makesAndRepairsTheConfigMap();
    retriesAfterAServerError();
    asksForLittle();
    waitsForTheDelay();
    std::cout << "all tests passed\n";
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
