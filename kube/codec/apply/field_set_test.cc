#include "kube/codec/apply/field_set.h"

#include <gtest/gtest.h>

#include <string>

#include "kube/base/internal/error_of_testing.h"
#include "kube/codec/json.h"

namespace kube {
namespace {

PathElement keyElement(std::string_view json) {
  return PathElement::key(parseJson(json).asObject());
}

std::string listed(const FieldSet& set) {
  std::string text;
  for (const FieldSet::Path& path : set.paths()) text += toString(path) + "\n";
  return text;
}

TEST(PathElementTest, EachKindHasItsForms) {
  struct Case {
    PathElement element;
    const char *written, *shown;
  };
  for (const Case& c : {
           Case{"spec", "f:spec", ".spec"},
           Case{"", "f:", "."},
           Case{"a.b/c", "f:a.b/c", ".a.b/c"},
           Case{keyElement(R"({"protocol":"TCP","containerPort":80})"),
                R"(k:{"containerPort":80,"protocol":"TCP"})",
                R"([containerPort=80,protocol="TCP"])"},
           Case{keyElement(R"({"name":"a\"b"})"), R"(k:{"name":"a\"b"})", R"([name="a\"b"])"},
           Case{PathElement::value("x"), R"(v:"x")", R"([="x"])"},
           Case{PathElement::value(1), "v:1", "[=1]"},
           Case{PathElement::value(true), "v:true", "[=true]"},
           Case{PathElement::value(1.5), "v:1.5", "[=1.5]"},
           Case{PathElement::index(3), "i:3", "[3]"},
       }) {
    EXPECT_EQ(c.element.serialize(), c.written);
    EXPECT_EQ(c.element.toString(), c.shown);
    EXPECT_EQ(PathElement::parse(c.written), c.element);
  }
}

TEST(PathElementTest, UnknownKindsAreNothingAndMalformedOnesErrors) {
  EXPECT_EQ(PathElement::parse("x:future"), std::nullopt);
  for (const char* text : {"", "f", "f-name", "spec", "k:", "k:{", "k:[]", "k:1", "k:{}x",
                           "v:", "v:{", "v:1 2", "i:", "i:x", "i:1x", "i:99999999999999999999"}) {
    EXPECT_NE(errorOf([&] { PathElement::parse(text); }).find("managed fields: "),
              std::string::npos)
        << text;
  }
  EXPECT_EQ(PathElement::parse("f:f:x")->name(), "f:x");
}

TEST(PathElementTest, TheOrderIsUpstreams) {
  const PathElement ordered[] = {"a",
                                 "b",
                                 keyElement(R"({"a":1})"),
                                 keyElement(R"({"a":1,"b":1})"),
                                 keyElement(R"({"a":2})"),
                                 keyElement(R"({"a":10})"),
                                 keyElement(R"({"a":"1"})"),
                                 keyElement(R"({"b":0})"),
                                 PathElement::value(1),
                                 PathElement::value(1.5),
                                 PathElement::value(2),
                                 PathElement::value("1"),
                                 PathElement::value(false),
                                 PathElement::value(true),
                                 PathElement::value(Value::Array{1}),
                                 PathElement::value(Value::Array{1, 1}),
                                 PathElement::value(Value::Object{{"a", 1}}),
                                 PathElement::value(nullptr),
                                 PathElement::index(0),
                                 PathElement::index(5)};
  for (const PathElement& a : ordered) {
    for (const PathElement& b : ordered) {
      EXPECT_EQ(a < b, &a < &b) << a.toString() << ' ' << b.toString();
      EXPECT_EQ(a == b, &a == &b);
    }
  }
  EXPECT_EQ(PathElement::value(2), PathElement::value(2.0));
}

TEST(FieldSetTest, IsWrittenAsUpstreamWritesIt) {
  FieldSet set;
  set.insert({"spec", "containers", keyElement(R"({"name":"web"})"), "image"});
  set.insert({"spec", "containers", keyElement(R"({"name":"web"})")});
  set.insert({"spec", "containers", keyElement(R"({"name":"web"})"), "ports",
              keyElement(R"({"containerPort":443,"protocol":"TCP"})"), "containerPort"});
  set.insert({"spec", "containers", keyElement(R"({"name":"web"})"), "ports",
              keyElement(R"({"containerPort":80,"protocol":"TCP"})")});
  set.insert({"metadata", "finalizers", PathElement::value("b")});
  set.insert({"metadata", "finalizers", PathElement::value("a")});
  set.insert({"metadata", "finalizers"});
  set.insert({"metadata", "x", PathElement::index(2)});
  const std::string text =
      R"({"f:metadata":{"f:finalizers":{".":{},"v:\"a\"":{},"v:\"b\"":{}},"f:x":{"i:2":{}}},)"
      R"("f:spec":{"f:containers":{"k:{\"name\":\"web\"}":{".":{},"f:image":{},"f:ports":{)"
      R"("k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{},)"
      R"("k:{\"containerPort\":443,\"protocol\":\"TCP\"}":{"f:containerPort":{}}}}}}})";
  EXPECT_EQ(set.toJson(), text);
  EXPECT_EQ(FieldSet::parse(text), set);
  EXPECT_EQ(
      listed(set),
      ".metadata.finalizers\n"
      ".metadata.finalizers[=\"a\"]\n"
      ".metadata.finalizers[=\"b\"]\n"
      ".metadata.x[2]\n"
      ".spec.containers[name=\"web\"]\n"
      ".spec.containers[name=\"web\"].image\n"
      ".spec.containers[name=\"web\"].ports[containerPort=80,protocol=\"TCP\"]\n"
      ".spec.containers[name=\"web\"].ports[containerPort=443,protocol=\"TCP\"].containerPort\n");
  EXPECT_EQ(set.size(), 8);
  EXPECT_EQ(FieldSet().toJson(), "{}");
}

