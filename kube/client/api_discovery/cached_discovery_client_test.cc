#include "kube/client/api_discovery/cached_discovery_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <latch>
#include <thread>

#include "kube/client/api_discovery/discovery_rest_mapper.h"
#include "kube/client/api_discovery/internal/discovery_server_testing.h"
#include "kube/http/internal/files.h"

namespace kube {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Style = DiscoveryServer::Style;
namespace fs = std::filesystem;

constexpr std::size_t kRequests = 6;  // to read everything from an old server

constexpr const char* kMoreGroups = R"({"kind": "APIGroupList", "groups": [
    {"name": "new.io", "versions": [{"groupVersion": "new.io/v1", "version": "v1"}],
     "preferredVersion": {"groupVersion": "new.io/v1", "version": "v1"}}]})";
constexpr const char* kMoreResources = R"({"kind": "APIResourceList", "groupVersion": "new.io/v1",
    "resources": [{"name": "networks", "singularName": "network", "namespaced": true,
      "kind": "Network", "verbs": ["get"], "shortNames": ["net"], "categories": ["all"]}]})";

TEST(CachedDiscoveryTest, TheServerIsAskedOnce) {
  DiscoveryServer server;
  FakeClock clock;
  const CachedDiscoveryClient cached(DiscoveryClient(server.config()), {}, clock);
  EXPECT_FALSE(cached.fresh());
  EXPECT_THAT(cached.serverGroups().groups, SizeIs(3));
  EXPECT_THAT(cached.serverGroupsAndResources().resources, SizeIs(4));
  EXPECT_THAT(cached.serverPreferredResources().resources, SizeIs(4));
  EXPECT_THAT(cached.serverResourcesForGroupVersion({"apps", "v1"}).resources, SizeIs(2));
  EXPECT_THAT(server.asked(), SizeIs(kRequests));
  try {
    cached.serverResourcesForGroupVersion({"apps", "v2"});
    FAIL();
  } catch (const ApiError& error) {
    EXPECT_TRUE(isNotFound(error));
  }
  EXPECT_FALSE(isResourceEnabled(cached, {"apps", "v2", "deployments"}));
  EXPECT_THAT(server.asked(), SizeIs(kRequests));
  server.set("/version", R"({"gitVersion": "v1.30.0"})");
  EXPECT_EQ(cached.serverVersion().gitVersion, "v1.30.0");
}

TEST(CachedDiscoveryTest, InvalidatingAndTheTtlMakeItAskAgain) {
  DiscoveryServer server(Style::V2);
  FakeClock clock;
  const CachedDiscoveryClient cached(DiscoveryClient(server.config()), {.ttl = 1h}, clock);
  cached.serverGroups();
  cached.invalidate();
  EXPECT_FALSE(cached.fresh());
  EXPECT_THAT(server.asked(), SizeIs(2));
  cached.serverGroups();
  EXPECT_THAT(server.asked(), SizeIs(4));
  clock.advance(59min);
  cached.serverGroups();
  EXPECT_THAT(server.asked(), SizeIs(4));
  clock.advance(1min);
  cached.serverGroups();
  EXPECT_THAT(server.asked(), SizeIs(6));
}

TEST(CachedDiscoveryTest, IsFreshForAWhile) {
  DiscoveryServer server;
  FakeClock clock;
  const CachedDiscoveryClient cached(DiscoveryClient(server.config()), {.freshFor = 10s}, clock);
  cached.serverGroups();
  EXPECT_TRUE(cached.fresh());
  clock.advance(10s);
  EXPECT_FALSE(cached.fresh());
}

