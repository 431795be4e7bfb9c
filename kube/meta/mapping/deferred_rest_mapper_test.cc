#include "kube/meta/mapping/deferred_rest_mapper.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <thread>

namespace kube {
namespace {

std::vector<ApiGroupResources> serving(std::string_view resource, std::string_view kind) {
  return {{.group = {.name = "a", .versions = {{.groupVersion = "a/v1", .version = "v1"}}},
           .versionedResources = {{"v1",
                                   {{.name = resource,
                                     .namespaced = true,
                                     .kind = kind,
                                     .shortNames = {"sc"},
                                     .categories = {"all"}}}}}}};
}

/// A cache over a server: cached resources are returned until the cache is invalidated.
struct FakeSource final : DiscoverySource {
  std::vector<ApiGroupResources> cached;
  std::vector<ApiGroupResources> served;
  std::atomic<bool> isFresh = false;
  std::atomic<int> fetches = 0;
  std::atomic<int> invalidations = 0;
  std::atomic<int> failures = 0;  // the number of coming fetches that fail
  std::function<void()> whileFetching = [] {};
  std::function<void()> beforeFreshness = [] {};  // called once

  Task<std::vector<ApiGroupResources>> fetch() override {
    ++fetches;
    whileFetching();
    if (failures > 0) {
      --failures;
      throw TransportError("the server is away");
    }
    co_return isFresh ? served : cached;
  }
  bool fresh() override {
    const bool before = isFresh;
    std::exchange(beforeFreshness, [] {})();
    return before || isFresh;
  }
  void invalidate() override {
    ++invalidations;
    isFresh = true;
  }
};

struct DeferredTest : testing::Test {
  std::shared_ptr<FakeSource> source = std::make_shared<FakeSource>();
  std::shared_ptr<const DeferredRestMapper> mapper =
      std::make_shared<const DeferredRestMapper>(source);
  const GroupVersionResource foo{"a", "v1", "foo"};
  const GroupVersionResource bar{"a", "v1", "bar"};
};

TEST_F(DeferredTest, FetchesInTheFirstLookupOnly) {
  source->cached = serving("foo", "Foo");
  EXPECT_EQ(source->fetches, 0);
  EXPECT_EQ(mapper->kindFor(foo).kind, "Foo");
  EXPECT_EQ(mapper->resourceFor({.resource = "foo"}), foo);
  EXPECT_EQ(mapper->restMapping({"a", "Foo"}).gvr, foo);
  EXPECT_EQ(source->fetches, 1);
  EXPECT_EQ(source->invalidations, 0);
}

TEST_F(DeferredTest, FetchesOnceMoreForMissingResourcesUnlessFresh) {
  source->served = serving("foo", "Foo");
  EXPECT_EQ(mapper->kindFor(foo).kind, "Foo");
  EXPECT_EQ(source->invalidations, 1);
  EXPECT_EQ(source->fetches, 2);
  EXPECT_EQ(mapper->kindFor(foo).kind, "Foo");
  EXPECT_EQ(source->fetches, 2);

  EXPECT_THROW(mapper->kindFor(bar), NoResourceMatchError);
  EXPECT_EQ(source->invalidations, 1);  // the source is fresh: a fetch would not help

  source->isFresh = false;
  EXPECT_THROW(mapper->kindFor(bar), NoResourceMatchError);
  EXPECT_EQ(source->invalidations, 2);
  EXPECT_EQ(source->fetches, 3);
}

TEST_F(DeferredTest, ASourceThatIsNeverFreshIsAskedOnlyOnceMore) {
  struct NeverFresh final : DiscoverySource {
    int fetches = 0;
    Task<std::vector<ApiGroupResources>> fetch() override {
      ++fetches;
      co_return serving("foo", "Foo");
    }
    bool fresh() override { return false; }
    void invalidate() override {}
  };
  const auto never = std::make_shared<NeverFresh>();
  const DeferredRestMapper stubborn(never);
  EXPECT_THROW(stubborn.kindFor(bar), NoResourceMatchError);
  EXPECT_EQ(never->fetches, 2);
}

TEST_F(DeferredTest, EveryKindOfLookupFetchesAgain) {
  const std::vector<std::function<void(const RestMapper&)>> questions = {
      [&](const RestMapper& m) { m.kindFor(foo); },
      [&](const RestMapper& m) { m.kindsFor(foo); },
      [&](const RestMapper& m) { m.resourceFor(foo); },
      [&](const RestMapper& m) { m.resourcesFor(foo); },
      [&](const RestMapper& m) {
        m.restMapping({"a", "Foo"});
      },
      [&](const RestMapper& m) {
        m.restMappings({"a", "Foo"}, {"v1"});
      },
      [&](const RestMapper& m) { m.resourceSingularizer("foo"); },
  };
  for (const auto& question : questions) {
    const auto stale = std::make_shared<FakeSource>();
    stale->served = serving("foo", "Foo");
    EXPECT_NO_THROW(question(DeferredRestMapper(stale)));
    EXPECT_EQ(stale->fetches, 2);
  }
}

TEST_F(DeferredTest, AFailedFetchIsTriedAgainByTheNextLookup) {
  source->cached = serving("foo", "Foo");
  source->failures = 1;
  EXPECT_THROW(mapper->kindFor(foo), TransportError);
  EXPECT_EQ(mapper->kindFor(foo).kind, "Foo");
  source->served = serving("bar", "Bar");
  source->failures = 1;
  EXPECT_THROW(mapper->kindFor(bar), TransportError);  // in the second fetch
  EXPECT_EQ(mapper->kindFor(bar).kind, "Bar");
}

TEST_F(DeferredTest, ResetForgets) {
  source->cached = serving("foo", "Foo");
  source->served = serving("bar", "Bar");
  EXPECT_EQ(mapper->kindFor(foo).kind, "Foo");
  mapper->reset();
  EXPECT_EQ(source->invalidations, 1);
  EXPECT_EQ(source->fetches, 1);
  EXPECT_EQ(mapper->kindFor(bar).kind, "Bar");
  EXPECT_EQ(source->fetches, 2);
}

TEST_F(DeferredTest, AFetchUnderWayAtAResetIsNotKept) {
  source->cached = serving("foo", "Foo");
  source->served = serving("bar", "Bar");
  source->whileFetching = [this, first = true]() mutable {
    if (std::exchange(first, false)) {
      source->isFresh = false;
      mapper->reset();
      source->isFresh = false;  // this fetch has read the cache before
    }
  };
  EXPECT_EQ(mapper->snapshot()->mapper->kindFor(foo).kind, "Foo");
  source->isFresh = true;
  EXPECT_EQ(mapper->snapshot()->mapper->kindFor(bar).kind, "Bar");
  EXPECT_EQ(source->fetches, 2);
}

TEST_F(DeferredTest, OneThreadFetchesForAll) {
  constexpr int kThreads = 8;
  source->cached = serving("foo", "Foo");
  std::latch begun(1);
  std::latch go(1);
  source->whileFetching = [&] {
    if (!begun.try_wait()) begun.count_down();
    go.wait();
  };
  std::vector<std::jthread> threads;
  std::atomic<int> found = 0;
  const auto ask = [&] { found += mapper->kindFor(foo).kind == "Foo" ? 1 : 0; };
  threads.emplace_back(ask);
  begun.wait();
  for (int i = 1; i < kThreads; ++i) threads.emplace_back(ask);
  go.count_down();
  threads.clear();
  EXPECT_EQ(found, kThreads);
  EXPECT_EQ(source->fetches, 1);
}

TEST_F(DeferredTest, ThreadsThatMissTheSameThingInvalidateOnce) {
  constexpr int kThreads = 8;
  source->cached = serving("foo", "Foo");
  source->served = serving("bar", "Bar");
  mapper->snapshot();
  std::vector<std::jthread> threads;
  std::atomic<int> found = 0;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] { found += mapper->findKind(bar).has_value() ? 1 : 0; });
  }
  threads.clear();
  EXPECT_EQ(found, kThreads);
  EXPECT_EQ(source->fetches, 2);
  EXPECT_EQ(source->invalidations, 1);
}

