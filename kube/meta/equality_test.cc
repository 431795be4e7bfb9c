#include "kube/meta/equality.h"

#include <gtest/gtest.h>

#include <functional>

#include "kube/meta/internal/sample_kind_testing.h"
#include "kube/meta/unstructured.h"

namespace kube {
namespace {

using sample::NetworkSpec;
using sample::Peer;

NetworkSpec full() {
  NetworkSpec spec;
  spec.cidr = "10.0.0.0/8";
  spec.mtu = 1500;
  spec.zone = "a";
  spec.isolated = true;
  spec.bandwidth = "1";
  spec.limits = {{"cpu", "500m"}, {"memory", "1Gi"}};
  spec.peers = {{"p", {"1.1.1.1", "2.2.2.2"}, 3}, {"q", {}, 0}};
  spec.named = {{"x", {"p", {}, 1}}, {"y", {"q", {}, 2}}};
  spec.gateway = Peer{"g", {}, 0};
  spec.secret = Bytes("s");
  spec.port = 80;
  spec.lease = std::chrono::hours(1);
  spec.raw.raw = "{}";
  spec.anything = Value::Object{{"a", Value::Array{1, "b"}}};
  spec.share = 0.5;
  return spec;
}

/// A change for every field.
const std::function<void(NetworkSpec&)> kChanges[] = {
    [](NetworkSpec& spec) { spec.cidr = "10.0.0.0/9"; },
    [](NetworkSpec& spec) { spec.mtu = 1400; },
    [](NetworkSpec& spec) { spec.zone = "b"; },
    [](NetworkSpec& spec) { spec.isolated = false; },
    [](NetworkSpec& spec) { spec.bandwidth = "2"; },
    [](NetworkSpec& spec) { spec.limits["cpu"] = "501m"; },
    [](NetworkSpec& spec) { spec.peers[0].addresses[1] = "3.3.3.3"; },
    [](NetworkSpec& spec) { spec.peers[1].weight = 1; },
    [](NetworkSpec& spec) { spec.named.write("y").name = "r"; },
    [](NetworkSpec& spec) { spec.gateway->name = "h"; },
    [](NetworkSpec& spec) { spec.secret = Bytes("st"); },
    [](NetworkSpec& spec) { spec.port = "80"; },
    [](NetworkSpec& spec) { spec.lease = std::chrono::hours(2); },
    [](NetworkSpec& spec) { spec.raw.raw = "[]"; },
    [](NetworkSpec& spec) { spec.anything["a"][0] = 2; },
    [](NetworkSpec& spec) { spec.share = 0.25; },
};

TEST(SemanticEqualTest, SeesADifferenceInEveryField) {
  EXPECT_TRUE(semanticEqual(full(), full()));  // with no memory in common
  EXPECT_TRUE(semanticEqual(NetworkSpec(), NetworkSpec()));
  for (const auto& change : kChanges) {
    NetworkSpec other = full();
    change(other);
    const auto which = &change - kChanges;
    EXPECT_FALSE(semanticEqual(full(), other)) << which;
    EXPECT_FALSE(semanticEqual(other, full())) << which;
    EXPECT_FALSE(semanticDerivative(full(), other)) << which;
    EXPECT_FALSE(semanticEqual(NetworkSpec(), full()));
  }
}

TEST(SemanticEqualTest, ACopyWithOneChangeDiffers) {
  const NetworkSpec original = full();
  for (const auto& change : kChanges) {
    NetworkSpec copy = original;
    EXPECT_TRUE(semanticEqual(original, copy));
    change(copy);
    EXPECT_FALSE(semanticEqual(original, copy)) << &change - kChanges;
  }
}

TEST(SemanticEqualTest, OfQuantitiesTheAmountCounts) {
  NetworkSpec a, b;
  a.bandwidth = "1000m";
  b.bandwidth = "1";
  a.limits["memory"] = "1Gi";
  b.limits["memory"] = "1024Mi";
  EXPECT_TRUE(semanticEqual(a, b));
  a.bandwidth = "0";
  b.bandwidth = Quantity();
  EXPECT_TRUE(semanticEqual(a, b));
}

TEST(SemanticEqualTest, OfTimesTheInstantCounts) {
  EXPECT_TRUE(
      semanticEqual(Time::parse("2024-01-01T01:00:00+01:00"), Time::parse("2024-01-01T00:00:00Z")));
  EXPECT_FALSE(semanticEqual(MicroTime::fromUnix(1), MicroTime::fromUnix(1, 1000)));
}

TEST(SemanticEqualTest, EmptyListsAndMapsEqualAbsentOnes) {
  NetworkSpec a, b;
  a.peers.push_back({});
  a.peers.erase(0);
  a.limits["x"] = "1";
  a.limits.erase("x");
  EXPECT_TRUE(semanticEqual(a, b));
  b.peers.push_back({});
  EXPECT_FALSE(semanticEqual(a, b));
}

TEST(SemanticEqualTest, AnOptionalZeroIsNotAbsent) {
  NetworkSpec a, b;
  a.mtu = 0;
  EXPECT_FALSE(semanticEqual(a, b));
  b.mtu = 0;
  EXPECT_TRUE(semanticEqual(a, b));
  a.zone = "";
  EXPECT_FALSE(semanticEqual(a, b));
}

TEST(SemanticEqualTest, MapsDifferByKeys) {
  NetworkSpec a, b;
  a.limits = {{"a", "1"}, {"b", "1"}};
  b.limits = {{"a", "1"}, {"c", "1"}};
  EXPECT_FALSE(semanticEqual(a, b));
  EXPECT_FALSE(semanticEqual(b, a));
  b.limits = {{"a", "1"}};
  EXPECT_FALSE(semanticEqual(a, b));
  EXPECT_FALSE(semanticEqual(b, a));
}

TEST(SemanticEqualTest, AnEmptyMessageIsAbsentOnlyWhereUpstreamHoldsItByValue) {
  sample::Network a, b;
  a.status = sample::NetworkStatus{};
  EXPECT_TRUE(semanticEqual(a, b));
  EXPECT_TRUE(semanticEqual(b, a));
  a.status->probed = MicroTime::fromUnix(1);
  EXPECT_FALSE(semanticEqual(a, b));
  EXPECT_FALSE(semanticEqual(b, a));
  b.status = a.status;
  EXPECT_TRUE(semanticEqual(a, b));
  a.spec = NetworkSpec{};
  EXPECT_FALSE(semanticEqual(a, b));
  EXPECT_FALSE(semanticEqual(b, a));

  metav1::APIGroup group, other;
  group.preferredVersion = metav1::GroupVersionForDiscovery{};
  EXPECT_TRUE(semanticEqual(group, other));
  EXPECT_NE(group, other);
}

TEST(SemanticEqualTest, ComparesMetadata) {
  sample::Network a, b;
  a.metadata.labels["app"] = "web";
  EXPECT_FALSE(semanticEqual(a, b));
  b.metadata.labels["app"] = "web";
  EXPECT_TRUE(semanticEqual(a, b));
  b.metadata.ownerReferences.push_back({.name = "x"});
  EXPECT_FALSE(semanticEqual(a, b));
}

TEST(SemanticEqualTest, ComparesEveryTypeOfField) {
  EXPECT_TRUE(semanticEqual(Shared<Peer>(), Shared<Peer>()));
  EXPECT_FALSE(semanticEqual(Shared<Peer>(), Shared<Peer>(Peer{})));
  EXPECT_TRUE(semanticEqual(List<Peer>{{"a", {}, 1}}, List<Peer>{{"a", {}, 1}}));
  EXPECT_FALSE(semanticEqual(List<Peer>{{"a", {}, 1}}, List<Peer>{{"a", {}, 2}}));
  EXPECT_TRUE(semanticEqual(Map<Quantity>{{"a", "1"}}, Map<Quantity>{{"a", "1000m"}}));
  EXPECT_TRUE(semanticEqual(Value(1), Value(1)));
  EXPECT_FALSE(semanticEqual(Value(1), Value("1")));
  EXPECT_TRUE(semanticEqual(Strings{{"a"}}, Strings{{"a"}}));
  EXPECT_FALSE(semanticEqual(Strings{{"a"}}, Strings{{"b"}}));
}

TEST(SemanticEqualTest, OfObjectsKnownAtRunTime) {
  sample::Network network;
  network.spec = full();
  const AnyObject a(network);
  EXPECT_TRUE(semanticEqual(a, AnyObject(network)));
  network.spec->mtu = 1;
  EXPECT_FALSE(semanticEqual(a, AnyObject(network)));
  EXPECT_FALSE(semanticEqual(AnyObject(Peer{}), AnyObject(sample::Network{})));
}

TEST(SemanticEqualTest, OfDynamicObjects) {
  const Value content = Value::Object{{"kind", "Network"}, {"spec", Value::Object{{"mtu", 1}}}};
  Unstructured a(content), b(content);
  EXPECT_TRUE(semanticEqual(a, b));
  b.setNestedField(2, "spec", "mtu");
  EXPECT_FALSE(semanticEqual(a, b));
  EXPECT_FALSE(semanticEqual(AnyObject(a), AnyObject(b)));
}

TEST(SemanticEqualTest, OfSelectorsTheTextCounts) {
  EXPECT_TRUE(semanticEqual(labels::Selector::parse("a,b in (x,y)"),
                            labels::Selector::parse("b in (y,x),a")));
  EXPECT_FALSE(semanticEqual(labels::Selector::parse("a=b"), labels::Selector::parse("a==b")));
  EXPECT_TRUE(semanticEqual(fields::Selector::parse("a==b"), fields::Selector::parse("a=b")));
  EXPECT_FALSE(semanticEqual(fields::Selector::parse("a=b"), fields::Selector::parse("a!=b")));
}

using sample::Large;

TEST(SemanticEqualTest, OfBoxedElements) {
  static_assert(List<Large>::boxed() && Map<Large>::boxed());
  List<Large> a{{}, {}}, b{{}, {}};
  EXPECT_TRUE(semanticEqual(a, b));
  b[1].two.cidr = "x";
  EXPECT_FALSE(semanticEqual(a, b));
  EXPECT_TRUE(semanticDerivative(a, b));
  EXPECT_FALSE(semanticDerivative(b, a));
  Map<Large> c, d;
  c.write("x").one.mtu = 1;
  d.write("x").one.mtu = 2;
  EXPECT_FALSE(semanticEqual(c, d));
  d.write("x").one.mtu = 1;
  EXPECT_TRUE(semanticEqual(c, d));
}

TEST(SemanticDerivativeTest, UnspecifiedFieldsAreNotCompared) {
  NetworkSpec wanted;
  NetworkSpec actual = full();
  actual.isolated = false;
  actual.port = 0;
  actual.lease = Duration();
  actual.share = 0;
  EXPECT_TRUE(semanticDerivative(wanted, actual));
  EXPECT_FALSE(semanticEqual(wanted, actual));
  wanted.cidr = actual.cidr;
  wanted.mtu = actual.mtu;
  EXPECT_TRUE(semanticDerivative(wanted, actual));
  wanted.mtu = 0;
  EXPECT_FALSE(semanticDerivative(wanted, actual));
}

TEST(SemanticDerivativeTest, NumbersAndBooleansAreAlwaysCompared) {
  NetworkSpec wanted;
  for (const auto& set : std::initializer_list<std::function<void(NetworkSpec&)>>{
           [](NetworkSpec& spec) { spec.isolated = true; },
           [](NetworkSpec& spec) { spec.port = 80; }, [](NetworkSpec& spec) { spec.share = 1; },
           [](NetworkSpec& spec) { spec.lease = std::chrono::hours(1); }}) {
    NetworkSpec actual;
    set(actual);
    EXPECT_FALSE(semanticDerivative(wanted, actual));
  }
}

TEST(SemanticDerivativeTest, ListsMayBeLonger) {
  const auto derives = [](List<String> wanted, List<String> actual) {
    return semanticDerivative(wanted, actual);
  };
  EXPECT_TRUE(derives({}, {}));
  EXPECT_TRUE(derives({}, {"1", "2", "3"}));
  EXPECT_TRUE(derives({"1"}, {"1", "2", "3"}));
  EXPECT_TRUE(derives({"1", "", "3"}, {"1", "2", "3"}));
  EXPECT_FALSE(derives({"1"}, {}));
  EXPECT_FALSE(derives({"1", "2", "3"}, {"1", "2"}));
  EXPECT_FALSE(derives({"2"}, {"1", "2"}));
  EXPECT_TRUE(semanticDerivative(Strings{{"a"}}, Strings{{"a", "b"}}));
}

TEST(SemanticDerivativeTest, MapsMayHoldMore) {
  const auto derives = [](Map<String> wanted, Map<String> actual) {
    return semanticDerivative(wanted, actual);
  };
  EXPECT_TRUE(derives({}, {{"foo", "1"}}));
  EXPECT_TRUE(derives({{"foo", "1"}}, {{"foo", "1"}}));
  EXPECT_TRUE(derives({{"foo", "1"}}, {{"bar", "6"}, {"foo", "1"}, {"z", "1"}}));
  EXPECT_FALSE(derives({{"foo", "1"}}, {}));
  EXPECT_FALSE(derives({{"foo", "1"}}, {{"foo", "2"}}));
  EXPECT_FALSE(derives({{"foo", "1"}}, {{"bar", "1"}, {"fop", "1"}}));
  EXPECT_FALSE(derives({{"bar", "6"}, {"foo", "1"}}, {{"foo", "1"}}));
}

TEST(SemanticDerivativeTest, AbsentMessagesAreNotCompared) {
  sample::Network wanted, actual;
  actual.spec = full();
  EXPECT_TRUE(semanticDerivative(wanted, actual));
  EXPECT_FALSE(semanticDerivative(actual, wanted));
  wanted.status = sample::NetworkStatus{};  // by value: the same as absent
  EXPECT_TRUE(semanticDerivative(wanted, actual));
  actual.metadata.creationTimestamp = Time::fromUnix(1);
  EXPECT_TRUE(semanticDerivative(wanted, actual));
  EXPECT_TRUE(semanticDerivative(AnyObject(wanted), AnyObject(actual)));
  EXPECT_FALSE(semanticDerivative(AnyObject(actual), AnyObject(wanted)));
  EXPECT_FALSE(semanticDerivative(AnyObject(Peer{}), AnyObject(actual)));
}

TEST(SemanticDerivativeTest, OfDynamicObjects) {
  const Value actual = Value::Object{
      {"a", 1}, {"b", "text"}, {"c", Value::Array{1, 2}}, {"d", Value::Object{{"e", true}}}};
  const auto derives = [&](Value wanted) {
    return semanticDerivative(Unstructured(std::move(wanted)), Unstructured(actual));
  };
  EXPECT_TRUE(derives(nullptr));
  EXPECT_TRUE(derives(actual));
  EXPECT_TRUE(derives(Value::Object{{"a", nullptr}, {"b", ""}, {"c", Value::Array{1}}}));
  EXPECT_TRUE(derives(Value::Object{{"d", Value::Object{}}}));
  EXPECT_FALSE(derives(Value::Object{{"a", 0}}));
  EXPECT_FALSE(derives(Value::Object{{"b", "other"}}));
  EXPECT_FALSE(derives(Value::Object{{"c", Value::Array{1, 2, 3}}}));
  EXPECT_FALSE(derives(Value::Object{{"c", Value::Array{2}}}));
  EXPECT_FALSE(derives(Value::Object{{"d", Value::Object{{"f", 1}}}}));
  EXPECT_FALSE(derives(Value::Object{{"d", 1}}));
}

}  // namespace
}  // namespace kube
