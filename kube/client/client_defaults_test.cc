// Options that a client sends with every request, as the server sees them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "kube/client/apps/v1.h"
#include "kube/client/core/v1.h"
#include "kube/client/dynamic_client.h"
#include "kube/client/scale_client.h"
#include "kube/codec/json.h"
#include "kube/codec/yaml.h"
#include "kube/testing/api_server.h"

namespace kube {
namespace {

using ::testing::IsEmpty;

const ClientDefaults kAllDefaults{
    .fieldManager = "mine", .dryRun = true, .fieldValidation = "Strict", .namespace_ = "book"};
const GroupVersionResource kMapResource{"", "v1", "configmaps"};
const GroupVersionResource kDeploymentResource{"apps", "v1", "deployments"};

class ClientDefaultsTest : public ::testing::Test {
 protected:
  ClientDefaultsTest() {
    corev1::Namespace book;
    book.metadata.name = "book";
    clients.coreV1().namespaces().create(book);
    clients.appsV1().deployments("book").create(deployment());
    clients.coreV1().pods("book").create(fromYaml<corev1::Pod>(
        "{metadata: {name: web}, spec: {containers: [{name: c, image: i}]}}"));
    clients.coreV1().configMaps("book").create(map("old"));
    server.forgetRequests();
  }

  static corev1::ConfigMap map(std::string_view name) {
    corev1::ConfigMap map;
    map.metadata.name = name;
    return map;
  }
  static appsv1::Deployment deployment() {
    return fromYaml<appsv1::Deployment>(R"({metadata: {name: web}, spec: {
        selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}},
        spec: {containers: [{name: c, image: i}]}}}})");
  }

  /// The options of the only request that the function makes; errors do not matter here.
  std::string sent(const std::function<void()>& call) {
    server.forgetRequests();
    try {
      call();
    } catch (const Error& error) {
      if (server.requests().empty()) return error.what();
    }
    std::string text;
    const auto requests = server.requests();
    for (const auto& request : requests) {
      if (!text.empty()) text += "; ";
      text += request.verb + ":";
      if (request.namespace_ != "book") text += " in " + request.namespace_;
      for (const auto* name : {"fieldManager", "dryRun", "fieldValidation"}) {
        if (const auto value = request.param(name)) text += " " + std::string(*value);
      }
      if (request.verb.starts_with("delete") &&
          request.http.body.find("All") != std::string::npos) {
        text += " All in the body";
      }
    }
    return text;
  }

  testing::ApiServer server;
  Clientset clients{server.config()};
  Clientset mine = clients.with(kAllDefaults);
};

TEST_F(ClientDefaultsTest, OfATypedClient) {
  const auto maps = mine.coreV1().configMaps();
  EXPECT_EQ(sent([&] { maps.create(map("new")); }), "create: mine All Strict");
  EXPECT_EQ(sent([&] { maps.update(map("old")); }), "update: mine All Strict");
  EXPECT_EQ(sent([&] { maps.patch("old", PatchType::Merge, "{}"); }), "patch: mine All Strict");
  EXPECT_EQ(sent([&] { maps.apply(map("old"), {}); }), "patch: mine All");
  EXPECT_EQ(sent([&] { maps.remove("old"); }), "delete: All in the body");
  EXPECT_EQ(sent([&] { maps.removeCollection(); }), "deletecollection: All in the body");
  EXPECT_EQ(sent([&] { maps.get("old"); }), "get:");
  EXPECT_EQ(sent([&] { maps.list(); }), "list:");
  EXPECT_EQ(sent([&] { maps.watch({.timeoutSeconds = 1}); }), "watch:");
  const auto all = clients.coreV1().configMaps("book").list().items;
  EXPECT_EQ(all.size(), 1U) << "nothing was stored or removed";
}

TEST_F(ClientDefaultsTest, OfItsAwaitableForm) {
  const auto maps = mine.coreV1().configMaps().async();
  EXPECT_EQ(sent([&] { blockOn(maps.create(map("new"))); }), "create: mine All Strict");
  EXPECT_EQ(sent([&] { blockOn(maps.update(map("old"))); }), "update: mine All Strict");
  EXPECT_EQ(sent([&] { blockOn(maps.patch("old", PatchType::Merge, "{}")); }),
            "patch: mine All Strict");
  EXPECT_EQ(sent([&] { blockOn(maps.apply(map("old"), {})); }), "patch: mine All");
  EXPECT_EQ(sent([&] { blockOn(maps.remove("old")); }), "delete: All in the body");
  EXPECT_EQ(sent([&] { blockOn(maps.removeCollection()); }), "deletecollection: All in the body");
}

TEST_F(ClientDefaultsTest, OfSubresources) {
  const auto deployments = mine.appsV1().deployments();
  EXPECT_EQ(sent([&] { deployments.updateStatus(deployment()); }), "update: mine All Strict");
  EXPECT_EQ(sent([&] { deployments.applyStatus(deployment(), {}); }), "patch: mine All");
  EXPECT_EQ(sent([&] { deployments.patch("web", PatchType::Merge, "{}", {}, {}, "status"); }),
            "patch: mine All Strict");
  autoscalingv1::Scale scale;
  scale.metadata.name = "web";
  EXPECT_EQ(sent([&] { deployments.updateScale("web", scale); }), "update: mine All Strict");
  EXPECT_EQ(sent([&] { deployments.applyScale("web", scale, {}); }), "patch: mine All");
  EXPECT_EQ(sent([&] { mine.coreV1().serviceAccounts().createToken("default"); }),
            "create: mine All Strict");
  EXPECT_EQ(sent([&] { mine.coreV1().pods().evict("web"); }), "create: mine All Strict");
  corev1::Binding binding;
  binding.metadata.name = "web";
  binding.target->name = "node";
  EXPECT_EQ(sent([&] { mine.coreV1().pods().bind(binding); }), "create: mine All Strict");
  EXPECT_TRUE(clients.coreV1().pods("book").find("web")) << "it was a dry run";
}

