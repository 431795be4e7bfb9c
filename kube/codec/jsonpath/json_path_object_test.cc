// JSONPath for described objects: it finds the same values as in their JSON.
#include <gtest/gtest.h>

#include "kube/base/error.h"
#include "kube/base/internal/sanitizer.h"
#include "kube/codec/internal/every_kind_testing.h"
#include "kube/codec/internal/sample_types_testing.h"
#include "kube/codec/json.h"
#include "kube/codec/jsonpath/json_path.h"

namespace kube {
namespace {

using everykind::Random;

// Numbers without a fraction become integers by way of JSON.
Value normal(const Value& value) { return parseJson(toJson(value)); }

TEST(JsonPathOfObjectsTest, FindsTheSameAsInTheirJson) {
  const std::vector<JsonPath> paths = [] {
    std::vector<JsonPath> parsed;
    for (const char* text : {"{@}",
                             "{.*}",
                             "{..}",
                             "{..name}",
                             "{.kind}",
                             "{.apiVersion}",
                             "{.metadata}",
                             "{.metadata.labels.*}",
                             "{.metadata.labels.app}",
                             "{.metadata.creationTimestamp}",
                             "{.metadata.managedFields[*].fieldsV1}",
                             "{.metadata.managedFields[0].fieldsV1.*}",
                             "{.spec}",
                             "{.spec.*}",
                             "{..f:metadata}",
                             "{.bigs[*].first.uid}",
                             "{.bigs[-1].parts[::2]}",
                             "{.bigs[*].named.*.name}",
                             "{.bigs[*].named.app}",
                             "{.tree..raw}",
                             "{.tree.next.map.*}",
                             "{.tree.list[?(@.name=='app')]}",
                             "{.tree.list[?(@.raw)].name}",
                             "{.spec.plainMessage}",
                             "{.spec.plainQuantity}{.spec.optionalTime}{.spec.plainIntOrString}",
                             "{.spec.listMessage[*]['name', 'number']}",
                             "{.spec.mapMessage.*.words[*]}",
                             "{.spec.listStrings[*][0]}",
                             "{.spec.plainStrings[*]}",
                             "{.spec.plainValue.*}",
                             "{.spec.listInt64[?(@>0)]}",
                             "{.spec.listDouble[?(@<1)]}",
                             "{.spec.mapRaw.*}",
                             "{range .bigs[*]}{.name}{range .parts[*]}{.name}{end}{end}",
                             "{.noSuchThing}"}) {
      parsed.push_back(JsonPath::parse(text));
    }
    return parsed;
  }();
  Random random(7);
  std::size_t results = 0;
  for (int i = 0; i < detail::testAmount(300); ++i) {
    const everykind::Widget widget = random.widget(true);
    const Value json = parseJson(toJson(widget));
    for (const JsonPath& path : paths) {
      // An index out of bounds is an error in both.
      std::string failure;
      std::vector<Value> expected;
      try {
        expected = path.find(json, {.allowMissingKeys = true});
      } catch (const Error& error) {
        failure = error.what();
      }
      try {
        const std::vector<Value> found = path.find(widget, {.allowMissingKeys = true});
        ASSERT_EQ(failure, "");
        ASSERT_EQ(found.size(), expected.size());
        for (std::size_t n = 0; n < found.size(); ++n) {
          ASSERT_EQ(toJson(normal(found[n])), toJson(expected[n]));
        }
        results += found.size();
      } catch (const Error& error) {
        ASSERT_EQ(error.what(), failure);
      }
    }
  }
  EXPECT_GT(results, detail::testAmount(50'000U));
}

samplecrdv1::Network network() {
  return fromJson<samplecrdv1::Network>(R"({
    "metadata": {"name": "n1", "labels": {"a.b/c": "x"}},
    "spec": {"cidr": "10.0.0.0/8", "peerNetworks": [{"name": "p1"}, {"name": "p2"}]},
    "status": {"phase": "Ready", "load": 2.0, "bandwidth": "1000m", "port": 8080, "key": "AP8=",
               "since": "2024-02-29T12:00:00Z", "age": "1m30s", "extra": {"deep": [1, 2]},
               "conditions": [{"type": "Ready", "status": "True"}]}})");
}

TEST(JsonPathOfObjectsTest, PrintsFieldsAsTheirJsonShowsThem) {
  const auto print = [object = network()](std::string_view text) {
    return JsonPath::parse(text).print(object);
  };
  EXPECT_EQ(print("{.kind} {.apiVersion}"), "Network samplecrd.k8s.io/v1");
  EXPECT_EQ(print("{.metadata.name}: {.spec.cidr}"), "n1: 10.0.0.0/8");
  EXPECT_EQ(print(R"({.metadata.labels.a\.b/c})"), "x");
  EXPECT_EQ(print("{.spec.peerNetworks[*].name}"), "p1 p2");
  EXPECT_EQ(print("{.spec.isEnabled}"), "false");
  EXPECT_EQ(print("{.status.bandwidth} {.status.port} {.status.key} {.status.age} {.status.load}"),
            "1 8080 AP8= 1m30s 2");
  EXPECT_EQ(print("{.status.since}"), "2024-02-29T12:00:00Z");
  EXPECT_EQ(print("{.status.extra.deep[-1]}"), "2");
  EXPECT_EQ(print(R"({.status.conditions[?(@.type=="Ready")].status})"), "True");
  EXPECT_EQ(print("{.spec.peerNetworks}"), R"([{"name":"p1"},{"name":"p2"}])");
  EXPECT_EQ(print("{.status.extra}"), R"({"deep":[1,2]})");
  // Fields that JSON does not show do not exist.
  EXPECT_THROW(print("{.spec.mtu}"), Error);
  EXPECT_THROW(print("{.spec.class}"), Error);
  EXPECT_THROW(print("{.spec.options}"), Error);
  EXPECT_THROW(print("{.status.notDescribed}"), Error);
}

TEST(JsonPathOfObjectsTest, ResultsShareTheStringsOfTheObject) {
  const auto object = network();
  const auto found = JsonPath::parse("{.spec}").find(object);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(found[0]["cidr"].asString().sharesWith(object.spec->cidr));
}

TEST(JsonPathOfObjectsTest, ItemsOfAListHaveNoKindOfTheirOwn) {
  samplecrdv1::NetworkList list;
  list.items = {network(), network()};
  EXPECT_EQ(JsonPath::parse("{.kind}").print(list), "NetworkList");
  EXPECT_EQ(JsonPath::parse("{.items[*].metadata.name}").print(list), "n1 n1");
  EXPECT_EQ(JsonPath::parse("{.items[*].kind}").print(list, {.allowMissingKeys = true}), "");
}

TEST(JsonPathOfObjectsTest, RawValuesThatAreNoJsonAreAnError) {
  everykind::Tree tree;
  tree.raw.raw = "{oops";
  tree.name = "t";
  EXPECT_EQ(JsonPath::parse("{.name}").print(tree), "t");
  EXPECT_THROW(JsonPath::parse("{.raw}").print(tree), Error);
}

}  // namespace
}  // namespace kube
