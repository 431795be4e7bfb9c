#include "kube/codec/apply/apply.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <string>

#include "kube/codec/apply/internal/apply_types_testing.h"
#include "kube/codec/apply/object_fields.h"
#include "kube/codec/json.h"
#include "kube/codec/patch/patch_error.h"
#include "kube/codec/unstructured.h"
#include "kube/codec/yaml.h"

namespace kube {
namespace {

const TypeInfo* const kThing = &TypeOf<applytypes::Thing>::info;

Value thing(std::string_view spec) {
  return Value::Object{{"apiVersion", "example.com/v1"},
                       {"kind", "Thing"},
                       {"metadata", Value::Object{{"name", "t"}}},
                       {"spec", parseYaml(spec)}};
}

// An object with its managedFields separate.
OwnedObject apart(Value object) {
  OwnedObject result;
  const Value& given = std::as_const(object)["metadata"]["managedFields"];
  result.reset = given.isArray() && given.asArray().empty();
  for (const Value& entry : given.asArray()) {
    result.owners.push_back(fromUnstructured<metav1::ManagedFieldsEntry>(Unstructured(entry)));
  }
  if (!given.isNull()) object["metadata"].object().erase("managedFields");
  result.object = object;
  return result;
}

// One object, as a server would keep it. Every write is a second after the last.
class Stored {
 public:
  explicit Stored(const TypeInfo* schema = kThing) : schema_(schema) {}

  ApplyResult apply(std::string_view manager, std::string_view spec, bool force = false) {
    ApplyResult result =
        applyPatch(object, thing(spec), schema_,
                   {.name = manager, .apiVersion = "example.com/v1", .time = tick()}, force);
    if (result.conflicts.empty()) object = result.object;
    return result;
  }
  std::string refused(std::string_view manager, std::string_view spec) {
    const Value before = object;
    const ApplyResult result = apply(manager, spec);
    EXPECT_EQ(result.object, before);
    return result.conflictMessage();
  }
  void update(std::string_view manager, std::string_view spec) {
    Value after = object.isNull() ? thing("{}") : object;
    after["spec"] = parseYaml(spec);
    const FieldManager who{.name = manager, .apiVersion = "example.com/v1", .time = tick()};
    const Value updated = updateManagedFields(object, after, schema_, who);
    EXPECT_EQ(updateOwners(apart(object), apart(after), schema_, who), apart(updated).owners);
    object = updated;
  }

  std::string spec() const { return toJson(std::as_const(object)["spec"]); }
  /// The fields below spec that a manager owns.
  std::string owns(std::string_view manager) const {
    std::string text;
    for (const Value& entry : std::as_const(object)["metadata"]["managedFields"].asArray()) {
      if (entry["manager"].asString() != manager) continue;
      for (const auto& path : FieldSet::fromValue(entry["fieldsV1"]).paths()) {
        text += (text.empty() ? "" : " ") + toString(path).substr(sizeof(".spec") - 1);
      }
    }
    return text;
  }

  Value object;

 private:
  Time tick() { return time_ = time_ + std::chrono::seconds(1); }

