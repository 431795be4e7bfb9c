#include "kube/meta/conversion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "kube/base/internal/error_of_testing.h"
#include "kube/meta/internal/network_versions_testing.h"
#include "kube/meta/scheme.h"
#include "kube/meta/unstructured.h"

namespace shapes {

// Larger than the elements that a List holds inline.
struct Wide {
  kube::metav1::ObjectMeta first;
  kube::metav1::ObjectMeta second;
  kube::String extra;
  bool operator==(const Wide&) const = default;
};
struct WideToo {
  kube::metav1::ObjectMeta first;
  kube::metav1::ObjectMeta second;
  bool operator==(const WideToo&) const = default;
};
struct Inner {
  kube::String text;
  bool operator==(const Inner&) const = default;
};
struct InnerToo {
  kube::String text;
  bool operator==(const InnerToo&) const = default;
};
struct From {
  bool flag = false;
  std::int32_t kept = 0;
  std::int32_t plain = 0;
  std::optional<kube::String> text;
  kube::List<Wide> wide;
  kube::Map<Wide> wideByName;
  Inner inner;
  kube::Shared<Inner> maybe;
  kube::Quantity amount;
  kube::Time time;
  kube::Value any;
  kube::RawExtension raw;
  kube::Strings strings;
  std::optional<kube::Quantity> limit;
  kube::String onlyHere;
  bool operator==(const From&) const = default;
};
struct To {
  std::optional<bool> flag;
  std::optional<std::int32_t> kept;
  std::optional<std::int64_t> plain;
  kube::String text;
  kube::List<WideToo> wide;
  kube::Map<WideToo> wideByName;
  kube::Shared<InnerToo> inner;
  InnerToo maybe;
  kube::Quantity amount;
  kube::Time time;
  kube::Value any;
  kube::RawExtension raw;
  kube::Strings strings;
  kube::Quantity limit;
  kube::String onlyThere;
  bool operator==(const To&) const = default;
};
struct Odd {
  kube::List<kube::String> plain;
  kube::String wide;
  bool operator==(const Odd&) const = default;
};

}  // namespace shapes

KUBE_DESCRIBE(shapes::Wide, first, second, extra);
KUBE_DESCRIBE(shapes::WideToo, first, second);
KUBE_DESCRIBE(shapes::Inner, text);
KUBE_DESCRIBE(shapes::InnerToo, text);
KUBE_DESCRIBE(shapes::From, flag, (kept, keep), plain, text, wide, wideByName, inner, maybe, amount,
              time, any, raw, strings, limit, onlyHere);
KUBE_DESCRIBE(shapes::To, onlyThere, flag, kept, plain, text, wide, wideByName, inner, maybe,
              amount, time, any, raw, strings, limit);
KUBE_DESCRIBE(shapes::Odd, plain, wide);

