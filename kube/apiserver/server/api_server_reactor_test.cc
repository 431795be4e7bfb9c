// Reactors, and the list of requests.
#include <atomic>
#include <thread>

#include "kube/testing/api_server_testing.h"

namespace kube::apiserver {
namespace {

using namespace kube::testing;

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ApiServerReactorTest : public ApiServerTest {
 protected:
  ApiServerReactorTest()
      : ApiServerTest({.access = {.tokens = {{"ann", {.name = "ann", .groups = {"dev"}}}},
                                  .allow = {{.users = {"ann"}, .verbs = {"list"}}}}}) {}
};

TEST_F(ApiServerReactorTest, ChangesTheBodyOfARequest) {
  const auto reactor =
      server.react({.verb = "create", .resource = "configmaps"}, {.before = [](ReactorCall& call) {
                     auto map = bodyOf<corev1::ConfigMap>(call.request);
                     map.data["by"] = call.user.name;
                     setBody(call.request, map);
                   }});
  maps().create(map("a"));
  EXPECT_EQ(maps().get("a").data["by"], "kubexx-admin");
  EXPECT_EQ(maps().get("a").data["k"], "v");
  EXPECT_EQ(reactor.calls(), 1u);
  EXPECT_THAT(reactor.errors(), IsEmpty());
}

TEST_F(ApiServerReactorTest, LeadsARequestElsewhere) {
  maps().create(map("a"));
  const auto reactor = server.react({.verb = "get", .name = "b"}, {.before = [](ReactorCall& call) {
                                      call.request.http.target = std::string(kMaps) + "/a";
                                    }});
  EXPECT_EQ(maps().get("b").metadata.name, "a");
  const auto lost =
      server.react({.verb = "get", .name = "a"},
                   {.before = [](ReactorCall& call) { call.request.http.target = "/api/%zz"; }});
  EXPECT_EQ(refusalOf([&] { maps().get("a"); }).code, 400);
}

TEST_F(ApiServerReactorTest, AnswersInsteadOfTheServer) {
  const auto reactor = server.react({.verb = "get", .resource = "configmaps", .name = "a"},
                                    {.times = 1, .before = [](ReactorCall& call) {
                                       call.answer = answerWith(map("a", "made up"));
                                     }});
  EXPECT_EQ(maps().get("a").data["k"], "made up");
  EXPECT_FALSE(maps().find("a")) << "once";
}

TEST_F(ApiServerReactorTest, RefusesWithTheStatusOfAnError) {
  const auto reactor = server.react(
      {.verb = "update"}, {.before = [](ReactorCall& call) {
        throw ApiError(status::conflict({"", "configmaps"}, call.request.name, "not now"));
      }});
  maps().create(map("a"));
  const metav1::Status refusal = refusalOf([&] { maps().update(map("a")); });
  EXPECT_TRUE(isConflict(ApiError(refusal)));
  EXPECT_THAT(refusal.message.str(), HasSubstr("not now"));
  EXPECT_THAT(reactor.errors(), IsEmpty()) << "it was meant";
}

TEST_F(ApiServerReactorTest, ReportsWhatAFunctionThrows) {
  const auto before =
      server.react({.verb = "create"},
                   {.times = 1, .before = [](ReactorCall&) { throw std::runtime_error("oh no"); }});
  const metav1::Status refusal = refusalOf([&] { maps().create(map("a")); });
  EXPECT_EQ(refusal.code, 500);
  EXPECT_THAT(refusal.message.str(), HasSubstr("oh no"));
  EXPECT_THAT(before.errors(), ElementsAre("oh no"));
  const auto after = server.react({.verb = "create"}, {.after = [](ReactorCall&) { throw 7; }});
  EXPECT_EQ(refusalOf([&] { maps().create(map("a")); }).code, 500);
  EXPECT_TRUE(maps().find("a")) << "the server did it";
  EXPECT_THAT(after.errors(), SizeIs(1));
}

TEST_F(ApiServerReactorTest, ChangesTheAnswer) {
  maps().create(map("a"));
  const auto reactor = server.react({.verb = "get"}, {.after = [](ReactorCall& call) {
                                      if (call.answer->status != 200) return;
                                      auto map = bodyOf<corev1::ConfigMap>(*call.answer);
                                      map.data["k"] = "seen";
                                      setBody(*call.answer, map);
                                      call.answer->headers.set("Audit-Id", "7");
                                    }});
  EXPECT_EQ(maps().get("a").data["k"], "seen");
  const Answer raw = call("GET", std::string(kMaps) + "/a");
  EXPECT_EQ(raw.headers.get("Audit-Id"), "7");
  EXPECT_FALSE(maps().find("b"));
  EXPECT_EQ(reactor.calls(), 3u);
}

TEST_F(ApiServerReactorTest, SeesAllOfALongListAndRefusals) {
  for (int i = 0; i < 300; ++i) {
    maps().create(map("m" + std::to_string(i), std::string(2000, 'x')));
  }
  std::size_t items = 0;
  int denied = 0;
  const auto reactor = server.react({}, {.after = [&](ReactorCall& call) {
                                      if (call.answer->status == 403) ++denied;
                                      if (call.request.verb != "list") return;
                                      items =
                                          bodyOf<corev1::ConfigMapList>(*call.answer).items.size();
                                    }});
  EXPECT_THAT(maps().list().items, SizeIs(300));
  EXPECT_EQ(items, 300u);
  EXPECT_EQ(call("GET", kMaps, {}, {{"Accept-Encoding", "gzip"}}).headers.get("Content-Encoding"),
            "");
  EXPECT_EQ(call("GET", std::string(kMaps) + "/a", {}, {{"Authorization", "Bearer ann"}}).status,
            403);
  EXPECT_EQ(denied, 1);
}

TEST_F(ApiServerReactorTest, SeesTheHeadOfAWatch) {
  const auto reactor = server.react({.verb = "watch"}, {.after = [](ReactorCall& call) {
                                      call.answer->headers.set("Audit-Id", "9");
                                      EXPECT_EQ(call.answer->body, "");
                                    }});
  const String since = std::to_string(server.revision());
  maps().create(map("a"));
  auto watch = maps().watch({.resourceVersion = since});
  EXPECT_EQ(watch.next()->object.metadata.name, "a") << "the past";
  maps().create(map("b"));
  EXPECT_EQ(watch.next()->object.metadata.name, "b") << "the present";
  EXPECT_EQ(reactor.calls(), 1u);
}

TEST_F(ApiServerReactorTest, RunInTheirOrder) {
  std::string order;
  const auto note = [&](char name) {
    return Reactor{.before = [&order, name](ReactorCall&) { order += name; },
                   .after = [&order, name](ReactorCall&) { order += name; }};
  };
  const auto a = server.react({.verb = "list"}, note('a'));
  auto b = server.react({.verb = "list"}, note('b'));
  maps().list();
  EXPECT_EQ(order, "abba");
  b.remove();
  maps().list();
  EXPECT_EQ(order, "abbaaa");
}

TEST_F(ApiServerReactorTest, EndWithTheirHandles) {
  ReactorHandle handle;
  handle = server.react({.verb = "list"}, {.before = [&](ReactorCall& call) {
                          call.answer = ServerResponse{.status = 503};
                          handle.remove();  // by itself
                        }});
  EXPECT_EQ(call("GET", kMaps).status, 503);
  EXPECT_EQ(call("GET", kMaps).status, 200);
  EXPECT_EQ(handle.calls(), 1u);
}

TEST_F(ApiServerReactorTest, TwoFunctionsMayRemoveTheirReactorAtATime) {
  std::atomic<int> inside = 0;
  ReactorHandle handle;
  handle = server.react({.verb = "list"}, {.before = [&](ReactorCall& call) {
                          call.answer = ServerResponse{.status = 503};
                          ++inside;
                          while (inside < 2) std::this_thread::yield();
                          handle.remove();
                        }});
  std::jthread other([&] { call("GET", kMaps); });
  Transport second({.tls = {.caData = server.caPem()}, .proxy = "direct"});
  second.send(request("GET", kMaps, {}, {}));  // on a connection, and thus a thread, of its own
  other.join();
  EXPECT_EQ(inside, 2);
}

TEST_F(ApiServerReactorTest, RemovalWaitsForFunctionsThatRun) {
  std::atomic<bool> entered = false, leave = false, ended = false;
  auto handle = server.react({.verb = "list"}, {.before = [&](ReactorCall&) {
                               entered = true;
                               while (!leave) std::this_thread::yield();
                               ended = true;
                             }});
  std::jthread lister([&] { maps().list(); });
  while (!entered) std::this_thread::yield();
  std::jthread releaser([&] { leave = true; });
  handle.remove();
  EXPECT_TRUE(ended);
}

TEST_F(ApiServerReactorTest, RequestsAreListed) {
  maps().create(map("a"), {.fieldManager = "tester"});
  maps().get("a");
  maps().find("b");
  call("GET", kMaps, {}, {{"Authorization", "Bearer ann"}});
  call("GET", kMaps, {}, {{"Authorization", "Bearer nobody"}});
  clients.coreV1().nodes().list();

  const auto all = server.requests();
  ASSERT_THAT(all, SizeIs(6));
  EXPECT_EQ(all[0].verb, "create");
  EXPECT_EQ(all[0].param("fieldManager"), "tester");
  EXPECT_THAT(all[0].http.body, HasSubstr("a"));
  EXPECT_EQ(all[0].user.name, "kubexx-admin");
  EXPECT_EQ(all[3].user.name, "ann");
  EXPECT_EQ(all[4].user.name, "");
  EXPECT_THAT(server.requests({.verb = "get", .resource = "configmaps"}), SizeIs(2));
  EXPECT_THAT(server.requests({.name = "b"}), SizeIs(1));
  EXPECT_THAT(server.requests({.namespace_ = "default"}), SizeIs(5));
  server.forgetRequests();
  EXPECT_THAT(server.requests(), IsEmpty());
}

TEST_F(ApiServerReactorTest, AFilterMayNameASubresource) {
  clients.coreV1().pods("default").create(pod("a"));
  const corev1::Pod created = clients.coreV1().pods("default").get("a");
  clients.coreV1().pods("default").updateStatus(created);
  EXPECT_THAT(server.requests({.resource = "pods"}), SizeIs(3));
  EXPECT_THAT(server.requests({.resource = "pods/status"}), SizeIs(1));
  EXPECT_THAT(server.requests({.resource = "pods/scale"}), IsEmpty());
}

class ShortLogTest : public ApiServerTest {
 protected:
  ShortLogTest() : ApiServerTest({.keptRequests = 2}) {}
};

TEST_F(ShortLogTest, OldRequestsAreForgotten) {
  for (const char* name : {"a", "b", "c"}) maps().find(name);
  const auto kept = server.requests();
  ASSERT_THAT(kept, SizeIs(2));
  EXPECT_EQ(kept[0].name, "b");
}

}  // namespace
}  // namespace kube::apiserver
