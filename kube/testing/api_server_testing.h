// A fixture for tests of the API server: a server of their own, its clients, and raw requests.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "kube/api/apiextensions/v1.h"
#include "kube/base/clock.h"
#include "kube/client/apps/v1.h"
#include "kube/client/core/v1.h"
#include "kube/client/dynamic_client.h"
#include "kube/codec/json.h"
#include "kube/codec/protobuf.h"
#include "kube/codec/yaml.h"
#include "kube/http/transport.h"
#include "kube/meta/api_error.h"
#include "kube/testing/api_server.h"

namespace kube::testing {

/// An answer that tests read as JSON.
struct Answer : HttpResponse {
  Value json() const { return parseJson(body); }
  metav1::Status asStatus() const { return fromJson<metav1::Status>(body); }
};

/// A base class to name before ApiServerTest: gives the server the test's clock.
struct Clocked {
  FakeClock clock;
};

class ApiServerTest : public ::testing::Test {
 protected:
  explicit ApiServerTest(ApiServerOptions options = {})
      : server(std::move(options)),
        clients(server.config()),
        transport({.tls = {.caData = server.caPem()}, .proxy = "direct"}) {}

  /// Sends a request, as the admin unless the headers have credentials.
  Answer call(std::string method, std::string_view target, std::string body = {},
              HttpHeaders headers = {}) const {
    return {
        transport.send(request(std::move(method), target, std::move(body), std::move(headers)))};
  }
  HttpStream open(std::string_view target, HttpHeaders headers = {}) const {
    return transport.open(request("GET", target, {}, std::move(headers)));
  }
  HttpRequest request(std::string method, std::string_view target, std::string body,
                      HttpHeaders headers) const {
    if (!headers.has("Authorization")) {
      headers.add("Authorization", "Bearer " + server.adminToken());
    }
    if (!body.empty() && !headers.has("Content-Type")) {
      headers.add("Content-Type", "application/json");
    }
    return {.method = std::move(method),
            .url = server.url() + std::string(target),
            .headers = std::move(headers),
            .body = std::move(body)};
  }
  Answer patch(std::string_view target, std::string_view type, std::string body) const {
    return call("PATCH", target, std::move(body), {{"Content-Type", std::string(type)}});
  }

  ResourceClient<corev1::ConfigMap> maps(String space = "default") const {
    return clients.coreV1().configMaps(std::move(space));
  }
  static corev1::ConfigMap map(std::string_view name, std::string_view value = "v") {
    corev1::ConfigMap result;
    result.metadata.name = name;
    result.data["k"] = value;
    return result;
  }
  static corev1::Pod pod(std::string_view name) {
    corev1::Pod result;
    result.metadata.name = name;
    result.spec->containers.push_back({.name = "c", .image = "example.com/none"});
    return result;
  }
  static appsv1::Deployment deployment(std::string_view name) {
    appsv1::Deployment result;
    result.metadata.name = name;
    result.spec->selector->matchLabels["app"] = name;
    result.spec->template_->metadata.labels["app"] = name;
    result.spec->template_->spec->containers.push_back({.name = "c", .image = "example.com/none"});
    return result;
  }
  void makeNamespace(std::string_view name) const {
    corev1::Namespace space;
    space.metadata.name = name;
    clients.coreV1().namespaces().create(space);
  }
  /// Creates a definition, and waits until it is served.
  void define(std::string_view yaml) const {
    ResourceClient<apiextensionsv1::CustomResourceDefinition>(clients.rest())
        .create(fromYaml<apiextensionsv1::CustomResourceDefinition>(yaml));
    server.settle();
  }

  mutable ApiServer server;
  Clientset clients;
  Transport transport;
};

inline constexpr std::string_view kMaps = "/api/v1/namespaces/default/configmaps";
inline constexpr std::string_view kMerge = "application/merge-patch+json";
inline constexpr std::string_view kJsonPatch = "application/json-patch+json";
inline constexpr std::string_view kStrategic = "application/strategic-merge-patch+json";
inline constexpr std::string_view kApply = "application/apply-patch+yaml";
inline constexpr std::string_view kProtobufType = "application/vnd.kubernetes.protobuf";

/// The Status of the ApiError that the function throws. Fails the test if it throws none.
template <class Function>
metav1::Status refusalOf(const Function& function) {
  try {
    function();
  } catch (const ApiError& error) {
    return error.status();
  }
  ADD_FAILURE() << "the call was not refused";
  return {};
}

inline constexpr std::string_view kNetworks = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: networks.sample.example.com}
spec:
  group: sample.example.com
  scope: Namespaced
  names: {plural: networks, kind: Network, shortNames: [net]}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [cidr]
            properties:
              cidr: {type: string, minLength: 3}
              mtu: {type: integer, minimum: 68, default: 1500}
              replicas: {type: integer}
              color: {type: string}
          status:
            type: object
            properties: {replicas: {type: integer}, phase: {type: string}}
    subresources:
      status: {}
      scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}
    additionalPrinterColumns:
    - {name: CIDR, type: string, jsonPath: .spec.cidr}
    selectableFields: [{jsonPath: .spec.color}]
)";
inline constexpr std::string_view kNetworksPath =
    "/apis/sample.example.com/v1/namespaces/default/networks";

inline Unstructured network(std::string_view name, std::string_view cidr = "10.0.0.0/8") {
  Unstructured result;
  result.setGvk({"sample.example.com", "v1", "Network"});
  result.setName(name);
  result.setNestedField(cidr, "spec", "cidr");
  return result;
}

}  // namespace kube::testing