TEST_F(DeferredTest, ANewerFetchOfAnotherThreadIsUsed) {
  source->cached = serving("foo", "Foo");
  source->served = serving("bar", "Bar");
  mapper->snapshot();
  // The first lookup finds nothing; before it tests the source, another lookup fetches. The source
  // is then fresh, but the first lookup has used the old snapshot.
  source->beforeFreshness = [&] { EXPECT_EQ(mapper->kindFor(bar).kind, "Bar"); };
  EXPECT_EQ(mapper->kindFor(bar).kind, "Bar");
  EXPECT_EQ(source->fetches, 2);
  EXPECT_EQ(source->invalidations, 1);

  source->isFresh = false;
  source->beforeFreshness = [&] {
    EXPECT_EQ(mapper->findKind(foo), std::nullopt);
    source->isFresh = false;
  };
  EXPECT_EQ(mapper->findKind(foo), std::nullopt);
  EXPECT_EQ(source->fetches, 3);  // that of the other lookup
}

TEST_F(DeferredTest, WaitersGetTheFailure) {
  source->failures = 1;
  std::latch begun(1);
  std::latch go(1);
  source->whileFetching = [&] {
    if (!begun.try_wait()) begun.count_down();
    go.wait();
  };
  std::jthread first([&] { EXPECT_THROW(mapper->snapshot(), TransportError); });
  begun.wait();
  // The second thread either waits for the first one's result, or comes later and fetches itself.
  source->failures = 2;
  std::jthread second([&] { EXPECT_THROW(mapper->snapshot(), TransportError); });
  go.count_down();
}

TEST_F(DeferredTest, ShortNamesOfNewResourcesAreFound) {
  source->served = serving("storageclasses", "StorageClass");
  const ShortcutExpander expander(mapper, [this] { return mapper->snapshot()->shortNames; });
  EXPECT_EQ(expander.kindFor({"a", "", "sc"}), (GroupVersionKind{"a", "v1", "StorageClass"}));
  EXPECT_EQ(expander.resourceFor({.resource = "sc"}).resource, "storageclasses");
  EXPECT_EQ(mapper->snapshot()->categories->expand("all")->front().resource, "storageclasses");
}

TEST_F(DeferredTest, AnAwaitedLookupThatThrowsNoMatchFetchesAgain) {
  source->served = serving("foo", "Foo");
  const auto kindOf = [&](const DiscoverySnapshot& known) { return known.mapper->kindFor(foo); };
  EXPECT_EQ(blockOn(mapper->lookUp(kindOf)).kind, "Foo");
  EXPECT_EQ(source->fetches, 2);
  const auto missing = [&](const DiscoverySnapshot& known) { return known.mapper->kindFor(bar); };
  EXPECT_THROW(blockOn(mapper->lookUp(missing)), NoResourceMatchError);
  EXPECT_EQ(source->fetches, 2);
}

}  // namespace
}  // namespace kube