  const TypeInfo* schema_;
  Time time_ = Time::parse("2024-01-01T00:00:00Z");
};

TEST(ApplyTest, CreatesAnObjectThatItsManagerOwns) {
  Stored stored;
  const ApplyResult result = stored.apply("me", "{replicas: 1, labels: {a: b}}");
  EXPECT_TRUE(result.changed);
  EXPECT_EQ(result.object, parseYaml(R"(
apiVersion: example.com/v1
kind: Thing
metadata:
  name: t
  managedFields:
  - apiVersion: example.com/v1
    fieldsType: FieldsV1
    fieldsV1: {"f:spec": {"f:labels": {"f:a": {}}, "f:replicas": {}}}
    manager: me
    operation: Apply
    time: "2024-01-01T00:00:01Z"
spec: {replicas: 1, labels: {a: b}}
)"));
}

TEST(ApplyTest, TheSameAgainChangesNothing) {
  Stored stored;
  stored.apply("me", "{replicas: 1}");
  const Value before = stored.object;
  const ApplyResult result = stored.apply("me", "{replicas: 1}");
  EXPECT_FALSE(result.changed);
  EXPECT_EQ(result.object, before);
}

TEST(ApplyTest, FieldsNoLongerAppliedAreRemoved) {
  Stored stored;
  stored.apply(
      "me",
      "{replicas: 1, labels: {a: b, c: d}, args: [x], finalizers: [p, q], part: {name: a}, "
      "parts: [{name: a, value: x}, {name: b}], selector: {a: b}}");
  stored.apply("me", "{labels: {a: b}, finalizers: [q], parts: [{name: a}]}");
  EXPECT_EQ(stored.spec(), R"({"finalizers":["q"],"labels":{"a":"b"},"parts":[{"name":"a"}]})");
  stored.apply("me", "{replicas: 2}");
  EXPECT_EQ(stored.spec(), R"({"replicas":2})");
}

TEST(ApplyTest, ADifferentValueForAnothersFieldIsAConflict) {
  Stored stored;
  stored.apply("one", "{replicas: 1, labels: {a: b}}");
  EXPECT_EQ(stored.refused("two", "{replicas: 2}"),
            R"(Apply failed with 1 conflict: conflict with "one": .spec.replicas)");
  const ApplyResult result = stored.apply("two", "{replicas: 2, labels: {a: c, d: e}}");
  ASSERT_EQ(result.conflicts.size(), 2);
  EXPECT_EQ(result.conflicts[0].manager, "one");
  EXPECT_EQ(toString(result.conflicts[0].path), ".spec.replicas");
  EXPECT_EQ(result.conflictMessage(),
            "Apply failed with 2 conflicts: conflicts with \"one\":\n- .spec.replicas\n"
            "- .spec.labels.a");
  EXPECT_FALSE(result.changed);
}

TEST(ApplyTest, ForceTakesTheField) {
  Stored stored;
  stored.apply("one", "{replicas: 1, labels: {a: b}}");
  EXPECT_TRUE(stored.apply("two", "{replicas: 2}", /*force=*/true).conflicts.empty());
  EXPECT_EQ(stored.spec(), R"({"labels":{"a":"b"},"replicas":2})");
  EXPECT_EQ(stored.owns("one"), ".labels.a");
  EXPECT_EQ(stored.owns("two"), ".replicas");
  // A manager that owns nothing any more loses its entry.
  stored.apply("two", "{labels: {a: c}}", true);
  EXPECT_EQ(stored.owns("one"), "");
  EXPECT_EQ(stored.object["metadata"]["managedFields"].asArray().size(), 1);
}

TEST(ApplyTest, TheSameValueIsOwnedByBoth) {
  Stored stored;
  stored.apply("one", "{replicas: 1, labels: {a: b}}");
  const ApplyResult result = stored.apply("two", "{replicas: 1}");
  EXPECT_TRUE(result.conflicts.empty());
  EXPECT_FALSE(result.changed);
  EXPECT_EQ(stored.owns("two"), ".replicas");
  // A manager that no longer applies a field leaves it to the other owner.
  stored.apply("one", "{labels: {a: b}}");
  EXPECT_EQ(stored.spec(), R"({"labels":{"a":"b"},"replicas":1})");
  EXPECT_EQ(stored.owns("one"), ".labels.a");
  stored.apply("two", "{}");
  EXPECT_EQ(stored.spec(), R"({"labels":{"a":"b"}})");
}

TEST(ApplyTest, AnUpdateTakesWhatItChanges) {
  Stored stored;
  stored.apply("applier", "{replicas: 1, labels: {a: b}}");
  stored.update("updater", "{replicas: 2, labels: {a: b}}");
  EXPECT_EQ(stored.owns("applier"), ".labels.a");
  EXPECT_EQ(stored.owns("updater"), ".replicas");
  EXPECT_EQ(stored.refused("applier", "{replicas: 3, labels: {a: b}}"),
            R"(Apply failed with 1 conflict: conflict with "updater" using example.com/v1: )"
            ".spec.replicas");
  EXPECT_TRUE(stored.apply("applier", "{replicas: 2, labels: {a: b}}").conflicts.empty());
  stored.apply("applier", "{labels: {a: b}}");
  EXPECT_EQ(stored.spec(), R"({"labels":{"a":"b"},"replicas":2})");
}

TEST(ApplyTest, AnUpdateThatRemovesAFieldTakesItFromAllManagers) {
  Stored stored;
  stored.apply("applier", "{replicas: 1, labels: {a: b, c: d}}");
  stored.update("updater", "{labels: {c: d}}");
  EXPECT_EQ(stored.owns("applier"), ".labels.c");
  EXPECT_EQ(stored.owns("updater"), "");
}

TEST(ApplyTest, PartsOfElementsThatOthersOwnStay) {
  Stored stored;
  stored.apply("one", "{parts: [{name: a}, {name: b, numbers: [3]}]}");
  stored.apply("two", "{parts: [{name: b, numbers: [4]}]}");
  stored.update("controller", "{parts: [{name: a}, {name: b, numbers: [3, 4, 5]}]}");
  stored.apply("one", "{parts: [{name: a}]}");
  EXPECT_EQ(stored.spec(), R"({"parts":[{"name":"a"},{"name":"b","numbers":[4,5]}]})");
  EXPECT_EQ(stored.owns("one"), R"(.parts[name="a"] .parts[name="a"].name)");
  EXPECT_EQ(stored.owns("two"),
            R"(.parts[name="b"] .parts[name="b"].name .parts[name="b"].numbers[=4])");
  EXPECT_EQ(stored.owns("controller"), R"(.parts[name="b"].numbers[=5])");
}

TEST(ApplyTest, UnownedPartsOfAnElementAreRemovedWithIt) {
  Stored stored;
  stored.apply("one", "{parts: [{name: a}, {name: b, numbers: [3]}]}");
  stored.apply("two", "{parts: [{name: a, numbers: [2]}]}");
  stored.update("controller", "{parts: [{name: a, numbers: [2]}, {name: b, numbers: [3, 4]}]}");
  stored.apply("one", "{parts: [{name: a}]}");
  EXPECT_EQ(stored.spec(), R"({"parts":[{"name":"a","numbers":[2]}]})");
  EXPECT_EQ(stored.owns("controller"), "");
}

TEST(ApplyTest, FieldsOfAStructThatOthersOwnStay) {
  Stored stored;
  stored.apply("me", "{pointer: {name: a}}");
  stored.update("controller", "{pointer: {name: a, value: v}}");
  Stored kept = stored;
  stored.apply("me", "{}");
  EXPECT_EQ(stored.spec(), R"({"pointer":{"value":"v"}})");
  kept.apply("me", "{pointer: {}}");
  EXPECT_EQ(kept.spec(), R"({"pointer":{"value":"v"}})");
}

TEST(ApplyTest, AtomicValuesAreOwnedAsAWhole) {
  Stored stored;
  stored.apply("one", "{selector: {a: b}, args: [x], ref: {name: r}}");
  EXPECT_EQ(stored.owns("one"), ".args .ref .selector");
  EXPECT_EQ(stored.refused("two", "{selector: {c: d}}"),
            R"(Apply failed with 1 conflict: conflict with "one": .spec.selector)");
  stored.apply("two", "{args: [x, z]}", true);
  EXPECT_EQ(stored.owns("one"), ".ref .selector");
  EXPECT_EQ(stored.spec(), R"({"args":["x","z"],"ref":{"name":"r"},"selector":{"a":"b"}})");
}

TEST(ApplyTest, ElementsThatAreThereSeveralTimesConflictAsOne) {
  Stored stored;
  stored.update("updater", "{finalizers: [a, a, c]}");
  EXPECT_EQ(stored.owns("updater"), R"(.finalizers .finalizers[="a"] .finalizers[="c"])");
  EXPECT_EQ(stored.refused("applier", "{finalizers: [a]}"),
            R"(Apply failed with 1 conflict: conflict with "updater" using example.com/v1: )"
            R"(.spec.finalizers[="a"])");
  stored.apply("applier", "{finalizers: [e]}");
  EXPECT_EQ(stored.spec(), R"({"finalizers":["a","a","c","e"]})");
  stored.apply("applier", "{finalizers: [a]}", true);
  EXPECT_EQ(stored.spec(), R"({"finalizers":["a","c"]})");
  EXPECT_EQ(stored.owns("updater"), R"(.finalizers .finalizers[="c"])");
}

TEST(ApplyTest, FieldsFromBeforeTheFirstApplyHaveAnOwner) {
  Stored stored;
  stored.object = thing("{replicas: 1, labels: {a: b}}");
  stored.object["metadata"]["uid"] = "u";
  EXPECT_EQ(stored.refused("me", "{replicas: 2}"),
            R"(Apply failed with 1 conflict: conflict with "before-first-apply" using )"
            "example.com/v1: .spec.replicas");
  stored.apply("me", "{replicas: 1}");
  EXPECT_EQ(stored.owns("before-first-apply"), ".labels .replicas .labels.a");
  EXPECT_EQ(stored.owns("me"), ".replicas");
}

TEST(ApplyTest, WithoutSchemaObjectsAreMergedAndListsReplaced) {
  Stored stored(nullptr);
  stored.apply("one", "{a: {b: 1}, list: [1, 2]}");
  EXPECT_EQ(stored.owns("one"), ".a .list .a.b");
  stored.apply("two", "{a: {c: 2}}");
  EXPECT_EQ(stored.refused("two", "{list: [1, 2, 3]}"),
            R"(Apply failed with 1 conflict: conflict with "one": .spec.list)");
  stored.apply("one", "{}");
  EXPECT_EQ(stored.spec(), R"({"a":{"c":2}})");
}

TEST(ApplyTest, SubresourcesHaveEntriesOfTheirOwn) {
  const Value config = thing("{replicas: 1}");
  const FieldManager scale{.name = "me", .apiVersion = "example.com/v1", .subresource = "scale"};
  const Value first =
      applyPatch(nullptr, config, kThing, {.name = "me", .apiVersion = "example.com/v1"}).object;
  const ApplyResult second = applyPatch(first, thing("{replicas: 2}"), kThing, scale);
  EXPECT_EQ(second.conflictMessage(),
            R"(Apply failed with 1 conflict: conflict with "me": .spec.replicas)");
  const Value forced = applyPatch(first, thing("{replicas: 2}"), kThing, scale, true).object;
  const Value third =
      applyPatch(forced, config, kThing, {.name = "me", .apiVersion = "example.com/v1"})
          .conflictMessage();
  EXPECT_EQ(third, Value(R"(Apply failed with 1 conflict: conflict with "me" with subresource )"
                         R"("scale": .spec.replicas)"));
}

TEST(ApplyTest, EntriesAreSortedAsUpstreamDoes) {
  Stored stored;
  stored.update("z", "{replicas: 1}");
  stored.update("y", "{replicas: 1, amount: 1}");
  stored.apply("b", "{port: 1}");
  stored.apply("a", "{labels: {x: w}}");
  std::string order;
  for (const Value& entry : std::as_const(stored.object)["metadata"]["managedFields"].asArray()) {
    order += entry["operation"].asString() + entry["manager"].asString() + " ";
  }
  EXPECT_EQ(order, "Applyb Applya Updatez Updatey ");
}

TEST(ApplyTest, InvalidConfigurationsAreRefused) {
  using Reason = PatchError::Reason;
  const auto refused = [](const Value& config, const Value& live = {},
                          Reason reason = Reason::Malformed) -> std::string {
    try {
      applyPatch(live, config, kThing, {.name = "me", .apiVersion = "example.com/v1"});
    } catch (const PatchError& error) {
      EXPECT_EQ(error.reason(), reason);
      return error.what();
    }
    return "applied";
  };
  Value config = thing("{}");
  config["apiVersion"] = "example.com/v2";
  EXPECT_EQ(refused(config),
            "Incorrect version specified in apply patch. Specified patch version: example.com/v2, "
            "expected: example.com/v1");
  config = thing("{}");
  config["kind"] = "Other";
  EXPECT_EQ(refused(config),
            "invalid object type: example.com/v1, Kind=Other; expected Kind=Thing");
  config = thing("{}");
  config["metadata"]["managedFields"] = Value::Array();
  EXPECT_EQ(refused(config), "metadata.managedFields must be nil");
  EXPECT_THROW(applyPatch(nullptr, parseJson(R"({"kind":"Thing"})"), kThing, {}), PatchError);
  EXPECT_EQ(refused("text"), "an applied configuration is an object, found string");
  EXPECT_EQ(
      refused(thing("{nope: 1, replicas: x}"), {}, Reason::SchemaMismatch),
      "errors:\n  .spec.nope: field not declared in schema\n  .spec.replicas: expected numeric "
      "(int or float), got string");
  EXPECT_EQ(refused(thing("{parts: [{name: a}, {name: a}]}"), {}, Reason::SchemaMismatch),
            R"(.spec.parts: duplicate entries for key [name="a"])");
  Value live = thing("{}");
  live["metadata"]["managedFields"] = Value::Array{Value::Object{{"operation", "Other"}}};
  EXPECT_EQ(refused(thing("{}"), live),
            "failed to decode managed fields: operation must be `Apply` or `Update`");
}

TEST(ApplyTest, ExtractedFieldsCanBeAppliedAgain) {
  Stored stored;
  stored.apply("me", "{replicas: 1, parts: [{name: a, value: v}], labels: {x: w}}");
  stored.apply("other", "{parts: [{name: b}], labels: {z: w}}");
  Value mine = extract(stored.object, kThing, "me");
  EXPECT_EQ(toJson(mine["spec"]),
            R"({"labels":{"x":"w"},"parts":[{"name":"a","value":"v"}],"replicas":1})");
  mine["spec"]["replicas"] = 2;
  const ApplyResult result =
      applyPatch(stored.object, mine, kThing, {.name = "me", .apiVersion = "example.com/v1"});
  EXPECT_EQ(toJson(std::as_const(result.object)["spec"]),
            R"({"labels":{"x":"w","z":"w"},"parts":[{"name":"a","value":"v"},{"name":"b"}],)"
            R"("replicas":2})");
}

// --- Updates.

TEST(UpdateManagedFieldsTest, ACreateOwnsTheFieldsThatItSets) {
  Value object = thing("{replicas: 1, labels: {a: b}, part: {name: p}, pointer: {name: q}}");
  object["metadata"]["uid"] = "u";
  object["metadata"]["creationTimestamp"] = "2024-01-01T00:00:00Z";
  object["metadata"]["labels"]["l"] = "m";
  const Value created = updateManagedFields(
      nullptr, object, kThing,
      {.name = "", .apiVersion = "example.com/v1", .time = Time::parse("2024-01-01T00:00:00Z")});
  EXPECT_EQ(created["metadata"]["managedFields"], parseYaml(R"(
- apiVersion: example.com/v1
  fieldsType: FieldsV1
  fieldsV1:
    f:metadata: {f:labels: {.: {}, f:l: {}}}
    f:spec:
      f:labels: {.: {}, f:a: {}}
      f:part: {f:name: {}}
      f:pointer: {.: {}, f:name: {}}
      f:replicas: {}
  manager: unknown
  operation: Update
  time: "2024-01-01T00:00:00Z"
)"));
}

TEST(UpdateManagedFieldsTest, AnUpdateThatChangesNothingLeavesTheTime) {
  Stored stored;
  stored.update("me", "{replicas: 1}");
  const Value before = stored.object;
  stored.update("me", "{replicas: 1}");
  EXPECT_EQ(stored.object, before);
  stored.update("me", "{replicas: 2, amount: 1}");
  EXPECT_EQ(stored.owns("me"), ".amount .replicas");
  EXPECT_EQ(stored.object["metadata"]["managedFields"][0]["time"], Value("2024-01-01T00:00:03Z"));
}

TEST(UpdateManagedFieldsTest, ManagedFieldsOfAClientCountUnlessThroughASubresource) {
  Stored stored;
  stored.apply("me", "{replicas: 1}");
  const FieldManager other{.name = "other", .apiVersion = "example.com/v1"};
  Value sent = stored.object;
  sent["metadata"]["managedFields"][0]["manager"] = "renamed";
  const auto managerOf = [](const Value& object) {
    return object["metadata"]["managedFields"][0]["manager"].asString();
  };
  EXPECT_EQ(managerOf(updateManagedFields(stored.object, sent, kThing, other)), "renamed");
  FieldManager status = other;
  status.subresource = "status";
  EXPECT_EQ(managerOf(updateManagedFields(stored.object, sent, kThing, status)), "me");

  sent["metadata"].object().erase("managedFields");
  EXPECT_EQ(managerOf(updateManagedFields(stored.object, sent, kThing, other)), "me");
  sent["metadata"]["managedFields"] = Value::Array{Value::Object{{"operation", "x"}}};
  EXPECT_EQ(managerOf(updateManagedFields(stored.object, sent, kThing, other)), "me");
}

TEST(UpdateManagedFieldsTest, AnEmptyListResetsThem) {
  Stored stored;
  stored.apply("me", "{replicas: 1}");
  stored.object["metadata"]["uid"] = "u";
  const FieldManager other{.name = "other", .apiVersion = "example.com/v1"};
  for (const Value& reset : {Value(Value::Array()), Value(Value::Array{Value::Object()})}) {
    Value sent = stored.object;
    sent["metadata"]["managedFields"] = reset;
    const Value after = updateManagedFields(stored.object, sent, kThing, other);
    EXPECT_FALSE(after["metadata"].asObject().contains("managedFields"));
    // Updates do not bring them back.
    Value changed = after;
    changed["spec"]["replicas"] = 2;
    EXPECT_EQ(updateManagedFields(after, changed, kThing, other), changed);
  }
}

TEST(UpdateOwnersTest, AreThoseOfManagedFields) {
  Stored stored;
  stored.apply("me", "{replicas: 1, labels: {a: b}}");
  stored.update("other", "{replicas: 2, labels: {a: b, c: d}}");
  stored.object["metadata"]["uid"] = "u";
  const FieldManager who{.name = "third", .apiVersion = "example.com/v1"};
  const FieldManager status{
      .name = "third", .apiVersion = "example.com/v1", .subresource = "status"};
  for (const char* owners : {"null", "[]", "[{}]", "[{operation: x}]",
                             "[{operation: Update, apiVersion: v1, fieldsType: FieldsV1}]",
                             R"([{operation: Update, apiVersion: v1, fieldsType: FieldsV1,
                                  fieldsV1: {"f:spec": {"f:replicas": {}}}}])",
                             R"([{operation: Update, apiVersion: v1, fieldsType: FieldsV1,
                                  fieldsV1: {"spec": {}}}])"}) {
    for (const FieldManager& manager : {who, status}) {
      Value after = stored.object;
      after["spec"]["replicas"] = 3;
      after["metadata"]["managedFields"] = parseYaml(owners);
      if (std::string_view(owners) == "null") after["metadata"].object().erase("managedFields");
      const Value updated = updateManagedFields(stored.object, after, kThing, manager);
      EXPECT_EQ(updateOwners(apart(stored.object), apart(after), kThing, manager),
                apart(updated).owners)
          << owners;
    }
  }
}

