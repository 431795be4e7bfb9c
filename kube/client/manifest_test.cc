#include "kube/client/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "kube/base/internal/test_loop_testing.h"
#include "kube/client/api_discovery/cached_discovery_client.h"
#include "kube/client/api_discovery/discovery_rest_mapper.h"
#include "kube/client/api_discovery/internal/discovery_server_testing.h"
#include "kube/codec/protobuf.h"
#include "kube/codec/unstructured.h"
#include "kube/rest/environment_testing.h"

namespace kube {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Outcome = ManifestOutcome;

constexpr const char* kExtensionsGroup = R"({"kind": "APIGroupList", "groups": [
    {"name": "apps", "versions": [{"groupVersion": "apps/v1", "version": "v1"}],
     "preferredVersion": {"groupVersion": "apps/v1", "version": "v1"}},
    {"name": "apiextensions.k8s.io",
     "versions": [{"groupVersion": "apiextensions.k8s.io/v1", "version": "v1"}],
     "preferredVersion": {"groupVersion": "apiextensions.k8s.io/v1", "version": "v1"}}MORE]})";
constexpr const char* kExtensionsResources = R"({"kind": "APIResourceList",
    "groupVersion": "apiextensions.k8s.io/v1", "resources": [
      {"name": "customresourcedefinitions", "singularName": "", "namespaced": false,
       "kind": "CustomResourceDefinition", "verbs": ["create", "list", "watch"]}]})";
constexpr const char* kSampleGroup = R"(, {"name": "samplecrd.k8s.io",
     "versions": [{"groupVersion": "samplecrd.k8s.io/v1", "version": "v1"}],
     "preferredVersion": {"groupVersion": "samplecrd.k8s.io/v1", "version": "v1"}})";
constexpr const char* kSampleResources = R"({"kind": "APIResourceList",
    "groupVersion": "samplecrd.k8s.io/v1", "resources": [
      {"name": "networks", "singularName": "network", "namespaced": true, "kind": "Network",
       "verbs": ["create"]}]})";

std::string extensionsGroup(const std::string& more) {
  std::string text = kExtensionsGroup;
  return text.replace(text.find("MORE"), 4, more);
}

/// A server with discovery and objects, sufficient to create, apply and delete.
class Objects {
 public:
  Objects() {
    server.set("/apis", extensionsGroup(""));
    server.set("/apis/apiextensions.k8s.io/v1", kExtensionsResources);
    server.otherwise = [this](const ServerRequest& request) { return answer(request); };
  }

  /// The writing requests: "POST /api/v1/namespaces/book/pods?dryRun=All".
  std::vector<std::string> writes() const {
    std::vector<std::string> result;
    for (const ServerRequest& request : server.requests()) {
      if (request.method != "GET") result.push_back(request.method + " " + request.target);
    }
    return result;
  }
  Value bodyOf(std::size_t write) const {
    for (const ServerRequest& request : server.requests()) {
      if (request.method != "GET" && write-- == 0) return parseJson(request.body);
    }
    return {};
  }

  std::map<std::string, Value> stored;  // by path
  int unserved = 0;  // requests for networks that fail although their definition is established
  std::function<void()> onUnserved = [] {};
  bool namesAccepted = true;
  bool canGet = true;
  int version = 0;
  std::vector<metav1::DeleteOptions> deleteOptions;
  DiscoveryServer server;  // last, because it uses the others
  DynamicClient client{server.config()};
  std::shared_ptr<const DiscoveryRestMapper> mapper =
      discoveryRestMapper(DiscoveryClient(client.rest()));

 private:
  static ServerResponse object(const Value& value, int status = 200) {
    return {
        .status = status, .headers = {{"Content-Type", "application/json"}}, .body = toJson(value)};
  }
  static ServerResponse failure(const metav1::Status& status) {
    return {.status = status.code,
            .headers = {{"Content-Type", "application/json"}},
            .body = toJson(status)};
  }

