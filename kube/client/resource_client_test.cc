#include "kube/client/resource_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/api/apps/v1.h"
#include "kube/api/core/v1.h"
#include "kube/base/internal/error_of_testing.h"
#include "kube/client/dynamic_client.h"
#include "kube/client/retry.h"
#include "kube/client/scale_client.h"
#include "kube/client/wait.h"
#include "kube/codec/json.h"
#include "kube/codec/protobuf.h"
#include "kube/meta/api_error.h"
#include "kube/testing/scripted_server.h"

namespace kube {
namespace {

using namespace std::chrono_literals;
using corev1::Pod;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

ServerResponse protobuf(std::string body, int status = 200) {
  return {.status = status,
          .headers = {{"Content-Type", "application/vnd.kubernetes.protobuf"}},
          .body = std::move(body)};
}
Pod pod(std::string_view name) {
  Pod result;
  result.metadata.name = name;
  return result;
}

// Answers every request with a pod, and remembers the request.
struct Pods {
  ScriptedServer server{[](const ServerRequest&) { return protobuf(toProtobuf(pod("web"))); }};
  ResourceClient<Pod> client{RestClient(server.config()), "book"};

  std::string last() const {
    const ServerRequest request = server.requests().back();
    return request.method + " " + request.target;
  }
};

TEST(ResourceClientTest, EveryVerbHasItsMethodAndPath) {
  Pods pods;
  const std::string base = "/api/v1/namespaces/book/pods";
  pods.client.get("web", {.resourceVersion = "5"});
  EXPECT_EQ(pods.last(), "GET " + base + "/web?resourceVersion=5");
  pods.client.create(pod("web"), {.fieldManager = "me"});
  EXPECT_EQ(pods.last(), "POST " + base + "?fieldManager=me");
  pods.client.update(pod("web"), {.dryRun = {"All"}});
  EXPECT_EQ(pods.last(), "PUT " + base + "/web?dryRun=All");
  pods.client.updateStatus(pod("web"));
  EXPECT_EQ(pods.last(), "PUT " + base + "/web/status");
  pods.client.remove("web");
  EXPECT_EQ(pods.last(), "DELETE " + base + "/web");
  pods.client.removeCollection({}, {.labelSelector = "a=b"});
  EXPECT_EQ(pods.last(), "DELETE " + base + "?labelSelector=a%3Db");
  pods.client.patch("web", PatchType::Merge, "{}", {}, {}, "status");
  EXPECT_EQ(pods.last(), "PATCH " + base + "/web/status");
  EXPECT_EQ(pods.server.requests().back().headers.get("Content-Type"),
            "application/merge-patch+json");
  pods.client.apply(pod("web"), {.force = true, .fieldManager = "me"});
  EXPECT_EQ(pods.last(), "PATCH " + base + "/web?force=true&fieldManager=me");
  EXPECT_EQ(pods.server.requests().back().headers.get("Content-Type"),
            "application/apply-patch+yaml");
  EXPECT_EQ(pods.server.requests().back().body,
            R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"web"}})");
}

TEST(ResourceClientTest, AStatusIsAppliedThroughItsSubresource) {
  Pods pods;
  Pod wanted = pod("web");
  wanted.status->message = "fine";
  pods.client.applyStatus(wanted, {.fieldManager = "me"});
  EXPECT_EQ(pods.last(), "PATCH /api/v1/namespaces/book/pods/web/status?fieldManager=me");
  EXPECT_EQ(pods.server.requests().back().headers.get("Content-Type"),
            "application/apply-patch+yaml");
  EXPECT_EQ(
      pods.server.requests().back().body,
      R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"web"},"status":{"message":"fine"}})");

  Apply<Pod> zeros(wanted);
  zeros.set(zeros->status->message, "");
  pods.client.applyStatus(zeros, {.fieldManager = "me"});
  EXPECT_EQ(pods.last(), "PATCH /api/v1/namespaces/book/pods/web/status?fieldManager=me");
  EXPECT_EQ(
      pods.server.requests().back().body,
      R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"web"},"status":{"message":""}})");
}

