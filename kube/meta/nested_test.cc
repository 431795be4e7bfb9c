#include "kube/meta/nested.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "kube/base/error.h"
#include "kube/base/internal/error_of_testing.h"

namespace kube {
namespace {

const Value kObject =
    Value::Object{{"spec", Value::Object{{"replicas", 3},
                                         {"ratio", 0.5},
                                         {"paused", true},
                                         {"name", "web"},
                                         {"nothing", nullptr},
                                         {"args", Value::Array{"a", "b"}},
                                         {"mixed", Value::Array{"a", 2}},
                                         {"labels", Value::Object{{"app", "web"}}},
                                         {"mixedLabels", Value::Object{{"app", 1}}}}}};

TEST(NestedTest, ReadsEachType) {
  EXPECT_EQ(nestedInt64(kObject, {"spec", "replicas"}), 3);
  EXPECT_EQ(nestedDouble(kObject, {"spec", "ratio"}), 0.5);
  EXPECT_EQ(nestedDouble(kObject, {"spec", "replicas"}), 3.0);
  EXPECT_EQ(nestedBool(kObject, {"spec", "paused"}), true);
  EXPECT_EQ(nestedString(kObject, {"spec", "name"}), "web");
  EXPECT_EQ(nestedStringList(kObject, {"spec", "args"}), (List<String>{"a", "b"}));
  EXPECT_EQ(nestedStringMap(kObject, {"spec", "labels"}), (Map<String>{{"app", "web"}}));
  EXPECT_EQ(nestedSlice(kObject, {"spec", "mixed"}), (Value::Array{"a", 2}));
  EXPECT_EQ(nestedMap(kObject, {"spec", "labels"}), (Value::Object{{"app", "web"}}));
  EXPECT_EQ(nestedField(kObject, {"spec", "replicas"}), Value(3));
  EXPECT_EQ(nestedField(kObject, {}), kObject);
}

TEST(NestedTest, MissingFieldsAreAbsent) {
  EXPECT_EQ(nestedField(kObject, {"status", "phase"}), std::nullopt);
  EXPECT_EQ(nestedString(kObject, {"spec", "missing"}), std::nullopt);
  EXPECT_EQ(nestedInt64(kObject, {"spec", "missing"}), std::nullopt);
  EXPECT_EQ(nestedDouble(kObject, {"spec", "missing"}), std::nullopt);
  EXPECT_EQ(nestedBool(kObject, {"spec", "missing"}), std::nullopt);
  EXPECT_EQ(nestedStringList(kObject, {"spec", "missing"}), std::nullopt);
  EXPECT_EQ(nestedStringMap(kObject, {"spec", "missing"}), std::nullopt);
  EXPECT_EQ(nestedSlice(kObject, {"spec", "missing"}), std::nullopt);
  EXPECT_EQ(nestedMap(kObject, {"spec", "missing"}), std::nullopt);
  EXPECT_EQ(nestedString(Value(), {"spec"}), std::nullopt);
}

TEST(NestedTest, NullOnTheWayIsAbsentAndAtTheEndIsItself) {
  EXPECT_EQ(nestedString(kObject, {"spec", "nothing", "more"}), std::nullopt);
  EXPECT_EQ(nestedField(kObject, {"spec", "nothing"}), Value());
  EXPECT_EQ(errorOf([] {
              nestedString(kObject, {"spec", "nothing"});
            }),
            "spec.nothing: expected a string, found null");
}

TEST(NestedTest, AnotherTypeIsAnErrorThatNamesThePath) {
  EXPECT_EQ(errorOf([] {
              nestedString(kObject, {"spec", "replicas"});
            }),
            "spec.replicas: expected a string, found an integer");
  EXPECT_EQ(errorOf([] {
              nestedInt64(kObject, {"spec", "ratio"});
            }),
            "spec.ratio: expected an integer, found a number");
  EXPECT_EQ(errorOf([] {
              nestedDouble(kObject, {"spec", "name"});
            }),
            "spec.name: expected a number, found a string");
  EXPECT_EQ(errorOf([] {
              nestedBool(kObject, {"spec", "name"});
            }),
            "spec.name: expected a boolean, found a string");
  EXPECT_EQ(errorOf([] { nestedSlice(kObject, {"spec"}); }),
            "spec: expected an array, found an object");
  EXPECT_EQ(errorOf([] {
              nestedMap(kObject, {"spec", "args"});
            }),
            "spec.args: expected an object, found an array");
  EXPECT_EQ(errorOf([] {
              nestedStringList(kObject, {"spec", "mixed"});
            }),
            "spec.mixed[1]: expected a string, found an integer");
  EXPECT_EQ(errorOf([] {
              nestedStringMap(kObject, {"spec", "mixedLabels"});
            }),
            "spec.mixedLabels.app: expected a string, found an integer");
}

TEST(NestedTest, AnotherTypeOnTheWayIsAnErrorToo) {
  EXPECT_EQ(errorOf([] {
              nestedField(kObject, {"spec", "name", "first", "x"});
            }),
            "spec.name: expected an object, found a string");
  EXPECT_EQ(errorOf([] { nestedField(Value("text"), {"spec"}); }),
            "expected an object, found a string");
}

TEST(NestedTest, PathMayBeAnySequenceOfKeys) {
  const std::vector<std::string_view> keys{"spec", "name"};
  EXPECT_EQ(nestedString(kObject, std::span<const std::string_view>(keys)), "web");
  EXPECT_EQ(FieldPath({"metadata", "labels", "app"}).str(), "metadata.labels.app");
}

TEST(NestedTest, SettingCreatesMissingObjects) {
  Value object;
  setNestedField(object, 3, {"spec", "scale", "replicas"});
  setNestedField(object, "web", {"metadata", "name"});
  setNestedField(object, 4, {"spec", "scale", "replicas"});
  EXPECT_EQ(object,
            (Value::Object{{"metadata", Value::Object{{"name", "web"}}},
                           {"spec", Value::Object{{"scale", Value::Object{{"replicas", 4}}}}}}));
}

TEST(NestedTest, SettingReplacesTheLastValueWhateverItsType) {
  Value object = kObject;
  setNestedField(object, "none", {"spec"});
  EXPECT_EQ(object, Value(Value::Object{{"spec", "none"}}));
  setNestedField(object, 1, {});
  EXPECT_EQ(object, Value(1));
}

TEST(NestedTest, SettingBelowAnotherTypeThrowsAndChangesNothing) {
  Value object = kObject;
  EXPECT_EQ(errorOf([&] {
              setNestedField(object, 1, {"spec", "name", "new"});
            }),
            "spec.name: expected an object, found a string");
  EXPECT_EQ(errorOf([&] {
              setNestedField(object, 1, {"spec", "nothing", "new"});
            }),
            "spec.nothing: expected an object, found null");
  EXPECT_EQ(object, kObject);
}

TEST(NestedTest, SettingInACopyLeavesTheOriginalAlone) {
  Value copy = kObject;
  setNestedField(copy, 9, {"spec", "replicas"});
  EXPECT_EQ(nestedInt64(kObject, {"spec", "replicas"}), 3);
  EXPECT_EQ(nestedInt64(copy, {"spec", "replicas"}), 9);
}

TEST(NestedTest, RemovingReturnsWhetherTheFieldExisted) {
  Value object = kObject;
  EXPECT_TRUE(removeNestedField(object, {"spec", "labels", "app"}));
  EXPECT_FALSE(removeNestedField(object, {"spec", "labels", "app"}));
  EXPECT_EQ(nestedMap(object, {"spec", "labels"}), Value::Object{});
  EXPECT_EQ(nestedString(kObject, {"spec", "labels", "app"}), "web");
}

TEST(NestedTest, RemovingAMissingFieldChangesNothing) {
  Value object = kObject;
  EXPECT_FALSE(removeNestedField(object, {"status", "phase"}));
  EXPECT_FALSE(removeNestedField(object, {"spec", "name", "first"}));
  EXPECT_FALSE(removeNestedField(object, {}));
  EXPECT_TRUE(object.asObject().sharesWith(kObject.asObject()));
}

}  // namespace
}  // namespace kube