  ServerResponse answer(const ServerRequest& request) {
    const std::string path = request.target.substr(0, request.target.find('?'));
    bool dry = request.target.find("dryRun=All") != std::string::npos;
    if (request.method == "DELETE") {
      deleteOptions.push_back(fromProtobuf<metav1::DeleteOptions>(request.body));
      dry = deleteOptions.back().dryRun == List<String>{"All"};
    }
    if (path.find("networks") != std::string::npos && path.find("samplecrd") != std::string::npos &&
        path.find("/apis/samplecrd") == 0) {
      if (unserved > 0 && request.method != "GET") {
        --unserved;
        onUnserved();
        return {.status = 404, .body = "404 page not found\n"};
      }
    }
    if (path.find("/namespaces/missing/") != std::string::npos) {
      return failure(status::notFound({"", "namespaces"}, "missing"));
    }
    if (request.method == "POST") return create(path, parseJson(request.body), dry);
    if (request.method == "PATCH") return apply(path, parseJson(request.body), dry);
    const auto found = stored.find(path);
    if (request.method == "DELETE") {
      if (found == stored.end()) return failure(status::notFound({"", "things"}, "x"));
      if (!dry) stored.erase(found);
      return object(Value::Object{{"kind", "Status"}, {"status", "Success"}});
    }
    if (path.ends_with("customresourcedefinitions")) return definitions();
    if (!canGet) return failure(status::forbidden({"", "things"}, "", "no looking"));
    if (found == stored.end()) return failure(status::notFound({"", "things"}, "x"));
    return object(found->second);
  }

  ServerResponse create(const std::string& path, Value body, bool dry) {
    if (std::as_const(body)["metadata"]["name"].isNull()) {
      body["metadata"]["name"] = body["metadata"]["generateName"].asString() + "x7q2d";
    }
    const std::string name = std::as_const(body)["metadata"]["name"].asString().str();
    if (name == "broken") return failure(status::badRequest("no such field"));
    const std::string place = path + "/" + name;
    if (stored.contains(place)) return failure(status::alreadyExists({"", "things"}, name));
    return keep(place, std::move(body), dry, 201);
  }

  ServerResponse apply(const std::string& place, Value body, bool dry) {
    if (place.ends_with("/contested")) {
      return failure(status::applyConflict({}, "conflict with \"other\""));
    }
    const auto before = stored.find(place);
    if (before == stored.end()) return keep(place, std::move(body), dry, 201);
    body["metadata"]["resourceVersion"] =
        std::as_const(before->second)["metadata"]["resourceVersion"];
    if (place.ends_with("/settings")) {  // some servers write managedFields every time
      body["metadata"]["managedFields"] = Value::Array{version};
    }
    return body == before->second ? object(body) : keep(place, std::move(body), dry, 200);
  }

  ServerResponse keep(const std::string& place, Value body, bool dry, int status) {
    if (!dry) {
      body["metadata"]["resourceVersion"] = std::to_string(++version);
      stored[place] = body;
      if (place.find("customresourcedefinitions/") != std::string::npos) {
        server.set("/apis", extensionsGroup(kSampleGroup));
        server.set("/apis/samplecrd.k8s.io/v1", kSampleResources);
      }
    }
    return object(body, status);
  }

  // Returns the definitions, with the conditions that a controller sets.
  ServerResponse definitions() {
    Value::Array items;
    for (const auto& [place, value] : stored) {
      if (place.find("customresourcedefinitions/") == std::string::npos) continue;
      Value item = value;
      const Value accepted = Value::Object{{"type", "NamesAccepted"},
                                           {"status", namesAccepted ? "True" : "False"},
                                           {"message", "\"networks\" is taken"}};
      const Value established =
          Value::Object{{"type", "Established"}, {"status", namesAccepted ? "True" : "False"}};
      item["status"]["conditions"] = Value::Array{accepted, established};
      items.push_back(item);
    }
    return object(Value::Object{{"apiVersion", "apiextensions.k8s.io/v1"},
                                {"kind", "CustomResourceDefinitionList"},
                                {"metadata", Value::Object{{"resourceVersion", "9"}}},
                                {"items", items}});
  }
};

constexpr const char* kShop = R"(# everything of the shop
---
apiVersion: v1
kind: Namespace
metadata: {name: shop, namespace: nonsense}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {colour: blue}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: elsewhere}
spec: {replicas: 2}
)";

constexpr const char* kDefinition = R"(apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: networks.samplecrd.k8s.io}
spec:
  group: samplecrd.k8s.io
  scope: Namespaced
  names: {plural: networks, kind: Network}
  versions: [{name: v1, served: true}, {name: v0, served: false}]
)";
constexpr const char* kNetwork = R"(apiVersion: samplecrd.k8s.io/v1
kind: Network
metadata: {name: example}
)";