TEST(CachedDiscoveryTest, OnlyErrorsThatMayPassCauseAnotherRequest) {
  DiscoveryServer server;
  server.fail("/apis/batch/v1", 503);
  server.fail("/apis/apps/v1", 403);
  const CachedDiscoveryClient cached{DiscoveryClient(server.config())};
  EXPECT_THAT(cached.serverGroups().groups, SizeIs(3));
  const std::size_t before = server.asked().size();
  EXPECT_THROW(cached.serverResourcesForGroupVersion({"batch", "v1"}), ApiError);
  EXPECT_EQ(server.asked().size(), before + 1);
  EXPECT_THAT(cached.serverGroupsAndResources().failed, SizeIs(2));
  EXPECT_EQ(server.asked().size(), before + 2);

  server.set("/apis/batch/v1", kBatchResources);
  server.set("/apis/apps/v1", kAppsResources);
  const ServerResources served = cached.serverGroupsAndResources();
  EXPECT_EQ(server.asked().size(), before + 3);
  EXPECT_THAT(served.failed, SizeIs(1));
  EXPECT_EQ(served.failed[0].version, (GroupVersion{"apps", "v1"}));
  EXPECT_EQ(served.resources[1].groupVersion, "batch/v1");  // in the order of the groups
  EXPECT_EQ(served.resources[2].groupVersion, "batch/v1beta1");
  try {
    cached.serverResourcesForGroupVersion({"apps", "v1"});
    FAIL();
  } catch (const ApiError& error) {
    EXPECT_TRUE(isForbidden(error));
  }
  EXPECT_THAT(cached.serverResourcesForGroupVersion({"batch", "v1"}).resources, SizeIs(1));
  EXPECT_EQ(server.asked().size(), before + 3);
}

TEST(CachedDiscoveryTest, StaleVersionsStayReported) {
  DiscoveryServer server(Style::V2);
  const CachedDiscoveryClient cached{DiscoveryClient(server.config())};
  EXPECT_THAT(cached.serverGroupsAndResources().failed, SizeIs(2));
  EXPECT_THAT(cached.serverGroupsAndResources().failed, SizeIs(2));
  EXPECT_THROW(cached.serverResourcesForGroupVersion({"batch", "v1beta1"}), StaleGroupVersionError);
  EXPECT_THAT(server.asked(), SizeIs(2));
}

TEST(CachedDiscoveryTest, AFailureOfTheWholeFetchIsNotCached) {
  DiscoveryServer server(Style::V2);
  server.fail("/apis", 403, 1);
  const CachedDiscoveryClient cached{DiscoveryClient(server.config())};
  EXPECT_THROW(cached.serverGroups(), ApiError);
  EXPECT_FALSE(cached.fresh());
  EXPECT_FALSE(cached.serverGroups().groups.empty());
}

TEST(CachedDiscoveryTest, ConcurrentQuestionsShareOneFetch) {
  constexpr int kThreads = 8;
  DiscoveryServer server;
  const CachedDiscoveryClient cached{DiscoveryClient(server.config())};
  std::latch start(kThreads);
  std::atomic<std::size_t> groups = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] {
        start.arrive_and_wait();
        groups += i % 2 == 0 ? cached.serverGroups().groups.size()
                             : cached.serverGroupsAndResources().groups.size();
      });
    }
  }
  EXPECT_EQ(groups, 3u * kThreads);
  EXPECT_THAT(server.asked(), SizeIs(kRequests));
}

TEST(CachedDiscoveryTest, MayBeInvalidatedWhileItIsUsed) {
  DiscoveryServer server;
  const CachedDiscoveryClient cached{DiscoveryClient(server.config())};
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 10; ++n) {
        EXPECT_THAT(cached.serverGroupsAndResources().resources, SizeIs(4));
        if (n % 4 == 3) cached.invalidate();
        cached.fresh();
      }
    });
  }
}

// ---- Files.

class DiscoveryFilesTest : public ::testing::Test {
 protected:
  DiscoveryFilesTest() {
    std::string name = (fs::temp_directory_path() / "kubexx-discovery-XXXXXX").string();
    folder = ::mkdtemp(name.data());
  }
  ~DiscoveryFilesTest() override {
    fs::permissions(folder, fs::perms::owner_all);
    fs::remove_all(folder);
  }

