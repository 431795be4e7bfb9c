// A fixture for tests of controllers: a server, an informer factory and a clock.
#pragma once

#include <memory>
#include <string_view>

#include "kube/cache/core/v1.h"
#include "kube/controller/controller.h"
#include "kube/controller/reconcile_log_testing.h"
#include "kube/testing/api_server_testing.h"

namespace kube::testing {

class ControllerFixture : public ApiServerTest {
 protected:
  using ConfigMap = corev1::ConfigMap;
  using Secret = corev1::Secret;

  ControllerFixture() { makeNamespace("book"); }
  ~ControllerFixture() override { factory.shutdown(); }

  ControllerOptions fake() { return {.clock = &clock, .metrics = &metrics}; }
  ControllerOptions real() { return {.metrics = &metrics}; }

  std::unique_ptr<Running> start(detail::ControllerBase& controller) {
    factory.start();
    return std::make_unique<Running>(
        [&controller](const std::stop_token& stop) { controller.run(stop); });
  }
  ConfigMap create(std::string_view name) const { return maps("book").create(map(name)); }
  ConfigMap change(std::string_view name, std::string_view value) const {
    ConfigMap object = maps("book").get(name);
    object.data["k"] = value;
    return maps("book").update(object);
  }
  Secret secret(std::string_view name) const {
    Secret result;
    result.metadata.name = name;
    result.metadata.namespace_ = "book";
    return result;
  }
  ResourceClient<Secret> secrets() const { return clients.coreV1().secrets("book"); }

  FakeClock clock;
  Metrics metrics;
  Notes notes;
  SharedInformerFactory factory{clients};
};

}  // namespace kube::testing
