// Custom resources through the API server.
#include "kube/client/api_discovery/discovery_client.h"
#include "kube/codec/unstructured.h"
#include "kube/testing/api_server_testing.h"

namespace kube::apiserver {
namespace {

using namespace kube::testing;

using apiextensionsv1::CustomResourceDefinition;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::string_view kTwoVersions = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: shirts.shop.example.com}
spec:
  group: shop.example.com
  scope: Cluster
  names: {plural: shirts, kind: Shirt}
  versions:
  - name: v1beta1
    served: true
    storage: false
    deprecated: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
  - name: v2
    served: false
    storage: false
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
)";

class ApiServerCrdTest : public ApiServerTest {
 protected:
  ResourceClient<CustomResourceDefinition> definitions() const {
    return ResourceClient<CustomResourceDefinition>(clients.rest());
  }
  static std::string condition(const CustomResourceDefinition& crd, std::string_view type) {
    for (const auto& one : crd.status->conditions) {
      if (one.type == type) return one.status.str() + " " + one.reason.str();
    }
    return "none";
  }
  const std::string path{kNetworksPath};
};

TEST_F(ApiServerCrdTest, ADefinitionIsEstablishedAndServed) {
  EXPECT_EQ(call("GET", path).status, 404);
  define(kNetworks);
  const auto crd = definitions().get("networks.sample.example.com");
  EXPECT_EQ(condition(crd, "Established"), "True InitialNamesAccepted");
  EXPECT_EQ(condition(crd, "NamesAccepted"), "True NoConflicts");
  EXPECT_EQ(crd.status->acceptedNames->plural, "networks");
  EXPECT_THAT(crd.status->storedVersions, ElementsAre("v1"));
  EXPECT_EQ(call("GET", path).json()["kind"], Value("NetworkList"));
  const Answer made = call("POST", path, toJson(network("n")));
  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(made.json()["metadata"]["generation"], Value(1));
  EXPECT_EQ(call("GET", path + "/n").json(), made.json());
}

TEST_F(ApiServerCrdTest, WhatTheSchemaDoesNotKnowIsPruned) {
  define(kNetworks);
  Unstructured object = network("n");
  object.setNestedField("x", "spec", "surprise");
  const Answer strict = call("POST", path + "?fieldValidation=Strict", toJson(object));
  EXPECT_EQ(strict.status, 400);
  EXPECT_THAT(strict.asStatus().message.str(), HasSubstr("unknown field \"spec.surprise\""));
  const Answer made = call("POST", path, toJson(object));
  EXPECT_EQ(made.status, 201);
  EXPECT_THAT(std::string(made.headers.get("Warning")), HasSubstr("spec.surprise"));
  EXPECT_TRUE(made.json()["spec"]["surprise"].isNull());
  const Answer patched = patch(path + "/n", kMerge, R"({"spec":{"other":1,"color":"red"}})");
  EXPECT_TRUE(patched.json()["spec"]["other"].isNull());
  EXPECT_EQ(patched.json()["spec"]["color"], Value("red"));
}

TEST_F(ApiServerCrdTest, DefaultsAreFilledIn) {
  define(kNetworks);
  EXPECT_EQ(call("POST", path, toJson(network("n"))).json()["spec"]["mtu"], Value(1500));
  EXPECT_EQ(patch(path + "/n", kMerge, R"({"spec":{"mtu":null}})").json()["spec"]["mtu"],
            Value(1500));
}

TEST_F(ApiServerCrdTest, WhatDoesNotFitTheSchemaIsRefused) {
  define(kNetworks);
  Unstructured object = network("n", "1");
  object.setNestedField(5, "spec", "mtu");
  const Answer refused = call("POST", path, toJson(object));
  EXPECT_EQ(refused.status, 422);
  const metav1::Status status = refused.asStatus();
  EXPECT_EQ(status.reason, "Invalid");
  EXPECT_THAT(status.message.str(), AllOf(HasSubstr("Network.sample.example.com \"n\" is invalid"),
                                          HasSubstr("spec.cidr"), HasSubstr("spec.mtu")));
  EXPECT_THAT(status.details->causes, SizeIs(2));
  Unstructured missing = network("n");
  missing.object["spec"] = Value::Object{};
  EXPECT_THAT(call("POST", path, toJson(missing)).body, HasSubstr("spec.cidr: Required value"));
  EXPECT_EQ(call("POST", path, toJson(network("Bad_Name"))).status, 422);
  EXPECT_EQ(call("POST", path, toJson(map("n"))).status, 400);
  EXPECT_EQ(call("POST", path, "{}").status, 400) << "it has to say what it is";
  EXPECT_EQ(call("POST", path, toProtobuf(map("n")), {{"Content-Type", std::string(kProtobufType)}})
                .status,
            415);
}