  /// Returns a client as another process would have it.
  CachedDiscoveryClient process(const DiscoveryServer& server, Clock::Duration ttl = 1h) {
    return CachedDiscoveryClient(DiscoveryClient(server.config()),
                                 {.folder = (folder / "cache").string(), .ttl = ttl}, clock);
  }
  fs::path file(const char* name) const { return folder / "cache" / name; }
  static unsigned mode(const fs::path& path) {
    struct stat found {};
    ::stat(path.c_str(), &found);
    return found.st_mode & 0777;
  }
  std::size_t files() const {
    std::size_t n = 0;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) n += entry.is_regular_file();
    return n;
  }
  /// Overwrites the file, with the current time as its age.
  void write(const char* name, std::string_view content) const {
    detail::replaceFile(file(name).string(), content, {.modified = clock.wallNow()});
  }

  fs::path folder;
  FakeClock clock;
};

TEST_F(DiscoveryFilesTest, AnotherProcessNeedNotAskTheServer) {
  DiscoveryServer server;
  ServerResources served;
  {
    const auto first = process(server);
    served = first.serverGroupsAndResources();
    EXPECT_TRUE(first.fresh());
  }
  EXPECT_THAT(server.asked(), SizeIs(kRequests));
  const auto second = process(server);
  const ServerResources again = second.serverGroupsAndResources();
  EXPECT_EQ(again.groups, served.groups);
  EXPECT_EQ(again.resources, served.resources);
  EXPECT_FALSE(second.fresh());
  EXPECT_THAT(server.asked(), SizeIs(kRequests));
}

TEST_F(DiscoveryFilesTest, HaveKubectlsNamesAndAreForTheirOwnerOnly) {
  DiscoveryServer server;
  process(server).serverGroups();
  EXPECT_EQ(files(), 5u);  // no scratch file is left
  for (const char* name : {"servergroups.json", "v1/serverresources.json",
                           "apps/v1/serverresources.json", "batch/v1beta1/serverresources.json"}) {
    EXPECT_EQ(mode(file(name)), 0600u) << name;
  }
  const unsigned umask = ::umask(0);
  ::umask(umask);
  EXPECT_EQ(mode(file("apps/v1")), 0750u & ~umask);
  EXPECT_EQ(mode(file("")), 0750u & ~umask);
  const Value groups = parseJson(detail::readFile(file("servergroups.json").string()));
  EXPECT_EQ(groups["kind"].asString(), "APIGroupList");
  EXPECT_EQ(groups["apiVersion"].asString(), "v1");
  const Value apps = parseJson(detail::readFile(file("apps/v1/serverresources.json").string()));
  EXPECT_EQ(apps["kind"].asString(), "APIResourceList");
  EXPECT_EQ(apps["resources"][0]["name"].asString(), "deployments");
}

TEST_F(DiscoveryFilesTest, AreUsedUntilTheyAreTooOld) {
  DiscoveryServer server;
  process(server).serverGroups();
  clock.advance(59min);
  const auto second = process(server);
  second.serverGroups();
  EXPECT_THAT(server.asked(), SizeIs(kRequests));
  clock.advance(1min);
  second.serverGroups();  // memory expires with the files
  EXPECT_THAT(server.asked(), SizeIs(2 * kRequests));
  process(server).serverGroups();
  EXPECT_THAT(server.asked(), SizeIs(2 * kRequests));
  clock.advance(1h);
  process(server).serverGroups();
  EXPECT_THAT(server.asked(), SizeIs(3 * kRequests));
}

TEST_F(DiscoveryFilesTest, FromTheFutureAreNotUsed) {
  DiscoveryServer server;
  clock.advance(2min);
  process(server).serverGroups();
  FakeClock earlier;
  CachedDiscoveryClient(DiscoveryClient(server.config()),
                        {.folder = (folder / "cache").string(), .ttl = 1h}, earlier)
      .serverGroups();
  EXPECT_THAT(server.asked(), SizeIs(2 * kRequests));
}