TEST_F(ClientDefaultsTest, OfScaleClients) {
  const auto scales = ScaleClient(clients.rest()).with(kAllDefaults);
  autoscalingv1::Scale scale;
  scale.metadata.name = "web";
  EXPECT_EQ(sent([&] { scales.update(kDeploymentResource, "book", scale); }),
            "update: mine All Strict");
  EXPECT_EQ(sent([&] { scales.patch(kDeploymentResource, "book", "web", PatchType::Merge, "{}"); }),
            "patch: mine All Strict");
  EXPECT_EQ(sent([&] { scales.apply(kDeploymentResource, "book", scale, {}); }), "patch: mine All");
  const ScaleClient plain(clients.rest());
  EXPECT_EQ(sent([&] { plain.update(kDeploymentResource, "book", scale, {.fieldManager = "me"}); }),
            "update: me");
  EXPECT_EQ(sent([&] {
              blockOn(plain.async().with(kAllDefaults).update(kDeploymentResource, "book", scale));
            }),
            "update: mine All Strict");
}

TEST_F(ClientDefaultsTest, OfDynamicAndMetadataClients) {
  const auto dynamic = DynamicClient(clients.rest()).with(kAllDefaults).resource(kMapResource);
  Unstructured object;
  object.setGvk({"", "v1", "ConfigMap"});
  object.setName("old");
  object.setNamespace("book");
  EXPECT_EQ(sent([&] { dynamic.inNamespace("book").update(object); }), "update: mine All Strict");
  EXPECT_EQ(sent([&] { dynamic.inNamespace("book").remove("old"); }), "delete: All in the body");
  EXPECT_EQ(sent([&] { dynamic.list(); }), "list: in ") << "it may be a kind without namespaces";
  const RestMapping mapping{.gvr = kMapResource, .gvk = {"", "v1", "ConfigMap"}};
  EXPECT_EQ(sent([&] { DynamicClient(mine.rest()).resource(mapping).list(); }), "list:");
  const auto metadata = MetadataClient(clients.rest()).with(kAllDefaults).resource(kMapResource);
  EXPECT_EQ(sent([&] { metadata.inNamespace("book").patch("old", PatchType::Merge, "{}"); }),
            "patch: mine All Strict");
}

TEST_F(ClientDefaultsTest, OptionsOfACallWin) {
  const auto maps = mine.coreV1().configMaps();
  EXPECT_EQ(
      sent([&] { maps.create(map("new"), {.fieldManager = "other", .fieldValidation = "Warn"}); }),
      "create: other All Warn");
  EXPECT_EQ(sent([&] { maps.apply(map("old"), {.fieldManager = "other"}); }), "patch: other All");
  EXPECT_EQ(sent([&] { mine.coreV1().configMaps("default").get("old"); }), "get: in default");
  EXPECT_EQ(sent([&] { maps.inNamespace("default").get("old"); }), "get: in default");
}

TEST_F(ClientDefaultsTest, OfTwoCallsAreJoined) {
  const Clientset both =
      clients.with({.fieldManager = "a", .dryRun = true}).with({.fieldManager = "b"});
  EXPECT_EQ(sent([&] { both.coreV1().configMaps("book").create(map("new")); }), "create: b All");
  EXPECT_EQ(sent([&] {
              clients.coreV1().configMaps("book").with({.fieldManager = "c"}).create(map("new"));
            }),
            "create: c")
      << "the other client is unchanged";
}

TEST_F(ClientDefaultsTest, ANamespaceIsForKindsThatAreInOne) {
  EXPECT_EQ(sent([&] { mine.coreV1().nodes().list(); }), "list: in ");
  EXPECT_EQ(sent([&] { mine.coreV1().configMaps().list(); }), "list:");
  EXPECT_EQ(sent([&] { mine.coreV1().configMaps().with({.namespace_ = "x"}).list(); }), "list:")
      << "the client had one already";
}

TEST_F(ClientDefaultsTest, OfAConfiguration) {
  Config config = server.config();
  config.defaults.fieldManager = "configured";
  const Clientset configured(config);
  corev1::ConfigMap object = map("new");
  object.data["k"] = "v";
  EXPECT_EQ(sent([&] { configured.coreV1().configMaps("book").create(object); }),
            "create: configured");
  EXPECT_EQ(clients.coreV1().configMaps("book").get("new").metadata.managedFields[0].manager,
            "configured");
}

TEST_F(ClientDefaultsTest, AnApplyNeedsAFieldManagerFromSomewhere) {
  EXPECT_THROW(clients.coreV1().configMaps("book").apply(map("old"), {}), Error);
}

}  // namespace
}  // namespace kube
