// Tests JSONPath on built-in kinds.
#include "kube/codec/jsonpath/json_path.h"

#include <gtest/gtest.h>

#include "kube/api/apiextensions/v1.h"
#include "kube/api/core/v1.h"
#include "kube/base/error.h"
#include "kube/codec/json.h"

namespace kube {
namespace {

TEST(JsonPathOfKindsTest, ReadsPods) {
  corev1::PodList pods;
  for (const char* name : {"web-1", "web-2"}) {
    corev1::Pod& pod = pods.items.emplace_back();
    pod.metadata.name = name;
    pod.spec->containers = {{.name = "app", .image = "nginx"}, {.name = "side", .image = "envoy"}};
    pod.spec->containers[0].resources->limits["cpu"] = Quantity("1500m");
    pod.status->phase = "Running";
    pod.status->conditions = {{.type = "Ready", .status = "True"}};
  }
  const auto print = [&](std::string_view text) { return JsonPath::parse(text).print(pods); };
  EXPECT_EQ(print("{.items[*].metadata.name}"), "web-1 web-2");
  EXPECT_EQ(print("{.items[0].spec.containers[*].image}"), "nginx envoy");
  EXPECT_EQ(print(R"({range .items[*]}{.metadata.name}={.status.phase}{"\n"}{end})"),
            "web-1=Running\nweb-2=Running\n");
  EXPECT_EQ(
      print(
          R"({.items[?(@.metadata.name=="web-2")].spec.containers[?(@.name=="app")].resources.limits.cpu})"),
      "1500m");
  EXPECT_EQ(print(R"({.items[1].status.conditions[?(@.type=="Ready")].status})"), "True");
  EXPECT_EQ(print("{..image}"), "nginx envoy nginx envoy");
  EXPECT_EQ(print("{.items[0].spec.containers[0].resources}"), R"({"limits":{"cpu":"1500m"}})");
  EXPECT_EQ(print("{.kind}"), "PodList");
}

TEST(JsonPathOfKindsTest, ReadsSchemasInTheFormTheyHave) {
  const auto crd = fromJson<apiextensionsv1::CustomResourceDefinition>(
      R"({"spec":{"versions":[{"name":"v1","schema":{"openAPIV3Schema":{"type":"object","properties":{)"
      R"("any":{"additionalProperties":true},"map":{"additionalProperties":{"type":"string"}},)"
      R"("args":{"type":"array","items":{"type":"integer","default":3,"maximum":10}}}}}}]}})");
  const auto print = [&](std::string text) {
    return JsonPath::parse("{.spec.versions[0].schema.openAPIV3Schema.properties" + text + "}")
        .print(crd);
  };
  EXPECT_EQ(print(".any.additionalProperties"), "true");
  EXPECT_EQ(print(".map.additionalProperties.type"), "string");
  EXPECT_EQ(print(".args.items.type"), "integer");
  EXPECT_EQ(print(".args.items.default"), "3");
  EXPECT_EQ(print(".args.items.maximum"), "10");
  EXPECT_EQ(print("..type"), "array integer string");
  EXPECT_EQ(print(""),
            toJson(parseJson(
                toJson(crd))["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]));
}

}  // namespace
}  // namespace kube