TEST(ResourceClientTest, DeleteOptionsAreTheBody) {
  Pods pods;
  pods.client.remove("web", {.gracePeriodSeconds = 0, .propagationPolicy = "Foreground"});
  const auto options = fromProtobuf<metav1::DeleteOptions>(pods.server.requests().back().body);
  EXPECT_EQ(options.gracePeriodSeconds, 0);
  EXPECT_EQ(options.propagationPolicy, "Foreground");
}

TEST(ResourceClientTest, TheNamespaceComesFromTheClientOrTheObject) {
  Pods pods;
  const ResourceClient<Pod> all = pods.client.inNamespace({});
  EXPECT_THAT(errorOf<Error>([&] { all.get("web"); }),
              StartsWith("pods \"web\": a namespace is required"));
  EXPECT_THAT(errorOf<Error>([&] { all.create(pod("web")); }),
              StartsWith("pods: a namespace is required"));
  EXPECT_EQ(errorOf<Error>([&] { pods.client.get(""); }), "pods: the name may not be empty");
  Pod placed = pod("web");
  placed.metadata.namespace_ = "shelf";
  all.create(placed);
  EXPECT_EQ(pods.last(), "POST /api/v1/namespaces/shelf/pods");
  all.update(placed);
  EXPECT_EQ(pods.last(), "PUT /api/v1/namespaces/shelf/pods/web");
  EXPECT_THROW(ResourceClient<corev1::Node>(pods.client.rest(), "book"), Error);
  EXPECT_THROW(ResourceClient<corev1::PodSpec>(pods.client.rest()), Error);
}

TEST(ResourceClientTest, FindReturnsNothingWhereGetThrowsNotFound) {
  ScriptedServer server([](const ServerRequest& request) -> ServerResponse {
    const bool missing = request.target.ends_with("missing");
    const metav1::Status status = missing ? status::notFound({"", "pods"}, "missing")
                                          : status::forbidden({"", "pods"}, "x", "no");
    return {.status = status.code, .body = toJson(status)};
  });
  const ResourceClient<Pod> client(RestClient(server.config()), "book");
  EXPECT_EQ(client.find("missing"), std::nullopt);
  EXPECT_THROW(client.get("missing"), ApiError);
  EXPECT_THROW(client.find("secret"), ApiError);
}

TEST(ResourceClientTest, PagesAreFetchedWhenTheyAreNeeded) {
  ScriptedServer server([](const ServerRequest& request) {
    corev1::PodList page;
    if (request.target.find("continue=second") != std::string::npos) {
      page.items = {pod("c")};
    } else {
      page.items = {pod("a"), pod("b")};
      page.metadata.continue_ = "second";
    }
    return protobuf(toProtobuf(page));
  });
  const ResourceClient<Pod> client(RestClient(server.config()), "book");
  std::vector<std::string> names;
  client.pages({.limit = 2}).forEach([&](const Pod& p) { names.push_back(p.metadata.name.str()); });
  EXPECT_THAT(names, ElementsAre("a", "b", "c"));
  EXPECT_THAT(server.requests()[1].target, HasSubstr("limit=2&continue=second"));
}

TEST(ResourceClientTest, AfterAnExpiredPageTheWholeListIsReadAgain) {
  ScriptedServer server([](const ServerRequest& request) {
    corev1::PodList page;
    if (request.target.find("continue=") != std::string::npos) {
      const metav1::Status expired = status::expired("too old");
      return ServerResponse{.status = 410, .body = toJson(expired)};
    }
    page.items = {pod("a"), pod("b")};
    if (request.target.find("limit=") != std::string::npos) page.metadata.continue_ = "second";
    return protobuf(toProtobuf(page));
  });
  const ResourceClient<Pod> client(RestClient(server.config()), "book");
  std::size_t items = 0;
  for (const auto& page : client.pages({.limit = 2})) items += page.items.size();
  EXPECT_EQ(items, 4u);
  EXPECT_THAT(server.requests().back().target, ::testing::Not(HasSubstr("limit")));
}