std::vector<Outcome> outcomes(const ManifestReport& report) {
  std::vector<Outcome> result;
  for (const ManifestResult& one : report.results) result.push_back(one.outcome);
  return result;
}
std::vector<std::string> lines(const ManifestReport& report) {
  std::vector<std::string> result;
  for (const ManifestResult& one : report.results) result.push_back(toString(one));
  return result;
}

TEST(CreateFromYamlTest, CreatesEveryDocumentInOrder) {
  Objects at;
  std::vector<std::string> told;
  const ManifestReport report = createFromYaml(
      at.client, *at.mapper, kShop,
      {.namespace_ = "shop",
       .fieldManager = "me",
       .fieldValidation = "Strict",
       .progress = [&](const ManifestResult& result) { told.push_back(toString(result)); }});
  EXPECT_TRUE(report.ok());
  report.throwIfFailed();
  const std::string query = "?fieldManager=me&fieldValidation=Strict";
  EXPECT_THAT(at.writes(),
              ElementsAre("POST /api/v1/namespaces" + query,
                          "POST /api/v1/namespaces/shop/configmaps" + query,
                          "POST /apis/apps/v1/namespaces/elsewhere/deployments" + query));
  EXPECT_TRUE(at.bodyOf(0)["metadata"]["namespace"].isNull());
  EXPECT_EQ(at.bodyOf(1)["metadata"]["namespace"].asString(), "shop");
  EXPECT_EQ(at.bodyOf(2)["spec"]["replicas"].asInt(), 2);

  EXPECT_THAT(lines(report), ElementsAre("namespace/shop created", "configmap/settings created",
                                         "deployment.apps/web created"));
  EXPECT_EQ(told, lines(report));
  const ManifestResult& last = report.results[2];
  EXPECT_EQ(last.document, 3u);
  EXPECT_EQ(last.line, 12u);
  EXPECT_EQ(last.mapping.gvk, (GroupVersionKind{"apps", "v1", "Deployment"}));
  EXPECT_EQ(last.namespace_, "elsewhere");
  EXPECT_EQ(last.object.resourceVersion(), "3");
  EXPECT_EQ(report.results[0].namespace_, "");
}

TEST(CreateFromYamlTest, AnExistingObjectIsReportedAndLeftUnchanged) {
  Objects at;
  createFromYaml(at.client, *at.mapper, kShop).throwIfFailed();
  const ManifestReport again = createFromYaml(at.client, *at.mapper, kShop);
  EXPECT_THAT(outcomes(again),
              ElementsAre(Outcome::AlreadyExists, Outcome::AlreadyExists, Outcome::AlreadyExists));
  EXPECT_TRUE(again.ok());
  EXPECT_EQ(toString(again.results[0]), "namespace/shop already exists");
}

TEST(CreateFromYamlTest, ADryRunIsSentToTheServer) {
  Objects at;
  const ManifestReport report = createFromYaml(at.client, *at.mapper, kShop, {.dryRun = true});
  EXPECT_EQ(lines(report)[1], "configmap/settings created (server dry run)");
  EXPECT_THAT(at.writes()[0], HasSubstr("dryRun=All"));
  EXPECT_THAT(at.stored, IsEmpty());
}

TEST(CreateFromYamlTest, TheServerMayGenerateTheName) {
  Objects at;
  const ManifestReport report = createFromYaml(at.client, *at.mapper, R"(
{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "web-"}})");
  EXPECT_EQ(lines(report)[0], "configmap/web-x7q2d created");
}

TEST(CreateFromYamlTest, ListsStandForTheirItems) {
  Objects at;
  const ManifestReport report = createFromYaml(at.client, *at.mapper, R"(
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: b}
---
---
apiVersion: v1
kind: ConfigMapList
items:
- metadata: {name: c}
- {kind: ConfigMap, apiVersion: v1, metadata: {name: d}}
)");
  EXPECT_THAT(lines(report), ElementsAre("configmap/a created", "configmap/b created",
                                         "configmap/c created", "configmap/d created"));
  EXPECT_EQ(report.results[1].document, 1u);
  EXPECT_EQ(report.results[1].line, 6u);
  EXPECT_EQ(report.results[3].document, 3u);
}