TEST(FieldSetTest, ReadsTextsOfOtherWriters) {
  EXPECT_TRUE(FieldSet::parse("{}").empty());
  EXPECT_TRUE(FieldSet::parse("null").empty());
  EXPECT_EQ(FieldSet::parse(R"({".":{},"f:a":{}})"), FieldSet({{"a"}}));
  EXPECT_EQ(FieldSet::parse(R"({"f:a":null})"), FieldSet({{"a"}}));
  EXPECT_EQ(FieldSet::parse(R"({"f:a":{".":{}}})"), FieldSet({{"a"}}));
  EXPECT_EQ(FieldSet::parse(R"({"f:a":{"f:b":{}}})"), FieldSet({{"a", "b"}}));
  // Kinds that a later version may have.
  EXPECT_EQ(FieldSet::parse(R"({"z:new":{"f:a":{}},"f:a":{"y:b":{}}})"), FieldSet({{"a"}}));
  // Not in order, and one element in two spellings.
  const auto odd = FieldSet::parse(R"({"k:{\"b\":1,\"a\":2}":{"f:x":{}},"f:z":{},"f:a":{},
                                       "k:{\"a\":2, \"b\":1}":{"f:y":{}}})");
  EXPECT_EQ(odd.toJson(), R"({"f:a":{},"f:z":{},"k:{\"a\":2,\"b\":1}":{"f:x":{},"f:y":{}}})");
}

TEST(FieldSetTest, KnowsTheTextsThatItWouldWriteItself) {
  const auto canonical = [](std::string_view text) {
    bool result = false;
    const FieldSet set = FieldSet::parse(text, &result);
    EXPECT_TRUE(!result || set.toJson() == text) << set.toJson();
    return result;
  };
  EXPECT_TRUE(canonical("{}"));
  EXPECT_TRUE(
      canonical(R"({"f:a":{".":{},"f:b":{},"k:{\"a\":1,\"b\":\"x\"}":{}},"v:1":{},"i:0":{}})"));
  for (const char* text :
       {"null", R"({"f:a":null})", R"({"f:b":{},"f:a":{}})", R"({"f:a":{},"f:a":{}})",
        R"({"f:a":{".":{}}})", R"({"f:a":{"f:b":{},".":{}}})", R"({"z:a":{}})",
        R"({"f:\u0061":{}})", R"({"k:{\"b\":1,\"a\":2}":{}})", R"({"k:{\"a\": 2}":{}})",
        R"({"f:a":{".":{"f:x":{}},"f:b":{}}})", R"({"v:1.0":{}})"}) {
    EXPECT_FALSE(canonical(text)) << text;
  }
}

TEST(FieldSetTest, TextIsReadAsItsValueWouldBe) {
  for (const char* text :
       {"{}", "null", R"({".":{},"f:a":{}})", R"({"f:a":null,"f:b":{".":{},"f:c":{}}})",
        R"({"z:new":{"f:a":{}},"f:a":{"y:b":{}}})", R"({"k:{\"b\":1}":{"v:null":{}},"i:3":{}})",
        R"({"f:\u0061\n":{}})"}) {
    EXPECT_EQ(FieldSet::parse(text), FieldSet::fromValue(parseJson(text))) << text;
  }
  for (const char* text : {"[]", "1", "true", "\"x\"", R"({"f:a":1})", R"({"f:a":{"f:b":[]}})",
                           R"({"spec":{}})", R"({"k:x":{}})", R"({"k:[]":{}})", R"({"i:x":{}})"}) {
    const std::string error = errorOf([&] { FieldSet::parse(text); });
    EXPECT_NE(error, "") << text;
    // A Value is reported as an integer, but text as a number.
    if (std::string_view(text) != "1" && std::string_view(text) != R"({"f:a":1})") {
      EXPECT_EQ(error, errorOf([&] { FieldSet::fromValue(parseJson(text)); })) << text;
    }
  }
}

