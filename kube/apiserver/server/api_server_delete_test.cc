// Deleting: preconditions, finalizers, grace, owners, namespaces.
#include "kube/client/apiextensions/v1.h"
#include "kube/testing/api_server_testing.h"

namespace kube::apiserver {
namespace {

using namespace kube::testing;

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ApiServerDeleteTest : protected Clocked, public ApiServerTest {
 protected:
  ApiServerDeleteTest() : ApiServerTest({.clock = &clock}) {}
  static metav1::OwnerReference ownedBy(const corev1::ConfigMap& owner, bool blocks = true) {
    metav1::OwnerReference reference{.apiVersion = "v1",
                                     .kind = "ConfigMap",
                                     .name = owner.metadata.name,
                                     .uid = owner.metadata.uid};
    reference.blockOwnerDeletion = blocks;
    return reference;
  }
  corev1::ConfigMap make(std::string_view name, List<metav1::OwnerReference> owners = {},
                         List<String> finalizers = {}) const {
    corev1::ConfigMap wanted = map(name);
    wanted.metadata.ownerReferences = std::move(owners);
    wanted.metadata.finalizers = std::move(finalizers);
    return maps().create(wanted);
  }
  std::vector<std::string> left() const {
    server.settle();
    std::vector<std::string> names;
    for (const corev1::ConfigMap& one : maps().list().items) {
      names.push_back(one.metadata.name.str());
    }
    return names;
  }
  void dropFinalizers(std::string_view name) const {
    maps().patch(name, PatchType::Merge, R"({"metadata":{"finalizers":null}})");
  }
};

TEST_F(ApiServerDeleteTest, SaysWhatWasDeleted) {
  const corev1::ConfigMap made = make("a");
  const Answer deleted = call("DELETE", std::string(kMaps) + "/a");
  EXPECT_EQ(deleted.status, 200);
  const metav1::Status status = deleted.asStatus();
  EXPECT_EQ(status.status, "Success");
  EXPECT_EQ(status.details->name, "a");
  EXPECT_EQ(status.details->kind, "configmaps");
  EXPECT_EQ(status.details->uid, made.metadata.uid);
  const Answer again = call("DELETE", std::string(kMaps) + "/a");
  EXPECT_EQ(again.status, 404);
  EXPECT_EQ(again.asStatus().message, "configmaps \"a\" not found");
}

TEST_F(ApiServerDeleteTest, PreconditionsHaveToHold) {
  const corev1::ConfigMap made = make("a");
  metav1::DeleteOptions options;
  options.preconditions->uid = "other";
  const metav1::Status uid = refusalOf([&] { maps().remove("a", options); });
  EXPECT_EQ(uid.code, 409);
  EXPECT_EQ(uid.message,
            "Operation cannot be fulfilled on ConfigMap \"a\": the UID in the "
            "precondition (other) does not match the UID in record (" +
                made.metadata.uid.str() +
                "). The object might have been deleted and then recreated");
  options.preconditions->uid = made.metadata.uid;
  options.preconditions->resourceVersion = "1";
  EXPECT_THAT(refusalOf([&] { maps().remove("a", options); }).message.str(),
              HasSubstr("the ResourceVersion in the precondition (1) does not match"));
  options.preconditions->resourceVersion = made.metadata.resourceVersion;
  maps().remove("a", options);
  EXPECT_THAT(left(), IsEmpty());
}

TEST_F(ApiServerDeleteTest, OptionsAreChecked) {
  make("a");
  const std::string path = std::string(kMaps) + "/a";
  EXPECT_EQ(call("DELETE", path + "?propagationPolicy=Sometimes").asStatus().message,
            "DeleteOptions.meta.k8s.io \"\" is invalid: propagationPolicy: Unsupported value: "
            "\"Sometimes\": supported values: \"Foreground\", \"Background\", \"Orphan\", \"nil\"");
  EXPECT_EQ(call("DELETE", path, R"({"propagationPolicy":"Orphan","orphanDependents":true})")
                .asStatus()
                .message,
            "DeleteOptions.meta.k8s.io \"\" is invalid: propagationPolicy: Invalid value: "
            "\"Orphan\": orphanDependents and deletionPropagation cannot be both set");
  EXPECT_EQ(call("DELETE", path, toJson(map("a"))).status, 400);
  EXPECT_EQ(call("DELETE", path, "{").status, 400);
  EXPECT_EQ(call("DELETE", path + "?dryRun=No").status, 422);
  EXPECT_THAT(left(), ElementsAre("a"));
  EXPECT_EQ(call("DELETE", path, R"({"kind":"DeleteOptions","apiVersion":"apps/v1"})").status, 200);
}

TEST_F(ApiServerDeleteTest, FinalizersKeepAnObjectUntilTheyAreGone) {
  make("a", {}, {"example.com/one", "example.com/two"});
  const Answer answer = call("DELETE", std::string(kMaps) + "/a");
  const auto waiting = fromJson<corev1::ConfigMap>(answer.body);
  EXPECT_FALSE(waiting.metadata.deletionTimestamp.isZero());
  EXPECT_EQ(waiting.metadata.deletionGracePeriodSeconds, 0);
  const std::int64_t revision = server.revision();
  maps().remove("a");
  EXPECT_EQ(server.revision(), revision) << "deleting it again changes nothing";
  corev1::ConfigMap now = maps().get("a");
  now.metadata.finalizers = {"example.com/two", "example.com/three"};
  const metav1::Status added = refusalOf([&] { maps().update(now); });
  EXPECT_EQ(added.code, 422);
  EXPECT_THAT(added.message.str(),
              HasSubstr("no new finalizers can be added if the object is being deleted"));
  now.metadata.finalizers = {"example.com/two"};
  now.metadata.deletionTimestamp = {};
  now = maps().update(now);
  EXPECT_FALSE(now.metadata.deletionTimestamp.isZero()) << "there is no way back";
  now.metadata.finalizers = {};
  maps().update(now);
  EXPECT_THAT(left(), IsEmpty());
}

TEST_F(ApiServerDeleteTest, PodsOnANodeHaveTheirTime) {
  const auto pods = clients.coreV1().pods("default");
  corev1::Pod wanted = pod("web");
  wanted.spec->nodeName = "node-1";
  pods.create(wanted);
  pods.create(pod("pending"));
  pods.remove("pending");
  EXPECT_EQ(pods.find("pending"), std::nullopt) << "nobody has to stop it";
  pods.remove("web");
  corev1::Pod ending = pods.get("web");
  EXPECT_EQ(ending.metadata.deletionGracePeriodSeconds, 30);
  EXPECT_EQ(ending.metadata.deletionTimestamp, Time(clock.wallNow()) + 30s);
  server.settle();
  clock.advance(20s);
  pods.remove("web", {.gracePeriodSeconds = 60});
  EXPECT_EQ(pods.get("web").metadata.deletionGracePeriodSeconds, 30) << "it is never prolonged";
  pods.patch("web", PatchType::Merge, R"({"metadata":{"labels":{"a":"b"}}})");
  server.settle();
  clock.advance(9s);
  server.settle();
  EXPECT_NE(pods.find("web"), std::nullopt);
  clock.advance(1s);
  server.settle();
  EXPECT_EQ(pods.find("web"), std::nullopt) << "changes do not put off its end";
}

TEST_F(ApiServerDeleteTest, PodsMayBeHurried) {
  const auto pods = clients.coreV1().pods("default");
  corev1::Pod wanted = pod("web");
  wanted.spec->nodeName = "node-1";
  pods.create(wanted);
  pods.remove("web");
  pods.remove("web", {.gracePeriodSeconds = 5});
  EXPECT_EQ(pods.get("web").metadata.deletionGracePeriodSeconds, 5);
  server.settle();
  clock.advance(5s);
  server.settle();
  EXPECT_EQ(pods.find("web"), std::nullopt);
  pods.create(wanted);
  pods.remove("web", {.gracePeriodSeconds = 0});
  EXPECT_EQ(pods.find("web"), std::nullopt);
}

TEST_F(ApiServerDeleteTest, DependentsFollowTheirOwnerOverAllLevels) {
  const auto top = make("top");
  const auto middle = make("middle", {ownedBy(top)});
  make("bottom", {ownedBy(middle)});
  make("other");
  maps().remove("top");
  EXPECT_THAT(left(), ElementsAre("other"));
}

TEST_F(ApiServerDeleteTest, OneOwnerIsEnoughToStay) {
  const auto first = make("first"), second = make("second");
  make("child", {ownedBy(first), ownedBy(second)});
  maps().remove("first");
  EXPECT_THAT(left(), ElementsAre("child", "second"));
  const corev1::ConfigMap child = maps().get("child");
  ASSERT_THAT(child.metadata.ownerReferences, SizeIs(1)) << "the dangling one is dropped";
  EXPECT_EQ(child.metadata.ownerReferences[0].uid, second.metadata.uid);
  maps().remove("second");
  EXPECT_THAT(left(), IsEmpty());
}

TEST_F(ApiServerDeleteTest, AnObjectWithoutItsOwnerIsCollected) {
  auto owner = map("never");
  owner.metadata.uid = "0b1e5f04-0000-4000-8000-000000000000";
  make("lost", {ownedBy(owner)});
  EXPECT_THAT(left(), IsEmpty());
}

TEST_F(ApiServerDeleteTest, InTheForegroundTheOwnerGoesLast) {
  const auto top = make("top");
  const auto middle = make("middle", {ownedBy(top)});
  make("bottom", {ownedBy(middle)}, {"example.com/hold"});
  maps().remove("top", {.propagationPolicy = "Foreground"});
  EXPECT_THAT(left(), ElementsAre("bottom", "middle", "top"));
  EXPECT_THAT(maps().get("top").metadata.finalizers, ElementsAre("foregroundDeletion"));
  EXPECT_FALSE(maps().get("bottom").metadata.deletionTimestamp.isZero());
  dropFinalizers("bottom");
  EXPECT_THAT(left(), IsEmpty());
}

TEST_F(ApiServerDeleteTest, ADependentThatDoesNotBlockIsNotWaitedFor) {
  const auto top = make("top");
  make("child", {ownedBy(top, false)}, {"example.com/hold"});
  maps().remove("top", {.propagationPolicy = "Foreground"});
  EXPECT_THAT(left(), ElementsAre("child"));
  dropFinalizers("child");
  EXPECT_THAT(left(), IsEmpty());
}

TEST_F(ApiServerDeleteTest, OrphansLoseTheReferenceAndStay) {
  const auto top = make("top");
  make("child", {ownedBy(top)});
  maps().remove("top", {.propagationPolicy = "Orphan"});
  EXPECT_THAT(left(), ElementsAre("child"));
  EXPECT_THAT(maps().get("child").metadata.ownerReferences, IsEmpty());
  const auto old = make("old");
  make("of-old", {ownedBy(old)});
  maps().remove("old", {.orphanDependents = true});
  EXPECT_THAT(left(), ElementsAre("child", "of-old"));
}

TEST_F(ApiServerDeleteTest, ACollectionIsDeletedBySelectors) {
  corev1::ConfigMap red = map("red"), blue = map("blue");
  red.metadata.labels["color"] = "red";
  blue.metadata.labels["color"] = "blue";
  maps().create(red);
  maps().create(blue);
  makeNamespace("book");
  maps("book").create(red);
  maps().removeCollection({}, {.labelSelector = "color=red"});
  EXPECT_THAT(left(), ElementsAre("blue"));
  EXPECT_NE(maps("book").find("red"), std::nullopt);
  const Answer answer = call("DELETE", kMaps);
  EXPECT_EQ(answer.json()["kind"], Value("ConfigMapList"));
  EXPECT_EQ(answer.json()["items"].asArray().size(), 1u);
  EXPECT_THAT(left(), IsEmpty());
}

TEST_F(ApiServerDeleteTest, ANamespaceTakesWhatIsInItAlong) {
  makeNamespace("book");
  maps("book").create(map("a"));
  corev1::ConfigMap held = map("held");
  held.metadata.finalizers = {"example.com/hold"};
  maps("book").create(held);
  corev1::Pod running = pod("web");
  running.spec->nodeName = "node-1";
  clients.coreV1().pods("book").create(running);
  define(kNetworks);
  call("POST", "/apis/sample.example.com/v1/namespaces/book/networks", toJson(network("n")));
  const auto spaces = clients.coreV1().namespaces();
  spaces.remove("book");
  EXPECT_EQ(spaces.get("book").status.read().phase, "Terminating");
  server.settle();
  EXPECT_EQ(maps("book").find("a"), std::nullopt);
  EXPECT_NE(maps("book").find("held"), std::nullopt);
  maps("book").patch("held", PatchType::Merge, R"({"metadata":{"finalizers":null}})");
  server.settle();
  EXPECT_NE(spaces.find("book"), std::nullopt) << "a pod has its time yet";
  clock.advance(30s);
  server.settle();
  EXPECT_EQ(spaces.find("book"), std::nullopt);
  makeNamespace("book");
  EXPECT_THAT(maps("book").list().items, IsEmpty());
}

TEST_F(ApiServerDeleteTest, ADefinitionTakesItsObjectsAlong) {
  define(kNetworks);
  const auto definitions =
      ResourceClient<apiextensionsv1::CustomResourceDefinition>(clients.rest());
  Unstructured held = network("held");
  held.object["metadata"]["finalizers"] = Value::Array{"example.com/hold"};
  call("POST", kNetworksPath, toJson(held));
  call("POST", kNetworksPath, toJson(network("n")));
  definitions.remove("networks.sample.example.com");
  server.settle();
  EXPECT_NE(definitions.find("networks.sample.example.com"), std::nullopt);
  EXPECT_EQ(call("GET", std::string(kNetworksPath) + "/n").status, 404);
  patch(std::string(kNetworksPath) + "/held", kMerge, R"({"metadata":{"finalizers":null}})");
  server.settle();
  EXPECT_EQ(definitions.find("networks.sample.example.com"), std::nullopt);
  EXPECT_EQ(call("GET", kNetworksPath).status, 404);
  define(kNetworks);
  EXPECT_THAT(call("GET", kNetworksPath).json()["items"].asArray(), IsEmpty());
}

}  // namespace
}  // namespace kube::apiserver