TEST(CreateFromYamlTest, NothingIsSentUnlessTheWholeTextIsValid) {
  struct Case {
    const char* text;
    std::size_t document, line;
    const char* message;
  };
  const std::string good = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: good}\n";
  const Case cases[] = {
      {"a: [1\n", 2, 6, ""},
      {"- 1\n", 2, 5, "expected an object"},
      {"just text\n", 2, 5, "expected an object"},
      {"kind: ConfigMap\nmetadata: {name: a}\n", 2, 5, "apiVersion: expected a string"},
      {"apiVersion: v1\nmetadata: {name: a}\n", 2, 5, "kind: expected a string"},
      {"apiVersion: 1\nkind: ConfigMap\nmetadata: {name: a}\n", 2, 5, "found "},
      {"apiVersion: a/b/c\nkind: ConfigMap\nmetadata: {name: a}\n", 2, 5, "neither VERSION"},
      {"apiVersion: v1\nkind: ConfigMap\nmetadata: []\n", 2, 5, "metadata: expected an object"},
      {"apiVersion: v1\nkind: ConfigMap\n", 2, 5, "metadata.name: is missing"},
      {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: 12}\n", 2, 5,
       "metadata.name: expected a string"},
      {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: {}}\n", 2, 5,
       "metadata.namespace: expected a string"},
      {"---\n---\napiVersion: v1\nkind: Nonsense\nmetadata: {name: a}\n", 4, 7,
       "the server has no kind \"Nonsense\" in \"v1\"; is its CustomResourceDefinition installed?"},
      {"apiVersion: apps/v9\nkind: Deployment\nmetadata: {name: a}\n", 2, 5,
       "the server has no kind \"Deployment\" in \"apps/v9\", only in apps/v1"},
      {"apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod, metadata: {name: a}}\n"
       "- {apiVersion: v1, kind: Pod}\n",
       2, 9, "metadata.name: is missing"},
      {"apiVersion: v1\nkind: PodList\nitems: [7]\n", 2, 5, "expected an object, found"},
      {"apiVersion: v1\nkind: ConfigMap\nmetadata: &a {name: *b}\n", 2, 7, ""},
  };
  Objects at;
  for (const Case& test : cases) {
    SCOPED_TRACE(test.text);
    try {
      (void)createFromYaml(at.client, *at.mapper, good + "---\n" + test.text);
      ADD_FAILURE();
    } catch (const ManifestError& error) {
      ASSERT_THAT(error.problems(), SizeIs(1)) << error.what();
      EXPECT_EQ(error.problems()[0].document, test.document);
      EXPECT_EQ(error.problems()[0].line, test.line);
      EXPECT_THAT(error.problems()[0].message, HasSubstr(test.message));
      EXPECT_THAT(error.what(), HasSubstr("document " + std::to_string(test.document) + ", line " +
                                          std::to_string(test.line) + ": "));
    }
  }
  EXPECT_THAT(at.writes(), IsEmpty());
}

TEST(CreateFromYamlTest, AllProblemsAreReportedAtOnce) {
  Objects at;
  std::string text;
  for (int i = 0; i < 30; ++i) text += "kind: ConfigMap\n---\n";
  try {
    (void)createFromYaml(at.client, *at.mapper, text);
    FAIL();
  } catch (const ManifestError& error) {
    EXPECT_THAT(error.problems(), SizeIs(30));
    EXPECT_THAT(error.what(), HasSubstr("\n  document 20, line 39: apiVersion"));
    EXPECT_THAT(error.what(), HasSubstr("and 10 more"));
  }
}

TEST(CreateFromYamlTest, DuplicateKeysAreAnErrorIfStrict) {
  Objects at;
  const char* text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, name: b}\n";
  EXPECT_THROW((void)createFromYaml(at.client, *at.mapper, text, {.fieldValidation = "Strict"}),
               ManifestError);
  EXPECT_EQ(lines(createFromYaml(at.client, *at.mapper, text))[0], "configmap/b created");
}

TEST(CreateFromYamlTest, OptionsAreChecked) {
  Objects at;
  EXPECT_THROW((void)createFromYaml(at.client, *at.mapper, kShop, {.fieldValidation = "strict"}),
               Error);
  EXPECT_THROW((void)createFromYaml(at.client, *at.mapper, kShop, {.namespace_ = ""}), Error);
  EXPECT_THROW((void)applyFromYaml(at.client, *at.mapper, kShop, {.fieldManager = ""}), Error);
  EXPECT_THAT(createFromYaml(at.client, *at.mapper, "# nothing\n---\n").results, IsEmpty());
}

