// No threads.

#include "cmd/kubexx/convert.h"

#include <gtest/gtest.h>

#include <sstream>

#include "kube/base/error.h"
#include "kube/codec/protobuf.h"
#include "kube/meta/v1.h"

namespace kube::cmd {
namespace {

constexpr const char* kDeployment = R"(apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 0
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: web}
    spec:
      containers:
      - name: web
        image: nginx
        resources:
          limits: {memory: 1024Mi}
)";

struct Result {
  std::string out;
  std::string notes;
};
Result run(const std::string& input, ConvertOptions options) {
  std::ostringstream out;
  std::ostringstream notes;
  convert("in", input, options, out, notes);
  return {out.str(), notes.str()};
}
std::string errorOf(const std::string& input, ConvertOptions options) {
  try {
    run(input, options);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(ConvertTest, YamlThroughProtobufAndJsonIsTheSameObject) {
  const std::string yaml = run(kDeployment, {.output = "yaml"}).out;
  EXPECT_NE(yaml.find("replicas: 0"), std::string::npos) << "an explicit zero is kept";
  EXPECT_NE(yaml.find("memory: 1Gi"), std::string::npos) << "quantities become canonical";
  const std::string protobuf = run(kDeployment, {.output = "protobuf"}).out;
  EXPECT_TRUE(isProtobuf(protobuf));
  const std::string json = run(protobuf, {.output = "json"}).out;
  EXPECT_TRUE(
      json.starts_with("{\n    \"kind\": \"Deployment\",\n    \"apiVersion\": \"apps/v1\""));
  EXPECT_EQ(run(json, {.output = "yaml"}).out, run(protobuf, {.output = "yaml"}).out);
  EXPECT_EQ(run(json, {.output = "protobuf"}).out, protobuf);
}

TEST(ConvertTest, WarnsAboutUnknownFieldsOrRefusesOrKeepsThem) {
  const std::string input = "apiVersion: v1\nkind: ConfigMap\nsurprise: 1\n";
  const Result lenient = run(input, {});
  EXPECT_EQ(lenient.out.find("surprise"), std::string::npos);
  EXPECT_NE(lenient.notes.find("unknown field \"surprise\""), std::string::npos) << lenient.notes;
  EXPECT_NE(errorOf(input, {.strict = true}).find("unknown field \"surprise\""), std::string::npos);
  EXPECT_NE(run(input, {.unstructured = true}).out.find("surprise: 1"), std::string::npos);
}

TEST(ConvertTest, KindsThatAreNotBuiltInStayAsTheyAre) {
  const std::string input = "apiVersion: example.com/v1\nkind: Thing\nspec:\n  size: 3\n";
  EXPECT_EQ(run(input, {}).out, input);
  EXPECT_NE(errorOf(input, {.output = "protobuf"}).find("needs a built-in kind"),
            std::string::npos);
  for (const char* odd : {"apiVersion: a/b/c\nkind: Thing\n", "apiVersion: v1\n", "a: 1\n"}) {
    EXPECT_EQ(run(odd, {}).out, odd) << "what it says of itself does not matter here";
  }
}

// A message of a watch has no kind, and none in the envelope of protobuf.
TEST(ConvertTest, WatchEventsInAllFormats) {
  const std::string yaml =
      "object:\n  apiVersion: v1\n  kind: Pod\n  metadata:\n    name: a\ntype: ADDED\n";
  const std::string protobuf = run(yaml, {.output = "protobuf"}).out;
  EXPECT_TRUE(isProtobuf(protobuf));
  EXPECT_EQ(run(protobuf, {.output = "yaml"}).out, yaml);
  const std::string json = run(protobuf, {.output = "json"}).out;
  EXPECT_TRUE(json.starts_with("{\n    \"type\": \"ADDED\",\n    \"object\": {\n")) << json;
  EXPECT_EQ(run(json, {.output = "protobuf"}).out, protobuf);
  EXPECT_EQ(run(yaml, {.output = "json"}).out, json);
}

// A server that speaks protobuf sends the object as protobuf, too.
TEST(ConvertTest, TheObjectOfAWatchEventInProtobufIsShown) {
  metav1::WatchEvent event{.type = "MODIFIED"};
  event.object.raw =
      run("apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n", {.output = "protobuf"}).out;
  const std::string json = run(toProtobuf(event), {.output = "json"}).out;
  EXPECT_NE(json.find("\"kind\": \"Pod\""), std::string::npos) << json;
  EXPECT_NE(json.find("\"name\": \"a\""), std::string::npos) << json;
}

TEST(ConvertTest, WritesDocumentsAndListItemsOneByOne) {
  const std::string input =
      "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Secret\n  metadata: {name: "
      "a}\n"
      "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n";
  EXPECT_EQ(run(input, {}).out,
            "apiVersion: v1\nkind: Secret\nmetadata:\n  name: a\n---\napiVersion: v1\nkind: "
            "ConfigMap\nmetadata:\n  name: b\n");
  EXPECT_NE(errorOf(input, {.output = "protobuf"}).find("one object"), std::string::npos);
}

TEST(ConvertTest, ErrorsNameTheSourceThePositionAndTheField) {
  EXPECT_EQ(errorOf("apiVersion: apps/v1\nkind: Deployment\nspec:\n  replicas: many\n", {}),
            "in: yaml: line 4, column 13 (offset 55): spec.replicas: expected a number, found a "
            "string");
  EXPECT_EQ(errorOf("", {}), "in: no object found");
}

constexpr const char* kAutoscaler = R"(apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: web
spec:
  maxReplicas: 5
  metrics:
  - resource:
      name: cpu
      target:
        averageUtilization: 50
        type: Utilization
    type: Resource
  scaleTargetRef:
    kind: Deployment
    name: web
)";
constexpr const char* kOldAutoscaler = R"(apiVersion: autoscaling/v1
kind: HorizontalPodAutoscaler
metadata:
  name: web
spec:
  maxReplicas: 5
  scaleTargetRef:
    kind: Deployment
    name: web
  targetCPUUtilizationPercentage: 50
)";