TEST_F(DiscoveryFilesTest, ThatAreBrokenAreReplaced) {
  DiscoveryServer server;
  const ServerResources served = process(server).serverGroupsAndResources();
  std::size_t asked = server.asked().size();
  for (const char* content :
       {"", "{", R"({"kind": "APIResourceList", "groupVersion": "apps/v1", "resour)", "\xFF", "{}",
        "[]", R"({"kind": "Status"})",
        R"({"groupVersion": "other/v1", "resources": [{"name": "deployments"}]})"}) {
    write("apps/v1/serverresources.json", content);
    EXPECT_EQ(process(server).serverGroupsAndResources().resources, served.resources) << content;
    EXPECT_EQ(server.asked().size(), ++asked) << content;  // only that file's resources
    EXPECT_EQ(server.asked().back(), "/apis/apps/v1");
    process(server).serverGroups();
    EXPECT_EQ(server.asked().size(), asked) << "it was not repaired";
  }
  write("servergroups.json", R"({"kind": "APIGroupList", "gr)");
  EXPECT_EQ(process(server).serverGroupsAndResources().groups, served.groups);
  EXPECT_EQ(server.asked().size(), asked + kRequests);
}

TEST_F(DiscoveryFilesTest, AFolderInPlaceOfAFileIsNoError) {
  DiscoveryServer server;
  fs::create_directories(file("servergroups.json"));
  EXPECT_THAT(process(server).serverGroups().groups, SizeIs(3));
}

TEST_F(DiscoveryFilesTest, WithoutFilesAnswersAreKeptInMemory) {
  DiscoveryServer server;
  std::ofstream(folder / "cache") << "a file where the folder should be";
  const auto cached = process(server);
  EXPECT_THAT(cached.serverGroups().groups, SizeIs(3));
  EXPECT_THAT(cached.serverGroups().groups, SizeIs(3));
  EXPECT_THAT(server.asked(), SizeIs(kRequests));
  EXPECT_TRUE(cached.fresh());
  EXPECT_THAT(process(server).serverGroups().groups, SizeIs(3));
  EXPECT_THAT(server.asked(), SizeIs(2 * kRequests));
}

TEST_F(DiscoveryFilesTest, AreNotReadAnyMoreOnceInvalidated) {
  DiscoveryServer server;
  process(server).serverGroups();
  server.set("/apis", kMoreGroups);
  server.set("/apis/new.io/v1", kMoreResources);
  const auto second = process(server);
  EXPECT_THAT(second.serverGroups().groups, SizeIs(3));
  second.invalidate();
  EXPECT_THAT(second.serverGroups().groups, SizeIs(2));
  EXPECT_TRUE(second.fresh());
  EXPECT_THAT(process(server).serverGroups().groups, SizeIs(2));  // the files were written
}

TEST_F(DiscoveryFilesTest, FailuresAreNotKept) {
  DiscoveryServer server;
  server.fail("/apis/batch/v1", 403);
  EXPECT_THAT(process(server).serverGroupsAndResources().failed, SizeIs(1));
  EXPECT_FALSE(fs::exists(file("batch/v1/serverresources.json")));
  server.set("/apis/batch/v1", kBatchResources);
  const std::size_t asked = server.asked().size();
  const ServerResources again = process(server).serverGroupsAndResources();
  EXPECT_THAT(again.failed, IsEmpty());
  EXPECT_EQ(again.resources[2].groupVersion, "batch/v1");
  EXPECT_EQ(server.asked().size(), asked + 1);
}

TEST_F(DiscoveryFilesTest, AnAnswerWithStalePartsIsNotKept) {
  DiscoveryServer server(Style::V2);
  EXPECT_THAT(process(server).serverGroupsAndResources().failed, SizeIs(2));
  EXPECT_FALSE(fs::exists(file("servergroups.json")));
  EXPECT_THAT(process(server).serverGroupsAndResources().failed, SizeIs(2));
}