constexpr const char* kHalfBroken = R"(
{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: broken}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}
)";

TEST(CreateFromYamlTest, StopsAtTheFirstFailure) {
  Objects at;
  std::size_t told = 0;
  const ManifestReport report = createFromYaml(
      at.client, *at.mapper, kHalfBroken, {.progress = [&](const ManifestResult&) { ++told; }});
  EXPECT_THAT(outcomes(report), ElementsAre(Outcome::Created, Outcome::Failed, Outcome::Skipped));
  EXPECT_EQ(told, 2u);
  EXPECT_FALSE(report.ok());
  EXPECT_THROW(report.throwIfFailed(), ApiError);
  EXPECT_THAT(lines(report)[1], AllOf(HasSubstr("configmap/broken failed: create configmaps"),
                                      HasSubstr("no such field")));
  EXPECT_EQ(lines(report)[2], "configmap/c skipped: an earlier object failed");
}

TEST(CreateFromYamlTest, ContinuesAfterAFailureIfTheOptionsSaySo) {
  Objects at;
  const ManifestReport report =
      createFromYaml(at.client, *at.mapper, kHalfBroken, {.continueOnError = true});
  EXPECT_THAT(outcomes(report), ElementsAre(Outcome::Created, Outcome::Failed, Outcome::Created));
  EXPECT_FALSE(report.ok());
}

TEST(CreateFromYamlTest, AnExceptionOfTheCallbackEndsTheCall) {
  Objects at;
  EXPECT_THROW((void)createFromYaml(
                   at.client, *at.mapper, kShop,
                   {.progress = [](const ManifestResult&) { throw std::runtime_error("enough"); }}),
               std::runtime_error);
  EXPECT_THAT(at.writes(), SizeIs(1));
}

TEST(CreateFromYamlTest, AStopEndsTheCall) {
  Objects at;
  std::stop_source stop;
  EXPECT_THROW(
      (void)createFromYaml(at.client, *at.mapper, kShop,
                           {.progress = [&](const ManifestResult&) { stop.request_stop(); }},
                           stop.get_token()),
      CanceledError);
  EXPECT_THAT(at.writes(), SizeIs(1));
}

TEST(CreateFromYamlTest, ACustomResourceMayFollowItsDefinition) {
  Objects at;
  at.unserved = 2;
  const ManifestReport report = createFromYaml(
      at.client, *at.mapper, std::string(kDefinition) + "---\n" + kNetwork, {.namespace_ = "book"});
  report.throwIfFailed();
  EXPECT_THAT(lines(report), ElementsAre("customresourcedefinition.apiextensions.k8s.io/"
                                         "networks.samplecrd.k8s.io created",
                                         "network.samplecrd.k8s.io/example created"));
  EXPECT_TRUE(at.stored.contains("/apis/samplecrd.k8s.io/v1/namespaces/book/networks/example"));
  EXPECT_EQ(at.unserved, 0);
  EXPECT_EQ(at.mapper->kindFor({.resource = "networks"}).kind, "Network");  // the mapper was reset
}

TEST(CreateFromYamlTest, AnExistingDefinitionMayBeNewToTheMapper) {
  Objects at;
  at.mapper->kindFor({.resource = "pods"});
  createFromYaml(at.client, *at.mapper, kDefinition).throwIfFailed();
  // The mapper has already read the served resources, and considers them fresh.
  const ManifestReport report =
      createFromYaml(at.client, *at.mapper, std::string(kDefinition) + "---\n" + kNetwork);
  EXPECT_THAT(outcomes(report), ElementsAre(Outcome::AlreadyExists, Outcome::Created));
}

TEST(CreateFromYamlTest, TheDefinitionMustPrecedeItsResources) {
  Objects at;
  try {
    (void)createFromYaml(at.client, *at.mapper, std::string(kNetwork) + "---\n" + kDefinition);
    FAIL();
  } catch (const ManifestError& error) {
    EXPECT_THAT(error.what(), HasSubstr("document 1, line 1: the server has no kind \"Network\" in "
                                        "\"samplecrd.k8s.io/v1\": document 2 defines it and has "
                                        "to come first"));
  }
  std::string old = kNetwork;
  old.replace(old.find("/v1"), 3, "/v0");  // the definition does not serve this version
  EXPECT_THROW(
      (void)createFromYaml(at.client, *at.mapper, std::string(kDefinition) + "---\n" + old),
      ManifestError);
  EXPECT_THAT(at.writes(), IsEmpty());
}

