// Watches of the API server.
#include <algorithm>
#include <atomic>
#include <thread>

#include "kube/base/internal/sanitizer.h"
#include "kube/testing/api_server_testing.h"

namespace kube::apiserver {
namespace {

using namespace kube::testing;

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class ApiServerWatchTest : protected Clocked, public ApiServerTest {
 protected:
  ApiServerWatchTest() : ApiServerTest({.bookmarkPeriod = 10s, .clock = &clock}) {}

  using Stream = WatchStream<corev1::ConfigMap>;

  /// The next events, as "ADDED a v".
  static std::vector<std::string> next(Stream& stream, int count) {
    std::vector<std::string> result;
    for (int i = 0; i < count; ++i) {
      const auto event = stream.next();
      if (!event) {
        result.emplace_back("END");
        break;
      }
      std::string text(toString(event->type));
      if (event->type == EventType::Error) {
        text += " " + std::to_string(event->status.code);
      } else if (event->type != EventType::Bookmark) {
        text += " " + event->object.metadata.name.str() + " " + event->object.data.at("k").str();
      }
      result.push_back(text);
    }
    return result;
  }
  String now() const { return std::to_string(server.revision()); }
  corev1::ConfigMap labelled(std::string_view name, std::string_view color,
                             std::string_view value) const {
    corev1::ConfigMap result = map(name, value);
    result.metadata.labels["color"] = color;
    return result;
  }
};

TEST_F(ApiServerWatchTest, FromARevisionItShowsWhatCameAfter) {
  maps().create(map("before"));
  const String since = now();
  maps().create(map("a", "1"));
  maps().update(map("a", "2"));
  maps().remove("a");
  Stream watch = maps().watch({.resourceVersion = since});
  EXPECT_THAT(next(watch, 3), ElementsAre("ADDED a 1", "MODIFIED a 2", "DELETED a 2"));
  maps().create(map("b"));
  EXPECT_THAT(next(watch, 1), ElementsAre("ADDED b v"));
}

TEST_F(ApiServerWatchTest, EventsCarryTheRevisionOfTheirChange) {
  const String since = now();
  const corev1::ConfigMap made = maps().create(map("a"));
  maps().remove("a");
  Stream watch = maps().watch({.resourceVersion = since});
  EXPECT_EQ(watch.next()->object, made);
  const auto deleted = watch.next();
  EXPECT_EQ(deleted->object.metadata.resourceVersion, now());
  EXPECT_EQ(deleted->object.metadata.uid, made.metadata.uid);
}

TEST_F(ApiServerWatchTest, WithoutARevisionItBeginsWithWhatIsThere) {
  maps().create(map("b"));
  maps().create(map("a"));
  for (const char* version : {"", "0"}) {
    Stream watch = maps().watch({.resourceVersion = version});
    EXPECT_THAT(next(watch, 2), ElementsAre("ADDED a v", "ADDED b v"));
    maps().update(map("a", version));
    EXPECT_THAT(next(watch, 1), ElementsAre("MODIFIED a " + std::string(version)));
    maps().update(map("a"));
  }
}

TEST_F(ApiServerWatchTest, InitialEventsEndWithABookmarkThatSaysSo) {
  maps().create(map("a"));
  for (const String& version : {String(), String("0"), now()}) {
    Stream watch = maps().watch({.allowWatchBookmarks = true,
                                 .resourceVersion = version,
                                 .resourceVersionMatch = "NotOlderThan",
                                 .sendInitialEvents = true});
    EXPECT_THAT(next(watch, 1), ElementsAre("ADDED a v"));
    const auto mark = watch.next();
    EXPECT_EQ(mark->type, EventType::Bookmark);
    EXPECT_EQ(mark->object.metadata.annotations.at("k8s.io/initial-events-end"), "true");
    EXPECT_EQ(mark->object.metadata.resourceVersion, now());
  }
  Stream none = maps().watch({.resourceVersionMatch = "NotOlderThan", .sendInitialEvents = false});
  maps().create(map("b"));
  const std::vector<std::string> seen = next(none, 1);
  EXPECT_THAT(seen, ElementsAre("ADDED b v"));
}

TEST_F(ApiServerWatchTest, OptionsThatDoNotFitTogetherAreRefused) {
  const std::string path = std::string(kMaps) + "?watch=1&";
  EXPECT_EQ(call("GET", path + "sendInitialEvents=true").asStatus().message,
            "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: "
            "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
  EXPECT_EQ(call("GET", path + "resourceVersionMatch=Exact&resourceVersion=1").status, 422);
  EXPECT_EQ(call("GET", path + "resourceVersion=abc").status, 500);
  EXPECT_EQ(call("GET", path + "timeoutSeconds=abc").status, 400);
  const Answer yaml = call("GET", path, {}, {{"Accept", "application/yaml"}});
  EXPECT_EQ(yaml.status, 406);
  EXPECT_THAT(yaml.body, HasSubstr("application/json;stream=watch"));
}

TEST_F(ApiServerWatchTest, BookmarksComeFromTimeToTime) {
  Stream watch = maps().watch({.allowWatchBookmarks = true, .resourceVersion = now()});
  clock.waitForWaiters(2);  // its timeout and its bookmark
  makeNamespace("elsewhere");
  server.settle();
  clock.advance(10s);
  auto mark = watch.next();
  EXPECT_EQ(mark->type, EventType::Bookmark);
  EXPECT_EQ(mark->object.metadata.resourceVersion, now()) << "also past what it does not show";
  EXPECT_EQ(mark->object.metadata.name, "");
  clock.waitForWaiters(2);
  clock.advance(10s);
  EXPECT_EQ(watch.next()->type, EventType::Bookmark);
  Stream without = maps().watch({.resourceVersion = now()});
  clock.waitForWaiters(3);
  clock.advance(10s);
  maps().create(map("a"));
  EXPECT_THAT(next(without, 1), ElementsAre("ADDED a v"));
}

TEST_F(ApiServerWatchTest, ItEndsWhenItsTimeIsOver) {
  Stream watch = maps().watch({.resourceVersion = now(), .timeoutSeconds = 7});
  clock.waitForWaiters(1);
  clock.advance(6s);
  maps().create(map("a"));
  EXPECT_THAT(next(watch, 1), ElementsAre("ADDED a v"));
  clock.advance(1s);
  EXPECT_THAT(next(watch, 1), ElementsAre("END"));
}

TEST_F(ApiServerWatchTest, ObjectsEnterAndLeaveASelection) {
  const String since = now();
  Stream red = maps().watch({.labelSelector = "color=red", .resourceVersion = since});
  maps().create(labelled("a", "blue", "1"));
  maps().update(labelled("a", "red", "2"));
  maps().update(labelled("a", "red", "3"));
  maps().update(labelled("a", "blue", "4"));
  const String left = now();
  maps().update(labelled("a", "blue", "5"));
  maps().remove("a");
  maps().create(labelled("b", "red", "6"));
  EXPECT_THAT(next(red, 2), ElementsAre("ADDED a 2", "MODIFIED a 3"));
  const auto gone = red.next();
  EXPECT_EQ(gone->type, EventType::Deleted);
  EXPECT_EQ(gone->object.data.at("k"), "3") << "as it was when it was last seen";
  EXPECT_EQ(gone->object.metadata.resourceVersion, left);
  EXPECT_THAT(next(red, 1), ElementsAre("ADDED b 6"));
  Stream named = maps().watch({.fieldSelector = "metadata.name=b", .resourceVersion = since});
  EXPECT_THAT(next(named, 1), ElementsAre("ADDED b 6"));
}

TEST_F(ApiServerWatchTest, ARevisionThatIsGoneIsAnErrorEvent) {
  const String since = now();
  maps().create(map("a"));
  Stream before = maps().watch({.resourceVersion = since});
  EXPECT_THAT(next(before, 1), ElementsAre("ADDED a v"));
  makeNamespace("elsewhere");
  server.expireRevisions();
  Stream late = maps().watch({.resourceVersion = since});
  const auto error = late.next();
  EXPECT_EQ(error->type, EventType::Error);
  EXPECT_EQ(error->status.code, 410);
  EXPECT_EQ(error->status.reason, "Expired");
  EXPECT_THAT(error->status.message.str(), StartsWith("too old resource version: " + since.str()));
  EXPECT_EQ(late.next(), std::nullopt);
  maps().create(map("b"));
  EXPECT_THAT(next(before, 1), ElementsAre("ADDED b v")) << "who was in time goes on";
}

TEST_F(ApiServerWatchTest, ARevisionThatIsToComeIsWaitedFor) {
  const std::int64_t revision = server.revision();
  Stream watch = maps().watch({.resourceVersion = std::to_string(revision + 1)});
  maps().create(map("a"));
  maps().create(map("b"));
  EXPECT_THAT(next(watch, 1), ElementsAre("ADDED b v"));
}

TEST_F(ApiServerWatchTest, OneNamespaceOrAll) {
  makeNamespace("book");
  const String since = now();
  Stream one = maps("book").watch({.resourceVersion = since});
  Stream all = maps("").watch({.resourceVersion = since});
  maps("default").create(map("a"));
  maps("book").create(map("b"));
  EXPECT_THAT(next(one, 1), ElementsAre("ADDED b v"));
  EXPECT_THAT(next(all, 2), ElementsAre("ADDED a v", "ADDED b v"));
}

TEST_F(ApiServerWatchTest, InJsonAndAsTables) {
  const std::string since = now().str();
  const std::string path =
      std::string(kMaps) + "?watch=1&timeoutSeconds=5&resourceVersion=" + since;
  maps().create(map("a"));
  maps().create(map("b"));
  const auto lines = [&](std::string accept) {
    HttpStream stream = open(path, {{"Accept", std::move(accept)}});
    EXPECT_EQ(stream.headers().get("Content-Type"), "application/json");
    std::string text;
    while (std::count(text.begin(), text.end(), '\n') < 2) text += stream.read().value();
    const std::size_t end = text.find('\n');
    return std::pair{parseJson(text.substr(0, end)), parseJson(text.substr(end + 1))};
  };
  const auto [first, second] = lines("application/json");
  EXPECT_EQ(first["type"], Value("ADDED"));
  EXPECT_EQ(first["object"]["kind"], Value("ConfigMap"));
  EXPECT_EQ(second["object"]["metadata"]["name"], Value("b"));
  const auto [table, more] = lines("application/json;as=Table;v=v1;g=meta.k8s.io");
  EXPECT_EQ(table["object"]["kind"], Value("Table"));
  EXPECT_EQ(table["object"]["rows"].asArray()[0]["cells"].asArray()[0], Value("a"));
  EXPECT_FALSE(table["object"]["columnDefinitions"].asArray().empty());
  EXPECT_THAT(more["object"]["columnDefinitions"].asArray(), IsEmpty()) << "once is enough";
  const auto [meta, last] = lines("application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io");
  EXPECT_EQ(meta["object"]["kind"], Value("PartialObjectMetadata"));
  EXPECT_TRUE(meta["object"]["data"].isNull());
  EXPECT_EQ(last["object"]["metadata"]["name"], Value("b"));
}

TEST_F(ApiServerWatchTest, OfCustomObjectsUntilTheirDefinitionGoes) {
  define(kNetworks);
  const auto networks = DynamicClient(clients.rest())
                            .resource(GroupVersionResource{"sample.example.com", "v1", "networks"})
                            .inNamespace("default");
  auto watch = networks.watch({.resourceVersion = now()});
  networks.create(network("n"));
  EXPECT_EQ(watch.next()->object.name(), "n");
  ResourceClient<apiextensionsv1::CustomResourceDefinition>(clients.rest())
      .remove("networks.sample.example.com");
  EXPECT_EQ(watch.next()->type, EventType::Deleted);
  EXPECT_EQ(watch.next(), std::nullopt);
}

TEST_F(ApiServerWatchTest, TheOldPathsWatchToo) {
  maps().create(map("a"));
  maps().create(map("b"));
  HttpStream stream = open("/api/v1/watch/namespaces/default/configmaps/b?timeoutSeconds=5");
  EXPECT_THAT(std::string(stream.read().value()), HasSubstr("\"name\":\"b\""));
  EXPECT_EQ(call("GET", std::string(kMaps) + "/a?watch=1").json()["kind"], Value("ConfigMap"))
      << "one object is read, not watched";
}

// With real time, and many at once.
using ApiServerWatchersTest = ApiServerTest;

TEST_F(ApiServerWatchersTest, NoneLosesAnEventAndAllSeeThemInOrder) {
  constexpr int kWatchers = 10, kWriters = 4, kEach = kube::detail::testAmount(500);
  const String since = std::to_string(server.revision());
  // A watch that is never read must not delay the others.
  const HttpStream lazy =
      open("/api/v1/namespaces/default/configmaps?watch=1&resourceVersion=" + since.str());
  std::atomic<int> bad{0};
  std::vector<std::jthread> threads;
  for (int w = 0; w < kWatchers; ++w) {
    threads.emplace_back([&, w] {
      Config config = server.config();
      if (w % 2 == 0) config.contentType = config.acceptContentTypes = "application/json";
      const Clientset own(config);
      auto watch = own.coreV1().configMaps("default").watch({.resourceVersion = since});
      std::int64_t last = 0;
      std::map<std::string, int> counts;
      for (int i = 0; i < kWriters * kEach; ++i) {
        const auto event = watch.next();
        if (!event || event->type == EventType::Error) {
          ++bad;
          return;
        }
        const std::int64_t revision = std::stoll(event->object.metadata.resourceVersion.str());
        if (revision <= last) ++bad;
        last = revision;
        const std::string name = event->object.metadata.name.str();
        if (event->object.data.at("k") != std::to_string(counts[name]++)) ++bad;
      }
    });
  }
  {
    std::vector<std::jthread> writers;
    for (int t = 0; t < kWriters; ++t) {
      writers.emplace_back([&, t] {
        const std::string name = "m" + std::to_string(t);
        maps().create(map(name, "0"));
        for (int i = 1; i < kEach; ++i) maps().update(map(name, std::to_string(i)));
      });
    }
  }
  threads.clear();
  EXPECT_EQ(bad, 0);
}

TEST(ApiServerSlowWatchTest, IsToldThatItIsTooLateAndHoldsUpNobody) {
  const testing::ApiServer server({.historyWindow = 50});
  const Transport transport({.tls = {.caData = server.caPem()},
                             .proxy = "direct",
                             .disableCompression = true,
                             .streamBuffer = 64 << 10});
  HttpStream slow =
      transport.open({.url = server.url() + "/api/v1/configmaps?watch=1&resourceVersion=" +
                             std::to_string(server.revision()),
                      .headers = {{"Authorization", "Bearer " + server.adminToken()}}});
  const auto maps = Clientset(server.config()).coreV1().configMaps("default");
  corev1::ConfigMap one;
  one.metadata.name = "a";
  maps.create(one);
  for (int i = 0; i < 300; ++i) {
    one.data["k"] = std::string(50'000, static_cast<char>('a' + i % 26));
    maps.update(one);
  }
  std::vector<WatchEvent<corev1::ConfigMap>> events;
  WatchDecoder<corev1::ConfigMap> decoder(
      [&](WatchEvent<corev1::ConfigMap>&& event) { events.push_back(std::move(event)); });
  while (const auto chunk = slow.read()) decoder.feed(*chunk);
  decoder.finish();
  ASSERT_FALSE(events.empty());
  EXPECT_LT(events.size(), 300u);
  EXPECT_EQ(events.back().type, EventType::Error);
  EXPECT_EQ(events.back().status.code, 410);
}

}  // namespace
}  // namespace kube::apiserver