TEST(UpdateOwnersTest, FieldsThatStayTheSameAreTheSameMemory) {
  Stored stored;
  stored.apply("me", "{replicas: 1, labels: {a: b}}");
  stored.update("other", "{replicas: 1, labels: {a: b}, amount: 1}");
  const OwnedObject before = apart(stored.object);
  OwnedObject after = before;
  after.object["spec"]["amount"] = 2;
  const FieldOwners owners =
      updateOwners(before, after, kThing, {.name = "third", .apiVersion = "example.com/v1"});
  ASSERT_EQ(owners.size(), 2u);
  EXPECT_EQ(owners[0].manager, "me");
  EXPECT_TRUE(owners[0].fieldsV1.raw.sharesWith(before.owners[0].fieldsV1.raw));
  EXPECT_EQ(owners[1].manager, "third");
}

TEST(UpdateOwnersTest, FieldsAreWrittenAsUpstreamWritesThem) {
  OwnedObject before{.object = thing("{replicas: 1}")};
  before.object["metadata"]["uid"] = "u";
  before.owners.push_back({.manager = "me",
                           .operation = "Update",
                           .apiVersion = "example.com/v1",
                           .fieldsType = "FieldsV1",
                           .fieldsV1 = {R"({"z:new":{},"f:spec":{"f:z":{".":{}},"f:a":{}}})"}});
  const FieldOwners owners =
      updateOwners(before, before, kThing, {.name = "me", .apiVersion = "example.com/v1"});
  ASSERT_EQ(owners.size(), 1u);
  EXPECT_EQ(owners[0].fieldsV1.raw, R"({"f:spec":{"f:a":{},"f:z":{}}})");
}

