#include "kube/meta/mapping/shortcut_expander.h"

#include <gtest/gtest.h>

#include "kube/meta/describe.h"
#include "kube/meta/mapping/default_rest_mapper.h"

namespace shortcuts {
struct Deployment {
  kube::metav1::ObjectMeta metadata;
};
struct OldDeployment {
  kube::metav1::ObjectMeta metadata;
};
struct Policy {
  kube::metav1::ObjectMeta metadata;
};
struct Gadget {
  kube::metav1::ObjectMeta metadata;
};
inline constexpr std::string_view kDeploy[] = {"deploy"};
inline constexpr std::string_view kPolicy[] = {"pol", "deploys"};
inline constexpr std::string_view kAll[] = {"all"};
inline constexpr std::string_view kMore[] = {"all", "more"};
}  // namespace shortcuts

KUBE_DESCRIBE_KIND(shortcuts::OldDeployment,
                   (.group = "extensions", .version = "v1beta1", .kind = "Deployment",
                    .plural = "deployments", .singular = "deployment", .namespaced = true,
                    .retired = true, .shortNames = shortcuts::kDeploy,
                    .categories = shortcuts::kAll),
                   metadata);
KUBE_DESCRIBE_KIND(shortcuts::Deployment,
                   (.group = "apps", .version = "v1", .kind = "Deployment", .plural = "deployments",
                    .singular = "deployment", .namespaced = true, .shortNames = shortcuts::kDeploy,
                    .categories = shortcuts::kMore),
                   metadata);
KUBE_DESCRIBE_KIND(shortcuts::Policy,
                   (.group = "extensions", .version = "v1beta1", .kind = "Policy",
                    .plural = "policies", .singular = "policy", .retired = true,
                    .shortNames = shortcuts::kPolicy),
                   metadata);
KUBE_DESCRIBE_KIND(shortcuts::Gadget,
                   (.group = "example.com", .version = "v1", .kind = "Gadget", .plural = "gadgets",
                    .singular = "gadget", .categories = shortcuts::kAll),
                   metadata);

