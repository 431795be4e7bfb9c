// Creating and updating through the API server.
#include "kube/client/autoscaling/v1.h"
#include "kube/client/retry.h"
#include "kube/testing/api_server_testing.h"

namespace kube::apiserver {
namespace {

using namespace kube::testing;

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

using ApiServerWriteTest = ApiServerTest;

TEST_F(ApiServerWriteTest, TheServerFillsInWhatOnlyItKnows) {
  corev1::ConfigMap wanted = map("a");
  wanted.metadata.uid = "chosen";
  wanted.metadata.generation = 7;
  wanted.metadata.selfLink = "/somewhere";
  wanted.metadata.deletionTimestamp = Time::now();
  const corev1::ConfigMap made = maps().create(wanted);
  EXPECT_THAT(made.metadata.uid.str(), MatchesRegex("[0-9a-f]{8}-[0-9a-f-]{27}"));
  EXPECT_FALSE(made.metadata.creationTimestamp.isZero());
  EXPECT_EQ(made.metadata.resourceVersion, std::to_string(server.revision()));
  EXPECT_EQ(made.metadata.generation, 0) << "config maps have none";
  EXPECT_EQ(made.metadata.selfLink, "");
  EXPECT_TRUE(made.metadata.deletionTimestamp.isZero());
  EXPECT_EQ(made.metadata.namespace_, "default");
  EXPECT_EQ(clients.appsV1().deployments("default").create(deployment("d")).metadata.generation, 1);
}

TEST_F(ApiServerWriteTest, NamesAreGenerated) {
  corev1::ConfigMap wanted = map("");
  wanted.metadata.generateName = "web-";
  const corev1::ConfigMap a = maps().create(wanted), b = maps().create(wanted);
  EXPECT_THAT(a.metadata.name.str(), MatchesRegex("web-[a-z0-9]{5}"));
  EXPECT_NE(a.metadata.name, b.metadata.name);
  wanted.metadata.name = "given";
  EXPECT_EQ(maps().create(wanted).metadata.name, "given");
  wanted.metadata.name = {};
  wanted.metadata.generateName = "Not-Valid-";
  EXPECT_EQ(refusalOf([&] { maps().create(wanted); }).code, 422);
}

TEST_F(ApiServerWriteTest, ANameIsNeededAndTaken) {
  const metav1::Status unnamed = refusalOf([&] { maps().create(map("")); });
  EXPECT_EQ(unnamed.code, 422);
  EXPECT_EQ(unnamed.message,
            "ConfigMap \"\" is invalid: metadata.name: Required value: name or generateName is "
            "required");
  maps().create(map("a"));
  const metav1::Status taken = refusalOf([&] { maps().create(map("a")); });
  EXPECT_EQ(taken.code, 409);
  EXPECT_EQ(taken.reason, "AlreadyExists");
  EXPECT_EQ(taken.message, "configmaps \"a\" already exists");
  EXPECT_EQ(taken.details->kind, "configmaps");
  corev1::ConfigMap versioned = map("b");
  versioned.metadata.resourceVersion = "5";
  EXPECT_EQ(refusalOf([&] { maps().create(versioned); }).message,
            "resourceVersion should not be set on objects to be created");
}

TEST_F(ApiServerWriteTest, ANamespaceHasToExistAndToStay) {
  const metav1::Status missing = refusalOf([&] { maps("nowhere").create(map("a")); });
  EXPECT_EQ(missing.code, 404);
  EXPECT_EQ(missing.message, "namespaces \"nowhere\" not found");

  makeNamespace("ending");
  corev1::ConfigMap kept = map("kept");
  kept.metadata.finalizers = {"example.com/wait"};
  maps("ending").create(kept);
  clients.coreV1().namespaces().remove("ending");
  const metav1::Status refused = refusalOf([&] { maps("ending").create(map("late")); });
  EXPECT_EQ(refused.code, 403);
  EXPECT_EQ(refused.reason, "Forbidden");
  EXPECT_EQ(refused.message,
            "configmaps \"late\" is forbidden: unable to create new content in namespace ending "
            "because it is being terminated");
  ASSERT_THAT(refused.details->causes, SizeIs(1));
  EXPECT_EQ(refused.details->causes[0].reason, "NamespaceTerminating");
  EXPECT_EQ(refused.details->causes[0].field, "metadata.namespace");
  retryOnConflict([&] {  // the controller that ends the namespace writes to it, too
    kept = maps("ending").get("kept");
    kept.data["k"] = "still writable";
    EXPECT_EQ(maps("ending").update(kept).data, kept.data);
  });
}

TEST_F(ApiServerWriteTest, AnUpdateFromAnOldVersionIsAConflict) {
  const corev1::ConfigMap first = maps().create(map("a", "1"));
  corev1::ConfigMap second = first;
  second.data["k"] = "2";
  second = maps().update(second);
  EXPECT_NE(second.metadata.resourceVersion, first.metadata.resourceVersion);
  const metav1::Status refused = refusalOf([&] { maps().update(first); });
  EXPECT_EQ(refused.code, 409);
  EXPECT_EQ(refused.reason, "Conflict");
  EXPECT_EQ(refused.message,
            "Operation cannot be fulfilled on configmaps \"a\": the object has been modified; "
            "please apply your changes to the latest version and try again");
  EXPECT_EQ(maps().get("a"), second);
}

TEST_F(ApiServerWriteTest, BuiltInObjectsMayBeReplacedWhateverTheirVersion) {
  const corev1::ConfigMap made = maps().create(map("a", "1"));
  const corev1::ConfigMap replaced = maps().update(map("a", "2"));
  EXPECT_EQ(replaced.metadata.uid, made.metadata.uid);
  EXPECT_EQ(replaced.metadata.creationTimestamp, made.metadata.creationTimestamp);
  corev1::ConfigMap zero = map("a", "3");
  zero.metadata.resourceVersion = "0";
  EXPECT_EQ(maps().update(zero).data, map("a", "3").data);
  corev1::ConfigMap another = map("a", "4");
  another.metadata.uid = "another";
  const metav1::Status refused = refusalOf([&] { maps().update(another); });
  EXPECT_EQ(refused.code, 409);
  EXPECT_THAT(refused.message.str(),
              HasSubstr("Precondition failed: UID in precondition: another, UID in object meta: "));
}

TEST_F(ApiServerWriteTest, CustomObjectsMayNot) {
  define(kNetworks);
  const auto networks = DynamicClient(clients.rest())
                            .resource(GroupVersionResource{"sample.example.com", "v1", "networks"})
                            .inNamespace("default");
  networks.create(network("n"));
  const metav1::Status refused = refusalOf([&] { networks.update(network("n", "10.1.0.0/16")); });
  EXPECT_EQ(refused.code, 422);
  EXPECT_EQ(refused.message,
            "Network.sample.example.com \"n\" is invalid: metadata.resourceVersion: Invalid value: "
            "0x0: must be specified for an update");
}

TEST_F(ApiServerWriteTest, AnUpdateThatChangesNothingIsNone) {
  const corev1::ConfigMap made = maps().create(map("a"));
  const std::int64_t revision = server.revision();
  EXPECT_EQ(maps().update(made), made);
  EXPECT_EQ(maps().update(map("a")).metadata.resourceVersion, made.metadata.resourceVersion);
  EXPECT_EQ(maps().patch("a", PatchType::Merge, "{}"), made);
  EXPECT_EQ(maps().patch("a", PatchType::Merge, R"({"data":{"k":"v"}})"), made);
  EXPECT_EQ(server.revision(), revision);
}

TEST_F(ApiServerWriteTest, TheGenerationCountsChangesOfTheSpec) {
  const auto deployments = clients.appsV1().deployments("default");
  auto made = deployments.create(deployment("web"));
  EXPECT_EQ(made.metadata.generation, 1);
  made.metadata.labels["tier"] = "front";
  made = deployments.update(made);
  EXPECT_EQ(made.metadata.generation, 1);
  made.spec->replicas = 3;
  made = deployments.update(made);
  EXPECT_EQ(made.metadata.generation, 2);
  made.status->replicas = 3;
  made = deployments.updateStatus(made);
  EXPECT_EQ(made.metadata.generation, 2);
  made.metadata.generation = 90;
  EXPECT_EQ(deployments.update(made).metadata.generation, 2);
}

TEST_F(ApiServerWriteTest, OnlyTheSubresourceChangesTheStatus) {
  const auto deployments = clients.appsV1().deployments("default");
  appsv1::Deployment wanted = deployment("web");
  wanted.status->replicas = 5;
  appsv1::Deployment made = deployments.create(wanted);
  EXPECT_EQ(made.status->replicas, 0);
  made.status->replicas = 5;
  made.spec->replicas = 4;
  made.metadata.labels["a"] = "b";
  appsv1::Deployment updated = deployments.update(made);
  EXPECT_EQ(updated.status->replicas, 0);
  EXPECT_EQ(updated.spec->replicas, 4);
  updated.status->replicas = 5;
  updated.spec->replicas = 9;
  updated.metadata.labels["a"] = "c";
  const appsv1::Deployment reported = deployments.updateStatus(updated);
  EXPECT_EQ(reported.status->replicas, 5);
  EXPECT_EQ(reported.spec->replicas, 4);
  EXPECT_EQ(reported.metadata.labels.at("a"), "b");
  EXPECT_EQ(
      deployments.patch("web", PatchType::Merge, R"({"status":{"replicas":6}})", {}, {}, "status")
          .status.read()
          .replicas,
      6);
}

TEST_F(ApiServerWriteTest, TheStatusOfACustomObjectIsItsOwnToo) {
  define(kNetworks);
  const auto networks = DynamicClient(clients.rest())
                            .resource(GroupVersionResource{"sample.example.com", "v1", "networks"})
                            .inNamespace("default");
  Unstructured wanted = network("n");
  wanted.setNestedField("Lost", "status", "phase");
  Unstructured made = networks.create(wanted);
  EXPECT_TRUE(std::as_const(made.object)["status"].isNull());
  EXPECT_EQ(made.object["metadata"]["generation"], Value(1));
  made.setNestedField("Ready", "status", "phase");
  made.setNestedField("10.9.0.0/16", "spec", "cidr");
  const Unstructured reported = networks.updateStatus(made);
  EXPECT_EQ(reported.object["status"]["phase"], Value("Ready"));
  EXPECT_EQ(reported.object["spec"]["cidr"], Value("10.0.0.0/8"));
  EXPECT_EQ(reported.object["metadata"]["generation"], Value(1));
}

TEST_F(ApiServerWriteTest, WhatIsAskedForIsTried_AndNothingKept_InADryRun) {
  const corev1::ConfigMap made = maps().create(map("a", "1"));
  corev1::ConfigMap finalized = map("f");
  finalized.metadata.finalizers = {"example.com/wait"};
  maps().create(finalized);
  server.settle();
  const std::int64_t revision = server.revision();
  const List<String> dry{"All"};
  const corev1::ConfigMap created = maps().create(map("b"), {.dryRun = dry});
  EXPECT_FALSE(created.metadata.uid.empty());
  EXPECT_EQ(created.metadata.resourceVersion, "");
  EXPECT_EQ(maps().update(map("a", "2"), {.dryRun = dry}).data, map("a", "2").data);
  EXPECT_EQ(maps().patch("a", PatchType::Merge, R"({"data":{"k":"3"}})", {.dryRun = dry}).data,
            map("a", "3").data);
  EXPECT_EQ(maps().apply(map("c"), {.dryRun = dry, .fieldManager = "m"}).metadata.name, "c");
  maps().remove("a", {.dryRun = dry});
  maps().remove("f", {.dryRun = dry});
  maps().remove("a", {.propagationPolicy = "Foreground", .dryRun = dry});
  maps().removeCollection({.dryRun = dry});
  EXPECT_EQ(call("POST", std::string(kMaps) + "?dryRun=All", toJson(map("a"))).status, 409);
  const metav1::Status bad = refusalOf([&] { maps().create(map("b"), {.dryRun = {"Some"}}); });
  EXPECT_EQ(bad.code, 422);
  EXPECT_THAT(bad.message.str(), StartsWith("CreateOptions.meta.k8s.io \"\" is invalid: dryRun: "));
  server.settle();
  EXPECT_EQ(server.revision(), revision);
  EXPECT_EQ(maps().get("a"), made);
  EXPECT_EQ(maps().find("b"), std::nullopt);
}

TEST_F(ApiServerWriteTest, UnknownFieldsAreRefusedToldOrIgnored) {
  const std::string body = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","x":1},
      "data":{"k":"v"},"dta":{}})";
  const std::string path(kMaps);
  const Answer strict = call("POST", path + "?fieldValidation=Strict", body);
  EXPECT_EQ(strict.status, 400);
  EXPECT_THAT(strict.asStatus().message.str(),
              AllOf(HasSubstr("strict decoding error: "), HasSubstr("unknown field \"dta\""),
                    HasSubstr("unknown field \"metadata.x\"")));
  const Answer ignored = call("POST", path + "?fieldValidation=Ignore", body);
  EXPECT_EQ(ignored.status, 201);
  EXPECT_FALSE(ignored.headers.has("Warning"));
  const Answer warned = call("PUT", path + "/a?fieldValidation=Warn", body);
  EXPECT_EQ(warned.status, 200);
  EXPECT_THAT(warned.headers,
              Contains(HttpHeader{"warning", "299 - \"unknown field \\\"dta\\\"\""}));
  EXPECT_TRUE(call("PUT", path + "/a", body).headers.has("Warning")) << "Warn is the default";
  const Answer bad = call("POST", path + "?fieldValidation=Maybe", body);
  EXPECT_EQ(bad.status, 422);
  EXPECT_THAT(bad.asStatus().message.str(), HasSubstr("fieldValidation: Unsupported value"));
  // A duplicate is reported in the same way.
  EXPECT_THAT(call("POST", path + "?fieldValidation=Strict",
                   R"({"metadata":{"name":"b"},"data":{},"data":{}})")
                  .body,
              HasSubstr("duplicate field"));
}