TEST(UpdateManagedFieldsTest, AnObjectThatDoesNotFitLosesThem) {
  Stored stored;
  stored.apply("me", "{replicas: 1}");
  Value odd = stored.object;
  odd["spec"]["nope"] = 1;
  const Value after = updateManagedFields(stored.object, odd, kThing,
                                          {.name = "other", .apiVersion = "example.com/v1"});
  EXPECT_FALSE(after["metadata"].asObject().contains("managedFields"));
  EXPECT_EQ(after["spec"]["nope"], Value(1));
}

TEST(UpdateManagedFieldsTest, OldUpdatersArePutTogether) {
  Stored stored;
  std::string spec = "{labels: {";
  for (int i = 0; i < 12; ++i) {
    spec += fmt::format("{}l{:02}: v", i == 0 ? "" : ", ", i);
    stored.update(fmt::format("updater-{:02}", i), spec + "}}");
  }
  stored.apply("applier", "{replicas: 1}");
  EXPECT_EQ(stored.object["metadata"]["managedFields"].asArray().size(), 11);
  EXPECT_EQ(stored.owns("ancient-changes"), ".labels .labels.l00 .labels.l01 .labels.l02");
  EXPECT_EQ(stored.owns("updater-00"), "");
  EXPECT_EQ(stored.owns("updater-03"), ".labels.l03");
}

}  // namespace
}  // namespace kube
