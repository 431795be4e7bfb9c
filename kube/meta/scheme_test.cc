#include "kube/meta/scheme.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/base/internal/error_of_testing.h"
#include "kube/meta/internal/network_versions_testing.h"
#include "kube/meta/unstructured.h"

namespace kube {
namespace {

using networks::kAlpha;
using networks::kV1;
using networks::kV2;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
namespace v1 = networks::v1;
namespace v1alpha1 = networks::v1alpha1;
namespace v2 = networks::v2;

const GroupVersionKind kNetworkV1{"samplecrd.k8s.io", "v1", "Network"};

std::vector<std::string> names(const std::vector<GroupVersion>& versions) {
  std::vector<std::string> result;
  for (const GroupVersion& version : versions) result.push_back(version.str());
  return result;
}

TEST(SchemeTest, TypesAreFoundByKindAndKindsByType) {
  const Scheme scheme = networks::makeScheme();
  EXPECT_EQ(scheme.name(), "networks");
  EXPECT_TRUE(scheme.recognizes(kNetworkV1));
  EXPECT_FALSE(scheme.recognizes({"samplecrd.k8s.io", "v1", "Nothing"}));
  EXPECT_EQ(scheme.typeOf(kNetworkV1), &TypeOf<v1::Network>::info);
  EXPECT_EQ(scheme.typeOf({"", "v1", "Network"}), nullptr);

  const AnyObject object = scheme.newObject(kNetworkV1);
  EXPECT_NE(object.as<v1::Network>(), nullptr);
  EXPECT_EQ(object.gvk(), kNetworkV1);

  const auto [kinds, unversioned] = scheme.objectKinds(object);
  EXPECT_THAT(kinds, ElementsAre(kNetworkV1));
  EXPECT_FALSE(unversioned);
  EXPECT_THAT(scheme.objectKinds<v1::Network>().kinds, ElementsAre(kNetworkV1));
  EXPECT_EQ(scheme.allKnownTypes().size(), 5U);
}

TEST(SchemeTest, KnownTypesOfAVersion) {
  const Scheme scheme = networks::makeScheme();
  const auto types = scheme.knownTypes(kV1);
  ASSERT_EQ(types.size(), 2U);
  EXPECT_EQ(types.at("Network"), &TypeOf<v1::Network>::info);
  EXPECT_EQ(types.at("NetworkList"), &TypeOf<v1::NetworkList>::info);
  EXPECT_THAT(scheme.knownTypes({"samplecrd.k8s.io", "v9"}), IsEmpty());
}

TEST(SchemeTest, ATypeThatIsNotAKindIsRegisteredUnderItsName) {
  Scheme scheme;
  scheme.addKnownTypes<v1::Peer>(kV1);
  EXPECT_TRUE(scheme.recognizes(kV1.withKind("Peer")));
}

TEST(SchemeTest, RegisteringTheSameAgainChangesNothing) {
  Scheme scheme;
  scheme.addKnownTypes<v1::Network>(kV1);
  scheme.addKnownTypes<v1::Network>(kV1);
  scheme.addKnownTypeWithName<v1::Network>(kNetworkV1);
  EXPECT_THAT(scheme.knownTypes(kV1), testing::SizeIs(1));
  EXPECT_THAT(scheme.objectKinds<v1::Network>().kinds, ElementsAre(kNetworkV1));
  EXPECT_THAT(names(scheme.observedVersions()), ElementsAre("samplecrd.k8s.io/v1"));
}

TEST(SchemeTest, ATakenKindIsAnErrorThatNamesBothAndRegistersNothing) {
  Scheme scheme("s");
  scheme.addKnownTypes<v1::Network>(kV1);
  EXPECT_EQ(errorOf<Error>([&] { scheme.addKnownTypes<v1::NetworkList, v1alpha1::Network>(kV1); }),
            "double registration of different types for samplecrd.k8s.io/v1, Kind=Network: "
            "old=samplecrd.k8s.io/v1 Network, new=samplecrd.k8s.io/v1alpha1 Network in scheme "
            "\"s\"");
  EXPECT_THAT(scheme.knownTypes(kV1), testing::SizeIs(1));
  EXPECT_THAT(errorOf<Error>([&] { scheme.addKnownTypeWithName<v2::Network>(kNetworkV1); }),
              HasSubstr("old=samplecrd.k8s.io/v1 Network, new=samplecrd.k8s.io/v2 Network"));
  EXPECT_THAT(errorOf<Error>([&] { scheme.addKnownTypes<v1::Network, v2::Network>(kV2); }),
              HasSubstr("double registration"));
  EXPECT_FALSE(scheme.isVersionRegistered(kV2));
}

TEST(SchemeTest, AVersionAndAKindAreRequired) {
  Scheme scheme;
  EXPECT_THAT(errorOf<Error>([&] {
                scheme.addKnownTypes<v1::Network>({"samplecrd.k8s.io", ""});
              }),
              HasSubstr("a kind and a version are required"));
  EXPECT_THAT(errorOf<Error>([&] {
                scheme.addKnownTypeWithName<v1::Network>({"g", "v1", ""});
              }),
              HasSubstr("a kind and a version are required"));
}

TEST(SchemeTest, ATypeMayHaveSeveralKinds) {
  Scheme scheme;
  scheme.addKnownTypes<v1::Network>(kV1);
  scheme.addKnownTypeWithName<v1::Network>({"other.io", "v3", "Net"});
  EXPECT_THAT(scheme.objectKinds<v1::Network>().kinds,
              ElementsAre(kNetworkV1, GroupVersionKind{"other.io", "v3", "Net"}));
  EXPECT_EQ(scheme.newObject({"other.io", "v3", "Net"}).gvk().kind, "Net");
}

TEST(SchemeTest, UnregisteredTypesAndKindsAreAnErrorOfTheirOwn) {
  const Scheme scheme = networks::makeScheme();
  try {
    scheme.newObject({"samplecrd.k8s.io", "v1", "Nothing"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_TRUE(isNotRegistered(error));
    EXPECT_EQ(dynamic_cast<const NotRegisteredError&>(error).gvk().kind, "Nothing");
    EXPECT_STREQ(error.what(),
                 "no kind \"Nothing\" is registered for version \"samplecrd.k8s.io/v1\" in scheme "
                 "\"networks\"");
  }
  EXPECT_EQ(errorOf<NotRegisteredError>([&] {
              scheme.newObject({"samplecrd.k8s.io", "__internal", "Network"});
            }),
            "no kind \"Network\" is registered for the internal version of group "
            "\"samplecrd.k8s.io\" in scheme \"networks\"");
  try {
    scheme.objectKinds<v1::Peer>();
    FAIL();
  } catch (const NotRegisteredError& error) {
    EXPECT_EQ(error.type(), &TypeOf<v1::Peer>::info);
    EXPECT_STREQ(error.what(), "no kind is registered for the type Peer in scheme \"networks\"");
  }
  EXPECT_FALSE(isNotRegistered(Error("other")));
}

TEST(SchemeTest, AnUnstructuredHasTheKindInItsFields) {
  const Scheme scheme;
  Unstructured dynamic;
  EXPECT_THAT(errorOf<Error>([&] { scheme.objectKinds(AnyObject(dynamic)); }),
              HasSubstr("no kind"));
  dynamic.setKind("Pod");
  EXPECT_THAT(errorOf<Error>([&] { scheme.objectKinds(AnyObject(dynamic)); }),
              HasSubstr("no apiVersion"));
  dynamic.setApiVersion("v1");
  EXPECT_THAT(scheme.objectKinds(AnyObject(dynamic)).kinds,
              ElementsAre(GroupVersionKind{"", "v1", "Pod"}));
}

TEST(SchemeTest, UnversionedTypesAreFoundInEveryVersion) {
  Scheme scheme;
  scheme.addUnversionedTypes<metav1::Status>({"", "v1"});
  EXPECT_TRUE(scheme.objectKinds<metav1::Status>().unversioned);
  EXPECT_TRUE(scheme.recognizes({"", "v1", "Status"}));
  EXPECT_FALSE(scheme.recognizes({"apps", "v1", "Status"}));
  const AnyObject status = scheme.newObject({"apps", "v1", "Status"});
  EXPECT_NE(status.as<metav1::Status>(), nullptr);

  // Converting it changes nothing: to its own version, to another group, to another version.
  EXPECT_EQ(scheme.convertToVersion(metav1::Status(), {"", "v1"}).gvk().str(), "/v1, Kind=Status");
  EXPECT_EQ(scheme.convertToVersion(metav1::Status(), {"apps", "v1"}).gvk().str(),
            "/v1, Kind=Status");
}

TEST(SchemeTest, AnUnversionedKindBelongsToOneType) {
  Scheme scheme;
  scheme.addUnversionedTypes<v1::Network>(kV1);
  EXPECT_THAT(errorOf<Error>([&] { scheme.addUnversionedTypes<v2::Network>(kV2); }),
              HasSubstr("samplecrd.k8s.io/v1 Network has already been registered as unversioned "
                        "kind \"Network\""));
  EXPECT_FALSE(scheme.isVersionRegistered(kV2));
  scheme.addUnversionedTypes<v1::Network>(kV1);
}

TEST(SchemeTest, VersionsAreInOrderOfRegistrationUntilPrioritized) {
  Scheme scheme = networks::makeScheme();
  scheme.addKnownTypeWithName<v1::Peer>({"other.io", "v5", "Peer"});
  EXPECT_THAT(names(scheme.observedVersions()),
              ElementsAre("samplecrd.k8s.io/v1alpha1", "samplecrd.k8s.io/v1", "samplecrd.k8s.io/v2",
                          "other.io/v5"));
  EXPECT_THAT(
      names(scheme.prioritizedVersionsForGroup("samplecrd.k8s.io")),
      ElementsAre("samplecrd.k8s.io/v1alpha1", "samplecrd.k8s.io/v1", "samplecrd.k8s.io/v2"));
  EXPECT_THAT(names(scheme.preferredVersionAllGroups()),
              ElementsAre("samplecrd.k8s.io/v1alpha1", "other.io/v5"));

  scheme.setVersionPriority({kV2, kV1});
  EXPECT_THAT(
      names(scheme.prioritizedVersionsForGroup("samplecrd.k8s.io")),
      ElementsAre("samplecrd.k8s.io/v2", "samplecrd.k8s.io/v1", "samplecrd.k8s.io/v1alpha1"));
  EXPECT_THAT(names(scheme.preferredVersionAllGroups()),
              ElementsAre("samplecrd.k8s.io/v2", "other.io/v5"));
  EXPECT_THAT(names(scheme.prioritizedVersionsAllGroups()),
              ElementsAre("samplecrd.k8s.io/v2", "samplecrd.k8s.io/v1", "samplecrd.k8s.io/v1alpha1",
                          "other.io/v5"));
  EXPECT_THAT(names(scheme.versionsForGroupKind({"samplecrd.k8s.io", "NetworkList"})),
              ElementsAre("samplecrd.k8s.io/v1", "samplecrd.k8s.io/v1alpha1"));
  EXPECT_THAT(scheme.prioritizedVersionsForGroup("nothing.io"), IsEmpty());

  scheme.setVersionPriority({kV1});
  EXPECT_EQ(scheme.preferredVersionAllGroups()[0].version, "v1") << "a new order replaces the old";
}

TEST(SchemeTest, APriorityIsForPublicVersionsOfOneGroup) {
  Scheme scheme;
  EXPECT_THAT(
      errorOf<Error>([&] {
        scheme.setVersionPriority({kV1, {"other.io", "v1"}});
      }),
      HasSubstr("all versions must be of one group, found samplecrd.k8s.io/v1 and other.io/v1"));
  EXPECT_THAT(errorOf<Error>([&] {
                scheme.setVersionPriority({{"g", "__internal"}});
              }),
              HasSubstr("internal versions cannot be prioritized"));
  EXPECT_THAT(errorOf<Error>([&] {
                scheme.setVersionPriority({{"g", ""}});
              }),
              HasSubstr("internal versions cannot be prioritized"));
  EXPECT_NE(errorOf<Error>([&] { scheme.setVersionPriority(std::span<const GroupVersion>()); }),
            "");
}

TEST(SchemeTest, GroupsAndVersionsAreRegisteredWithTheirTypes) {
  Scheme scheme = networks::makeScheme();
  EXPECT_TRUE(scheme.isGroupRegistered("samplecrd.k8s.io"));
  EXPECT_FALSE(scheme.isGroupRegistered("other.io"));
  EXPECT_TRUE(scheme.isVersionRegistered(kV2));
  EXPECT_FALSE(scheme.isVersionRegistered({"samplecrd.k8s.io", "v3"}));

  // The internal version holds types but is not a registered version.
  scheme.addKnownTypeWithName<v1::Peer>({"other.io", kInternalVersion, "Peer"});
  EXPECT_TRUE(scheme.recognizes({"other.io", kInternalVersion, "Peer"}));
  EXPECT_FALSE(scheme.isGroupRegistered("other.io"));
  EXPECT_FALSE(scheme.isVersionRegistered({"other.io", kInternalVersion}));
}

TEST(SchemeTest, FieldLabelsAreConvertedByTheFunctionOfTheirKind) {
  Scheme scheme;
  EXPECT_EQ(scheme.convertFieldLabel(kNetworkV1, "metadata.name", "a"),
            (Scheme::FieldLabel{"metadata.name", "a"}));
  EXPECT_EQ(scheme.convertFieldLabel(kNetworkV1, "metadata.namespace", "b").value, "b");
  EXPECT_EQ(errorOf<Error>([&] { scheme.convertFieldLabel(kNetworkV1, "spec.x", "1"); }),
            "\"spec.x\" is not a known field selector: only \"metadata.name\", "
            "\"metadata.namespace\"");
  scheme.addFieldLabelConversion(kNetworkV1, [](std::string_view label, std::string_view value) {
    if (label != "spec.x") throw Error("unknown");
    return Scheme::FieldLabel{"spec.y", value};
  });
  EXPECT_EQ(scheme.convertFieldLabel(kNetworkV1, "spec.x", "1"),
            (Scheme::FieldLabel{"spec.y", "1"}));
  EXPECT_EQ(errorOf<Error>([&] { scheme.convertFieldLabel(kNetworkV1, "metadata.name", "a"); }),
            "unknown");
}

TEST(SchemeTest, DefaultsAreSetOnObjectsAndOnTheItemsOfLists) {
  Scheme scheme = networks::makeScheme();
  scheme.addDefaulting<v1::Network>([](v1::Network& network) {
    if (!std::as_const(network).spec->mtu) network.spec->mtu = 1500;
  });
  v1::Network network;
  scheme.applyDefaults(network);
  EXPECT_EQ(network.spec->mtu, 1500);

  AnyObject object(TypeOf<v1::Network>::info);
  object.as<v1::Network>()->spec->mtu = 9000;
  scheme.applyDefaults(object);
  EXPECT_EQ(object.as<v1::Network>()->spec->mtu, 9000) << "what is set stays";

  v1::NetworkList list;
  list.items.resize(2);
  const v1::NetworkList before = list;
  scheme.applyDefaults(list);
  EXPECT_EQ(std::as_const(list).items[1].spec->mtu, 1500);
  EXPECT_FALSE(before.items[1].spec->mtu.has_value()) << "a copy is another object";

  scheme.addDefaulting<v1::NetworkList>(
      [](v1::NetworkList& all) { all.metadata.resourceVersion = "1"; });
  v1::NetworkList other;
  other.items.resize(1);
  scheme.applyDefaults(other);
  EXPECT_EQ(other.metadata.resourceVersion, "1");
  EXPECT_FALSE(std::as_const(other).items[0].spec) << "the list's own function comes instead";

  v2::Network unknown;
  scheme.applyDefaults(unknown);
  EXPECT_EQ(unknown, v2::Network());
}

TEST(SchemeTest, ALaterDefaultingReplacesTheFormer) {
  Scheme scheme;
  scheme.addDefaulting<v2::Network>([](v2::Network& network) { network.range = "a"; });
  scheme.addDefaulting<v2::Network>([](v2::Network& network) { network.range = "b"; });
  v2::Network network;
  scheme.applyDefaults(network);
  EXPECT_EQ(network.range, "b");
}

TEST(SchemeTest, ACopyIsASchemeOfItsOwn) {
  const Scheme scheme = networks::makeScheme();
  Scheme copy = scheme;
  copy.addKnownTypeWithName<v1::Peer>({"other.io", "v1", "Peer"});
  EXPECT_FALSE(scheme.isGroupRegistered("other.io"));
  EXPECT_TRUE(copy.recognizes(kNetworkV1));
}

// The example of examples/versions.cc.
TEST(SchemeTest, AKindGoesBothWaysThroughItsHubAndIsDefaulted) {
  Scheme scheme;
  scheme.addKnownTypes<v1alpha1::Network>(kAlpha);
  scheme.addKnownTypes<v2::Network>(kV2);
  scheme.addKnownTypeWithName<v1::Network>({"samplecrd.k8s.io", kInternalVersion, "Network"});
  scheme.setVersionPriority({kV2, kAlpha});
  scheme.addConversion<v1alpha1::NetworkSpec, v1::NetworkSpec>(
      [](const v1alpha1::NetworkSpec& in, v1::NetworkSpec& out, ConversionScope& scope) {
        scope.defaultConvert(in, out, {.handled = {"gateway"}});
        if (!in.gateway.empty()) out.gateways = {in.gateway};
      });
  scheme.addConversion<v1::NetworkSpec, v1alpha1::NetworkSpec>(
      [](const v1::NetworkSpec& in, v1alpha1::NetworkSpec& out, ConversionScope& scope) {
        scope.defaultConvert(in, out, {.handled = {"gateways"}});
        out.gateway = in.gateways.front();
      });
  scheme.addConversion<v1::Network, v2::Network>([](const v1::Network& in, v2::Network& out) {
    out.range = in.spec->cidr + "," + in.spec->gateways.front();
  });
  scheme.addConversion<v2::Network, v1::Network>([](const v2::Network& in, v1::Network& out) {
    const std::string_view range = in.range;
    out.spec->cidr = range.substr(0, range.find(','));
    out.spec->gateways = {range.substr(range.find(',') + 1)};
  });
  scheme.addDefaulting<v1alpha1::Network>([](v1alpha1::Network& network) {
    if (std::as_const(network).spec->gateway.empty()) network.spec->gateway = "10.0.0.1";
  });

  AnyObject object = scheme.newObject(kAlpha.withKind("Network"));
  object.as<v1alpha1::Network>()->spec->cidr = "10.0.0.0/8";
  scheme.applyDefaults(object);
  const AnyObject latest =
      scheme.convertToVersion(object, scheme.preferredVersionAllGroups().front());
  ASSERT_NE(latest.as<v2::Network>(), nullptr);
  EXPECT_EQ(latest.as<v2::Network>()->range, "10.0.0.0/8,10.0.0.1");
  const AnyObject back = scheme.convertToVersion(latest, kAlpha);
  EXPECT_EQ(*back.as<v1alpha1::Network>(), *object.as<v1alpha1::Network>());
}

TEST(SchemeBuilderTest, CallsItsFunctionsInOrderAndPassesErrorsOn) {
  std::string calls;
  SchemeBuilder builder{[&](Scheme& scheme) {
    calls += 'a';
    scheme.addKnownTypes<v1::Network>(kV1);
  }};
  builder.add([&](Scheme&) { calls += 'b'; });
  Scheme scheme;
  builder.addToScheme(scheme);
  EXPECT_EQ(calls, "ab");
  EXPECT_TRUE(scheme.recognizes(kNetworkV1));

  builder.add([](Scheme& s) { s.addKnownTypes<v2::Network>(kV1); });
  builder.add([&](Scheme&) { calls += 'c'; });
  EXPECT_THAT(errorOf<Error>([&] { builder.addToScheme(scheme); }),
              HasSubstr("double registration"));
  EXPECT_EQ(calls, "abab");
}

TEST(SchemeBuilderTest, EveryGroupVersionHasTheMetaTypes) {
  Scheme scheme;
  addToGroupVersion(scheme, kV1);
  addToGroupVersion(scheme, kV2);
  EXPECT_TRUE(scheme.recognizes(kV1.withKind("DeleteOptions")));
  EXPECT_TRUE(scheme.recognizes(kV2.withKind("ListOptions")));
  EXPECT_EQ(scheme.objectKinds<metav1::PatchOptions>().kinds.size(), 2U);
  EXPECT_FALSE(scheme.objectKinds<metav1::PatchOptions>().unversioned);
  EXPECT_TRUE(scheme.objectKinds<metav1::APIGroup>().unversioned);
}

}  // namespace
}  // namespace kube
