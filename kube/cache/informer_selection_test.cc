// Informers of parts of a kind, and options of single kinds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include "kube/base/internal/error_of_testing.h"
#include "kube/cache/core/v1.h"
#include "kube/cache/internal/seen_testing.h"
#include "kube/cache/resource_informer_factory.h"
#include "kube/cache/shared_informer_factory.h"
#include "kube/testing/api_server_testing.h"

namespace kube {
namespace {

using namespace std::chrono_literals;
using corev1::ConfigMap;
using corev1::Node;
using corev1::Secret;
using metav1::PartialObjectMetadata;
using testing::eventually;
using ::testing::HasSubstr;

class InformerSelectionTest : public testing::ApiServerTest {
 protected:
  InformerSelectionTest() {
    for (const char* name : {"book", "films"}) {
      makeNamespace(name);
      for (const char* tier : {"front", "back"}) {
        ConfigMap one = map(tier);
        one.metadata.labels["tier"] = tier;
        one.metadata.managedFields.push_back({.manager = "test", .operation = "Update"});
        maps(name).create(one);
      }
    }
  }

  const GroupVersionResource configMaps{"", "v1", "configmaps"};
};

TEST_F(InformerSelectionTest, EachSelectionHasAnInformer) {
  SharedInformerFactory factory(clients);
  const auto front = factory.informerFor<ConfigMap>({.labelSelector = "tier=front"});
  const auto back = factory.informerFor<ConfigMap>({.labelSelector = "tier=back"});
  const auto named =
      factory.informerFor<ConfigMap>({.fieldSelector = "metadata.name=front"}, Strings{"book"});
  const auto all = factory.coreV1().configMaps();
  EXPECT_EQ(&front.store(),
            &factory.informerFor<ConfigMap>({.labelSelector = "tier=front"}).store());
  EXPECT_EQ(
      &named.store(),
      &factory.informerFor<ConfigMap>({.fieldSelector = "metadata.name=front"}, Strings{"book"})
           .store());
  EXPECT_EQ(&all.store(), &factory.informerFor<ConfigMap>(metav1::ListOptions()).store());
  EXPECT_EQ(&all.store(), &factory.informerFor<ConfigMap>().store());
  factory.start();
  ASSERT_TRUE(factory.waitForSync());
  EXPECT_EQ(front.store().size(), 2U);
  EXPECT_EQ(back.store().size(), 2U);
  EXPECT_EQ(all.store().size(), 4U);
  EXPECT_EQ(named.store().listKeys(), (std::vector<ObjectKey>{{"book", "front"}}));
  EXPECT_THAT(front.describe(), HasSubstr("configmaps with labelSelector \"tier=front\": synced"));
  EXPECT_THAT(named.describe(),
              HasSubstr("configmaps with fieldSelector \"metadata.name=front\", namespace \"book\" "
                        "in 1 namespace: synced"));
}

TEST_F(InformerSelectionTest, OfRequestsWithoutSelectorsIsThatOfTheKind) {
  SharedInformerFactory factory(
      clients, {.namespace_ = "book",
                .kinds = {byKind<ConfigMap>({.labelSelector = "tier=front"}),
                          byKind<Secret>({.namespaces = Strings{""}}),
                          byKind<Unstructured>(configMaps, {.fieldSelector = "metadata.name=back",
                                                            .namespaces = Strings{"films"}})}});
  const auto everything = factory.informerFor<ConfigMap>(metav1::ListOptions());
  const auto front = factory.coreV1().configMaps();
  EXPECT_NE(&front.store(), &everything.store());
  EXPECT_EQ(&front.store(),
            &factory.informerFor<ConfigMap>({.labelSelector = "tier=front"}).store());
  const auto secrets = factory.coreV1().secrets();
  const auto dynamic = factory.forResource(configMaps);
  corev1::Secret secret;
  secret.metadata.name = "s";
  clients.coreV1().secrets("films").create(secret);
  factory.start();
  ASSERT_TRUE(factory.waitForSync());
  EXPECT_EQ(everything.store().size(), 2U);
  EXPECT_EQ(front.store().listKeys(), (std::vector<ObjectKey>{{"book", "front"}}));
  EXPECT_TRUE(secrets.store().contains({"films", "s"}));
  EXPECT_EQ(dynamic.store().listKeys(), (std::vector<ObjectKey>{{"films", "back"}}));
}

// A kind's namespaces are not changed with those of the factory.
TEST_F(InformerSelectionTest, OfAKindMayHaveNamespacesOfItsOwn) {
  SharedInformerFactory factory(clients,
                                {.namespaces = Strings{"book"},
                                 .kinds = {byKind<ConfigMap>({.namespaces = Strings{"films"}})}});
  const auto own = factory.coreV1().configMaps();
  const auto other = factory.informerFor<ConfigMap>({}, Strings{""});
  const auto secrets = factory.coreV1().secrets();
  factory.start();
  factory.addNamespace("default");
  ASSERT_TRUE(factory.waitForSync());
  EXPECT_EQ(own.namespaces(), Strings{"films"});
  EXPECT_EQ(own.store().size(), 2U);
  EXPECT_EQ(other.namespaces(), std::nullopt);
  EXPECT_GE(other.store().size(), 4U);
  EXPECT_EQ(secrets.namespaces(), (Strings{"book", "default"}));
  own.addNamespace("book");
  EXPECT_TRUE(own.waitForSync());
  EXPECT_EQ(own.store().size(), 4U);
}

TEST_F(InformerSelectionTest, ATransformOfTheFactoryIsForEveryKind) {
  const InformerFactoryOptions options{.transform = stripManagedFields};
  SharedInformerFactory factory(clients, options);
  MetadataInformerFactory metadata(MetadataClient(clients.rest()), options);
  SharedInformerFactory plain(clients);
  const auto typed = factory.coreV1().configMaps();
  const auto dynamic = factory.forResource(configMaps);
  const auto partial = metadata.forResource(configMaps);
  const auto whole = plain.coreV1().configMaps();
  factory.start();
  metadata.start();
  plain.start();
  ASSERT_TRUE(factory.waitForSync());
  ASSERT_TRUE(metadata.waitForSync());
  ASSERT_TRUE(plain.waitForSync());
  const ObjectKey key{"book", "front"};
  EXPECT_FALSE(whole.store().getByKey(key)->metadata.managedFields.empty());
  EXPECT_TRUE(typed.store().getByKey(key)->metadata.managedFields.empty());
  EXPECT_EQ(typed.store().getByKey(key)->data["k"], "v");
  EXPECT_TRUE(partial.store().getByKey(key)->metadata.managedFields.empty());
  EXPECT_TRUE(dynamic.store().getByKey(key)->managedFields().empty());
  EXPECT_EQ(dynamic.store().getByKey(key)->name(), "front");
}

TEST_F(InformerSelectionTest, AKindMayHaveItsOwnTransform) {
  std::atomic<int> failures = 0;
  SharedInformerFactory factory(
      clients, {.transform = stripManagedFields,
                .kinds = {byKind<ConfigMap>({.namespaces = Strings{"book", "films"},
                                             .transform =
                                                 [&](ConfigMap& one) {
                                                   one.data = {};
                                                   if (one.metadata.name != "back") return;
                                                   ++failures;
                                                   throw Error("not this one");
                                                 },
                                             .resync = 1h})}});
  const auto informer = factory.coreV1().configMaps();
  factory.start();
  ASSERT_TRUE(factory.waitForSync());
  const auto one = informer.store().getByKey({"book", "front"});
  EXPECT_TRUE(one->data.empty());
  EXPECT_FALSE(one->metadata.managedFields.empty());
  // A transform that throws costs its objects alone, and counts.
  EXPECT_EQ(informer.store().size(), 2U);
  EXPECT_EQ(informer.stats().source.transformFailures, static_cast<std::uint64_t>(failures));
  EXPECT_EQ(failures, 2);
}

TEST_F(InformerSelectionTest, StrippingIsATransformOfOneInformerToo) {
  SharedInformerFactory factory(clients);
  const auto informer = factory.coreV1().configMaps();
  informer.setTransform(stripManagedFields);
  factory.start();
  ASSERT_TRUE(factory.waitForSync());
  EXPECT_TRUE(informer.store().getByKey({"book", "front"})->metadata.managedFields.empty());
}

TEST_F(InformerSelectionTest, OptionsThatContradictEachOtherAreErrors) {
  const auto errorWith = [&](std::vector<AnyKindOptions> kinds) {
    return errorOf<Error>([&] {
      SharedInformerFactory factory(clients, {.kinds = std::move(kinds)});
      factory.coreV1().nodes();
    });
  };
  EXPECT_THAT(errorWith({byKind<Secret>({.labelSelector = "a=b"}), byKind<Secret>({})}),
              HasSubstr("two options of the kind /v1, Resource=secrets"));
  EXPECT_THAT(errorWith({byKind<Secret>({.namespaces = Strings{"a", ""}})}),
              HasSubstr("all namespaces are Strings{\"\"}"));
  EXPECT_THAT(errorWith({byKind<Node>({.namespaces = Strings{"book"}})}),
              HasSubstr("nodes are in no namespace"));
  EXPECT_THAT(errorWith({byKind<PartialObjectMetadata>(configMaps, {})}),
              HasSubstr("has no objects of type"));
  EXPECT_THAT(errorOf<Error>([&] {
                DynamicInformerFactory(DynamicClient(clients.rest()),
                                       {.kinds = {byKind<ConfigMap>({})}});
              }),
              HasSubstr("has no objects of type"));
  SharedInformerFactory factory(clients);
  EXPECT_THAT(errorOf<Error>([&] { factory.informerFor<Node>({}, Strings{"book"}); }),
              HasSubstr("nodes are in no namespace"));
}

TEST_F(InformerSelectionTest, ASourceOfOnesOwnIsNoSelection) {
  SharedInformerFactory factory(clients);
  const auto own = factory.informerFor<ConfigMap>(
      [&] { return SharedInformer<ConfigMap>(ListWatch<ConfigMap>::fromClient(maps("book"))); });
  EXPECT_EQ(&own.store(), &factory.coreV1().configMaps().store());
  const auto front = factory.informerFor<ConfigMap>({.labelSelector = "tier=front"});
  EXPECT_NE(&own.store(), &front.store());
  EXPECT_THAT(own.describe(), HasSubstr("with a source of its own"));
}

TEST_F(InformerSelectionTest, OfResourcesByName) {
  DynamicInformerFactory factory{DynamicClient(clients.rest())};
  const auto front = factory.forResource(configMaps, {.labelSelector = "tier=front"});
  const auto book = factory.forResource(configMaps, {}, Strings{"book"});
  const auto all = factory.forResource(configMaps);
  factory.start();
  ASSERT_TRUE(factory.waitForSync());
  EXPECT_EQ(front.store().size(), 2U);
  EXPECT_EQ(book.store().size(), 2U);
  EXPECT_EQ(all.store().size(), 4U);
}

}  // namespace
}  // namespace kube