namespace kube {
namespace {

using networks::kAlpha;
using networks::kV1;
using networks::kV2;
using shapes::From;
using shapes::Odd;
using shapes::To;
using testing::HasSubstr;
namespace v1 = networks::v1;
namespace v1alpha1 = networks::v1alpha1;
namespace v2 = networks::v2;

v1alpha1::Network alphaNetwork() {
  v1alpha1::Network network;
  network.metadata.name = "net";
  network.metadata.labels["a"] = "b";
  network.spec->cidr = "10.0.0.0/8";
  network.spec->gateway = "10.0.0.1";
  network.spec->mtu = 1500;
  network.spec->size = 12;
  network.spec->peers = {{"east", 3, {{"inner", 4, {}}}}, {"west", 5, {}}};
  network.spec->options = {{"dns", {"on", 60}}, {"ntp", {"off", std::nullopt}}};
  network.spec->uplink = v1alpha1::Peer{"up", 1, {}};
  network.spec->ports = {80, 443};
  network.spec->tags = {{"k", "v"}};
  return network;
}

TEST(DefaultConversionTest, CarriesOverFieldsOfEqualNameInEveryShape) {
  const Scheme scheme = networks::makeScheme();
  const v1alpha1::Network in = alphaNetwork();
  const auto out = scheme.convertTo<v1::Network>(in);
  EXPECT_EQ(out.metadata, in.metadata);
  EXPECT_EQ(out.spec->cidr, "10.0.0.0/8");
  EXPECT_EQ(out.spec->gateways, (List<String>{"10.0.0.1"}));
  EXPECT_EQ(out.spec->mtu, 1500);
  EXPECT_EQ(out.spec->size, 12);
  ASSERT_EQ(out.spec->peers.size(), 2U);
  EXPECT_EQ(out.spec->peers[0], (v1::Peer{"east", 3, {{"inner", 4, {}}}}));
  EXPECT_EQ(out.spec->options["dns"], (v1::Option{"on", 60}));
  EXPECT_EQ(out.spec->options["ntp"], (v1::Option{"off", std::nullopt}));
  EXPECT_EQ(out.spec->uplink->name, "up");
  EXPECT_EQ(out.spec->ports, (List<std::int64_t>{80, 443}));
  EXPECT_EQ(scheme.convertTo<v1alpha1::Network>(out), in) << "and back";
}

TEST(DefaultConversionTest, PartsOfOneTypeAreShared) {
  const Scheme scheme = networks::makeScheme();
  const v1alpha1::Network in = alphaNetwork();
  const auto out = scheme.convertTo<v1::Network>(in);
  EXPECT_TRUE(out.metadata.labels.sharesWith(in.metadata.labels));
  EXPECT_TRUE(out.spec->tags.sharesWith(in.spec->tags));
  EXPECT_TRUE(out.spec->cidr.sharesWith(in.spec->cidr));
}

TEST(DefaultConversionTest, ChangingTheResultLeavesTheSourceAlone) {
  const Scheme scheme = networks::makeScheme();
  const v1alpha1::Network in = alphaNetwork();
  auto out = scheme.convertTo<v1::Network>(in);
  out.metadata.labels["a"] = "changed";
  out.spec->tags["k"] = "changed";
  EXPECT_EQ(in, alphaNetwork());
}

TEST(DefaultConversionTest, PlainAndOptionalBecomeEachOther) {
  const Scheme scheme;
  From in;
  To empty = scheme.convertTo<To>(in);
  EXPECT_FALSE(empty.flag.has_value()) << "a plain zero is absent";
  EXPECT_EQ(empty.kept, 0) << "one that JSON shows is not";
  EXPECT_FALSE(empty.plain.has_value());
  EXPECT_FALSE(empty.inner) << "a message without content neither";

  in.flag = true;
  in.plain = -7;
  in.text = "";
  in.inner.text = "i";
  in.maybe->text = "m";
  in.limit = Quantity("5");
  const To full = scheme.convertTo<To>(in);
  EXPECT_EQ(full.flag, true);
  EXPECT_EQ(full.plain, -7);
  EXPECT_EQ(full.text, "");
  EXPECT_EQ(full.inner->text, "i");
  EXPECT_EQ(full.maybe.text, "m");
  EXPECT_EQ(full.limit, Quantity("5"));
  const From back = scheme.convertTo<From>(full);
  EXPECT_TRUE(back.flag);
  EXPECT_EQ(back.plain, -7);
  EXPECT_EQ(back.inner.text, "i");
  EXPECT_EQ(back.maybe->text, "m");
  EXPECT_FALSE(back.text.has_value()) << "an explicit empty string is lost in a plain one";
}

TEST(DefaultConversionTest, EveryKindOfScalarIsCopied) {
  const Scheme scheme;
  From in;
  in.amount = Quantity("100m");
  in.time = Time::fromUnix(1000);
  in.any = Value::Object{{"a", 1}};
  in.raw.raw = "{}";
  in.strings = {"x", "y"};
  const To out = scheme.convertTo<To>(in);
  EXPECT_EQ(out.amount, in.amount);
  EXPECT_EQ(out.time, in.time);
  EXPECT_EQ(out.any, in.any);
  EXPECT_EQ(out.raw, in.raw);
  EXPECT_EQ(out.strings, in.strings);
}

TEST(DefaultConversionTest, LargeElementsOfListsAndMaps) {
  const Scheme scheme;
  From in;
  in.wide.resize(3);
  in.wide[1].first.name = "one";
  in.wideByName.write("k").second.name = "two";
  const To out = scheme.convertTo<To>(in);
  ASSERT_EQ(out.wide.size(), 3U);
  EXPECT_EQ(out.wide[1].first.name, "one");
  EXPECT_EQ(out.wideByName["k"].second.name, "two");

  in.wide[2].extra = "lost";
  EXPECT_THAT(errorOf<Error>([&] { scheme.convertTo<To>(in); }),
              HasSubstr("converting From to To: wide[2].extra: WideToo has no such field"));
  in.wide[2].extra = {};
  in.wideByName.write("k").extra = "lost";
  EXPECT_THAT(errorOf<Error>([&] { scheme.convertTo<To>(in); }), HasSubstr("wideByName.k.extra: "));
}

TEST(DefaultConversionTest, AFieldWithoutCounterpartIsAnErrorOnlyWhenItIsSet) {
  const Scheme scheme;
  From in;
  scheme.convertTo<To>(in);
  in.onlyHere = "x";
  try {
    scheme.convertTo<To>(in);
    FAIL();
  } catch (const ConversionError& error) {
    EXPECT_EQ(error.from(), "From");
    EXPECT_EQ(error.to(), "To");
    EXPECT_EQ(error.path(), "onlyHere");
    EXPECT_THAT(error.reason(), HasSubstr("To has no such field"));
  }
}

TEST(DefaultConversionTest, ALossyPairDropsFieldsWithoutCounterpart) {
  Scheme scheme;
  scheme.addLossyConversion<From, To>();
  From in;
  in.onlyHere = "x";
  in.wide.resize(1);
  in.wide[0].extra = "y";
  in.wide[0].first.name = "z";
  const To out = scheme.convertTo<To>(in);
  EXPECT_EQ(out.wide[0].first.name, "z");
}

TEST(DefaultConversionTest, ALossyPartDoesNotMakeTheWholeLossy) {
  Scheme scheme;
  scheme.addLossyConversion<shapes::Wide, shapes::WideToo>();
  From in;
  in.wide.resize(1);
  in.wide[0].extra = "y";
  EXPECT_EQ(scheme.convertTo<To>(in).wide.size(), 1U);
  in.onlyHere = "x";
  EXPECT_THAT(errorOf<Error>([&] { scheme.convertTo<To>(in); }), HasSubstr("onlyHere"));
}

TEST(DefaultConversionTest, FieldsOfAnotherShapeAreAnErrorWhenSet) {
  Scheme scheme;
  From in;
  scheme.addLossyConversion<To, Odd>();
  To other;
  other.plain = 1;
  EXPECT_EQ(scheme.convertTo<Odd>(other), Odd());

  Scheme strict;
  EXPECT_EQ(errorOf<ConversionError>([&] { strict.convertTo<Odd>(in = From()); }), "");
  in.plain = 1;
  EXPECT_EQ(errorOf<ConversionError>([&] { strict.convertTo<Odd>(in); }),
            "converting From to Odd: plain: a 32 bit integer does not convert to a list of string "
            "without a conversion function");
  in.plain = 0;
  in.wide.resize(1);
  EXPECT_THAT(errorOf<Error>([&] { strict.convertTo<Odd>(in); }),
              HasSubstr("wide: a list of Wide does not convert to a string without a conversion "
                        "function"));
}

TEST(DefaultConversionTest, IntegersMustFit) {
  const Scheme scheme = networks::makeScheme();
  v1alpha1::Network in = alphaNetwork();
  in.spec->mtu = std::numeric_limits<std::int32_t>::max();
  EXPECT_EQ(scheme.convertTo<v1::Network>(in).spec.read().mtu,
            std::numeric_limits<std::int32_t>::max());
  in.spec->mtu += 1;
  EXPECT_EQ(errorOf<Error>([&] { scheme.convertTo<v1::Network>(in); }),
            "converting samplecrd.k8s.io/v1alpha1 Network to samplecrd.k8s.io/v1 Network: "
            "spec.mtu: 2147483648 does not fit a 32 bit integer");
  in = alphaNetwork();
  in.spec->options.write("ntp").ttl = std::int64_t{-3000000000};
  EXPECT_THAT(errorOf<Error>([&] { scheme.convertTo<v1::Network>(in); }),
              HasSubstr("spec.options.ntp.ttl: -3000000000 does not fit"));
}

TEST(DefaultConversionTest, IsNotForDifferentKinds) {
  const Scheme scheme = networks::makeScheme();
  EXPECT_EQ(
      errorOf<ConversionError>([&] { scheme.convertTo<v1::NetworkList>(v1alpha1::Network()); }),
      "converting samplecrd.k8s.io/v1alpha1 Network to samplecrd.k8s.io/v1 NetworkList: no "
      "conversion of samplecrd.k8s.io/v1alpha1 Network to samplecrd.k8s.io/v1 NetworkList "
      "is registered");
  EXPECT_THAT(errorOf<ConversionError>([&] { scheme.convertTo<v1::Peer>(v1::Network()); }),
              HasSubstr("no conversion of samplecrd.k8s.io/v1 Network to Peer is registered"));
  EXPECT_THAT(errorOf<ConversionError>([&] { scheme.convertTo<v1::Network>(Unstructured()); }),
              HasSubstr("no conversion"));

  Scheme told;
  told.addDefaultConversion<v1::NetworkList, v1alpha1::NetworkList>();
  told.addDefaultConversion<v2::Network, shapes::Inner>();
  v2::Network network;
  told.convertTo<shapes::Inner>(network);
  network.range = "x";
  EXPECT_THAT(errorOf<Error>([&] { told.convertTo<shapes::Inner>(network); }),
              HasSubstr("range: "));
}

TEST(DefaultConversionTest, DeepNestingIsLimited) {
  const Scheme scheme;
  const auto nested = [](int depth) {
    v1alpha1::Peer peer;
    for (int i = 0; i < depth; ++i) peer = v1alpha1::Peer{"p", 1, {peer}};
    return peer;
  };
  const auto deep = scheme.convertTo<v1::Peer>(nested(990));
  EXPECT_EQ(deep.peers[0].peers[0].weight, 1);
  EXPECT_THAT(errorOf<ConversionError>([&] { scheme.convertTo<v1::Peer>(nested(1100)); }),
              HasSubstr("nested too deep"));
}

TEST(ConversionTest, TheUsersFunctionComesBeforeTheGeneratedOne) {
  Scheme scheme;
  scheme.addConversion<v2::Network, v1::Network>(
      [](const v2::Network&, v1::Network& out) { out.metadata.name = "user"; });
  scheme.addGeneratedConversion<v2::Network, v1::Network>(
      [](const v2::Network&, v1::Network& out) { out.metadata.name = "generated"; });
  EXPECT_EQ(scheme.convertTo<v1::Network>(v2::Network()).metadata.name, "user");
  Scheme other;
  other.addGeneratedConversion<v2::Network, v1::Network>(
      [](const v2::Network&, v1::Network& out) { out.metadata.name = "generated"; });
  EXPECT_EQ(other.convertTo<v1::Network>(v2::Network()).metadata.name, "generated");
}

TEST(ConversionTest, IgnoredPairsDoNothing) {
  Scheme scheme = networks::makeScheme();
  scheme.addIgnoredConversion<v1alpha1::Option, v1::Option>();
  scheme.addIgnoredConversion<v2::Network, v1alpha1::Network>();
  const auto out = scheme.convertTo<v1::Network>(alphaNetwork());
  EXPECT_EQ(out.spec->options["dns"], v1::Option()) << "there, but empty";
  v1alpha1::Network untouched = alphaNetwork();
  scheme.convert(v2::Network(), untouched);
  EXPECT_EQ(untouched, alphaNetwork());
}

TEST(ConversionTest, ToItsOwnTypeIsACopy) {
  const Scheme scheme;
  From in;
  in.plain = 3;
  EXPECT_EQ(scheme.convertTo<From>(in), in);
}

TEST(ConversionTest, ReplacesTheTargetAsAWhole) {
  const Scheme scheme = networks::makeScheme();
  v1::Network out;
  out.metadata.name = "before";
  out.spec->gateways = {"a", "b"};
  scheme.convert(v2::Network(), out);
  EXPECT_EQ(out.metadata.name, "");
  EXPECT_TRUE(std::as_const(out).spec->gateways.empty());
}

TEST(ConversionTest, AFailureLeavesSourceAndTargetUnchanged) {
  const Scheme scheme = networks::makeScheme();
  v1alpha1::Network in = alphaNetwork();
  in.spec->options.write("ntp").ttl = std::int64_t{1} << 40;
  const v1alpha1::Network inBefore = in;
  v1::Network out;
  out.metadata.name = "before";
  const v1::Network outBefore = out;
  EXPECT_THROW(scheme.convert(in, out), ConversionError);
  EXPECT_EQ(in, inBefore);
  EXPECT_EQ(out, outBefore);

  AnyObject any(out);
  EXPECT_THROW(scheme.convert(AnyObject(in), any), ConversionError);
  EXPECT_EQ(*any.as<v1::Network>(), outBefore);
}

TEST(ConversionTest, AnErrorOfAFunctionNamesTheTypesAndThePath) {
  const Scheme scheme = networks::makeScheme();
  v1::Network in;
  in.spec->gateways = {"a", "b"};
  EXPECT_EQ(errorOf<ConversionError>([&] { scheme.convertTo<v1alpha1::Network>(in); }),
            "converting samplecrd.k8s.io/v1 Network to samplecrd.k8s.io/v1alpha1 Network: spec: "
            "v1alpha1 has room for one gateway");

  v1::NetworkList list;
  list.items.resize(2);
  list.items[1] = in;
  EXPECT_THAT(errorOf<ConversionError>([&] { scheme.convertTo<v1alpha1::NetworkList>(list); }),
              HasSubstr("NetworkList: items[1].spec: v1alpha1 has room for one gateway"));
}

TEST(ConversionTest, OtherExceptionsPassThrough) {
  Scheme scheme;
  scheme.addConversion<v2::Network, v1::Network>(
      [](const v2::Network&, v1::Network&) { throw std::logic_error("mine"); });
  EXPECT_EQ(errorOf<std::logic_error>([&] { scheme.convertTo<v1::Network>(v2::Network()); }),
            "mine");
}

TEST(ConversionTest, DefaultConversionSkipsHandledFieldsOnly) {
  Scheme scheme;
  std::initializer_list<std::string_view> handled = {"onlyHere", "wide.extra"};
  scheme.addConversion<From, To>([handled](const From& in, To& out, ConversionScope& scope) {
    scope.defaultConvert(in, out, {.handled = handled});
    out.onlyThere = in.onlyHere;
  });
  From in;
  in.onlyHere = "x";
  in.wide.resize(1);
  in.wide[0].extra = "y";
  EXPECT_EQ(scheme.convertTo<To>(in).onlyThere, "x");
  in.wideByName.write("k").extra = "z";
  EXPECT_THAT(errorOf<Error>([&] { scheme.convertTo<To>(in); }), HasSubstr("wideByName.k.extra: "));
}

TEST(ConversionTest, AScopeConvertsPartsListsAndAbsentMessages) {
  Scheme scheme;
  scheme.addConversion<v1alpha1::Network, v1::Network>(
      [](const v1alpha1::Network& in, v1::Network& out, ConversionScope& scope) {
        EXPECT_TRUE(scope.scheme().allKnownTypes().empty());
        out.metadata = in.metadata;
        scope.convert(in.spec->peers, out.spec->peers);
        scope.convert(in.spec->uplink, out.spec->uplink);
        v1::Option option;
        scope.convert(in.spec->options["dns"], option);
        out.spec->options.insert_or_assign("only", option);
        if (in.spec->gateway == "bad") scope.fail("refused");
      });
  v1alpha1::Network in = alphaNetwork();
  auto out = scheme.convertTo<v1::Network>(in);
  EXPECT_EQ(out.spec->peers[1], (v1::Peer{"west", 5, {}}));
  EXPECT_EQ(out.spec->uplink->name, "up");
  EXPECT_EQ(out.spec->options["only"].ttl, 60);
  in.spec->uplink.reset();
  out = scheme.convertTo<v1::Network>(in);
  EXPECT_FALSE(std::as_const(out).spec->uplink);
  in.spec->gateway = "bad";
  EXPECT_THAT(errorOf<ConversionError>([&] { scheme.convertTo<v1::Network>(in); }),
              HasSubstr("Network: refused"));
}

TEST(ConversionTest, AFunctionThatCallsItselfIsStopped) {
  Scheme scheme;
  scheme.addConversion<v2::Network, v1::Network>(
      [](const v2::Network& in, v1::Network& out, ConversionScope& scope) {
        scope.convert(in, out);
      });
  EXPECT_THAT(errorOf<ConversionError>([&] { scheme.convertTo<v1::Network>(v2::Network()); }),
              HasSubstr("nested too deep"));
}

TEST(HubTest, VersionsBecomeEachOtherThroughIt) {
  Scheme scheme = networks::makeScheme();
  scheme.setHub({"samplecrd.k8s.io", "Network"}, "v1");
  v1alpha1::Network in;
  in.metadata.name = "net";
  in.spec->cidr = "10.0.0.0/8";
  const auto out = scheme.convertTo<v2::Network>(in);
  EXPECT_EQ(out.metadata.name, "net");
  EXPECT_EQ(out.range, "10.0.0.0/8");
  EXPECT_EQ(scheme.convertTo<v1alpha1::Network>(out), in);
}

TEST(HubTest, WithoutOneOnlyTheTablesAreUsed) {
  const Scheme scheme = networks::makeScheme();
  v1alpha1::Network in = alphaNetwork();
  EXPECT_THAT(errorOf<ConversionError>([&] { scheme.convertTo<v2::Network>(in); }),
              HasSubstr("converting samplecrd.k8s.io/v1alpha1 Network to samplecrd.k8s.io/v2 "
                        "Network: spec: Network has no such field"));
}

TEST(HubTest, MayBeTheInternalVersion) {
  Scheme scheme;
  scheme.addKnownTypes<v1alpha1::Network>(kAlpha);
  scheme.addKnownTypes<v2::Network>(kV2);
  scheme.addKnownTypeWithName<v1::Network>({"samplecrd.k8s.io", kInternalVersion, "Network"});
  std::string way;
  scheme.addConversion<v2::Network, v1::Network>([&](const v2::Network& in, v1::Network& out) {
    way += "in ";
    out.spec->cidr = in.range;
  });
  scheme.addConversion<v1::Network, v1alpha1::Network>(
      [&](const v1::Network& in, v1alpha1::Network& out) {
        way += "out";
        out.spec->cidr = in.spec->cidr;
      });
  v2::Network in;
  in.range = "r";
  EXPECT_EQ(scheme.convertTo<v1alpha1::Network>(in).spec.read().cidr, "r");
  EXPECT_EQ(way, "in out");

  const AnyObject internal = scheme.convertToVersion(in, {"samplecrd.k8s.io", kInternalVersion});
  EXPECT_NE(internal.as<v1::Network>(), nullptr);
}

TEST(HubTest, ADirectFunctionIsShorter) {
  Scheme scheme = networks::makeScheme();
  scheme.setHub({"samplecrd.k8s.io", "Network"}, "v1");
  scheme.addConversion<v1alpha1::Network, v2::Network>(
      [](const v1alpha1::Network&, v2::Network& out) { out.range = "direct"; });
  EXPECT_EQ(scheme.convertTo<v2::Network>(alphaNetwork()).range, "direct");
}

TEST(HubTest, TwoAreAmbiguousAndNoneIsMissing) {
  Scheme scheme = networks::makeScheme();
  scheme.addKnownTypeWithName<shapes::Inner>({"samplecrd.k8s.io", kInternalVersion, "Network"});
  scheme.setHub({"samplecrd.k8s.io", "Network"}, "v1");
  EXPECT_THAT(errorOf<ConversionError>([&] { scheme.convertTo<v2::Network>(alphaNetwork()); }),
              HasSubstr("are both the hub"));
  Scheme other = networks::makeScheme();
  other.setHub({"samplecrd.k8s.io", "Network"}, "v7");
  EXPECT_EQ(errorOf<ConversionError>([&] { other.convertTo<v2::Network>(alphaNetwork()); }),
            "converting samplecrd.k8s.io/v1alpha1 Network to samplecrd.k8s.io/v2 Network: the hub "
            "of Network.samplecrd.k8s.io, v7, is not registered");
}

TEST(HubTest, IsUsedForTheItemsOfAList) {
  // Lists of v1alpha1 become lists of a kind whose items only a hub can convert.
  Scheme scheme;
  scheme.addKnownTypes<v1alpha1::Network, v1alpha1::NetworkList>(kAlpha);
  scheme.addKnownTypes<v1::Network, v1::NetworkList>(kV1);
  scheme.addKnownTypes<v2::Network>(kV2);
  scheme.setHub({"samplecrd.k8s.io", "Network"}, "v2");
  scheme.addConversion<v1alpha1::Network, v2::Network>(
      [](const v1alpha1::Network& in, v2::Network& out) { out.range = in.spec->cidr + "-hub"; });
  scheme.addConversion<v2::Network, v1::Network>(
      [](const v2::Network& in, v1::Network& out) { out.spec->cidr = in.range; });
  v1alpha1::NetworkList list;
  list.metadata.resourceVersion = "9";
  list.items = {alphaNetwork(), alphaNetwork()};
  const auto out = scheme.convertTo<v1::NetworkList>(list);
  EXPECT_EQ(out.metadata.resourceVersion, "9");
  ASSERT_EQ(out.items.size(), 2U);
  EXPECT_EQ(out.items[1].spec->cidr, "10.0.0.0/8-hub");
}

TEST(ConvertToVersionTest, GivesTheKindOfThatVersion) {
  const Scheme scheme = networks::makeScheme();
  const AnyObject out = scheme.convertToVersion(alphaNetwork(), kV1);
  ASSERT_NE(out.as<v1::Network>(), nullptr);
  EXPECT_EQ(out.gvk().str(), "samplecrd.k8s.io/v1, Kind=Network");
  EXPECT_EQ(out.objectMeta()->name, "net");
  EXPECT_NE(scheme.convertToVersion(out, kAlpha).as<v1alpha1::Network>(), nullptr);
}

TEST(ConvertToVersionTest, ToItsOwnVersionIsACopy) {
  const Scheme scheme = networks::makeScheme();
  EXPECT_EQ(*scheme.convertToVersion(alphaNetwork(), kAlpha).as<v1alpha1::Network>(),
            alphaNetwork());
}

TEST(ConvertToVersionTest, OfSeveralVersionsTheObjectsOwnIsBestAndElseTheFirst) {
  const Scheme scheme = networks::makeScheme();
  const AnyObject object(alphaNetwork());
  const GroupVersion own[] = {kV1, kAlpha};
  EXPECT_EQ(scheme.convertToVersion(object, own).gvk().version, "v1alpha1");
  const GroupVersion others[] = {{"other.io", "v1"}, kV1, kV2};
  EXPECT_EQ(scheme.convertToVersion(object, others).gvk().version, "v1");
}

TEST(ConvertToVersionTest, ErrorsNameTheTypeAndTheVersions) {
  const Scheme scheme = networks::makeScheme();
  EXPECT_EQ(errorOf<NotRegisteredError>([&] {
              scheme.convertToVersion(v1::Network(), {"other.io", "v1"});
            }),
            "samplecrd.k8s.io/v1 Network is not suitable for converting to \"other.io/v1\" in "
            "scheme \"networks\"");
  const GroupVersion targets[] = {{"other.io", "v1"}, {"", "v1"}};
  EXPECT_THAT(errorOf<NotRegisteredError>(
                  [&] { scheme.convertToVersion(AnyObject(v1::Network()), targets); }),
              HasSubstr("converting to \"[other.io/v1,v1]\""));
  EXPECT_EQ(errorOf<NotRegisteredError>([&] { scheme.convertToVersion(v1::NetworkList(), kV2); }),
            "no kind \"NetworkList\" is registered for version \"samplecrd.k8s.io/v2\" in scheme "
            "\"networks\"");
  EXPECT_THAT(errorOf<NotRegisteredError>([&] { scheme.convertToVersion(v1::Peer(), kV2); }),
              HasSubstr("no kind is registered for the type Peer"));
  EXPECT_THAT(errorOf<Error>([&] { scheme.convertToVersion(Unstructured(), kV2); }),
              HasSubstr("has to be decoded into its type first"));
}

TEST(ConvertToVersionTest, KeepsTheNameOfAKindThatHasSeveral) {
  Scheme scheme;
  scheme.addKnownTypes<v1::Network>(kV1);
  scheme.addKnownTypeWithName<v1::Network>(kV1.withKind("Net"));
  scheme.addKnownTypeWithName<v1alpha1::Network>(kAlpha.withKind("Net"));
  AnyObject object = scheme.newObject(kV1.withKind("Net"));
  EXPECT_EQ(scheme.convertToVersion(object, kV1).gvk().kind, "Net");
  EXPECT_EQ(scheme.convertToVersion(object, kAlpha).gvk().kind, "Net");
}

}  // namespace
}  // namespace kube