TEST(CreateFromYamlTest, ADefinitionThatIsNotAcceptedFailsItsResources) {
  Objects at;
  at.namesAccepted = false;
  const ManifestReport report =
      createFromYaml(at.client, *at.mapper, std::string(kDefinition) + "---\n" + kNetwork);
  EXPECT_THAT(outcomes(report), ElementsAre(Outcome::Created, Outcome::Failed));
  EXPECT_THAT(report.results[1].message, HasSubstr("\"networks\" is taken"));
}

TEST(CreateFromYamlTest, ADefinitionThatFailedFailsItsResources) {
  Objects at;
  std::string broken = kDefinition;
  broken.replace(broken.find("networks.samplecrd.k8s.io"), 25, "broken");
  const ManifestReport report =
      createFromYaml(at.client, *at.mapper, broken + "---\n" + kNetwork, {.continueOnError = true});
  EXPECT_THAT(outcomes(report), ElementsAre(Outcome::Failed, Outcome::Failed));
  EXPECT_THAT(report.results[1].message, HasSubstr("its definition, document 1, has failed"));
}

TEST(CreateFromYamlTest, ADryRunSkipsWhatItCannotDefine) {
  Objects at;
  const ManifestReport report = createFromYaml(
      at.client, *at.mapper, std::string(kDefinition) + "---\n" + kNetwork, {.dryRun = true});
  EXPECT_THAT(outcomes(report), ElementsAre(Outcome::Created, Outcome::Skipped));
  EXPECT_TRUE(report.ok());
}

TEST(CreateFromYamlTest, AMissingNamespaceIsNotWaitedFor) {
  Objects at;
  createFromYaml(at.client, *at.mapper, kDefinition).throwIfFailed();
  const ManifestReport report =
      createFromYaml(at.client, *at.mapper, std::string(kDefinition) + "---\n" + kNetwork,
                     {.namespace_ = "missing"});
  EXPECT_EQ(outcomes(report)[1], Outcome::Failed);
  EXPECT_THAT(at.writes(), SizeIs(3));
}

TEST(ApplyFromYamlTest, ReportsChanges) {
  Objects at;
  const auto apply = [&](std::string_view text, ManifestOptions options = {}) {
    return lines(applyFromYaml(at.client, *at.mapper, text, options));
  };
  EXPECT_THAT(apply(kShop), ElementsAre("namespace/shop created", "configmap/settings created",
                                        "deployment.apps/web created"));
  ASSERT_THAT(at.writes(), SizeIs(3));
  EXPECT_EQ(at.writes()[1],
            "PATCH /api/v1/namespaces/default/configmaps/settings?fieldManager=kubexx");
  EXPECT_EQ(at.server.requests().back().headers.get("Content-Type"),
            "application/apply-patch+yaml");
  EXPECT_THAT(apply(kShop), ElementsAre("namespace/shop unchanged", "configmap/settings unchanged",
                                        "deployment.apps/web unchanged"));
  std::string changed = kShop;
  changed.replace(changed.find("blue"), 4, "red");
  EXPECT_THAT(apply(changed, {.dryRun = true}),
              ElementsAre("namespace/shop unchanged (server dry run)",
                          "configmap/settings configured (server dry run)",
                          "deployment.apps/web unchanged (server dry run)"));
  EXPECT_EQ(apply(changed, {.fieldValidation = "Warn", .force = true})[1],
            "configmap/settings configured");
  ASSERT_THAT(at.writes(), SizeIs(12));
  EXPECT_THAT(at.writes()[10], HasSubstr("?force=true&fieldManager=kubexx&fieldValidation=Warn"));
}

TEST(ApplyFromYamlTest, WithoutReadAccessTheOutcomeIsApplied) {
  Objects at;
  at.canGet = false;
  EXPECT_EQ(lines(applyFromYaml(at.client, *at.mapper, kShop))[1],
            "configmap/settings serverside-applied");
}