TEST_F(ApiServerWriteTest, UnknownFieldsInAPatchToo) {
  maps().create(map("a"));
  const std::string path = std::string(kMaps) + "/a?fieldValidation=";
  for (const std::string_view type : {kMerge, kStrategic}) {
    const Answer strict = patch(path + "Strict", type, R"({"dta":{"k":"w"}})");
    EXPECT_EQ(strict.status, 422) << type;
    EXPECT_THAT(strict.asStatus().message.str(),
                HasSubstr("strict decoding error: unknown field \"dta\""))
        << type;
    EXPECT_TRUE(patch(path + "Warn", type, R"({"dta":{"k":"w"}})").headers.has("Warning")) << type;
    EXPECT_FALSE(patch(path + "Ignore", type, R"({"dta":{"k":"w"}})").headers.has("Warning"))
        << type;
  }
}

TEST_F(ApiServerWriteTest, BodiesMayBeYamlJsonOrProtobuf) {
  const std::string path(kMaps);
  EXPECT_EQ(call("POST", path, toYaml(map("y")), {{"Content-Type", "application/yaml"}}).status,
            201);
  EXPECT_EQ(
      call("POST", path, toJson(map("j")), {{"Content-Type", "application/json; charset=utf-8"}})
          .status,
      201);
  EXPECT_EQ(call("POST", path, toProtobuf(map("p")), {{"Content-Type", std::string(kProtobufType)}})
                .status,
            201);
  for (const char* name : {"y", "j", "p"}) EXPECT_EQ(maps().get(name).data, map("").data) << name;
  const Answer yaml = call("GET", path + "/y", {}, {{"Accept", "application/yaml"}});
  EXPECT_EQ(yaml.headers.get("Content-Type"), "application/yaml");
  EXPECT_EQ(fromYaml<corev1::ConfigMap>(yaml.body), maps().get("y"));
}

TEST_F(ApiServerWriteTest, ManagedFieldsSayWhoWroteWhat) {
  const corev1::ConfigMap made = maps().create(map("a"), {.fieldManager = "one"});
  ASSERT_THAT(made.metadata.managedFields, SizeIs(1));
  EXPECT_EQ(made.metadata.managedFields[0].manager, "one");
  EXPECT_EQ(made.metadata.managedFields[0].operation, "Update");
  const corev1::ConfigMap patched =
      maps().patch("a", PatchType::Merge, R"({"data":{"other":"x"}})", {.fieldManager = "two"});
  ASSERT_THAT(patched.metadata.managedFields, SizeIs(2));
  EXPECT_THAT(patched.metadata.managedFields[1].fieldsV1.raw.str(), HasSubstr("f:other"));
  const Answer agent = call("POST", kMaps, toJson(map("b")), {{"User-Agent", "tool/1.2 (x)"}});
  EXPECT_EQ(agent.json()["metadata"]["managedFields"].asArray()[0]["manager"], Value("tool"));
}

}  // namespace
}  // namespace kube::apiserver