TEST_F(DiscoveryFilesTest, NamesThatLeadOutOfTheFolderGetNoFiles) {
  DiscoveryServer server;
  server.set("/apis", R"({"kind": "APIGroupList", "groups": [
    {"name": "..", "versions": [{"groupVersion": "../escaped", "version": "escaped"}]},
    {"name": ".hidden", "versions": [{"groupVersion": ".hidden/v1", "version": "v1"}]}]})");
  server.set("/apis/.hidden/v1", R"({"resources": [{"name": "things", "kind": "Thing"}]})");
  EXPECT_THAT(process(server).serverGroupsAndResources().resources, SizeIs(2));
  EXPECT_EQ(files(), 2u);  // the groups, and v1
}

TEST_F(DiscoveryFilesTest, SeveralProcessesMayWriteAtOnce) {
  DiscoveryServer server;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 5; ++n) {
        const auto cached = process(server);
        EXPECT_THAT(cached.serverGroupsAndResources().resources, SizeIs(4));
        cached.invalidate();
        EXPECT_THAT(cached.serverGroupsAndResources().resources, SizeIs(4));
      }
    });
  }
  threads.clear();
  EXPECT_EQ(files(), 5u);
}

TEST(DiscoveryCacheFolderTest, IsWhereKubectlHasIt) {
  const auto of = [](const char* host) { return discoveryCacheFolder({.host = host}); };
  ::setenv("KUBECACHEDIR", "/tmp/cache", 1);
  EXPECT_EQ(of("https://10.0.0.1:6443"), "/tmp/cache/discovery/10.0.0.1_6443");
  EXPECT_EQ(of("https://[::1]:6443/clusters/a-b"), "/tmp/cache/discovery/___1__6443/clusters/a_b");
  EXPECT_EQ(of("https://h/../../x"), "/tmp/cache/discovery/h/__/__/x");
  ::unsetenv("KUBECACHEDIR");
  EXPECT_TRUE(of("h").ends_with("/.kube/cache/discovery/h"));
}

// ---- The mapper.

TEST(DiscoveryRestMapperTest, MapsKindsResourcesShortNamesAndCategories) {
  for (const Style style : {Style::Legacy, Style::V2}) {
    DiscoveryServer server(style);
    const auto mapper = discoveryRestMapper(DiscoveryClient(server.config()));
    EXPECT_THAT(server.asked(), IsEmpty());
    EXPECT_EQ(mapper->kindFor({.resource = "deploy"}),
              (GroupVersionKind{"apps", "v1", "Deployment"}));
    EXPECT_EQ(mapper->resourceFor({.resource = "cm"}),
              (GroupVersionResource{"", "v1", "configmaps"}));
    const RestMapping job = mapper->restMapping({"batch", "Job"});
    EXPECT_EQ(job.gvr, (GroupVersionResource{"batch", "v1", "jobs"}));
    EXPECT_EQ(job.scope, RestScope::Namespace);
    EXPECT_EQ(mappingFor(*mapper, "ns").scope, RestScope::Root);
    EXPECT_EQ(mapper->resourceSingularizer("pods"), "pod");
    EXPECT_THAT(mapper->kindsFor({.resource = "pods"}), SizeIs(1));
    EXPECT_THAT(mapper->resourcesFor({.resource = "jobs"}), SizeIs(style == Style::V2 ? 1 : 2));
    EXPECT_THAT(mapper->restMappings({"apps", "Deployment"}), SizeIs(1));
    EXPECT_EQ(mapper->expand("all")->front(), (GroupResource{"", "pods"}));
    EXPECT_EQ(mapper->expand("none"), std::nullopt);
    EXPECT_THAT(server.asked(), SizeIs(style == Style::V2 ? 2 : kRequests));
  }
}

