#include "kube/meta/mapping/rest_mapper.h"

#include <gtest/gtest.h>

#include <array>

#include "kube/base/internal/error_of_testing.h"
#include "kube/meta/mapping/default_rest_mapper.h"

namespace kube {
namespace {

using Kinds = std::vector<GroupVersionKind>;
using Resources = std::vector<GroupVersionResource>;

TEST(RestMapperErrorsTest, HaveApimachinerysMessages) {
  EXPECT_STREQ(NoResourceMatchError({"apps", "", "foos"}).what(),
               "no matches for apps/, Resource=foos");
  EXPECT_STREQ(NoKindMatchError({"apps", "Foo"}).what(),
               "no matches for kind \"Foo\" in group \"apps\"");
  EXPECT_STREQ(NoKindMatchError({"apps", "Foo"}, {"v1"}).what(),
               "no matches for kind \"Foo\" in version \"apps/v1\"");
  EXPECT_STREQ(NoKindMatchError({"apps", "Foo"}, {"v2", "v1", "v2"}).what(),
               "no matches for kind \"Foo\" in versions [\"apps/v1\" \"apps/v2\"]");
  EXPECT_STREQ(NoKindMatchError({"", "Foo"}, {"v1"}).what(),
               "no matches for kind \"Foo\" in version \"v1\"");
  const List<GroupVersionResource> resources = {{"a", "v1", "foos"}, {"b", "v1", "foos"}};
  const List<GroupVersionKind> kinds = {{"a", "v1", "Foo"}, {"b", "v1", "Foo"}};
  EXPECT_STREQ(AmbiguousResourceError({"", "", "foos"}, resources).what(),
               "/, Resource=foos matches multiple resources "
               "[a/v1, Resource=foos b/v1, Resource=foos]");
  EXPECT_STREQ(AmbiguousResourceError({"", "", "foos"}, {}, kinds).what(),
               "/, Resource=foos matches multiple kinds [a/v1, Kind=Foo b/v1, Kind=Foo]");
  EXPECT_STREQ(AmbiguousResourceError({"", "", "foos"}, {resources[0]}, {kinds[1]}).what(),
               "/, Resource=foos matches multiple resources [a/v1, Resource=foos] "
               "and kinds [b/v1, Kind=Foo]");
  EXPECT_STREQ(AmbiguousKindError({"", "", "Foo"}, {}, {}).what(),
               "/, Kind=Foo matches multiple resources or kinds");
}

TEST(RestMapperErrorsTest, AreDistinguishableAndHoldTheFacts) {
  const NoKindMatchError noKind({"apps", "Foo"}, {"v2"});
  const NoResourceMatchError noResource({"", "", "foos"});
  const AmbiguousKindError kind({"", "", "Foo"}, {}, {{"a", "v1", "Foo"}});
  const AmbiguousResourceError resource({"", "", "foos"}, {{"a", "v1", "foos"}});
  EXPECT_TRUE(isNoMatch(noKind) && isNoMatch(noResource));
  EXPECT_FALSE(isAmbiguous(noKind) || isAmbiguous(noResource));
  EXPECT_TRUE(isAmbiguous(kind) && isAmbiguous(resource));
  EXPECT_FALSE(isNoMatch(kind) || isNoMatch(resource));
  EXPECT_FALSE(isNoMatch(Error("other")) || isAmbiguous(Error("other")));

  EXPECT_EQ(noKind.groupKind(), (GroupKind{"apps", "Foo"}));
  EXPECT_EQ(noKind.searchedVersions(), (List<String>{"v2"}));
  EXPECT_EQ(noResource.partialResource().resource, "foos");
  EXPECT_EQ(kind.partialKind().kind, "Foo");
  EXPECT_EQ(kind.matchingKinds().size(), 1U);
  EXPECT_EQ(resource.matchingResources()[0].group, "a");
}

TEST(GuessedResourceTest, IsTheEnglishPluralInLowerCase) {
  const auto guess = [](std::string_view kind) {
    const auto [plural, singular] = unsafeGuessKindToResource({"g", "v", kind});
    EXPECT_EQ(plural.groupVersion(), (GroupVersion{"g", "v"}));
    EXPECT_EQ(singular.groupVersion(), (GroupVersion{"g", "v"}));
    return plural.resource + " " + singular.resource;
  };
  EXPECT_EQ(guess("Pod"), "pods pod");
  EXPECT_EQ(guess("ReplicationController"), "replicationcontrollers replicationcontroller");
  EXPECT_EQ(guess("ImageRepository"), "imagerepositories imagerepository");
  EXPECT_EQ(guess("miss"), "misses miss");
  EXPECT_EQ(guess("lowercase"), "lowercases lowercase");
  EXPECT_EQ(guess("Endpoints"), "endpoints endpoints");
  EXPECT_TRUE(unsafeGuessKindToResource({"g", "v", ""}).first.empty());
}

TEST(DefaultRestMapperTest, FindsAKindByPluralSingularAndAnyCase) {
  DefaultRestMapper mapper{{"test.group", "test"}};
  const GroupVersionKind kind{"test.group", "test", "InternalObject"};
  mapper.add(kind, RestScope::Namespace);
  for (const char* name :
       {"internalobject", "internalobjects", "InternalObject", "internalObjects"}) {
    EXPECT_EQ(mapper.kindFor({.resource = name}), kind) << name;
    EXPECT_EQ(mapper.resourceFor({.resource = name}),
              (GroupVersionResource{"test.group", "test", "internalobjects"}))
        << name;
  }
  for (const char* name : {"internalobjec", "internalObjec"}) {
    EXPECT_THROW(mapper.kindFor({.resource = name}), NoResourceMatchError);
    EXPECT_EQ(mapper.findKind({.resource = name}), std::nullopt);
  }
  // An internal version stands for any version.
  EXPECT_EQ(mapper.kindFor({"", "__internal", "internalobjects"}), kind);
  EXPECT_EQ(mapper.kindFor({"test.group", "test", "internalobjects"}), kind);
  EXPECT_EQ(mapper.findKind({"test.group", "v2", "internalobjects"}), std::nullopt);
  EXPECT_EQ(mapper.findKind({"test", "test", "internalobjects"}), std::nullopt);
}

TEST(DefaultRestMapperTest, InsistsOnAResourceName) {
  const DefaultRestMapper mapper;
  EXPECT_EQ(errorOf<Error>([&] {
              mapper.kindFor({"apps", "v1", ""});
            }),
            "a resource must be present, got: apps/v1, Resource=");
  EXPECT_EQ(errorOf<Error>([&] { mapper.findResources({}); }),
            "a resource must be present, got: /, Resource=");
}

struct ManyGroups {
  DefaultRestMapper mapper;
  ManyGroups(std::vector<GroupVersion> preferred, std::initializer_list<const char*> groups)
      : mapper(std::move(preferred)) {
    for (const char* group : groups) {
      mapper.add({group, "v", "my-kind"}, RestScope::Namespace);
      mapper.add({group, "v", "your-kind"}, RestScope::Namespace);
    }
  }
};

TEST(DefaultRestMapperTest, PrefersAnExactGroupToItsBeginning) {
  const ManyGroups groups({{"first-group-1", "v"}, {"first-group", "v"}},
                          {"first-group-1", "first-group"});
  EXPECT_EQ(groups.mapper.kindsFor({"first-group", "", "my-kind"}),
            (Kinds{{"first-group", "v", "my-kind"}}));
  EXPECT_EQ(groups.mapper.kindFor({"first-group", "", "my-kind"}).group, "first-group");
  EXPECT_EQ(groups.mapper.resourceFor({"first-group", "", "my-kinds"}),
            (GroupVersionResource{"first-group", "v", "my-kinds"}));
}

TEST(DefaultRestMapperTest, AcceptsTheBeginningOfAGroup) {
  const ManyGroups groups({{"second-group", "v"}, {"first-group", "v"}},
                          {"first-group", "second-group"});
  for (const char* name : {"my-kind", "my-kinds"}) {
    EXPECT_EQ(groups.mapper.kindFor({"first", "", name}).group, "first-group");
    EXPECT_EQ(groups.mapper.resourceFor({"first", "", name}).group, "first-group");
  }
  EXPECT_EQ(groups.mapper.findKind({"irst", "", "my-kind"}), std::nullopt);
}

TEST(DefaultRestMapperTest, ListsAmbiguousResourcesByPreferenceAndChoosesNone) {
  const ManyGroups groups({{"second-group", "v"}, {"first-group", "v"}},
                          {"first-group", "second-group", "other"});
  for (const GroupVersionResource& partial :
       {GroupVersionResource{"", "", "my-kinds"}, GroupVersionResource{"", "v", "my-kind"}}) {
    EXPECT_EQ(groups.mapper.kindsFor(partial), (Kinds{{"second-group", "v", "my-kind"},
                                                      {"first-group", "v", "my-kind"},
                                                      {"other", "v", "my-kind"}}));
    EXPECT_EQ(groups.mapper.resourcesFor(partial), (Resources{{"second-group", "v", "my-kinds"},
                                                              {"first-group", "v", "my-kinds"},
                                                              {"other", "v", "my-kinds"}}));
    try {
      groups.mapper.kindFor(partial);
      FAIL();
    } catch (const AmbiguousResourceError& error) {
      EXPECT_EQ(error.matchingKinds().size(), 3U);
      EXPECT_EQ(error.partialResource(), partial);
    }
    try {
      groups.mapper.resourceFor(partial);
      FAIL();
    } catch (const AmbiguousResourceError& error) {
      EXPECT_EQ(error.matchingResources().size(), 3U);
    }
  }
  // The beginning of two groups is ambiguous as well.
  const ManyGroups similar({{"first-group-1", "v"}, {"first-group", "v"}},
                           {"first-group", "first-group-1"});
  EXPECT_EQ(similar.mapper.kindsFor({"first", "", "my-kind"}),
            (Kinds{{"first-group-1", "v", "my-kind"}, {"first-group", "v", "my-kind"}}));
  EXPECT_THROW(similar.mapper.kindFor({"first", "", "my-kind"}), AmbiguousResourceError);
}

TEST(DefaultRestMapperTest, AResourceThatIsItsOwnSingularIsOne) {
  DefaultRestMapper mapper{{"", "v1"}};
  mapper.add({"", "v1", "Endpoints"}, RestScope::Namespace);
  EXPECT_EQ(mapper.resourceFor({.resource = "endpoints"}).resource, "endpoints");
  EXPECT_EQ(mapper.kindsFor({.resource = "endpoints"}).size(), 1U);
}

TEST(DefaultRestMapperTest, MakesSingulars) {
  for (const auto& [kind, plural, singular] :
       {std::array{"Pod", "pods", "pod"}, std::array{"Status", "statuses", "status"},
        std::array{"ImageRepository", "imagerepositories", "imagerepository"},
        std::array{"lowercases", "lowercaseses", "lowercases"}}) {
    DefaultRestMapper mapper{{"g", "v"}};
    mapper.add({"g", "v", kind}, RestScope::Namespace);
    EXPECT_EQ(mapper.resourceSingularizer(plural), singular);
    EXPECT_EQ(mapper.resourceSingularizer(singular), singular);
    EXPECT_THROW(mapper.resourceSingularizer("others"), NoResourceMatchError);
  }
  DefaultRestMapper mapper{{"g", "v"}};
  mapper.addSpecific({"a", "v", "One"}, {"a", "v", "them"}, {"a", "v", "one"}, RestScope::Root);
  mapper.addSpecific({"b", "v", "Other"}, {"b", "v", "them"}, {"b", "v", "other"}, RestScope::Root);
  EXPECT_EQ(errorOf<Error>([&] { mapper.resourceSingularizer("them"); }),
            "multiple possible singular resources ([a/v, Resource=them b/v, Resource=them]) "
            "found for them");
}

TEST(DefaultRestMapperTest, MapsAKindInThePreferredOrAskedVersion) {
  DefaultRestMapper mapper{{"tgroup", "test1"}, {"tgroup", "test2"}};
  const GroupKind object{"tgroup", "InternalObject"};
  const GroupKind other{"tgroup", "OtherObject"};
  mapper.add(object.withVersion("test1"), RestScope::Namespace);
  mapper.add(other.withVersion("test2"), RestScope::Root);

  EXPECT_EQ(mapper.restMapping(other),
            (RestMapping{
                {"tgroup", "test2", "otherobjects"}, other.withVersion("test2"), RestScope::Root}));
  EXPECT_EQ(mapper.restMapping(object).scope, RestScope::Namespace);
  EXPECT_EQ(mapper.restMapping(object, {"test1"}).gvr.version, "test1");
  EXPECT_THROW(mapper.restMapping(object, {"test2"}), NoKindMatchError);
  EXPECT_THROW(mapper.restMapping(other, {"test3"}), NoKindMatchError);
  EXPECT_THROW(mapper.restMapping(other, {"test3", "test1"}), NoKindMatchError);
  EXPECT_EQ(mapper.restMapping(other, {"test3", "test2"}).gvk.version, "test2");
  // The internal version stands for any.
  EXPECT_EQ(mapper.restMapping(other, {"", "__internal"}).gvk.version, "test2");
  EXPECT_THROW(mapper.restMapping({"tgroup", "Unknown"}), NoKindMatchError);
  EXPECT_EQ(mapper.findMapping({"other", "OtherObject"}, {}), std::nullopt);
}

TEST(DefaultRestMapperTest, ListsMappingsOfPreferredVersionsOrTheFirstAskedOne) {
  DefaultRestMapper mapper{{"g", "v1"}, {"g", "v2"}};
  for (const char* version : {"v3", "v2", "v1"}) {
    mapper.add({"g", version, "Thing"}, RestScope::Namespace);
  }
  const auto versions = [&](VersionList asked) {
    std::string all;
    for (const RestMapping& m : mapper.restMappings({"g", "Thing"}, asked)) {
      all += m.gvk.version.str() + " ";
    }
    return all;
  };
  EXPECT_EQ(versions({}), "v1 v2 ");  // v3 is not preferred
  EXPECT_EQ(versions({"v3"}), "v3 ");
  EXPECT_EQ(versions({"v4", "v2", "v1"}), "v2 ");
  EXPECT_THROW(versions({"v4"}), NoKindMatchError);
}

TEST(DefaultRestMapperTest, LaterAdditionsReplaceEarlierOnes) {
  DefaultRestMapper mapper{{"g", "v1"}};
  mapper.addSpecific({"g", "v1", "thing"}, {"g", "v1", "things"}, {"g", "v1", "thing"},
                     RestScope::Root);
  mapper.addSpecific({"g", "v1", "Thing"}, {"g", "v1", "things"}, {"g", "v1", "thing"},
                     RestScope::Namespace);
  EXPECT_EQ(mapper.kindFor({.resource = "things"}).kind, "Thing");
  EXPECT_EQ(mapper.kindFor({.resource = "thing"}).kind, "Thing");
  EXPECT_EQ(mapper.restMapping({"g", "thing"}).gvk.kind, "thing");
  mapper.addSpecific({"g", "v1", "Thing"}, {"g", "v1", "gadgets"}, {"g", "v1", "gadget"},
                     RestScope::Namespace);
  EXPECT_EQ(mapper.restMappings({"g", "Thing"}).size(), 1U);
  EXPECT_EQ(mapper.restMapping({"g", "Thing"}).gvr.resource, "gadgets");
}

TEST(MappingForTest, ReadsAllFormsOfANameOrKind) {
  DefaultRestMapper mapper{{"apps", "v1"}, {"", "v1"}, {"example.com", "v2"}};
  mapper.add({"apps", "v1", "Deployment"}, RestScope::Namespace);
  mapper.add({"", "v1", "Node"}, RestScope::Root);
  mapper.add({"example.com", "v2", "Thing"}, RestScope::Namespace);
  mapper.add({"v1.example.com", "v3", "Odd"}, RestScope::Namespace);
  for (const char* text :
       {"deployments", "deployment", "deployments.apps", "deployments.v1.apps", "Deployment",
        "Deployment.apps", "Deployment.v1.apps", "deployment.app"}) {
    EXPECT_EQ(mappingFor(mapper, text).gvr, (GroupVersionResource{"apps", "v1", "deployments"}))
        << text;
  }
  EXPECT_EQ(mappingFor(mapper, "nodes").scope, RestScope::Root);
  EXPECT_EQ(mappingFor(mapper, "nodes.v1.").scope, RestScope::Root);
  EXPECT_EQ(mappingFor(mapper, "things.v2.example.com").gvk.kind, "Thing");
  // The part after two dots may also be a group.
  EXPECT_EQ(mappingFor(mapper, "odds.v1.example.com").gvk.version, "v3");
  EXPECT_THROW(mappingFor(mapper, "gadgets"), NoResourceMatchError);
  EXPECT_THROW(mappingFor(mapper, "deployments.v9.apps"), NoResourceMatchError);
  EXPECT_THROW(mappingFor(mapper, ""), NoResourceMatchError);
  EXPECT_THROW(mappingFor(mapper, ".apps"), NoResourceMatchError);
}

TEST(RestScopeTest, IsPrinted) {
  EXPECT_EQ(toString(RestScope::Namespace), "namespace");
  EXPECT_EQ(toString(RestScope::Root), "root");
}

}  // namespace
}  // namespace kube