TEST_F(ApiServerCrdTest, ItIsScaled) {
  define(kNetworks);
  Unstructured object = network("n");
  object.setNestedField(2, "spec", "replicas");
  call("POST", path, toJson(object));
  patch(path + "/n/status", kMerge, R"({"status":{"replicas":1}})");
  const Answer read = call("GET", path + "/n/scale");
  EXPECT_EQ(read.json()["kind"], Value("Scale"));
  EXPECT_EQ(read.json()["spec"]["replicas"], Value(2));
  EXPECT_EQ(read.json()["status"]["replicas"], Value(1));
  Value wanted = read.json();
  wanted["spec"]["replicas"] = 7;
  EXPECT_EQ(call("PUT", path + "/n/scale", toJson(wanted)).json()["spec"]["replicas"], Value(7));
  EXPECT_EQ(call("GET", path + "/n").json()["spec"]["replicas"], Value(7));
  EXPECT_EQ(call("GET", path + "/n").json()["metadata"]["generation"], Value(2));
  EXPECT_EQ(
      patch(path + "/n/scale", kMerge, R"({"spec":{"replicas":8}})").json()["spec"]["replicas"],
      Value(8));
  EXPECT_EQ(patch(path + "/n/scale", kMerge, R"({"spec":{"replicas":-1}})").status, 422);
  EXPECT_EQ(patch(path + "/n/scale?dryRun=All", kMerge, R"({"spec":{"replicas":9}})").status, 200);
  EXPECT_EQ(call("GET", path + "/n").json()["spec"]["replicas"], Value(8));
  EXPECT_EQ(call("GET", path + "/none/scale").status, 404);
}

TEST_F(ApiServerCrdTest, ItsColumnsAreInTables) {
  define(kNetworks);
  call("POST", path, toJson(network("n")));
  const Value table =
      call("GET", path, {}, {{"Accept", "application/json;as=Table;v=v1;g=meta.k8s.io"}}).json();
  ASSERT_THAT(table["columnDefinitions"].asArray(), SizeIs(2));
  EXPECT_EQ(table["columnDefinitions"].asArray()[1]["name"], Value("CIDR"));
  EXPECT_EQ(table["rows"].asArray()[0]["cells"].asArray()[1], Value("10.0.0.0/8"));
}

TEST_F(ApiServerCrdTest, DiscoveryFollows) {
  EXPECT_EQ(call("GET", "/apis/sample.example.com/v1").status, 404);
  define(kNetworks);
  const Value resources = call("GET", "/apis/sample.example.com/v1").json();
  ASSERT_THAT(resources["resources"].asArray(), SizeIs(3)) << "itself, status and scale";
  EXPECT_EQ(resources["resources"].asArray()[0]["name"], Value("networks"));
  EXPECT_EQ(resources["resources"].asArray()[0]["shortNames"].asArray()[0], Value("net"));
  EXPECT_THAT(call("GET", "/apis").body, HasSubstr("sample.example.com"));
  definitions().remove("networks.sample.example.com");
  server.settle();
  EXPECT_EQ(call("GET", "/apis/sample.example.com/v1").status, 404);
  EXPECT_EQ(call("GET", "/apis").body.find("sample.example.com"), std::string::npos);
}

TEST_F(ApiServerCrdTest, AllServedVersionsShowTheSameObjects) {
  define(kTwoVersions);
  const std::string old = "/apis/shop.example.com/v1beta1/shirts",
                    now = "/apis/shop.example.com/v1/shirts";
  const Answer made = call(
      "POST", old,
      R"({"apiVersion":"shop.example.com/v1beta1","kind":"Shirt","metadata":{"name":"s"},"size":3})");
  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(made.json()["apiVersion"], Value("shop.example.com/v1beta1"));
  EXPECT_THAT(std::string(made.headers.get("Warning")), HasSubstr("deprecated"));
  const Answer read = call("GET", now + "/s");
  EXPECT_EQ(read.json()["apiVersion"], Value("shop.example.com/v1"));
  EXPECT_EQ(read.json()["size"], Value(3));
  EXPECT_FALSE(read.headers.has("Warning"));
  const Value list = call("GET", old).json();
  EXPECT_EQ(list["apiVersion"], Value("shop.example.com/v1beta1"));
  EXPECT_EQ(list["items"].asArray()[0]["apiVersion"], Value("shop.example.com/v1beta1"));
  EXPECT_EQ(call("GET", "/apis/shop.example.com/v2/shirts").status, 404) << "it is not served";
  HttpStream watch = open(old + "?watch=1&timeoutSeconds=5&resourceVersion=0");
  EXPECT_THAT(std::string(watch.read().value()), HasSubstr("shop.example.com/v1beta1"));
}