TEST(ApplyFromYamlTest, AConflictIsAFailure) {
  Objects at;
  const ManifestReport report = applyFromYaml(
      at.client, *at.mapper, "{apiVersion: v1, kind: ConfigMap, metadata: {name: contested}}");
  EXPECT_FALSE(report.ok());
  try {
    report.throwIfFailed();
  } catch (const std::exception& error) {
    EXPECT_TRUE(isConflict(error));
  }
}

TEST(ApplyFromYamlTest, NeedsANameAndNoManagedFields) {
  Objects at;
  for (const char* text : {"{apiVersion: v1, kind: Pod, metadata: {generateName: a}}",
                           "{apiVersion: v1, kind: Pod, metadata: {name: a, managedFields: []}}"}) {
    EXPECT_THROW((void)applyFromYaml(at.client, *at.mapper, text), ManifestError);
  }
}

TEST(ApplyFromYamlTest, ACustomResourceMayFollowItsDefinition) {
  Objects at;
  at.unserved = 1;
  const ManifestReport report =
      applyFromYaml(at.client, *at.mapper, std::string(kDefinition) + "---\n" + kNetwork);
  report.throwIfFailed();
  EXPECT_THAT(outcomes(report), ElementsAre(Outcome::Created, Outcome::Created));
}

TEST(RemoveFromYamlTest, RemovesInOppositeOrderAndReportsMissingObjects) {
  Objects at;
  createFromYaml(at.client, *at.mapper, kShop).throwIfFailed();
  EXPECT_THAT(lines(removeFromYaml(at.client, *at.mapper, kShop, {.dryRun = true})),
              ElementsAre("deployment.apps/web deleted (server dry run)",
                          "configmap/settings deleted (server dry run)",
                          "namespace/shop deleted (server dry run)"));
  EXPECT_THAT(at.stored, SizeIs(3));
  EXPECT_THAT(lines(removeFromYaml(at.client, *at.mapper, kShop)),
              ElementsAre("deployment.apps/web deleted", "configmap/settings deleted",
                          "namespace/shop deleted"));
  ASSERT_THAT(at.deleteOptions, SizeIs(6));
  EXPECT_EQ(at.deleteOptions[3].propagationPolicy, "Background");
  EXPECT_THAT(at.stored, IsEmpty());
  const ManifestReport again = removeFromYaml(at.client, *at.mapper, kShop);
  EXPECT_TRUE(again.ok());
  EXPECT_THAT(lines(again),
              ElementsAre("deployment.apps/web not found", "configmap/settings not found",
                          "namespace/shop not found"));
}

TEST(RemoveFromYamlTest, CustomResourcesAreRemovedBeforeTheirDefinition) {
  Objects at;
  const std::string both = std::string(kDefinition) + "---\n" + kNetwork;
  EXPECT_THAT(outcomes(removeFromYaml(at.client, *at.mapper, both)),
              ElementsAre(Outcome::Missing, Outcome::Missing));
  createFromYaml(at.client, *at.mapper, both).throwIfFailed();
  EXPECT_THAT(outcomes(removeFromYaml(at.client, *at.mapper, both)),
              ElementsAre(Outcome::Removed, Outcome::Removed));
}

TEST(RemoveFromYamlTest, AnUnknownKindIsAProblem) {
  Objects at;
  EXPECT_THROW((void)removeFromYaml(at.client, *at.mapper, kNetwork), ManifestError);
}

TEST(CreateFromYamlTest, AStopWhileAKindIsNotYetServedIsNoFailure) {
  Objects at;
  std::stop_source stop;
  at.unserved = 1000;
  at.onUnserved = [&] { stop.request_stop(); };
  EXPECT_THROW(
      (void)createFromYaml(at.client, *at.mapper, std::string(kDefinition) + "---\n" + kNetwork, {},
                           stop.get_token()),
      CanceledError);
}

// --- The awaitable form.

/// The parts of results in which both forms have to agree.
std::vector<std::string> told(const std::vector<ManifestResult>& results) {
  std::vector<std::string> all;
  for (const ManifestResult& one : results) {
    all.push_back(fmt::format("{}:{} {}/{} {}", one.document, one.line, one.namespace_,
                              toString(one), one.object.resourceVersion()));
  }
  return all;
}