namespace kube {
namespace {

using Warnings = std::vector<std::string>;

/// One version of a group, with resources given as {name, singular, short names...}.
ApiGroupResources version(std::string_view groupVersion,
                          std::initializer_list<std::initializer_list<const char*>> resources) {
  const GroupVersion parsed = GroupVersion::parse(groupVersion);
  ApiGroupResources result{
      .group = {.name = parsed.group,
                .versions = {{.groupVersion = groupVersion, .version = parsed.version}}}};
  List<metav1::APIResource> list;
  for (const auto& names : resources) {
    metav1::APIResource resource{.name = *names.begin(), .singularName = names.begin()[1]};
    for (const char* const* name = names.begin() + 2; name != names.end(); ++name) {
      resource.shortNames.push_back(*name);
    }
    resource.kind = "Kind-" + resource.name;
    list.push_back(resource);
  }
  result.versionedResources.insert_or_assign(parsed.version, list);
  return result;
}

struct ExpandCase {
  const char* name;
  GroupVersionResource asked;
  GroupVersionResource expected;
  Warnings warnings;
  std::vector<ApiGroupResources> server;
};

TEST(ShortNamesTest, AreExpandedByPriorityWithWarningsAboutOthers) {
  const std::vector<ExpandCase> cases = {
      {"nothing known", {.resource = "storageclasses"}, {.resource = "storageclasses"}, {}, {}},
      {"first one wins",
       {.resource = "hpa"},
       {"autoscaling", "", "superhorizontalpodautoscalers"},
       {R"(short name "hpa" could also match lower priority resource horizontalpodautoscalers.autoscaling)"},
       {version("autoscaling/v1", {{"superhorizontalpodautoscalers", "", "hpa"},
                                   {"horizontalpodautoscalers", "", "hpa"}})}},
      {"by its own short name",
       {.resource = "dpl"},
       {"foo", "", "deployments"},
       {},
       {version("foo/v1", {{"deployments", "", "dpl"}}),
        version("extension/v1beta1", {{"deployments", "", "deploy"}})}},
      {"a plural is none",
       {.resource = "pods"},
       {.resource = "pods"},
       {},
       {version("v1", {{"pods", "pod"}}),
        version("acme.com/v1", {{"poddlers", "", "pods", "pod"}})}},
      {"nor a singular",
       {.resource = "pod"},
       {.resource = "pod"},
       {},
       {version("v1", {{"pods", "pod"}}),
        version("acme.com/v1", {{"poddlers", "", "pods", "pod"}})}},
      {"unless of another group",
       {"acme.com", "", "pod"},
       {"acme.com", "", "poddlers"},
       {},
       {version("v1", {{"pods", "pod"}}),
        version("acme.com/v1", {{"poddlers", "", "pods", "pod"}})}},
      {"with the group",
       {"storage.k8s.io", "", "sc"},
       {"storage.k8s.io", "", "storageclasses"},
       {},
       {version("storage.k8s.io/v1", {{"storageclasses", "", "sc"}})}},
      {"without it",
       {.resource = "sc"},
       {"storage.k8s.io", "", "storageclasses"},
       {},
       {version("storage.k8s.io/v1", {{"storageclasses", "", "sc"}})}},
      {"with its beginning",
       {"storage", "v1", "sc"},
       {"storage.k8s.io", "v1", "storageclasses"},
       {},
       {version("storage.k8s.io/v1", {{"storageclasses", "", "sc"}})}},
      {"with another group",
       {"other", "", "sc"},
       {"other", "", "sc"},
       {},
       {version("storage.k8s.io/v1", {{"storageclasses", "", "sc"}})}},
      {"each version counts once",
       {.resource = "hpa"},
       {"autoscaling", "", "horizontalpodautoscalers"},
       {R"(short name "hpa" could also match lower priority resource foo.foo)",
        R"(short name "hpa" could also match lower priority resource bar.bar)"},
       {version("autoscaling/v1alphav1", {{"horizontalpodautoscalers", "", "hpa"}}),
        version("autoscaling/v1", {{"horizontalpodautoscalers", "", "hpa"}}),
        version("foo/v1", {{"foo", "", "hpa"}}), version("foo/v1beta1", {{"foo", "", "hpa"}}),
        version("bar/v1", {{"bar", "", "hpa"}})}},
      {"the version stays",
       {"apps", "v1", "deploy"},
       {"apps", "v1", "deployments"},
       {},
       {version("apps/v1", {{"deployments", "", "deploy"}})}},
  };
  for (const ExpandCase& test : cases) {
    SCOPED_TRACE(test.name);
    const ShortNames names(test.server);
    Warnings warnings;
    EXPECT_EQ(names.expand(test.asked, [&](const std::string& text) { warnings.push_back(text); }),
              test.expected);
    EXPECT_EQ(warnings, test.warnings);
    EXPECT_EQ(names.expand(test.asked), test.expected);  // a warning handler is optional
  }
}

const std::vector<const TypeInfo*>& shortNamed() {
  static const std::vector<const TypeInfo*> types = {
      &TypeOf<shortcuts::OldDeployment>::info, &TypeOf<shortcuts::Policy>::info,
      &TypeOf<shortcuts::Deployment>::info, &TypeOf<shortcuts::Gadget>::info};
  return types;
}

TEST(ShortNamesTest, OfTablesPreferServedResources) {
  const ShortNames names(shortNamed());
  Warnings warnings;
  const auto warn = [&](const std::string& text) { warnings.push_back(text); };
  EXPECT_EQ(names.expand({.resource = "deploy"}, warn),
            (GroupVersionResource{"apps", "", "deployments"}));
  EXPECT_TRUE(warnings.empty()) << warnings.front();
  EXPECT_EQ(names.expand({.resource = "pol"}),
            (GroupVersionResource{"extensions", "", "policies"}));
  EXPECT_EQ(names.expand({.resource = "policy"}), (GroupVersionResource{"", "", "policy"}));
}

TEST(ShortcutExpanderTest, AsksTheOtherMapperForTheFullName) {
  const ShortcutExpander mapper(std::make_shared<const StaticRestMapper>(shortNamed()),
                                std::make_shared<const ShortNames>(shortNamed()));
  const GroupVersionKind deployment{"apps", "v1", "Deployment"};
  EXPECT_EQ(mapper.kindFor({.resource = "deploy"}), deployment);
  EXPECT_EQ(mapper.kindFor({.resource = "deployments"}), deployment);
  EXPECT_EQ(mapper.kindsFor({.resource = "deploy"}).size(), 1U);
  EXPECT_EQ(mapper.resourceFor({.resource = "deploy"}).resource, "deployments");
  EXPECT_EQ(mapper.resourcesFor({.resource = "deploy"}).size(), 1U);
  EXPECT_EQ(mapper.resourceSingularizer("deploy"), "deployment");
  EXPECT_EQ(mapper.restMapping({"apps", "Deployment"}).gvk, deployment);
  EXPECT_EQ(mapper.restMappings({"apps", "Deployment"}).size(), 1U);
  EXPECT_EQ(mappingFor(mapper, "deploy.apps").gvk, deployment);
  EXPECT_THROW(mapper.kindFor({.resource = "dep"}), NoResourceMatchError);
}

TEST(ShortcutExpanderTest, TriesAgainWithNewerNames) {
  auto old = std::make_shared<const ShortNames>();
  auto current = std::make_shared<const ShortNames>(shortNamed());
  int asked = 0;
  const ShortcutExpander mapper(std::make_shared<const StaticRestMapper>(shortNamed()),
                                [&] { return asked++ == 0 ? old : current; });
  EXPECT_EQ(mapper.kindFor({.resource = "deploy"}).group, "apps");
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(mapper.findKind({.resource = "nothing"}), std::nullopt);
  EXPECT_EQ(asked, 4);
}

using GroupResources = std::vector<GroupResource>;

TEST(CategoryExpanderTest, ListsWhatWasAdded) {
  SimpleCategoryExpander simple;
  simple.add("all", {"", "one"});
  simple.add("all", {"alpha", "three"});
  simple.add("all", {"", "one"});
  EXPECT_EQ(simple.expand("service"), std::nullopt);
  EXPECT_EQ(simple.expand("all"), (GroupResources{{"", "one"}, {"alpha", "three"}}));
}

TEST(CategoryExpanderTest, OfTablesSkipsRetiredResources) {
  const SimpleCategoryExpander categories(shortNamed());
  EXPECT_EQ(categories.expand("all"),
            (GroupResources{{"apps", "deployments"}, {"example.com", "gadgets"}}));
  EXPECT_EQ(categories.expand("more"), (GroupResources{{"apps", "deployments"}}));
}

TEST(CategoryExpanderTest, OfDiscoveryListsEachResourceOnce) {
  auto v1 = version("batch/v1", {{"jobs", "job"}, {"cronjobs", "cronjob"}, {"jobs/status", ""}});
  auto& resources = v1.versionedResources.write("v1");
  for (auto& resource : resources) resource.categories = {"all"};
  auto beta = v1;
  beta.group.versions[0].version = "v1beta1";
  beta.versionedResources = {{"v1beta1", resources}};
  const SimpleCategoryExpander categories(std::vector{v1, beta});
  EXPECT_EQ(categories.expand("all"), (GroupResources{{"batch", "jobs"}, {"batch", "cronjobs"}}));
  EXPECT_EQ(categories.expand("targaryens"), std::nullopt);
}

TEST(CategoryExpanderTest, UnitesSeveral) {
  const auto a = std::make_shared<SimpleCategoryExpander>();
  const auto b = std::make_shared<SimpleCategoryExpander>();
  a->add("all", {"", "one"});
  b->add("all", {"", "two"});
  b->add("all", {"", "one"});
  b->add("more", {"", "three"});
  const UnionCategoryExpander both({a, b});
  EXPECT_EQ(both.expand("all"), (GroupResources{{"", "one"}, {"", "two"}}));
  EXPECT_EQ(both.expand("more"), (GroupResources{{"", "three"}}));
  EXPECT_EQ(both.expand("none"), std::nullopt);
}

}  // namespace
}  // namespace kube