TEST_F(ApiServerCrdTest, NamesThatAreTakenAreNotAccepted) {
  define(kNetworks);
  CustomResourceDefinition other = fromYaml<CustomResourceDefinition>(kNetworks);
  other.metadata.name = "webs.sample.example.com";
  other.spec->names->plural = "webs";
  other.spec->names->singular = "web";
  other.spec->names->kind = "Network";
  definitions().create(other);
  server.settle();
  const auto refused = definitions().get("webs.sample.example.com");
  EXPECT_EQ(condition(refused, "NamesAccepted").substr(0, 5), "False");
  EXPECT_EQ(condition(refused, "Established").substr(0, 5), "False");
  const std::string webs = "/apis/sample.example.com/v1/namespaces/default/webs";
  EXPECT_EQ(call("GET", webs).status, 404);
  definitions().remove("networks.sample.example.com");
  server.settle();
  EXPECT_EQ(condition(definitions().get("webs.sample.example.com"), "Established").substr(0, 4),
            "True")
      << "its names are free now";
  EXPECT_EQ(call("GET", webs).status, 200);
}

TEST_F(ApiServerCrdTest, BuiltInResourcesComeFirst) {
  CustomResourceDefinition crd = fromYaml<CustomResourceDefinition>(kTwoVersions);
  crd.metadata.name = "deployments.apps";
  crd.spec->group = "apps";
  crd.spec->names->plural = "deployments";
  crd.spec->names->kind = "Deployment";
  try {
    definitions().create(crd);
  } catch (const ApiError&) {
  }
  server.settle();
  EXPECT_EQ(clients.appsV1().deployments("default").create(deployment("web")).metadata.generation,
            1);
}

TEST_F(ApiServerCrdTest, ADefinitionChangesWhileThereAreObjects) {
  define(kNetworks);
  call("POST", path, toJson(network("n")));
  CustomResourceDefinition crd = definitions().get("networks.sample.example.com");
  auto version = crd.spec->versions[0];
  Value schema = toUnstructured(*version.schema->openAPIV3Schema).object;
  schema["properties"]["spec"]["properties"]["extra"] = Value::Object{{"type", "string"}};
  schema["properties"]["spec"]["properties"]["cidr"]["minLength"] = 20;
  version.schema->openAPIV3Schema =
      fromUnstructured<apiextensionsv1::JSONSchemaProps>(Unstructured(schema));
  crd.spec->versions = {version};
  definitions().update(crd);
  server.settle();
  EXPECT_EQ(call("GET", path + "/n").json()["spec"]["cidr"], Value("10.0.0.0/8")) << "it stays";
  EXPECT_EQ(call("POST", path, toJson(network("short"))).status, 422);
  EXPECT_EQ(patch(path + "/n", kMerge, R"({"spec":{"extra":"x"}})").json()["spec"]["extra"],
            Value("x"))
      << "what was wrong before may stay so";
  crd = definitions().get("networks.sample.example.com");
  auto second = crd.spec->versions[0];
  second.name = "v2";
  second.storage = false;
  crd.spec->versions.push_back(second);
  definitions().update(crd);
  server.settle();
  EXPECT_EQ(
      call("GET", "/apis/sample.example.com/v2/namespaces/default/networks/n").json()["apiVersion"],
      Value("sample.example.com/v2"));
}

TEST_F(ApiServerCrdTest, ABadDefinitionIsRefused) {
  CustomResourceDefinition crd = fromYaml<CustomResourceDefinition>(kNetworks);
  crd.metadata.name = "other.sample.example.com";
  const metav1::Status status = refusalOf([&] { definitions().create(crd); });
  EXPECT_EQ(status.code, 422);
  EXPECT_THAT(status.message.str(), HasSubstr("must be spec.names.plural+\".\"+spec.group"));
}

TEST(ApiServerManifestsTest, AreThereWhenTheServerStarts) {
  const std::string object =
      "\n---\napiVersion: sample.example.com/v1\nkind: Network\nmetadata: {name: one}\n"
      "spec: {cidr: 10.0.0.0/8}\n";
  const testing::ApiServer server({.manifests = {std::string(kNetworks) + object}});
  const auto networks = DynamicClient(server.config())
                            .resource(GroupVersionResource{"sample.example.com", "v1", "networks"})
                            .inNamespace("default");
  EXPECT_EQ(networks.get("one").object["spec"]["mtu"], Value(1500));
  EXPECT_THROW(testing::ApiServer({.manifests = {object}}), Error) << "its kind is not known";
  EXPECT_THROW(testing::ApiServer({.manifests = {std::string(kNetworks), "a: ["}}), Error);
}

}  // namespace
}  // namespace kube::apiserver