TEST(AwaitableManifestTest, DoesWhatTheBlockingFormDoes) {
  const std::string text =
      std::string(kShop) + "---\n" + kDefinition + "---\n" + kNetwork + "---" + kHalfBroken;
  Objects blocking, awaitable;
  blocking.unserved = awaitable.unserved = 1;
  const ManifestOptions options{
      .namespace_ = "book", .fieldManager = "me", .continueOnError = true};
  const auto compare = [&](const ManifestReport& one, const ManifestReport& other) {
    EXPECT_EQ(told(one.results), told(other.results));
    EXPECT_EQ(blocking.writes(), awaitable.writes());
  };
  const DynamicClient& client = awaitable.client;
  const auto mapper = awaitable.mapper;
  for (int i = 0; i < 2; ++i) {
    compare(createFromYaml(blocking.client, *blocking.mapper, text, options),
            blockOn(createFromYaml(client, mapper->async(), text, options)));
    compare(applyFromYaml(blocking.client, *blocking.mapper, text, options),
            blockOn(applyFromYaml(client, mapper->async(), text, options)));
  }
  compare(removeFromYaml(blocking.client, *blocking.mapper, text, options),
          blockOn(removeFromYaml(client, mapper->async(), text, options)));
  EXPECT_THAT(awaitable.writes(), SizeIs(8 + 1 + 8 + 8 + 8 + 8));  // one was not served
}

TEST(AwaitableManifestTest, TheOptionsNeedNotBeGiven) {
  Objects at;
  const auto all = [&]() -> Task<ManifestReport> {
    const auto created = co_await createFromYaml(at.client, at.mapper->async(), kShop);
    const auto applied = co_await applyFromYaml(at.client, at.mapper->async(), kShop);
    EXPECT_TRUE(created.ok() && applied.ok());
    co_return co_await removeFromYaml(at.client, at.mapper->async(), kShop);
  };
  EXPECT_EQ(lines(blockOn(all()))[1], "configmap/settings deleted");
  EXPECT_THAT(at.writes()[1], HasSubstr("/namespaces/default/configmaps?fieldManager=kubexx"));
}

TEST(AwaitableManifestTest, ErrorsAreThoseOfTheBlockingForm) {
  Objects at;
  const auto create = [&](const char* text, const ManifestOptions& options = {}) {
    return createFromYaml(at.client, at.mapper->async(), text, options);
  };
  // Nothing is thrown before the task is awaited.
  Task<ManifestReport> unknown = create(kNetwork);
  EXPECT_THAT([&] { (void)blockOn(std::move(unknown)); },
              ::testing::ThrowsMessage<ManifestError>(
                  HasSubstr("the server has no kind \"Network\" in \"samplecrd.k8s.io/v1\"; is its "
                            "CustomResourceDefinition installed?")));
  EXPECT_THROW((void)blockOn(create("a: [1\n")), ManifestError);
  EXPECT_THROW((void)blockOn(create(kShop, {.fieldValidation = "strict"})), Error);
  EXPECT_THROW(
      (void)blockOn(create(
          kShop, {.progress = [](const ManifestResult&) { throw std::runtime_error("enough"); }})),
      std::runtime_error);
  EXPECT_THAT(at.writes(), SizeIs(1));
}

TEST(AwaitableManifestTest, LooksOnceMoreForAKindThatTheCacheLacks) {
  Objects at;
  const test::TemporaryFolder folder;
  DiscoveryCacheOptions options;
  options.folder = folder.path();
  const DiscoveryClient discovery(at.client.rest());
  const auto old = CachedDiscoveryClient(discovery, options).serverGroupsAndResources();
  EXPECT_FALSE(old.groups.empty());
  createFromYaml(at.client, *at.mapper, kDefinition).throwIfFailed();
  const auto mapper =
      discoveryRestMapper(std::make_shared<const CachedDiscoveryClient>(discovery, options))
          ->async();
  blockOn(createFromYaml(at.client, mapper, kNetwork)).throwIfFailed();
}

TEST(AwaitableManifestTest, AStopWhileAKindIsNotYetServedIsNoFailure) {
  Objects at;
  std::stop_source stop;
  at.unserved = 1000;
  at.onUnserved = [&] { stop.request_stop(); };
  testing::TestLoop loop;
  testing::Begun<ManifestReport> task(
      createFromYaml(at.client, at.mapper->async(), std::string(kDefinition) + "---\n" + kNetwork),
      loop.executor(), stop.get_token());
  loop.runUntil([&] { return task.over(); });
  EXPECT_THROW((void)task.result(), CanceledError);
}

}  // namespace
}  // namespace kube
