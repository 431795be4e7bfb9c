#include "kube/apiserver/documents/openapi.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "kube/api/packages.h"
#include "kube/apiserver/documents/shared_files_testing.h"
#include "kube/codec/json.h"
#include "kube/codec/yaml.h"
#include "kube/meta/describe.h"

namespace samplev1 {
struct GadgetPart {
  kube::String name;
  kube::List<GadgetPart> parts;
};
struct Gadget {
  kube::metav1::ObjectMeta metadata;
  kube::Shared<GadgetPart> spec;
};
}  // namespace samplev1
KUBE_DESCRIBE(samplev1::GadgetPart, (name, required), parts);
KUBE_DESCRIBE_KIND(samplev1::Gadget,
                   (.group = "sample.example.com", .version = "v1", .kind = "Gadget",
                    .plural = "gadgets"),
                   metadata, spec);

namespace kube::apiserver {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const Value& documentV2() {
  static const Value document = openApiV2(builtInResources());
  return document;
}

const Value& definition(std::string_view name) { return documentV2()["definitions"][name]; }

ServedResource networkWith(const std::string& schema) {
  ServedResource served{.group = "samplecrd.k8s.io",
                        .version = "v1",
                        .kind = "Network",
                        .plural = "networks",
                        .singular = "network",
                        .listKind = "NetworkList",
                        .namespaced = true,
                        .verbs = allVerbs(),
                        .subresources = {{.name = "status",
                                          .kind = {"samplecrd.k8s.io", "v1", "Network"},
                                          .verbs = {"get", "patch", "update"}},
                                         {.name = "scale",
                                          .kind = {"autoscaling", "v1", "Scale"},
                                          .verbs = {"get", "patch", "update"}}}};
  if (!schema.empty()) served.schema = fromYaml<apiextensionsv1::JSONSchemaProps>(schema);
  return served;
}

// Calls a function with every value of a document and its key.
void walk(const Value& value, const std::function<void(std::string_view, const Value&)>& visit,
          std::string_view key = "") {
  visit(key, value);
  if (value.isArray()) {
    for (const Value& item : value.asArray()) walk(item, visit, "");
  } else if (value.isObject()) {
    for (const auto& [name, member] : value.asObject()) walk(member, visit, name);
  }
}

// The target of "#/a/b"; null if there is none.
const Value& resolve(const Value& document, std::string_view reference) {
  static const Value none;
  if (!reference.starts_with("#/")) return none;
  const Value* at = &document;
  for (std::string_view rest = reference.substr(2); !rest.empty();) {
    const auto slash = std::min(rest.find('/'), rest.size());
    at = &(*at)[rest.substr(0, slash)];
    rest.remove_prefix(std::min(slash + 1, rest.size()));
  }
  return *at;
}

std::vector<std::string> dangling(const Value& document) {
  std::set<std::string> missing;
  walk(document, [&](std::string_view key, const Value& value) {
    if (key != "$ref" || !value.isString()) return;  // a property may have this name
    if (resolve(document, value.asString()).isNull()) missing.insert(value.asString().str());
  });
  return {missing.begin(), missing.end()};
}

// The names of an operation's parameters, with those of its path.
std::set<std::string> parametersOf(const Value& document, std::string_view path,
                                   std::string_view method) {
  std::set<std::string> names;
  for (const Value* list :
       {&document["paths"][path]["parameters"], &document["paths"][path][method]["parameters"]}) {
    for (const Value& parameter : list->asArray()) {
      const Value& actual = parameter["$ref"].isString()
                                ? resolve(document, parameter["$ref"].asString())
                                : parameter;
      names.insert(actual["in"].asString().str() + ":" + actual["name"].asString().str());
    }
  }
  return names;
}

// --- All of a document.

TEST(OpenApiTest, EveryReferenceLeadsSomewhere) {
  auto served = builtInResources();
  served.push_back(networkWith("{type: object, properties: {spec: {type: object}}}"));
  EXPECT_THAT(dangling(openApiV2(served)), ElementsAre());
  for (const ServedGroup& group : groupsOf(served)) {
    for (const String& version : group.versions) {
      const Value document = openApiV3(served, {group.name, version});
      EXPECT_THAT(dangling(document), ElementsAre()) << group.name << "/" << version;
      EXPECT_FALSE(document["paths"].asObject().empty()) << group.name << "/" << version;
    }
  }
}

TEST(OpenApiTest, EverySchemaIsOneThatKubectlReads) {
  // kubectl refuses arrays without items, references with a type, and several types.
  walk(documentV2()["definitions"], [](std::string_view, const Value& value) {
    if (!value.isObject() || !value["type"].isString()) return;
    if (value["type"].asString() == "array") {
      EXPECT_TRUE(value["items"].isObject()) << toJson(value);
    }
    EXPECT_TRUE(value["$ref"].isNull()) << toJson(value);
  });
}

TEST(OpenApiTest, EveryOperationHasAnIdOfItsOwn) {
  std::set<std::string> ids;
  for (const auto& [path, item] : documentV2()["paths"].asObject()) {
    for (const auto& [method, operation] : item.asObject()) {
      if (method == "parameters") continue;
      // Lists can watch too, so there are no operations for watches.
      EXPECT_TRUE(ids.insert(operation["operationId"].asString().str()).second)
          << path << " " << method;
      EXPECT_FALSE(operation["responses"].asObject().empty()) << path;
    }
    std::size_t braces = static_cast<std::size_t>(std::count(path.begin(), path.end(), '{'));
    for (const auto& name : parametersOf(documentV2(), path, "get")) {
      if (name.starts_with("path:")) --braces;
    }
    EXPECT_EQ(braces, 0U) << path;
  }
}

// --- Schemas of built-in kinds.

TEST(OpenApiTest, SchemasAreNamedAfterUpstreamsPackages) {
  for (const char* name :
       {"io.k8s.api.core.v1.Pod", "io.k8s.api.apps.v1.DeploymentList",
        "io.k8s.api.flowcontrol.v1.FlowSchema", "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta",
        "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition",
        "io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIService",
        "io.k8s.apimachinery.pkg.api.resource.Quantity", "io.k8s.apimachinery.pkg.version.Info"}) {
    EXPECT_TRUE(definition(name).isObject()) << name;
  }
  EXPECT_TRUE(definition("io.k8s.api.apps.v1beta1.Deployment").isNull());  // retired
}

TEST(OpenApiTest, PropertiesHaveTypesAndFormats) {
  const Value& container = definition("io.k8s.api.core.v1.Container")["properties"];
  EXPECT_EQ(toJson(container["name"]), R"({"type":"string"})");
  EXPECT_EQ(toJson(container["tty"]), R"({"type":"boolean"})");
  EXPECT_EQ(toJson(container["resources"]),
            R"({"$ref":"#/definitions/io.k8s.api.core.v1.ResourceRequirements"})");
  EXPECT_EQ(toJson(container["command"]),
            R"({"items":{"type":"string"},"type":"array","x-kubernetes-list-type":"atomic"})");
  const Value& limits =
      definition("io.k8s.api.core.v1.ResourceRequirements")["properties"]["limits"];
  EXPECT_EQ(toJson(limits),
            R"({"additionalProperties":{"$ref":)"
            R"("#/definitions/io.k8s.apimachinery.pkg.api.resource.Quantity"},"type":"object"})");
  const Value& secret = definition("io.k8s.api.core.v1.Secret")["properties"]["data"];
  EXPECT_EQ(toJson(secret["additionalProperties"]), R"({"format":"byte","type":"string"})");
  EXPECT_EQ(toJson(definition("io.k8s.apimachinery.pkg.util.intstr.IntOrString")),
            R"({"format":"int-or-string","type":"string"})");
  EXPECT_EQ(toJson(definition("io.k8s.apimachinery.pkg.apis.meta.v1.Time")),
            R"({"format":"date-time","type":"string"})");
}

TEST(OpenApiTest, PropertiesSayHowTheyAreMerged) {
  const Value& ports = definition("io.k8s.api.core.v1.Container")["properties"]["ports"];
  EXPECT_EQ(toJson(ports["x-kubernetes-list-map-keys"]), R"(["containerPort","protocol"])");
  EXPECT_EQ(ports["x-kubernetes-list-type"].asString(), "map");
  EXPECT_EQ(ports["x-kubernetes-patch-merge-key"].asString(), "containerPort");
  EXPECT_EQ(ports["x-kubernetes-patch-strategy"].asString(), "merge");
  EXPECT_EQ(definition("io.k8s.api.core.v1.SecretKeySelector")["x-kubernetes-map-type"].asString(),
            "atomic");
  const Value& strategy = definition("io.k8s.api.apps.v1.DeploymentSpec")["properties"]["strategy"];
  EXPECT_EQ(strategy["x-kubernetes-patch-strategy"].asString(), "retainKeys");
  EXPECT_THAT(strategy["$ref"].asString().str(), HasSubstr("DeploymentStrategy"));
}

TEST(OpenApiTest, KindsSayWhatTheyAre) {
  const Value& pod = definition("io.k8s.api.core.v1.Pod");
  EXPECT_EQ(toJson(pod["x-kubernetes-group-version-kind"]),
            R"([{"group":"","kind":"Pod","version":"v1"}])");
  EXPECT_EQ(toJson(pod["properties"]["apiVersion"]), R"({"type":"string"})");
  EXPECT_TRUE(definition("io.k8s.api.core.v1.PodSpec")["x-kubernetes-group-version-kind"].isNull());
  EXPECT_EQ(toJson(definition("io.k8s.api.core.v1.PodSpec")["required"]), R"(["containers"])");
  // One for every version.
  const Value& options = definition("io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions");
  EXPECT_THAT(options["x-kubernetes-group-version-kind"].asArray(),
              Contains(Value(
                  Value::Object{{"group", "apps"}, {"kind", "DeleteOptions"}, {"version", "v1"}})));
}

TEST(OpenApiTest, RecursiveTypesReferToThemselves) {
  const Value& props =
      definition("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps");
  EXPECT_THAT(props["properties"]["not"]["$ref"].asString().str(), HasSubstr("JSONSchemaProps"));
  EXPECT_EQ(toJson(definition(
                "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrBool")),
            "{}");
}

TEST(OpenApiTest, DescribedTypesOfOnesOwnHaveNamesToo) {
  const ServedResource gadgets{.group = "sample.example.com",
                               .version = "v1",
                               .kind = "Gadget",
                               .plural = "gadgets",
                               .singular = "gadget",
                               .listKind = "GadgetList",
                               .verbs = allVerbs(),
                               .type = &TypeOf<samplev1::Gadget>::info};
  const Value document = openApiV2(std::span(&gadgets, 1));
  EXPECT_THAT(dangling(document), ElementsAre());
  const Value& part = document["definitions"]["com.example.sample.v1.GadgetPart"];
  EXPECT_EQ(toJson(part["required"]), R"(["name"])");
  EXPECT_TRUE(document["definitions"]["com.example.sample.v1.GadgetList"].isObject());
  EXPECT_EQ(openApiV3Hash(std::span(&gadgets, 1), {"sample.example.com", "v1"}).size(), 128U);
}

// --- Operations.

TEST(OpenApiTest, PatchesTakeTheParametersThatKubectlLooksFor) {
  const std::string path = "/api/v1/namespaces/{namespace}/pods/{name}";
  const auto v3 = openApiV3(builtInResources(), {"", "v1"});
  for (const Value* document : {&documentV2(), &v3}) {
    const Value& patch = (*document)["paths"][path]["patch"];
    EXPECT_EQ(patch["x-kubernetes-action"].asString(), "patch");
    EXPECT_EQ(toJson(patch["x-kubernetes-group-version-kind"]),
              R"({"group":"","kind":"Pod","version":"v1"})");
    std::set<std::string> inlined;
    for (const Value& parameter : patch["parameters"].asArray()) {
      if (parameter["in"].asString() == "query") inlined.insert(parameter["name"].asString().str());
    }
    EXPECT_THAT(inlined, ElementsAre("dryRun", "fieldValidation"));
    EXPECT_THAT(parametersOf(*document, path, "patch"),
                ::testing::IsSupersetOf({"path:name", "path:namespace", "query:fieldManager",
                                         "query:force", "query:pretty"}));
  }
  EXPECT_THAT(documentV2()["paths"][path]["patch"]["consumes"].asArray(),
              Contains(Value("application/strategic-merge-patch+json")));
  EXPECT_TRUE(
      v3["paths"][path]["patch"]["requestBody"]["content"]["application/strategic-merge-patch+json"]
          .isObject());
}

TEST(OpenApiTest, OperationsFollowTheVerbs) {
  const Value& paths = documentV2()["paths"];
  const auto methods = [&](std::string_view path) {
    std::string all;
    for (const auto& [method, operation] : paths[path].asObject()) {
      if (method == "parameters") continue;
      all += method.str() + ":" + operation["x-kubernetes-action"].asString().str() + " ";
    }
    return all;
  };
  EXPECT_EQ(methods("/api/v1/namespaces/{namespace}/pods"),
            "delete:deletecollection get:list post:post ");
  EXPECT_EQ(methods("/api/v1/pods"), "get:list ");
  EXPECT_EQ(methods("/api/v1/namespaces/{namespace}/pods/{name}"),
            "delete:delete get:get patch:patch put:put ");
  EXPECT_EQ(methods("/api/v1/namespaces/{namespace}/pods/{name}/status"),
            "get:get patch:patch put:put ");
  EXPECT_EQ(methods("/api/v1/namespaces/{namespace}/pods/{name}/eviction"), "post:post ");
  EXPECT_EQ(methods("/api/v1/namespaces/{namespace}/pods/{name}/exec"),
            "get:connect post:connect ");
  EXPECT_EQ(methods("/api/v1/nodes/{name}/proxy/{path}"),
            "delete:connect get:connect head:connect options:connect patch:connect post:connect "
            "put:connect ");
  EXPECT_EQ(methods("/api/v1/namespaces/{namespace}/bindings"), "post:post ");
  EXPECT_EQ(methods("/api/v1/bindings"), "");
  EXPECT_EQ(methods("/apis/authentication.k8s.io/v1/tokenreviews"), "post:post ");
  EXPECT_EQ(paths["/apis/apps/v1/namespaces/{namespace}/deployments/{name}/scale"]["get"]
                 ["x-kubernetes-group-version-kind"]["kind"]
                     .asString(),
            "Scale");
  EXPECT_THAT(parametersOf(documentV2(), "/api/v1/namespaces/{namespace}/pods/{name}/exec", "get"),
              ::testing::IsSupersetOf({"query:command", "query:container", "query:stdin"}));
  EXPECT_THAT(parametersOf(documentV2(), "/api/v1/namespaces/{namespace}/pods/{name}/log", "get"),
              ::testing::IsSupersetOf({"query:follow", "query:tailLines"}));
}

// --- Version 3.

TEST(OpenApi3Test, ADocumentHoldsOneVersion) {
  const Value document = openApiV3(builtInResources(), {"apps", "v1"});
  EXPECT_THAT(document["openapi"].asString().str(), StartsWith("3.0"));
  for (const auto& [path, item] : document["paths"].asObject()) {
    EXPECT_THAT(path.str(), StartsWith("/apis/apps/v1/"));
  }
  const Value& schemas = document["components"]["schemas"];
  EXPECT_TRUE(schemas["io.k8s.api.apps.v1.Deployment"].isObject());
  EXPECT_TRUE(schemas["io.k8s.api.core.v1.PodSpec"].isObject());
  EXPECT_TRUE(schemas["io.k8s.api.core.v1.Node"].isNull());
  EXPECT_TRUE(openApiV3(builtInResources(), {"nowhere", "v1"})["paths"].asObject().empty());
}

TEST(OpenApi3Test, AReferenceWithCompanyIsWrapped) {
  const Value document = openApiV3(builtInResources(), {"apps", "v1"});
  const Value& schemas = document["components"]["schemas"];
  const Value& strategy = schemas["io.k8s.api.apps.v1.DeploymentSpec"]["properties"]["strategy"];
  EXPECT_EQ(toJson(strategy),
            R"({"allOf":[{"$ref":"#/components/schemas/io.k8s.api.apps.v1.DeploymentStrategy"}],)"
            R"("x-kubernetes-patch-strategy":"retainKeys"})");
  EXPECT_EQ(toJson(schemas["io.k8s.apimachinery.pkg.util.intstr.IntOrString"]),
            R"({"format":"int-or-string","oneOf":[{"type":"integer"},{"type":"string"}]})");
}

TEST(OpenApi3Test, TheRootNamesEveryDocumentByItsContent) {
  auto served = builtInResources();
  served.push_back(networkWith("{type: object}"));
  const TaggedDocument before = openApiV3Root(served);
  const Value paths = parseJson(before.body)["paths"];
  const std::string url = paths["api/v1"]["serverRelativeURL"].asString().str();
  EXPECT_EQ(url, "/openapi/v3/api/v1?hash=" + openApiV3Hash(served, {"", "v1"}));
  EXPECT_TRUE(paths["apis/apps/v1"].isObject());

  served.back() = networkWith("{type: object, properties: {spec: {type: string}}}");
  const TaggedDocument after = openApiV3Root(served);
  EXPECT_NE(after.etag, before.etag);
  const Value changed = parseJson(after.body)["paths"];
  EXPECT_NE(changed["apis/samplecrd.k8s.io/v1"], paths["apis/samplecrd.k8s.io/v1"]);
  EXPECT_EQ(changed["api/v1"], paths["api/v1"]);
}

// --- Custom resources.

struct Published {
  Value v2, v3;
};
Published publish(const std::string& schema) {
  const ServedResource served = networkWith(schema);
  constexpr std::string_view kName = "io.k8s.samplecrd.v1.Network";
  return {
      openApiV2(std::span(&served, 1))["definitions"][kName],
      openApiV3(std::span(&served, 1), {"samplecrd.k8s.io", "v1"})["components"]["schemas"][kName]};
}

TEST(CustomOpenApiTest, AddsWhatEveryObjectHas) {
  const auto [v2, v3] = publish(
      "{type: object, properties: {spec: {type: object, required: [cidr], properties: {cidr: "
      "{type: "
      "string, description: the range, pattern: x, default: d}}}}}");
  for (const Value* schema : {&v2, &v3}) {
    EXPECT_EQ(toJson((*schema)["x-kubernetes-group-version-kind"]),
              R"([{"group":"samplecrd.k8s.io","kind":"Network","version":"v1"}])");
    EXPECT_EQ((*schema)["properties"]["kind"]["type"].asString(), "string");
    EXPECT_THAT((*schema)["properties"]["metadata"]["$ref"].asString().str(),
                HasSubstr("meta.v1.ObjectMeta"));
    EXPECT_EQ(toJson((*schema)["properties"]["spec"]),
              R"({"properties":{"cidr":{"default":"d","description":"the range","pattern":"x",)"
              R"("type":"string"}},"required":["cidr"],"type":"object"})");
  }
}

TEST(CustomOpenApiTest, HasListAndPathsWithoutStrategicPatches) {
  const ServedResource served = networkWith("{type: object}");
  const Value document = openApiV2(std::span(&served, 1));
  EXPECT_THAT(dangling(document), ElementsAre());
  EXPECT_TRUE(document["definitions"]["io.k8s.samplecrd.v1.NetworkList"].isObject());
  const std::string path = "/apis/samplecrd.k8s.io/v1/namespaces/{namespace}/networks/{name}";
  const Value& patch = document["paths"][path]["patch"];
  EXPECT_THAT(patch["consumes"].asArray(), Contains(Value("application/merge-patch+json")));
  EXPECT_THAT(patch["consumes"].asArray(),
              Not(Contains(Value("application/strategic-merge-patch+json"))));
  EXPECT_EQ(patch["operationId"].asString(), "patchSamplecrdV1NamespacedNetwork");
  EXPECT_THAT(toJson(document["paths"][path + "/scale"]["put"]),
              HasSubstr("io.k8s.api.autoscaling.v1.Scale"));
}

TEST(CustomOpenApiTest, WithoutASchemaAnythingGoes) {
  const auto [v2, v3] = publish("");
  EXPECT_EQ(v2["type"].asString(), "object");
  EXPECT_TRUE(v2["properties"].isNull());
  EXPECT_TRUE(v3["properties"].isNull());
}

TEST(CustomOpenApiTest, UnknownFieldsAreNotForbiddenWhereTheyAreKept) {
  const auto [v2, v3] = publish(
      "{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {a: {type: "
      "string}}}");
  EXPECT_TRUE(v2["properties"].isNull());
  EXPECT_EQ(v3["properties"]["a"]["type"].asString(), "string");
}

TEST(CustomOpenApiTest, Version2LeavesOutWhatItCannotSay) {
  const auto [v2, v3] = publish(R"(
type: object
properties:
  a: {type: object, nullable: true, properties: {x: {type: string}}}
  b: {type: array, x-kubernetes-preserve-unknown-fields: true, items: {type: string}}
  c: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {x: {type: string}}}
  d: {type: string, oneOf: [{pattern: a}], anyOf: [{pattern: b}], not: {pattern: c}}
  e: {x-kubernetes-int-or-string: true}
  f: {type: object, additionalProperties: {type: array, items: {type: string, nullable: true}}}
required: [a, d]
)");
  const Value& in2 = v2["properties"];
  EXPECT_EQ(toJson(in2["a"]), "{}");
  EXPECT_EQ(toJson(in2["b"]), R"({"x-kubernetes-preserve-unknown-fields":true})");
  EXPECT_EQ(toJson(in2["c"]), R"({"x-kubernetes-preserve-unknown-fields":true})");
  EXPECT_EQ(toJson(in2["d"]), R"({"type":"string"})");
  EXPECT_EQ(toJson(in2["e"]), R"({"x-kubernetes-int-or-string":true})");
  EXPECT_EQ(toJson(in2["f"]),
            R"({"additionalProperties":{"items":{},"type":"array"},"type":"object"})");
  EXPECT_EQ(toJson(v2["required"]), R"(["d"])");

  const Value& in3 = v3["properties"];
  EXPECT_TRUE(in3["a"]["nullable"].asBool());
  EXPECT_EQ(in3["a"]["properties"]["x"]["type"].asString(), "string");
  EXPECT_TRUE(in3["d"]["oneOf"].isArray());
  EXPECT_EQ(toJson(in3["e"]["anyOf"]), R"([{"type":"integer"},{"type":"string"}])");
  EXPECT_EQ(toJson(v3["required"]), R"(["a","d"])");
}

TEST(CustomOpenApiTest, EmbeddedResourcesHaveTheirMetadata) {
  const auto [v2, v3] = publish(
      "{type: object, properties: {a: {type: object, x-kubernetes-embedded-resource: true, "
      "properties: "
      "{spec: {type: object}}}}}");
  for (const Value* schema : {&v2, &v3}) {
    const Value& embedded = (*schema)["properties"]["a"];
    EXPECT_TRUE(embedded["properties"]["metadata"]["$ref"].isString());
    EXPECT_EQ(embedded["properties"]["apiVersion"]["type"].asString(), "string");
    EXPECT_EQ(toJson(embedded["required"]), R"(["kind","apiVersion"])");
  }
}

TEST(CustomOpenApiTest, DeepSchemasAreFine) {
  std::string schema = "{type: object}";
  for (int i = 0; i < 90; ++i) schema = "{type: object, properties: {a: " + schema + "}}";
  const auto [v2, v3] = publish(schema);
  EXPECT_TRUE(v2["properties"]["a"]["properties"]["a"].isObject());
}

// --- A real server's document.

Value withoutTexts(const Value& value, bool isSchema) {
  if (value.isArray()) {
    Value out = Value::Array();
    for (const Value& item : value.asArray()) out.array().push_back(withoutTexts(item, true));
    return out;
  }
  if (!value.isObject()) return value;
  Value out = Value::Object();
  for (const auto& [key, member] : value.asObject()) {
    // Enumerations are those of a feature that is off by default.
    if (isSchema && (key == "description" || key == "x-kubernetes-unions" || key == "enum")) {
      continue;
    }
    out[key] = withoutTexts(member, key != "properties" || !isSchema);
  }
  return out;
}

TEST(OpenApiTest, IsThatOfARealServerLessTheTexts) {
  const auto text = sharedFile("api/swagger-v" + std::string(builtInRelease()) + ".json");
  if (!text) GTEST_SKIP() << "no OpenAPI document";
  const Value theirs = parseJson(*text);
  const Value& ours = documentV2();

  for (const auto& [name, schema] : theirs["definitions"].asObject()) {
    if (name.view().ends_with("version.Info")) continue;  // has more, from other binaries
    Value expected = withoutTexts(schema, true);
    if (expected["x-kubernetes-map-type"].asString() == "granular") {
      expected.object().erase("x-kubernetes-map-type");  // the default, which we leave out
    }
    Value actual = ours["definitions"][name];
    // The real document also has versions without resources.
    if (std::as_const(expected)["x-kubernetes-group-version-kind"].asArray().size() > 1) {
      actual["x-kubernetes-group-version-kind"] = expected["x-kubernetes-group-version-kind"];
    }
    const auto sort = [](Value& value) {
      if (!std::as_const(value)["required"].isArray()) return;
      auto& required = value["required"].array();
      std::sort(required.begin(), required.end(),
                [](const Value& a, const Value& b) { return a.asString() < b.asString(); });
    };
    sort(expected);
    sort(actual);
    EXPECT_EQ(toJson(actual), toJson(expected)) << name;
  }
  EXPECT_EQ(ours["definitions"].asObject().size(), theirs["definitions"].asObject().size());

  for (const auto& [path, item] : ours["paths"].asObject()) {
    const Value& other = theirs["paths"][path];
    ASSERT_EQ(item.asObject().size(), other.asObject().size() + (other["parameters"].isNull() &&
                                                                 item["parameters"].isArray()))
        << path;
    for (const auto& [method, operation] : item.asObject()) {
      if (method == "parameters") continue;
      for (const char* key :
           {"operationId", "tags", "x-kubernetes-action", "x-kubernetes-group-version-kind"}) {
        EXPECT_EQ(operation[key], other[method][key]) << path << " " << method;
      }
      EXPECT_EQ(parametersOf(ours, path, method), parametersOf(theirs, path, method))
          << path << " " << method;
    }
  }
  for (const auto& [path, item] : theirs["paths"].asObject()) {
    if (!path.view().starts_with("/api") || path.view().find("/watch/") != std::string_view::npos) {
      continue;
    }
    EXPECT_TRUE(ours["paths"][path].isObject()) << path;
  }
}

}  // namespace
}  // namespace kube::apiserver
