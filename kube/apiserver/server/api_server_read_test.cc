// Reading through the API server: lists, their pages and revisions, and the forms of objects.
#include "kube/client/autoscaling/v1.h"
#include "kube/client/autoscaling/v2.h"
#include "kube/client/events/v1.h"
#include "kube/testing/api_server_testing.h"

namespace kube::apiserver {
namespace {

using namespace kube::testing;

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

template <class List>
std::vector<std::string> names(const List& list) {
  std::vector<std::string> result;
  for (const auto& item : list.items) result.push_back(item.metadata.name.str());
  return result;
}

class ApiServerReadTest : public ApiServerTest {
 protected:
  void make(std::initializer_list<const char*> all) const {
    for (const char* name : all) maps().create(map(name));
  }
  Answer get(std::string_view query, std::string accept = "application/json") const {
    return call("GET", std::string(kMaps) + std::string(query), {}, {{"Accept", accept}});
  }
};

TEST_F(ApiServerReadTest, ListsAreSortedAndKnowTheirRevision) {
  make({"b", "a", "c"});
  const auto list = maps().list();
  EXPECT_THAT(names(list), ElementsAre("a", "b", "c"));
  EXPECT_EQ(list.metadata.resourceVersion, std::to_string(server.revision()));
  EXPECT_EQ(get("").json()["kind"], Value("ConfigMapList"));
  EXPECT_EQ(maps().get("a"), list.items[0]);
}

TEST_F(ApiServerReadTest, AnEmptyListHasItems) {
  EXPECT_THAT(get("").body, HasSubstr("\"items\":[]"));
}

TEST_F(ApiServerReadTest, AllNamespacesOrOne) {
  makeNamespace("book");
  makeNamespace("books");
  make({"a"});
  maps("book").create(map("b"));
  maps("books").create(map("c"));
  EXPECT_THAT(names(maps("").list()), ElementsAre("b", "c", "a"));
  EXPECT_THAT(names(maps("book").list()), ElementsAre("b"));
  EXPECT_THAT(names(maps("missing").list()), IsEmpty());
}

TEST_F(ApiServerReadTest, SelectorsChoose) {
  for (const char* name : {"a", "b", "c"}) {
    corev1::ConfigMap one = map(name);
    one.metadata.labels["app"] = name;
    if (one.metadata.name == "c") one.metadata.labels["tier"] = "back";
    maps().create(one);
  }
  EXPECT_THAT(names(maps().list({.labelSelector = "app=a"})), ElementsAre("a"));
  EXPECT_THAT(names(maps().list({.labelSelector = "app in (a,b)"})), ElementsAre("a", "b"));
  EXPECT_THAT(names(maps().list({.labelSelector = "!tier"})), ElementsAre("a", "b"));
  EXPECT_THAT(names(maps().list({.labelSelector = "app!=a,tier"})), ElementsAre("c"));
  EXPECT_THAT(names(maps().list({.fieldSelector = "metadata.name=b"})), ElementsAre("b"));
  EXPECT_THAT(names(maps().list({.labelSelector = "app=a", .fieldSelector = "metadata.name!=a"})),
              IsEmpty());
  EXPECT_THAT(names(maps("").list({.fieldSelector = "metadata.namespace=default"})), SizeIs(3));
  corev1::Pod scheduled = pod("scheduled");
  scheduled.spec->nodeName = "node-1";
  const auto pods = clients.coreV1().pods("default");
  pods.create(scheduled);
  pods.create(pod("pending"));
  EXPECT_THAT(names(pods.list({.fieldSelector = "spec.nodeName=node-1"})),
              ElementsAre("scheduled"));
  EXPECT_THAT(names(pods.list({.fieldSelector = "status.phase=Pending"})), SizeIs(2));
}

TEST_F(ApiServerReadTest, CustomObjectsAreSelectedByTheFieldsTheirDefinitionNames) {
  define(kNetworks);
  Unstructured red = network("red");
  red.setNestedField("red", "spec", "color");
  call("POST", kNetworksPath, toJson(red));
  call("POST", kNetworksPath, toJson(network("none")));
  const std::string path(kNetworksPath);
  const Value chosen = call("GET", path + "?fieldSelector=spec.color%3Dred").json();
  ASSERT_THAT(chosen["items"].asArray(), SizeIs(1));
  EXPECT_EQ(chosen["items"].asArray()[0]["kind"], Value("Network"));
  const Answer unknown = call("GET", path + "?fieldSelector=spec.cidr%3Dx");
  EXPECT_EQ(unknown.status, 400);
  EXPECT_THAT(unknown.asStatus().message.str(), HasSubstr("field label not supported: spec.cidr"));
}

TEST_F(ApiServerReadTest, PagesAreOfOneRevision) {
  make({"a", "b", "c", "d", "e"});
  const auto first = maps().list({.limit = 2});
  EXPECT_THAT(names(first), ElementsAre("a", "b"));
  EXPECT_EQ(first.metadata.remainingItemCount, 3);
  make({"bb", "f"});
  maps().remove("d");
  const auto second = maps().list({.limit = 2, .continue_ = first.metadata.continue_});
  EXPECT_THAT(names(second), ElementsAre("c", "d"));
  EXPECT_EQ(second.metadata.resourceVersion, first.metadata.resourceVersion);
  EXPECT_EQ(second.metadata.remainingItemCount, 1);
  const auto third = maps().list({.limit = 2, .continue_ = second.metadata.continue_});
  EXPECT_THAT(names(third), ElementsAre("e"));
  EXPECT_EQ(third.metadata.continue_, "");
  EXPECT_EQ(third.metadata.remainingItemCount, std::nullopt);
}

TEST_F(ApiServerReadTest, WhatRemainsIsNotKnownUnderASelector) {
  for (const char* name : {"a", "b", "c"}) {
    corev1::ConfigMap one = map(name);
    one.metadata.labels["x"] = "y";
    maps().create(one);
  }
  const auto page = maps().list({.labelSelector = "x=y", .limit = 1});
  EXPECT_NE(page.metadata.continue_, "");
  EXPECT_EQ(page.metadata.remainingItemCount, std::nullopt);
  std::vector<std::string> all;
  for (const auto& one : maps().pages({.labelSelector = "x=y", .limit = 1})) {
    for (const std::string& name : names(one)) all.push_back(name);
  }
  EXPECT_THAT(all, ElementsAre("a", "b", "c"));
}

TEST_F(ApiServerReadTest, ListsAtARevision) {
  make({"a"});
  const String then = maps().list().metadata.resourceVersion;
  make({"b"});
  EXPECT_THAT(names(maps().list({.resourceVersion = then, .resourceVersionMatch = "Exact"})),
              ElementsAre("a"));
  EXPECT_THAT(names(maps().list({.resourceVersion = then, .resourceVersionMatch = "NotOlderThan"})),
              ElementsAre("a", "b"));
  EXPECT_THAT(names(maps().list({.resourceVersion = then})), ElementsAre("a", "b"));
  EXPECT_THAT(names(maps().list({.resourceVersion = then, .limit = 10})), ElementsAre("a"))
      << "a page at a revision is of that revision";
  EXPECT_THAT(names(maps().list({.resourceVersion = "0", .limit = 1})), ElementsAre("a", "b"))
      << "0 takes what there is, all of it";
}

TEST_F(ApiServerReadTest, ARevisionThatIsGoneIs410) {
  make({"a", "b", "c"});
  const auto first = maps().list({.limit = 1});
  const String then = first.metadata.resourceVersion;
  make({"d"});
  server.expireRevisions();
  const metav1::Status exact =
      refusalOf([&] { maps().list({.resourceVersion = then, .resourceVersionMatch = "Exact"}); });
  EXPECT_EQ(exact.code, 410);
  EXPECT_EQ(exact.reason, "Expired");
  const metav1::Status paged =
      refusalOf([&] { maps().list({.limit = 1, .continue_ = first.metadata.continue_}); });
  EXPECT_EQ(paged.code, 410);
  EXPECT_EQ(paged.reason, "Expired");
  ASSERT_NE(paged.metadata.continue_, "");
  EXPECT_THAT(names(maps().list({.continue_ = paged.metadata.continue_})),
              ElementsAre("b", "c", "d"))
      << "the rest, as it is now";
}

TEST_F(ApiServerReadTest, ARevisionThatIsToComeIs504) {
  const Answer refused = get("?resourceVersion=999999");
  EXPECT_EQ(refused.status, 504);
  const metav1::Status status = refused.asStatus();
  EXPECT_EQ(status.reason, "Timeout");
  EXPECT_THAT(status.message.str(),
              StartsWith("Timeout: Too large resource version: 999999, current: "));
  ASSERT_THAT(status.details->causes, SizeIs(1));
  EXPECT_EQ(status.details->causes[0].reason, "ResourceVersionTooLarge");
  EXPECT_EQ(status.details->retryAfterSeconds, 1);
  EXPECT_EQ(refused.headers.get("Retry-After"), "1");
  make({"a"});
  EXPECT_EQ(get("/a?resourceVersion=999999").status, 504);
}

TEST_F(ApiServerReadTest, ListsAndObjectsAsTables) {
  make({"a", "b"});
  const std::string accept =
      "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;"
      "g=meta.k8s.io,application/json";
  const Value list = get("", accept).json();
  EXPECT_EQ(list["kind"], Value("Table"));
  EXPECT_EQ(list["apiVersion"], Value("meta.k8s.io/v1"));
  EXPECT_EQ(list["columnDefinitions"].asArray()[0]["name"], Value("Name"));
  ASSERT_THAT(list["rows"].asArray(), SizeIs(2));
  EXPECT_EQ(list["rows"].asArray()[0]["cells"].asArray()[0], Value("a"));
  EXPECT_EQ(list["rows"].asArray()[0]["object"]["kind"], Value("PartialObjectMetadata"));
  EXPECT_EQ(list["metadata"]["resourceVersion"], Value(std::to_string(server.revision())));
  const Value one = get("/b", accept).json();
  EXPECT_EQ(one["rows"].asArray()[0]["cells"].asArray()[0], Value("b"));
  EXPECT_EQ(get("?includeObject=Object", accept).json()["rows"].asArray()[0]["object"]["kind"],
            Value("ConfigMap"));
  const Answer bad = get("?includeObject=Some", accept);
  EXPECT_EQ(bad.status, 400);
  EXPECT_THAT(bad.asStatus().message.str(), HasSubstr("includeObject: Invalid value: \"Some\""));
  EXPECT_EQ(get("?limit=1", accept).json()["metadata"]["remainingItemCount"], Value(1));
}

TEST_F(ApiServerReadTest, MetadataAlone) {
  make({"a", "b"});
  const Value list =
      get("", "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io").json();
  EXPECT_EQ(list["kind"], Value("PartialObjectMetadataList"));
  EXPECT_EQ(list["apiVersion"], Value("meta.k8s.io/v1"));
  ASSERT_THAT(list["items"].asArray(), SizeIs(2));
  EXPECT_EQ(list["items"].asArray()[0]["metadata"]["name"], Value("a"));
  EXPECT_EQ(list["items"].asArray()[0]["kind"], Value("PartialObjectMetadata"));
  EXPECT_TRUE(list["items"].asArray()[0]["data"].isNull());
  EXPECT_EQ(get("", "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io").status, 406)
      << "a list is no object";
  // The client for metadata uses protobuf.
  const auto metadata =
      MetadataClient(clients.rest()).resource({"", "v1", "configmaps"}).inNamespace("default");
  EXPECT_EQ(metadata.get("a").metadata, maps().get("a").metadata);
  EXPECT_THAT(names(metadata.list()), ElementsAre("a", "b"));
  metadata.remove("a");
  EXPECT_THAT(names(maps().list()), ElementsAre("b"));
}

TEST_F(ApiServerReadTest, ProtobufWhereThereIsSuchAForm) {
  make({"a"});
  const std::string accept = std::string(kProtobufType) + ",application/json";
  const Answer binary = get("/a", accept);
  EXPECT_EQ(binary.headers.get("Content-Type"), kProtobufType);
  EXPECT_EQ(fromProtobuf<corev1::ConfigMap>(binary.body), maps().get("a"));
  EXPECT_EQ(fromProtobuf<metav1::Status>(get("/none", accept).body).reason, "NotFound");
  define(kNetworks);
  const Answer custom = call("GET", kNetworksPath, {}, {{"Accept", accept}});
  EXPECT_EQ(custom.headers.get("Content-Type"), "application/json");
  EXPECT_EQ(call("GET", kNetworksPath, {}, {{"Accept", std::string(kProtobufType)}}).status, 406);
}

TEST_F(ApiServerReadTest, LargeAnswersAreCompressedForThoseWhoTakeIt) {
  for (int i = 0; i < 3; ++i) {
    maps().create(map("m" + std::to_string(i), std::string(100'000, 'x')));
  }
  const auto size = [&](bool compressed) {
    const Transport plain(
        {.tls = {.caData = server.caPem()}, .proxy = "direct", .disableCompression = !compressed});
    const std::uint64_t before = plain.stats().bytesReceived;
    const HttpResponse answer = plain.send(request("GET", kMaps, {}, {}));
    EXPECT_GT(answer.body.size(), 300'000u);
    return plain.stats().bytesReceived - before;
  };
  EXPECT_LT(size(true), 30'000u);
  EXPECT_GT(size(false), 300'000u);
}

TEST_F(ApiServerReadTest, AnObjectHasEveryVersionOfItsGroup) {
  autoscalingv2::HorizontalPodAutoscaler wanted;
  wanted.metadata.name = "web";
  wanted.spec->scaleTargetRef->kind = "Deployment";
  wanted.spec->scaleTargetRef->name = "web";
  wanted.spec->maxReplicas = 3;
  autoscalingv2::MetricSpec metric{.type = "Resource"};
  metric.resource->name = "cpu";
  metric.resource->target->type = "Utilization";
  metric.resource->target->averageUtilization = 70;
  wanted.spec->metrics.push_back(metric);
  const auto made = clients.autoscalingV2().horizontalPodAutoscalers("default").create(wanted);
  auto old = clients.autoscalingV1().horizontalPodAutoscalers("default").get("web");
  EXPECT_EQ(old.metadata.uid, made.metadata.uid);
  EXPECT_EQ(old.spec->targetCPUUtilizationPercentage, 70);
  old.spec->targetCPUUtilizationPercentage = 50;
  clients.autoscalingV1().horizontalPodAutoscalers("default").update(old);
  const auto again = clients.autoscalingV2().horizontalPodAutoscalers("default").get("web");
  ASSERT_THAT(again.spec->metrics, SizeIs(1));
  EXPECT_EQ(again.spec->metrics[0].resource->target->averageUtilization, 50);
  EXPECT_THAT(clients.autoscalingV1().horizontalPodAutoscalers("default").list().items, SizeIs(1));
}

TEST_F(ApiServerReadTest, AnEventIsOneObjectInBothItsGroups) {
  corev1::Event wanted;
  wanted.metadata.name = "web.1";
  wanted.involvedObject->kind = "Pod";
  wanted.involvedObject->name = "web";
  wanted.involvedObject->namespace_ = "default";
  wanted.reason = "Started";
  wanted.message = "it runs";
  wanted.type = "Normal";
  const corev1::Event made = clients.coreV1().events("default").create(wanted);
  const auto other = clients.eventsV1().events("default").get("web.1");
  EXPECT_EQ(other.metadata.uid, made.metadata.uid);
  EXPECT_EQ(other.note, "it runs");
  EXPECT_EQ(other.regarding->name, "web");
  EXPECT_THAT(
      names(clients.eventsV1().events("default").list({.fieldSelector = "regarding.name=web"})),
      ElementsAre("web.1"));
  EXPECT_THAT(
      names(clients.coreV1().events("default").list({.fieldSelector = "involvedObject.name=web"})),
      ElementsAre("web.1"));
  auto core = clients.coreV1().events("default").watch({.resourceVersion = "0"});
  auto events = clients.eventsV1().events("default").watch({.resourceVersion = "0"});
  EXPECT_EQ(core.next()->object.message, "it runs");
  EXPECT_EQ(events.next()->object.note, "it runs");
  corev1::Event changed = made;
  changed.message = "it still runs";
  clients.coreV1().events("default").update(changed);
  EXPECT_EQ(core.next()->object.message, "it still runs");
  EXPECT_EQ(events.next()->object.note, "it still runs");
  clients.eventsV1().events("default").remove("web.1");
  EXPECT_EQ(clients.coreV1().events("default").find("web.1"), std::nullopt);
}

// A list that is larger than the piece a server holds in memory.
TEST_F(ApiServerReadTest, LargeListsComeWholeInEveryFormat) {
  const std::string filler(20'000, 'x');
  for (int i = 0; i < 30; ++i) maps().create(map("m" + std::to_string(i), filler));
  const auto all = maps().list();
  ASSERT_EQ(all.items.size(), 30u);
  EXPECT_EQ(all.items[29].data["k"], filler);
  for (const bool compressed : {false, true}) {
    const Transport other({.tls = {.caData = server.caPem()},
                           .proxy = "direct",
                           .disableHttp2 = compressed,
                           .disableCompression = !compressed});
    for (const std::string_view format : {std::string_view("application/json"), kProtobufType}) {
      const Answer answer{other.send(request("GET", kMaps, {}, {{"Accept", std::string(format)}}))};
      EXPECT_EQ(answer.status, 200);
      EXPECT_EQ(answer.headers.get("Content-Type"), format);
      const auto list = format == kProtobufType ? fromProtobuf<corev1::ConfigMapList>(answer.body)
                                                : fromJson<corev1::ConfigMapList>(answer.body);
      EXPECT_EQ(list.items, all.items) << compressed << " " << format;
    }
  }
  const Answer partial =
      call("GET", kMaps, {},
           {{"Accept", "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"}});
  EXPECT_EQ(partial.json()["items"].asArray().size(), 30u);
}

}  // namespace
}  // namespace kube::apiserver