TEST(ConvertToVersionTest, WorksFromAndToEveryFormat) {
  EXPECT_EQ(run(kAutoscaler, {.toVersion = "autoscaling/v1"}).out, kOldAutoscaler);
  EXPECT_EQ(run(kOldAutoscaler, {.toVersion = "autoscaling/v2"}).out, kAutoscaler);
  for (const char* format : {"json", "protobuf", "yaml"}) {
    const std::string in = run(kAutoscaler, {.output = format}).out;
    EXPECT_EQ(run(in, {.toVersion = "autoscaling/v1"}).out, kOldAutoscaler) << format;
    const std::string out = run(kAutoscaler, {.output = format, .toVersion = "autoscaling/v1"}).out;
    EXPECT_EQ(run(out, {}).out, kOldAutoscaler) << format;
  }
}

TEST(ConvertToVersionTest, ConvertsDocumentsAndListsAndKeepsOtherGroups) {
  const std::string configMap = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\n";
  const std::string thing = "apiVersion: example.com/v1\nkind: Thing\n";
  EXPECT_EQ(
      run(configMap + "---\n" + kAutoscaler + "---\n" + thing, {.toVersion = "autoscaling/v1"}).out,
      configMap + "---\n" + kOldAutoscaler + "---\n" + thing);

  std::string items;
  std::istringstream lines(kAutoscaler);
  for (std::string line; std::getline(lines, line);) {
    items += (items.empty() ? "- " : "  ") + line + "\n";
  }
  EXPECT_EQ(
      run("apiVersion: v1\nkind: List\nitems:\n" + items + items, {.toVersion = "autoscaling/v1"})
          .out,
      std::string(kOldAutoscaler) + "---\n" + kOldAutoscaler);

  std::string bare = items;
  for (const char* field :
       {"apiVersion: autoscaling/v2\n  ", "kind: HorizontalPodAutoscaler\n  "}) {
    bare.erase(bare.find(field), std::string(field).size());
  }
  const std::string list =
      run("apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscalerList\nitems:\n" + bare,
          {.toVersion = "autoscaling/v1"})
          .out;
  EXPECT_TRUE(list.starts_with("apiVersion: autoscaling/v1\nitems:\n- metadata:\n    name: web\n"))
      << list;
  EXPECT_NE(list.find("targetCPUUtilizationPercentage: 50"), std::string::npos) << list;
}

TEST(ConvertToVersionTest, ErrorsNameTheVersionsAndTheKind) {
  EXPECT_EQ(errorOf(kAutoscaler, {.toVersion = "autoscaling/v9"}),
            "--to-version: there is no built-in API version \"autoscaling/v9\"");
  EXPECT_EQ(errorOf(kAutoscaler, {.toVersion = "a/b/c"}), "unexpected GroupVersion string: a/b/c");
  EXPECT_EQ(errorOf(kDeployment, {.toVersion = "autoscaling/v1"}),
            "in: --to-version autoscaling/v1: the input has no object of this group");
  EXPECT_EQ(
      errorOf("apiVersion: batch/v1\nkind: Job\n", {.toVersion = "batch/v1beta1"}),
      "in: converting batch/v1 Job to batch/v1beta1: no kind \"Job\" is registered for version "
      "\"batch/v1beta1\" in scheme \"built-in\"");
  EXPECT_EQ(errorOf("apiVersion: autoscaling/v3\nkind: HorizontalPodAutoscaler\n",
                    {.toVersion = "autoscaling/v1"}),
            "in: converting autoscaling/v3 HorizontalPodAutoscaler to autoscaling/v1: its kind is "
            "not built in");
  const std::string error = errorOf(
      "apiVersion: coordination.k8s.io/v1alpha2\nkind: LeaseCandidate\nspec: {strategy: x}\n",
      {.toVersion = "coordination.k8s.io/v1alpha1"});
  EXPECT_TRUE(
      error.starts_with("in: converting coordination.k8s.io/v1alpha2 LeaseCandidate to "
                        "coordination.k8s.io/v1alpha1 LeaseCandidate: spec.strategy: "))
      << error;
  EXPECT_NE(errorOf(kAutoscaler, {.unstructured = true, .toVersion = "autoscaling/v1"})
                .find("excludes --unstructured"),
            std::string::npos);
}

}  // namespace
}  // namespace kube::cmd