TEST(FieldSetTest, IntersectsWhereAPathIsInBoth) {
  const FieldSet set = {{"a"}, {"b", "c"}, {"d", PathElement::key({{"k", "v"}})}};
  EXPECT_TRUE(set.intersects(set));
  EXPECT_TRUE(set.intersects({{"x"}, {"b", "c"}}));
  EXPECT_FALSE(set.intersects({{"b"}, {"a", "c"}, {"d", PathElement::key({{"k", "w"}})}}));
  EXPECT_FALSE(set.intersects({}));
  EXPECT_FALSE(FieldSet().intersects(set));
}

TEST(FieldSetTest, MalformedTextIsAnError) {
  for (const char* text : {"", "[]", "1", R"({"f:a":1})", R"({"f:a":{"f:b":[]}})", R"({"spec":{}})",
                           R"({"k:x":{}})", R"({"f:a":{}} x)"}) {
    EXPECT_NE(errorOf([&] { FieldSet::parse(text); }), "") << text;
  }
}

TEST(FieldSetTest, InsertAndHas) {
  FieldSet set;
  set.insert({"b", "c"});
  set.insert({"b"});
  set.insert({"a", "x", "y"});
  set.insert({});
  set.insert({"b", "c"});
  EXPECT_TRUE(set.has({"b", "c"}));
  EXPECT_TRUE(set.has({"b"}));
  EXPECT_TRUE(set.has({"a", "x", "y"}));
  EXPECT_FALSE(set.has({"a"}));
  EXPECT_FALSE(set.has({"a", "x"}));
  EXPECT_FALSE(set.has({"a", "x", "y", "z"}));
  EXPECT_FALSE(set.has({"c"}));
  EXPECT_FALSE(set.has({}));
  EXPECT_EQ(set.size(), 3);
  FieldSet copy = set;
  copy.insert({"a", "x", "z"});
  EXPECT_FALSE(set.has({"a", "x", "z"}));
}

TEST(FieldSetTest, SetsAreCombined) {
  const FieldSet a = {{"x"}, {"x", "a"}, {"x", "b"}, {"y", "a"}, {"only"}};
  const FieldSet b = {{"x"}, {"x", "b"}, {"x", "c"}, {"y"}, {"z"}};
  EXPECT_EQ(
      a.union_(b),
      FieldSet({{"x"}, {"x", "a"}, {"x", "b"}, {"x", "c"}, {"y"}, {"y", "a"}, {"z"}, {"only"}}));
  EXPECT_EQ(a.intersection(b), FieldSet({{"x"}, {"x", "b"}}));
  EXPECT_EQ(a.difference(b), FieldSet({{"x", "a"}, {"y", "a"}, {"only"}}));
  EXPECT_EQ(a.recursiveDifference(b), FieldSet({{"only"}}));
  EXPECT_EQ(a.recursiveDifference(FieldSet{{"x", "a"}}),
            FieldSet({{"x"}, {"x", "b"}, {"y", "a"}, {"only"}}));
  EXPECT_EQ(b.leaves(), FieldSet({{"x", "b"}, {"x", "c"}, {"y"}, {"z"}}));

  const FieldSet none;
  EXPECT_EQ(a.union_(none), a);
  EXPECT_EQ(none.union_(a), a);
  EXPECT_TRUE(a.intersection(none).empty());
  EXPECT_TRUE(a.difference(a).empty());
  EXPECT_EQ(a.difference(none), a);
  EXPECT_TRUE(a.recursiveDifference(a).empty());
  EXPECT_NE(a, b);
  EXPECT_NE(FieldSet({{"a", "b"}}), FieldSet({{"a"}}));
  EXPECT_NE(FieldSet({{"a", "b"}}), FieldSet({{"a"}, {"a", "b"}}));
}

TEST(FieldSetTest, DeepSetsAreFine) {
  std::string text = "{}";
  for (int i = 0; i < 900; ++i) text = R"({"f:a":)" + text + "}";
  const FieldSet set = FieldSet::parse(text);
  EXPECT_EQ(set.toJson(), text);
  EXPECT_EQ(set.size(), 1);
  EXPECT_EQ(set.union_(set), set);
  EXPECT_EQ(set.leaves(), set);
}

}  // namespace
}  // namespace kube
