// Patches through the API server: JSON, merge, strategic merge and server-side apply.
#include "kube/testing/api_server_testing.h"

namespace kube::apiserver {
namespace {

using namespace kube::testing;

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;

class ApiServerPatchTest : public ApiServerTest {
 protected:
  Answer apply(std::string_view name, std::string_view manager, std::string_view data,
               bool force = false) const {
    return patch(std::string(kMaps) + "/" + std::string(name) +
                     "?fieldManager=" + std::string(manager) + (force ? "&force=true" : ""),
                 kApply,
                 "{apiVersion: v1, kind: ConfigMap, metadata: {name: " + std::string(name) +
                     "}, data: " + std::string(data) + "}");
  }
  std::string value(std::string_view name, std::string_view key) const {
    const corev1::ConfigMap stored = maps().get(name);
    const auto it = stored.data.find(key);
    return it == stored.data.end() ? "none" : it->value.str();
  }
  const std::string a = std::string(kMaps) + "/a";
};

TEST_F(ApiServerPatchTest, AJsonPatchIsAListOfOperations) {
  maps().create(map("a", "1"));
  EXPECT_EQ(patch(a, kJsonPatch,
                  R"([{"op":"test","path":"/data/k","value":"1"},
                      {"op":"add","path":"/data/x","value":"2"},
                      {"op":"remove","path":"/data/k"}])")
                .status,
            200);
  EXPECT_EQ(value("a", "x"), "2");
  EXPECT_EQ(value("a", "k"), "none");
}

TEST_F(ApiServerPatchTest, AJsonPatchThatDoesNotFitChangesNothing) {
  const corev1::ConfigMap made = maps().create(map("a", "1"));
  const Answer failed = patch(
      a, kJsonPatch,
      R"([{"op":"replace","path":"/data/k","value":"2"},{"op":"test","path":"/data/k","value":"3"}])");
  EXPECT_EQ(failed.status, 422);
  EXPECT_EQ(failed.asStatus().reason, "Invalid");
  EXPECT_EQ(patch(a, kJsonPatch, R"([{"op":"remove","path":"/data/none"}])").status, 422);
  EXPECT_EQ(patch(a, kJsonPatch, R"({"op":"add"})").status, 400);
  EXPECT_EQ(patch(a, kJsonPatch, "[").status, 400);
  EXPECT_EQ(maps().get("a"), made);
  std::string many = "[";
  for (int i = 0; i < 10'001; ++i) many += R"({"op":"test","path":"/kind","value":"ConfigMap"},)";
  many.back() = ']';
  const Answer large = patch(a, kJsonPatch, many);
  EXPECT_EQ(large.status, 413);
  EXPECT_THAT(large.asStatus().message.str(),
              HasSubstr("The allowed maximum operations in a JSON patch is 10000, got 10001"));
}

TEST_F(ApiServerPatchTest, AMergePatchOverwritesAndRemoves) {
  corev1::ConfigMap wanted = map("a", "1");
  wanted.data["gone"] = "x";
  maps().create(wanted);
  EXPECT_EQ(patch(a, kMerge, R"({"data":{"k":"2","gone":null}})").status, 200);
  EXPECT_EQ(value("a", "k"), "2");
  EXPECT_EQ(value("a", "gone"), "none");
  EXPECT_EQ(patch(a, kMerge, "[]").status, 400);
  EXPECT_EQ(patch(a, kMerge, "{").status, 400);
  EXPECT_EQ(patch(std::string(kMaps) + "/missing", kMerge, "{}").status, 404);
}

TEST_F(ApiServerPatchTest, AStrategicPatchMergesListsByTheirKeys) {
  clients.appsV1().deployments("default").create(deployment("web"));
  const std::string path = "/apis/apps/v1/namespaces/default/deployments/web";
  EXPECT_EQ(patch(path, kStrategic,
                  R"({"spec":{"template":{"spec":{"containers":[{"name":"side","image":"x"}]}}}})")
                .status,
            200);
  const appsv1::Deployment patched = clients.appsV1().deployments("default").get("web");
  EXPECT_THAT(patched.spec->template_->spec->containers, SizeIs(2));
  EXPECT_EQ(patched.metadata.generation, 2);
  EXPECT_EQ(patch(path, kMerge,
                  R"({"spec":{"template":{"spec":{"containers":[{"name":"only","image":"x"}]}}}})")
                .status,
            200);
  EXPECT_THAT(
      clients.appsV1().deployments("default").get("web").spec.read().template_->spec->containers,
      SizeIs(1));
}

TEST_F(ApiServerPatchTest, CustomObjectsHaveNoStrategicPatch) {
  define(kNetworks);
  const std::string path(kNetworksPath);
  call("POST", path, toJson(network("n")));
  EXPECT_EQ(patch(path + "/n", kStrategic, "{}").status, 415);
  EXPECT_EQ(patch(path + "/n", kMerge, R"({"spec":{"mtu":9000}})").json()["spec"]["mtu"],
            Value(9000));
  EXPECT_EQ(patch(path + "/n", kMerge, R"({"spec":{"mtu":1}})").status, 422);
  EXPECT_EQ(patch(path + "/n", kMerge, R"({"metadata":{"labels":{"a":5}}})").status, 422);
  EXPECT_EQ(patch(path + "/n", kMerge, R"({"metadata":5})").status, 422);
}

TEST_F(ApiServerPatchTest, APatchCannotMakeItAnotherObject) {
  maps().create(map("a"));
  define(kNetworks);
  call("POST", kNetworksPath, toJson(network("a")));
  for (const std::string& path : {a, std::string(kNetworksPath) + "/a"}) {
    EXPECT_EQ(patch(path, kMerge, R"({"kind":"Secret"})").status, 422) << path;
    EXPECT_EQ(patch(path, kMerge, R"({"apiVersion":"x/v1"})").status, 422) << path;
    const Answer renamed = patch(path, kMerge, R"({"metadata":{"name":"b"}})");
    EXPECT_EQ(renamed.status, 400) << path;
    EXPECT_EQ(renamed.asStatus().message,
              "the name of the object (b) does not match the name on the URL (a)");
    EXPECT_EQ(patch(path, kMerge, R"({"metadata":null})").asStatus().message,
              "the name of the object (a based on URL) was undeterminable: name must be provided");
    const Answer uid = patch(path, kMerge, R"({"metadata":{"uid":"other"}})");
    EXPECT_EQ(uid.status, 422) << path;
    EXPECT_THAT(uid.asStatus().message.str(), HasSubstr("field is immutable"));
    EXPECT_EQ(patch(path, kMerge, R"({"metadata":{"resourceVersion":"1"}})").status, 409) << path;
    EXPECT_EQ(patch(path, kMerge, R"({"metadata":{"namespace":"other"}})").status, 400) << path;
  }
  EXPECT_EQ(patch(a, kMerge, R"({"data":{"k":5}})").status, 422);
}

TEST_F(ApiServerPatchTest, ApplyCreatesAndOwns) {
  const Answer created = apply("a", "one", "{k: v}");
  EXPECT_EQ(created.status, 201);
  const auto object = fromJson<corev1::ConfigMap>(created.body);
  ASSERT_THAT(object.metadata.managedFields, SizeIs(1));
  EXPECT_EQ(object.metadata.managedFields[0].operation, "Apply");
  const Answer same = apply("a", "one", "{k: v}");
  EXPECT_EQ(same.status, 200);
  EXPECT_EQ(fromJson<corev1::ConfigMap>(same.body).metadata.resourceVersion,
            object.metadata.resourceVersion);
  apply("a", "one", "{other: w}");
  EXPECT_EQ(value("a", "k"), "none") << "what a manager no longer applies goes";
  EXPECT_EQ(value("a", "other"), "w");
}

TEST_F(ApiServerPatchTest, ApplyingWhatIsAnothersIsAConflict) {
  apply("a", "one", "{k: v}");
  const Answer refused = apply("a", "two", "{k: w}");
  EXPECT_EQ(refused.status, 409);
  const metav1::Status status = refused.asStatus();
  EXPECT_EQ(status.reason, "Conflict");
  EXPECT_EQ(status.message, "Apply failed with 1 conflict: conflict with \"one\": .data.k");
  ASSERT_THAT(status.details->causes, SizeIs(1));
  EXPECT_EQ(status.details->causes[0].reason, "FieldManagerConflict");
  EXPECT_EQ(status.details->causes[0].field, ".data.k");
  EXPECT_EQ(apply("a", "two", "{k: v}").status, 200) << "the same value is shared";
  EXPECT_EQ(apply("a", "two", "{k: w}", true).status, 200);
  EXPECT_EQ(value("a", "k"), "w");
  EXPECT_EQ(apply("a", "one", "{k: v}").status, 409) << "now the other one owns it";
  EXPECT_EQ(apply("a", "one", "{}").status, 200);
  EXPECT_EQ(value("a", "k"), "w");
}

TEST_F(ApiServerPatchTest, ApplyIsParticular) {
  apply("a", "one", "{k: v}");
  EXPECT_EQ(patch(a, kApply, "{apiVersion: v1, kind: ConfigMap}").asStatus().message,
            "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required "
            "for apply patch");
  EXPECT_EQ(patch(a + "?force=true", kMerge, "{}").asStatus().message,
            "PatchOptions.meta.k8s.io \"\" is invalid: force: Forbidden: may not be specified for "
            "non-apply patch");
  const std::string path = a + "?fieldManager=m";
  EXPECT_EQ(patch(path, kApply, "{apiVersion: v2, kind: ConfigMap, metadata: {name: a}}")
                .asStatus()
                .message,
            "Incorrect version specified in apply patch. Specified patch version: v2, expected: "
            "v1");
  EXPECT_EQ(patch(path, kApply, "{apiVersion: v1, kind: Secret, metadata: {name: a}}").status, 400);
  EXPECT_EQ(patch(path, kApply, "{apiVersion: v1, kind: ConfigMap, metadata: {name: b}}").status,
            400);
  const Answer managed = patch(
      path, kApply,
      "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, managedFields: [{manager: x}]}}");
  EXPECT_EQ(managed.status, 400);
  EXPECT_EQ(managed.asStatus().message, "metadata.managedFields must be nil");
  EXPECT_THAT(patch(path, kApply, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, foo: 1}")
                  .asStatus()
                  .message.str(),
              HasSubstr(".foo: field not declared in schema"));
  EXPECT_EQ(patch(path, kApply, "a: [").status, 400);
}

TEST_F(ApiServerPatchTest, ApplyWorksOnTheStatusAndOnCustomObjects) {
  clients.appsV1().deployments("default").create(deployment("web"));
  const std::string web = "/apis/apps/v1/namespaces/default/deployments/web";
  const Answer status = patch(
      web + "/status?fieldManager=m", kApply,
      "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, status: {replicas: 2}}");
  EXPECT_EQ(status.status, 200) << status.body;
  EXPECT_EQ(clients.appsV1().deployments("default").get("web").status.read().replicas, 2);

  define(kNetworks);
  const std::string path = std::string(kNetworksPath) + "/one?fieldManager=";
  const auto config = [](std::string_view cidr) {
    return "{apiVersion: sample.example.com/v1, kind: Network, metadata: {name: one}, spec: "
           "{cidr: " +
           std::string(cidr) + "}}";
  };
  EXPECT_EQ(patch(path + "one", kApply, config("10.0.0.0/8")).status, 201);
  EXPECT_EQ(patch(path + "two", kApply, config("10.0.0.0/16")).status, 409);
  EXPECT_EQ(patch(path + "two&force=1", kApply, config("10.0.0.0/16")).json()["spec"]["cidr"],
            Value("10.0.0.0/16"));
}

}  // namespace
}  // namespace kube::apiserver