TEST(DynamicClientTest, AsksForAnyResource) {
  ScriptedServer server([](const ServerRequest&) -> ServerResponse {
    return {.body = R"({"apiVersion":"a/v1","kind":"B","metadata":{"name":"x"},"spec":{"n":7}})"};
  });
  const DynamicClient dynamic(server.config());
  const auto object = dynamic.resource({"a.io", "v1", "bs"}).inNamespace("book").get("x");
  EXPECT_EQ(object.nestedInt64("spec", "n"), 7);
  EXPECT_EQ(server.requests()[0].target, "/apis/a.io/v1/namespaces/book/bs/x");
  dynamic.resource(GroupVersionResource{"a.io", "v1", "bs"}).get("x");
  EXPECT_EQ(server.requests()[1].target, "/apis/a.io/v1/bs/x");
}

TEST(MetadataClientTest, AsksForMetadataOnly) {
  ScriptedServer server([](const ServerRequest&) {
    metav1::PartialObjectMetadata object;
    object.metadata.name = "web";
    return protobuf(toProtobuf(object));
  });
  const MetadataClient client(server.config());
  EXPECT_EQ(client.resource({"", "v1", "pods"}).inNamespace("book").get("web").metadata.name,
            "web");
  EXPECT_EQ(server.requests()[0].headers.get("Accept"),
            "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,"
            "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1");
}

TEST(ScaleClientTest, ReadsAndWritesTheScaleOfAnything) {
  ScriptedServer server([](const ServerRequest& request) {
    autoscalingv1::Scale scale;
    scale.metadata.name = "web";
    scale.spec->replicas = 2;
    return protobuf(request.body.empty() ? toProtobuf(scale) : request.body);
  });
  const ScaleClient scales(server.config());
  auto scale = scales.get({"apps", "v1", "deployments"}, "book", "web");
  scale.spec->replicas = 5;
  EXPECT_EQ(scales.update({"apps", "v1", "deployments"}, "book", scale).spec.read().replicas, 5);
  EXPECT_EQ(server.requests()[1].target, "/apis/apps/v1/namespaces/book/deployments/web/scale");
}

TEST(RetryTest, TriesAgainAfterConflictsOnly) {
  int calls = 0;
  const auto act = [&](int conflicts) {
    calls = 0;
    return retryOnConflict([&] {
      if (++calls <= conflicts) throw ApiError(status::conflict({"", "pods"}, "web", "changed"));
      return calls;
    });
  };
  EXPECT_EQ(act(0), 1);
  EXPECT_EQ(act(3), 4);
  EXPECT_THROW(act(100), ApiError);
  EXPECT_EQ(calls, 5);
  calls = 0;
  EXPECT_THROW(retryOnConflict([&] {
                 ++calls;
                 throw ApiError(status::notFound({"", "pods"}, "web"));
               }),
               ApiError);
  EXPECT_EQ(calls, 1);
}

TEST(WaitForTest, ListsThenWatchesUntilTheConditionHolds) {
  ScriptedServer server([](const ServerRequest& request) -> ServerResponse {
    if (request.target.find("watch=true") == std::string::npos) {
      corev1::PodList list;
      list.metadata.resourceVersion = "7";
      list.items = {pod("web")};
      return protobuf(toProtobuf(list));
    }
    Pod running = pod("web");
    running.status->phase = "Running";
    return {.headers = {{"Content-Type", "application/json"}},
            .body = R"({"type":"MODIFIED","object":)" + toJson(pod("web")) + "}\n" +
                    R"({"type":"MODIFIED","object":)" + toJson(running) + "}\n"};
  });
  const ResourceClient<Pod> client(RestClient(server.config()), "book");
  const auto found = waitFor<Pod>(
      client, "web", [](const Pod* p) { return p != nullptr && p->status->phase == "Running"; },
      1min);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->status->phase, "Running");
  EXPECT_THAT(server.requests()[1].target, HasSubstr("resourceVersion=7"));
  EXPECT_THAT(server.requests()[1].target, HasSubstr("fieldSelector=metadata.name%3Dweb"));
}

}  // namespace
}  // namespace kube
