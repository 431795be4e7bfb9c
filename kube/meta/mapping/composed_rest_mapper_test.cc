#include "kube/meta/mapping/composed_rest_mapper.h"

#include <gtest/gtest.h>

#include "kube/base/internal/error_of_testing.h"

namespace kube {
namespace {

using Kinds = std::vector<GroupVersionKind>;
using Resources = std::vector<GroupVersionResource>;

/// Gives the same answers to all lookups, or throws.
struct FixedMapper final : RestMapper {
  Resources resources = {};
  Kinds kinds = {};
  std::vector<RestMapping> mappings = {};
  std::optional<String> singular = {};
  std::string failure = {};
  mutable int resets = 0;

  void fail() const {
    if (!failure.empty()) throw TransportError(failure);
  }
  Kinds findKinds(const GroupVersionResource&) const override { return fail(), kinds; }
  Resources findResources(const GroupVersionResource&) const override { return fail(), resources; }
  std::optional<RestMapping> findMapping(const GroupKind&, VersionList) const override {
    fail();
    if (mappings.empty()) return std::nullopt;
    return mappings.front();
  }
  std::vector<RestMapping> findMappings(const GroupKind&, VersionList) const override {
    return fail(), mappings;
  }
  std::optional<String> findSingular(std::string_view) const override { return fail(), singular; }
  void reset() const override { ++resets; }
};

std::shared_ptr<FixedMapper> fixed() { return std::make_shared<FixedMapper>(); }
RestMapperPtr failing(std::string message) {
  auto mapper = fixed();
  mapper->failure = std::move(message);
  return mapper;
}
RestMapperPtr withResources(Resources resources) {
  auto mapper = fixed();
  mapper->resources = std::move(resources);
  return mapper;
}
RestMapperPtr withKinds(Kinds kinds) {
  auto mapper = fixed();
  mapper->kinds = kinds;
  for (const GroupVersionKind& kind : kinds) {
    mapper->mappings.push_back({{kind.group, kind.version, "foos"}, kind, RestScope::Root});
  }
  return mapper;
}

const GroupVersionResource kFoo{.resource = "foo"};

TEST(MultiRestMapperTest, OfNoneKnowsNothing) {
  const MultiRestMapper mapper({});
  EXPECT_EQ(errorOf<Error>([&] { mapper.resourceFor(kFoo); }), "no matches for /, Resource=foo");
  EXPECT_THROW(mapper.resourcesFor(kFoo), NoResourceMatchError);
  EXPECT_THROW(mapper.kindFor(kFoo), NoResourceMatchError);
  EXPECT_THROW(mapper.kindsFor(kFoo), NoResourceMatchError);
  EXPECT_EQ(errorOf<Error>([&] {
              mapper.restMapping({"", "Foo"});
            }),
            "no matches for kind \"Foo\" in group \"\"");
  EXPECT_EQ(errorOf<Error>([&] {
              mapper.restMappings({"", "Foo"}, {"v1beta", "v2"});
            }),
            "no matches for kind \"Foo\" in versions [\"v1beta\" \"v2\"]");
  EXPECT_THROW(mapper.resourceSingularizer("foo"), NoResourceMatchError);
}

TEST(MultiRestMapperTest, UnitesAnswersAndSkipsMappersWithoutOne) {
  const MultiRestMapper resources({withResources({{"", "", "dupe"}, {"", "", "first"}}), fixed(),
                                   withResources({{"", "", "dupe"}, {"", "", "second"}})});
  EXPECT_EQ(resources.resourcesFor(kFoo),
            (Resources{{"", "", "dupe"}, {"", "", "first"}, {"", "", "second"}}));
  EXPECT_THROW(resources.resourceFor(kFoo), AmbiguousResourceError);
  const MultiRestMapper kinds({fixed(), withKinds({{"", "", "dupe"}, {"", "", "first"}}),
                               withKinds({{"", "", "dupe"}, {"", "", "second"}})});
  EXPECT_EQ(kinds.kindsFor(kFoo), (Kinds{{"", "", "dupe"}, {"", "", "first"}, {"", "", "second"}}));
  EXPECT_THROW(kinds.kindFor(kFoo), AmbiguousResourceError);
  EXPECT_EQ(kinds.restMappings({"", "x"}).size(), 4U);
  EXPECT_THROW(kinds.restMapping({"", "x"}), AmbiguousKindError);
  const MultiRestMapper one({fixed(), withKinds({{"", "", "only"}})});
  EXPECT_EQ(one.kindFor(kFoo).kind, "only");
  EXPECT_EQ(one.restMapping({"", "x"}).gvk.kind, "only");
}

TEST(MultiRestMapperTest, ReportsFailures) {
  const MultiRestMapper mapper({failing("fail on this"), withResources({kFoo})});
  EXPECT_EQ(errorOf<Error>([&] { mapper.resourceFor(kFoo); }), "fail on this");
  EXPECT_THROW(mapper.kindsFor(kFoo), TransportError);
  EXPECT_THROW(mapper.restMappings({"", "Foo"}), TransportError);
  EXPECT_THROW(mapper.restMapping({"", "Foo"}), TransportError);
  const MultiRestMapper two({failing("one"), fixed(), failing("two")});
  EXPECT_EQ(errorOf<Error>([&] { two.restMappings({"", "Foo"}); }), "[one, two]");
  // Exactly one mapping is enough, whatever else failed.
  const MultiRestMapper enough({failing("one"), withKinds({{"", "v1", "Foo"}})});
  EXPECT_EQ(enough.restMapping({"", "Foo"}).gvk.version, "v1");
  EXPECT_THROW(enough.restMappings({"", "Foo"}), TransportError);
}

TEST(MultiRestMapperTest, TakesTheFirstSingularAndResetsAll) {
  const auto a = fixed();
  const auto b = fixed();
  b->singular = "pod";
  const MultiRestMapper mapper({failing("x"), a, b});
  EXPECT_EQ(mapper.resourceSingularizer("pods"), "pod");
  EXPECT_THROW(MultiRestMapper({failing("x"), a}).resourceSingularizer("pods"), TransportError);
  mapper.reset();
  PriorityRestMapper(std::make_shared<MultiRestMapper>(mapper), {}, {}).reset();
  EXPECT_EQ(a->resets, 2);
  EXPECT_EQ(b->resets, 2);
}

TEST(FirstHitRestMapperTest, LetsTheFirstWithAnAnswerDecide) {
  const auto first = fixed();
  first->resources = {{"a", "v1", "foos"}};
  const FirstHitRestMapper mapper({fixed(), failing("down"), withKinds({{"b", "v1", "Foo"}}), first,
                                   withKinds({{"c", "v1", "Foo"}}),
                                   withResources({{"d", "v1", "foos"}})});
  EXPECT_EQ(mapper.kindFor(kFoo).group, "b");
  EXPECT_EQ(mapper.resourceFor(kFoo).group, "a");
  EXPECT_EQ(mapper.restMapping({"", "Foo"}).gvk.group, "b");
  const FirstHitRestMapper none({fixed(), fixed()});
  EXPECT_THROW(none.kindFor(kFoo), NoResourceMatchError);
  EXPECT_THROW(none.restMapping({"", "Foo"}), NoKindMatchError);
  const FirstHitRestMapper down({fixed(), failing("down"), fixed()});
  EXPECT_THROW(down.kindFor(kFoo), TransportError);
  EXPECT_EQ(errorOf<Error>([&] {
              FirstHitRestMapper({failing("a"), failing("b")}).restMapping({"", "Foo"});
            }),
            "[a, b]");
  // All mappers' answers count in plural lookups.
  const FirstHitRestMapper both({withKinds({{"b", "v1", "Foo"}}), withKinds({{"c", "v1", "Foo"}})});
  EXPECT_EQ(both.kindsFor(kFoo).size(), 2U);
}

struct PriorityCase {
  const char* name;
  Resources found;
  Resources patterns;
  std::string chosen;  // a resource; "" if ambiguous
};

TEST(PriorityRestMapperTest, NarrowsDownByPatterns) {
  const std::vector<PriorityCase> cases = {
      {"a single hit needs no pattern", {{"", "", "single"}}, {}, "single"},
      {"no pattern", {{"one", "a", "first"}, {"two", "b", "second"}}, {}, ""},
      {"group", {{"one", "a", "first"}, {"two", "b", "second"}}, {{"one", "*", "*"}}, "first"},
      {"one that fits nothing is skipped",
       {{"one", "a", "first"}, {"two", "b", "second"}},
       {{"fail", "*", "*"}, {"one", "*", "*"}},
       "first"},
      {"group, then version",
       {{"one", "a", "first"}, {"two", "b", "second"}, {"one", "c", "third"}},
       {{"one", "*", "*"}, {"*", "a", "*"}},
       "first"},
      {"name", {{"one", "a", "first"}, {"one", "a", "second"}}, {{"*", "*", "second"}}, "second"},
      {"not enough",
       {{"one", "a", "first"}, {"one", "b", "second"}, {"two", "b", "third"}},
       {{"one", "*", "*"}},
       ""},
  };
  for (const PriorityCase& test : cases) {
    SCOPED_TRACE(test.name);
    Kinds found;
    Kinds patterns;
    for (const auto& r : test.found) found.push_back({r.group, r.version, r.resource});
    for (const auto& r : test.patterns) patterns.push_back({r.group, r.version, r.resource});
    const PriorityRestMapper resources(withResources(test.found), test.patterns, {});
    const PriorityRestMapper kinds(withKinds(found), {}, patterns);
    EXPECT_EQ(resources.resourcesFor(kFoo), test.found);
    EXPECT_EQ(kinds.kindsFor(kFoo), found);
    if (test.chosen.empty()) {
      // All found resources are candidates.
      try {
        resources.resourceFor(kFoo);
        FAIL();
      } catch (const AmbiguousResourceError& error) {
        EXPECT_EQ(error.matchingResources().size(), test.found.size());
      }
      EXPECT_THROW(kinds.kindFor(kFoo), AmbiguousResourceError);
      EXPECT_THROW(kinds.restMapping({"", "Foo"}), AmbiguousKindError);
    } else {
      EXPECT_EQ(resources.resourceFor(kFoo).resource, test.chosen);
      EXPECT_EQ(kinds.kindFor(kFoo).kind, test.chosen);
      EXPECT_EQ(kinds.restMapping({"", "Foo"}).gvk.kind, test.chosen);
    }
  }
}

TEST(PriorityRestMapperTest, PassesErrorsThroughAndReturnsNothingWithoutMatch) {
  const PriorityRestMapper broken(failing("delegateError"), {}, {});
  EXPECT_THROW(broken.resourceFor(kFoo), TransportError);
  EXPECT_THROW(broken.kindFor(kFoo), TransportError);
  EXPECT_THROW(broken.restMapping({"", "Foo"}), TransportError);
  const PriorityRestMapper empty(fixed(), {}, {});
  EXPECT_THROW(empty.resourceFor(kFoo), NoResourceMatchError);
  EXPECT_THROW(empty.kindFor(kFoo), NoResourceMatchError);
  EXPECT_THROW(empty.restMapping({"", "Foo"}), NoKindMatchError);
}

TEST(PriorityRestMapperTest, PrefersRequestedVersions) {
  const auto all = withKinds({{"Bar", "v2alpha1", "Foo"}, {"Bar", "v1", "Foo"}});
  const PriorityRestMapper mapper(all, {}, {{"Bar", "v2alpha1", "*"}, {"Bar", "*", "*"}});
  EXPECT_EQ(mapper.restMapping({"Bar", "Foo"}, {"v1"}).gvk.version, "v1");
  EXPECT_EQ(mapper.restMapping({"Bar", "Foo"}, {"v2alpha1"}).gvk.version, "v2alpha1");
  EXPECT_EQ(mapper.restMapping({"Bar", "Foo"}, {"v9", "v1", "v2alpha1"}).gvk.version, "v1");
  EXPECT_EQ(mapper.restMapping({"Bar", "Foo"}).gvk.version, "v2alpha1");
}

TEST(BorrowedRestMapperTest, IsNotOwned) {
  const FixedMapper mapper;
  const RestMapperPtr pointer = borrowed(mapper);
  EXPECT_EQ(pointer.get(), &mapper);
  EXPECT_EQ(pointer.use_count(), 0);
}

}  // namespace
}  // namespace kube
