#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codegen/generate.h"
#include "kube/base/error.h"

namespace kube::codegen {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Kind resource(std::string kind, std::string plural, bool namespaced = true) {
  Kind result;
  result.kind = std::move(kind);
  result.resource = std::move(plural);
  result.namespaced = namespaced;
  return result;
}

Package package(std::string name, std::string group, std::vector<Kind> kinds) {
  Package result{.name = name,
                 .group = std::move(group),
                 .version = name.substr(name.find('/') + 1),
                 .release = {},
                 .types = {},
                 .kinds = std::move(kinds)};
  for (const Kind& kind : result.kinds) result.types.push_back({.name = kind.kind, .fields = {}});
  return result;
}

Schema schemaOf(std::vector<Package> packages) {
  Schema schema;
  for (Package& package : packages) schema.emplace(package.name, package);
  return schema;
}

std::string clientFile(const Schema& schema, std::string_view path) {
  for (const GeneratedFile& file : generateClients(schema)) {
    if (file.path == path) return file.content;
  }
  return "";
}

TEST(GenerateClientsTest, GroupsAreNamedByTheFirstLabelOfTheirName) {
  const std::string clientset = clientFile(
      schemaOf({package("core/v1", "", {resource("Pod", "pods")}),
                package("apiserverinternal/v1alpha1", "internal.apiserver.k8s.io",
                        {resource("StorageVersion", "storageversions", false)}),
                package("imagepolicy/v1alpha1", "imagepolicy.k8s.io", {resource("Review", "")})}),
      "kube/client/clientset.h");
  EXPECT_THAT(clientset, HasSubstr("\nclass CoreV1Client;\n"));
  EXPECT_THAT(clientset, HasSubstr("  CoreV1Client coreV1() const;\n"));
  EXPECT_THAT(clientset, HasSubstr("  InternalV1alpha1Client internalV1alpha1() const;\n"));
  EXPECT_THAT(clientset, Not(HasSubstr("magepolicy")));  // it has no resources
}

TEST(GenerateClientsTest, ResourcesKeepTheCapitalsOfTheirKinds) {
  const std::string client = clientFile(
      schemaOf({package(
          "x/v1", "x.io",
          {resource("NetworkPolicy", "networkpolicies"), resource("CSIDriver", "csidrivers", false),
           resource("ServiceCIDR", "servicecidrs", false), resource("Endpoints", "endpoints"),
           resource("PodMetrics", "pods")})}),
      "kube/client/x/v1.h");
  EXPECT_THAT(client, HasSubstr(" networkPolicies(String namespaceName = {}) const {"));
  EXPECT_THAT(client, HasSubstr(" csiDrivers() const { return ResourceClient<xv1::CSIDriver>("));
  EXPECT_THAT(client, HasSubstr(" serviceCIDRs() const {"));
  EXPECT_THAT(client, HasSubstr(" endpoints(String"));
  EXPECT_THAT(client, HasSubstr(" pods(String"));
  EXPECT_THAT(client, HasSubstr("GroupClient(rest, {\"x.io\", \"v1\"})"));
}

TEST(GenerateClientsTest, ASubresourceChoosesTheClient) {
  Kind web = resource("Web", "webs");
  web.subresources = {
      {.name = "scale", .group = "y.io", .version = "v2", .kind = "Size", .verbs = {}}};
  Kind old = resource("Old", "olds");
  old.subresources = {{.name = "scale", .group = "", .version = "", .kind = "Web", .verbs = {}}};
  const std::string client = clientFile(schemaOf({package("x/v1", "x.io", {web, old}),
                                                  package("y/v2", "y.io", {resource("Size", "")})}),
                                        "kube/client/x/v1.h");
  EXPECT_THAT(client, HasSubstr("ScalableClient<xv1::Web, yv2::Size>(rest(), "));
  EXPECT_THAT(client, HasSubstr("ScalableClient<xv1::Old, xv1::Web>(rest(), "));
  EXPECT_THAT(client, HasSubstr("#include \"kube/api/y/v2.h\"\n"));
  EXPECT_THAT(client, HasSubstr("#include \"kube/client/subresource_clients.h\"\n"));
}

TEST(GenerateClientsTest, AnUnknownBodyIsAnErrorThatNamesIt) {
  Kind web = resource("Web", "webs");
  web.subresources = {
      {.name = "scale", .group = "y.io", .version = "v2", .kind = "Size", .verbs = {}}};
  try {
    generateClients(schemaOf({package("x/v1", "x.io", {web})}));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("Size"));
  }
}

TEST(GenerateClientsTest, HeadersSayIfNoReleaseServesTheirResources) {
  Kind gone = resource("Old", "olds");
  gone.retired = true;
  EXPECT_THAT(clientFile(schemaOf({package("x/v1", "x.io", {gone})}), "kube/client/x/v1.h"),
              HasSubstr("no longer serve"));
  EXPECT_THAT(clientFile(schemaOf({package("x/v1", "x.io", {gone, resource("New", "news")})}),
                         "kube/client/x/v1.h"),
              Not(HasSubstr("no longer serve")));
}

TEST(GenerateInformersTest, WatchableResourcesHaveAnAccessor) {
  Kind web = resource("Web", "webs");
  web.verbs = {"get", "list", "watch"};
  Kind review = resource("Review", "reviews");
  review.verbs = {"create"};
  const auto files = generateInformers(
      schemaOf({package("x/v1", "x.io", {web, review}), package("y/v1", "y.io", {review})}));
  ASSERT_EQ(files.size(), 2U);
  EXPECT_EQ(files[0].path, "kube/cache/x/v1.h");
  EXPECT_THAT(files[0].content,
              HasSubstr("auto webs() const { return factory_.template informerFor<"));
  EXPECT_THAT(files[0].content, Not(HasSubstr("reviews")));
  EXPECT_THAT(files[1].content, HasSubstr("  XV1Informers<SharedInformerFactory> xV1() const;\n"));
}

}  // namespace
}  // namespace kube::codegen
