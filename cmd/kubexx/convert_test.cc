#include "cmd/kubexx/convert.h"

#include <gtest/gtest.h>

#include <sstream>

#include "kube/base/error.h"
#include "kube/codec/protobuf.h"

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

TEST(Convert, YamlThroughProtobufAndJsonIsTheSameObject) {
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

TEST(Convert, UnknownFieldsAreWarnedAboutRefusedOrKept) {
  const std::string input = "apiVersion: v1\nkind: ConfigMap\nsurprise: 1\n";
  const Result lenient = run(input, {});
  EXPECT_EQ(lenient.out.find("surprise"), std::string::npos);
  EXPECT_NE(lenient.notes.find("unknown field \"surprise\""), std::string::npos) << lenient.notes;
  EXPECT_NE(errorOf(input, {.strict = true}).find("unknown field \"surprise\""), std::string::npos);
  EXPECT_NE(run(input, {.unstructured = true}).out.find("surprise: 1"), std::string::npos);
}

TEST(Convert, KindsThatAreNotBuiltInStayAsTheyAre) {
  const std::string input = "apiVersion: example.com/v1\nkind: Thing\nspec:\n  size: 3\n";
  EXPECT_EQ(run(input, {}).out, input);
  EXPECT_NE(errorOf(input, {.output = "protobuf"}).find("needs a built-in kind"),
            std::string::npos);
}

TEST(Convert, SeveralDocumentsAndListsComeOutOneByOne) {
  const std::string input =
      "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Secret\n  metadata: {name: "
      "a}\n"
      "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n";
  EXPECT_EQ(run(input, {}).out,
            "apiVersion: v1\nkind: Secret\nmetadata:\n  name: a\n---\napiVersion: v1\nkind: "
            "ConfigMap\nmetadata:\n  name: b\n");
  EXPECT_NE(errorOf(input, {.output = "protobuf"}).find("one object"), std::string::npos);
}

TEST(Convert, ErrorsNameTheSourceThePlaceAndTheField) {
  EXPECT_EQ(errorOf("apiVersion: apps/v1\nkind: Deployment\nspec:\n  replicas: many\n", {}),
            "in: yaml: line 4, column 13 (offset 55): spec.replicas: expected a number, found a "
            "string");
  EXPECT_EQ(errorOf("", {}), "in: there is no object in it");
}

}  // namespace
}  // namespace kube::cmd