TEST(DiscoveryRestMapperTest, AMissingNameIsRequestedAgainUnlessTheAnswerIsFresh) {
  DiscoveryServer server;
  FakeClock clock;
  const auto cached = std::make_shared<const CachedDiscoveryClient>(
      DiscoveryClient(server.config()), DiscoveryCacheOptions{.freshFor = 10s}, clock);
  const auto mapper = discoveryRestMapper(cached);
  EXPECT_EQ(mapper->findKind({.resource = "net"}), std::nullopt);
  EXPECT_EQ(mapper->findKind({.resource = "net"}), std::nullopt);
  EXPECT_EQ(server.askedFor("/apis"), 1u);

  server.set("/apis", kMoreGroups);
  server.set("/apis/new.io/v1", kMoreResources);
  EXPECT_EQ(mapper->findKind({.resource = "net"}), std::nullopt);  // still counts as fresh
  clock.advance(10s);
  EXPECT_EQ(mapper->kindFor({.resource = "net"}), (GroupVersionKind{"new.io", "v1", "Network"}));
  EXPECT_EQ(server.askedFor("/apis"), 2u);
  EXPECT_EQ(mapper->findKind({.resource = "deploy"}), std::nullopt);
  EXPECT_EQ(server.askedFor("/apis"), 2u);
}

TEST(DiscoveryRestMapperTest, AMissInAnOldFileAsksTheServer) {
  std::string name = (fs::temp_directory_path() / "kubexx-discovery-XXXXXX").string();
  const std::string folder = ::mkdtemp(name.data());
  DiscoveryServer server;
  const auto process = [&] {
    return std::make_shared<const CachedDiscoveryClient>(DiscoveryClient(server.config()),
                                                         DiscoveryCacheOptions{.folder = folder});
  };
  process()->serverGroups();
  server.set("/apis", kMoreGroups);
  server.set("/apis/new.io/v1", kMoreResources);
  const auto mapper = discoveryRestMapper(process());
  EXPECT_EQ(mapper->kindFor({.resource = "pods"}).kind, "Pod");
  EXPECT_EQ(server.askedFor("/apis"), 1u);
  EXPECT_EQ(mapper->restMapping({"new.io", "Network"}).gvr.resource, "networks");
  EXPECT_EQ(server.askedFor("/apis"), 2u);
  EXPECT_THROW(mapper->restMapping({"new.io", "None"}), NoKindMatchError);
  EXPECT_EQ(server.askedFor("/apis"), 2u);
  fs::remove_all(folder);
}

TEST(DiscoveryRestMapperTest, ResetAsksTheServer) {
  DiscoveryServer server;
  const auto mapper = discoveryRestMapper(DiscoveryClient(server.config()));
  EXPECT_EQ(mapper->findKind({.resource = "net"}), std::nullopt);
  server.set("/apis", kMoreGroups);
  server.set("/apis/new.io/v1", kMoreResources);
  mapper->reset();
  EXPECT_EQ(mapper->kindFor({.resource = "net"}).kind, "Network");
}

TEST(DiscoveryRestMapperTest, MapsReadableVersionsAndThrowsIfNoneIsReadable) {
  DiscoveryServer server;
  server.fail("/apis/batch/v1beta1", 503);
  server.fail("/apis", 500, 1);
  const auto mapper = discoveryRestMapper(DiscoveryClient(server.config()));
  EXPECT_THROW(mapper->kindFor({.resource = "deploy"}), ApiError);
  EXPECT_EQ(mapper->kindFor({.resource = "deploy"}).kind, "Deployment");
  EXPECT_THROW(mapper->kindFor({.resource = "cronjobs"}), NoResourceMatchError);
}

TEST(DiscoveryRestMapperTest, WarnsOfAmbiguousNames) {
  DiscoveryServer server;
  std::string beta = kBatchBetaResources;
  server.set("/apis/batch/v1beta1", beta.replace(beta.find("\"cj\""), 4, "\"deploy\""));
  std::vector<std::string> warnings;
  const auto mapper = discoveryRestMapper(
      DiscoveryClient(server.config()), [&](const std::string& text) { warnings.push_back(text); });
  EXPECT_EQ(mapper->kindFor({.resource = "deploy"}).kind, "Deployment");
  EXPECT_THAT(warnings, SizeIs(1));
}

}  // namespace
}  // namespace kube
