// Applying strategic merge patches. Patches are created in strategic_create_test.cc.
#include <gtest/gtest.h>

#include <string>

#include "kube/codec/json.h"
#include "kube/codec/patch/internal/merge_types_testing.h"
#include "kube/codec/patch/patch_error.h"
#include "kube/codec/patch/strategic_merge.h"
#include "kube/codec/yaml.h"

namespace kube {
namespace {

std::string mergedText(std::string_view original, std::string_view patch) {
  return toJson(applyStrategicMergePatch(parseYaml(original), parseYaml(patch), mergetypes::kItem));
}

std::string mergeRefused(std::string_view original, std::string_view patch) {
  try {
    return "applied: " + mergedText(original, patch);
  } catch (const PatchError& error) {
    EXPECT_EQ(error.reason(), PatchError::Reason::Malformed);
    return error.what();
  }
}

struct Merge {
  const char *why, *original, *patch, *result;
};
void checkMerges(std::initializer_list<Merge> cases) {
  for (const Merge& c : cases) {
    try {
      EXPECT_EQ(mergedText(c.original, c.patch), mergetypes::asJson(c.result)) << c.why;
    } catch (const Error& error) {
      ADD_FAILURE() << c.why << ": " << error.what();
    }
  }
}

TEST(StrategicApplyTest, ObjectsAreMergedMemberByMember) {
  checkMerges({
      {"add, change, delete", "{name: a, value: b}", "{value: c, other: d, name: null}",
       "{value: c, other: d}"},
      {"nothing", "{name: a}", "{}", "{name: a}"},
      {"deep", "{item: {item: {name: a, value: b}}}", "{item: {item: {value: null}}}",
       "{item: {item: {name: a}}}"},
      {"a map of strings", "{simpleMap: {a: x, b: y}}", "{simpleMap: {b: null, c: z}}",
       "{simpleMap: {a: x, c: z}}"},
      {"a map of objects", "{items: {a: {name: x, value: y}}}", "{items: {a: {value: z}, b: {}}}",
       "{items: {a: {name: x, value: z}, b: {}}}"},
      {"another type replaces", "{item: 1}", "{item: {name: a}}", "{item: {name: a}}"},
      {"null stays in the original", "{name: null}", "{value: a}", "{name: null, value: a}"},
      {"null of what is not there", "{}", "{name: null, item: {name: null, value: b}}",
       "{item: {value: b}}"},
      {"nulls in lists that are new", "{}", "{nonMergingList: [{name: a, value: null}]}",
       "{nonMergingList: [{name: a}]}"},
      {"unknown fields", "{unknown: 1, list: [1]}", "{unknown: 2, new: {a: [1]}}",
       "{unknown: 2, list: [1], new: {a: [1]}}"},
  });
}

TEST(StrategicApplyTest, ValuesOfFreeFormAreReplaced) {
  checkMerges({
      {"raw", "{replacingItem: {a: 1, b: 2}}", "{replacingItem: {a: 3}}",
       "{replacingItem: {a: 3}}"},
      {"any JSON", "{jsonItem: {a: {b: 1}, c: 2}}", "{jsonItem: {a: {d: null}}}",
       "{jsonItem: {a: {d: null}}}"},
      {"any JSON, a list", "{jsonItem: [1, 2]}", "{jsonItem: [3]}", "{jsonItem: [3]}"},
      {"by strategy", "{replacingMap: {name: a, value: b}}", "{replacingMap: {value: c}}",
       "{replacingMap: {value: c}}"},
  });
}

TEST(StrategicApplyTest, PatchDirectivesOnObjects) {
  checkMerges({
      {"replace", "{item: {name: a, value: b}}", "{item: {value: c, $patch: replace}}",
       "{item: {value: c}}"},
      {"replace everything", "{name: a, value: b}", "{other: c, $patch: replace}", "{other: c}"},
      {"replace with nothing", "{name: a}", "{$patch: replace}", "{}"},
      {"delete leaves an empty object", "{simpleMap: {a: x}}", "{simpleMap: {$patch: delete}}",
       "{simpleMap: {}}"},
      {"delete of what is not there", "{name: a}", "{item: {$patch: delete}}", "{name: a}"},
      {"no directive stays behind", "{}",
       "{item: {$retainKeys: [name], name: a, $setElementOrder/mergingList: [{name: 1}], "
       "mergingList: [{name: 1}, {name: 2, $patch: delete}]}}",
       "{item: {name: a, mergingList: [{name: 1}]}}"},
  });
  EXPECT_EQ(mergeRefused("{item: {}}", "{item: {$patch: merge}}"),
            R"(unknown patch type: merge in map: {"$patch":"merge"})");
  EXPECT_EQ(mergeRefused("{item: {}}", "{item: {$patch: 1}}"),
            R"(unknown patch type: 1 in map: {"$patch":1})");
}

TEST(StrategicApplyTest, ListsWithoutStrategyAreReplaced) {
  checkMerges({
      {"objects", "{nonMergingList: [{name: a}, {name: b}]}", "{nonMergingList: [{name: c}]}",
       "{nonMergingList: [{name: c}]}"},
      {"scalars", "{nonMergingIntList: [1, 2]}", "{nonMergingIntList: [3]}",
       "{nonMergingIntList: [3]}"},
      {"by nothing", "{nonMergingIntList: [1]}", "{nonMergingIntList: []}",
       "{nonMergingIntList: []}"},
  });
}

TEST(StrategicApplyTest, ListsOfObjectsAreMergedByTheirKey) {
  checkMerges({
      {"change one", "{mergingList: [{name: 1, value: a}, {name: 2, value: b}]}",
       "{mergingList: [{name: 2, value: c}]}",
       "{mergingList: [{name: 1, value: a}, {name: 2, value: c}]}"},
      {"add one, which comes first without an order", "{mergingList: [{name: 1}]}",
       "{mergingList: [{name: 2, value: x}]}", "{mergingList: [{name: 2, value: x}, {name: 1}]}"},
      {"delete one", "{mergingList: [{name: 1}, {name: 2}]}",
       "{mergingList: [{name: 1, $patch: delete}]}", "{mergingList: [{name: 2}]}"},
      {"delete all of one name", "{mergingList: [{name: 1}, {name: 1}, {name: 2}, {name: 3}]}",
       "{mergingList: [{name: 1, $patch: delete}, {name: 3, $patch: delete}]}",
       "{mergingList: [{name: 2}]}"},
      {"delete what is not there", "{mergingList: [{name: 1}]}",
       "{mergingList: [{name: 9, $patch: delete}]}", "{mergingList: [{name: 1}]}"},
      {"replace all", "{mergingList: [{name: 1}, {name: 2}]}",
       "{mergingList: [{$patch: replace}, {name: 3}]}", "{mergingList: [{name: 3}]}"},
      {"replace by nothing", "{mergingList: [{name: 1}]}", "{mergingList: [{$patch: replace}]}",
       "{mergingList: []}"},
      {"delete a member", "{mergingList: [{name: 1, value: a}]}",
       "{mergingList: [{name: 1, value: null}]}", "{mergingList: [{name: 1}]}"},
      {"nested", "{mergingList: [{name: 1, mergingList: [{name: x}, {name: y}]}]}",
       "{mergingList: [{name: 1, mergingList: [{name: x, $patch: delete}, {name: y, value: v}]}]}",
       "{mergingList: [{name: 1, mergingList: [{name: y, value: v}]}]}"},
      {"twice in one patch", "{mergingList: []}",
       "{mergingList: [{name: 1, value: a}, {name: 1, other: b}]}",
       "{mergingList: [{name: 1, value: a, other: b}]}"},
      {"both empty", "{mergingList: []}", "{mergingList: []}", "{mergingList: []}"},
      {"the patch's order counts", "{mergingList: [{name: 1}, {name: 2, value: b}, {name: 3}]}",
       "{mergingList: [{name: 3, value: c}, {name: 1, value: a}, {name: 2, other: x}]}",
       "{mergingList: [{name: 3, value: c}, {name: 1, value: a}, {name: 2, value: b, other: x}]}"},
      {"among what the server has", "{mergingList: [{name: 1}, {name: 2}, {name: 3}]}",
       "{mergingList: [{name: 3, value: c}, {name: 1, value: a}]}",
       "{mergingList: [{name: 2}, {name: 3, value: c}, {name: 1, value: a}]}"},
  });
}

TEST(StrategicApplyTest, MalformedListsAreErrors) {
  EXPECT_EQ(mergeRefused("{mergingList: [{name: 1}]}", "{mergingList: [{value: b}]}"),
            R"(map: {"value":"b"} does not contain declared merge key: name)");
  EXPECT_EQ(mergeRefused("{mergingList: [{value: 1}]}", "{mergingList: [{name: b}]}"),
            R"(map: {"value":1} does not contain declared merge key: name)");
  EXPECT_EQ(mergeRefused("{mergingList: [{name: 1}]}", "{mergingList: [{$patch: delete}]}"),
            R"(map: {"$patch":"delete"} does not contain declared merge key: name)");
  EXPECT_EQ(mergeRefused("{mergingList: [{name: 1}]}", "{mergingList: [{name: 1, $patch: merge}]}"),
            "merging lists cannot yet be specified in the patch");
  EXPECT_EQ(mergeRefused("{mergingList: [{name: 1}]}", "{mergingList: [{name: 1, $patch: x}]}"),
            R"(unknown patch type: x in map: {"$patch":"x","name":1})");
  EXPECT_EQ(mergeRefused("{mergingList: [{name: 1}]}", "{mergingList: [1]}"),
            R"(list element types are not identical: [[{"name":1}],[1]])");
  EXPECT_EQ(mergeRefused("{mergingIntList: [[1]]}", "{mergingIntList: [[2]]}"),
            "lists of lists are not supported");
  EXPECT_EQ(mergeRefused("{mergingIntList: [1]}", "{mergingIntList: [null]}"),
            "a merged list must not contain null");
  EXPECT_EQ(mergeRefused("{unknown: [1]}", "{unknown: [2]}"),
            R"(unable to find api field in struct Item for the json field "unknown")");
  EXPECT_EQ(mergeRefused("{unknown: {a: 1}}", "{unknown: {a: 2}}"),
            R"(unable to find api field in struct Item for the json field "unknown")");
  EXPECT_EQ(mergeRefused("{name: [1]}", "{name: [2]}"),
            "Item.name: found a list, which this field does not take");
  EXPECT_EQ(mergeRefused("{mergingList: {a: 1}}", "{mergingList: {a: 2}}"),
            "Item.mergingList: found an object, which this field does not take");
  EXPECT_EQ(mergeRefused("[]", "{}"),
            "invalid JSON document: the object must be a JSON object, found array");
  EXPECT_EQ(mergeRefused("{}", "text"),
            "invalid JSON document: the patch must be a JSON object, found string");
}

TEST(StrategicApplyTest, ListsOfScalarsAreUnited) {
  checkMerges({
      {"each once", "{mergingIntList: [1, 2]}", "{mergingIntList: [2, 3]}",
       "{mergingIntList: [1, 2, 3]}"},
      {"in the patch's order", "{mergingIntList: [1, 2, 3]}", "{mergingIntList: [3, 1]}",
       "{mergingIntList: [2, 3, 1]}"},
      {"delete", "{mergingIntList: [1, 2, 3]}", "{$deleteFromPrimitiveList/mergingIntList: [2]}",
       "{mergingIntList: [1, 3]}"},
      {"delete and add", "{mergingIntList: [1, 2, 3]}",
       "{$deleteFromPrimitiveList/mergingIntList: [1, 3], mergingIntList: [4]}",
       "{mergingIntList: [4, 2]}"},
      {"delete what is not there", "{mergingIntList: [1]}",
       "{$deleteFromPrimitiveList/mergingIntList: [3]}", "{mergingIntList: [1]}"},
      {"delete from nothing", "{mergingIntList: null}",
       "{$deleteFromPrimitiveList/mergingIntList: [3]}", "{mergingIntList: null}"},
      {"delete from a list that is not there", "{name: a}",
       "{$deleteFromPrimitiveList/mergingIntList: [3]}", "{name: a}"},
      {"delete from a list that is otherwise replaced", "{nonMergingIntList: [1, 2]}",
       "{$deleteFromPrimitiveList/nonMergingIntList: [2]}", "{nonMergingIntList: [1]}"},
  });
  EXPECT_EQ(mergeRefused("{}", "{$deleteFromPrimitiveList: [1]}"),
            "invalid patch format of deleteFromPrimitiveList list: expected "
            "\"$deleteFromPrimitiveList/<field>\", found \"$deleteFromPrimitiveList\"");
  EXPECT_EQ(mergeRefused("{mergingList: [{name: 1}]}",
                         "{$deleteFromPrimitiveList/mergingList: [{name: 1}]}"),
            "invalid patch format of primitive list: $deleteFromPrimitiveList/mergingList is for a "
            "list of objects");
}

TEST(StrategicApplyTest, RetainKeysDeletesTheOthers) {
  checkMerges({
      {"and adds", "{retainKeysMap: {name: a, value: b}}",
       "{retainKeysMap: {$retainKeys: [name, other], other: c}}",
       "{retainKeysMap: {name: a, other: c}}"},
      {"only", "{retainKeysMap: {name: a, value: b}}", "{retainKeysMap: {$retainKeys: [name]}}",
       "{retainKeysMap: {name: a}}"},
      {"without it, nothing is deleted", "{retainKeysMap: {name: a}}",
       "{retainKeysMap: {value: b}}", "{retainKeysMap: {name: a, value: b}}"},
      {"in a list", "{retainKeysMergingList: [{name: a, value: b}, {name: c}]}",
       "{retainKeysMergingList: [{name: a, other: d, $retainKeys: [name, other]}]}",
       "{retainKeysMergingList: [{name: a, other: d}, {name: c}]}"},
      {"with lists inside", "{retainKeysMap: {name: a, mergingIntList: [1, 2], simpleMap: {a: b}}}",
       "{retainKeysMap: {$retainKeys: [mergingIntList, name], "
       "$deleteFromPrimitiveList/mergingIntList: [1], $setElementOrder/mergingIntList: [3, 2], "
       "mergingIntList: [3]}}",
       "{retainKeysMap: {name: a, mergingIntList: [3, 2]}}"},
  });
  EXPECT_EQ(mergeRefused("{retainKeysMap: {}}", "{retainKeysMap: {$retainKeys: name}}"),
            "invalid patch format of retainKeys: expected a list of names");
  EXPECT_EQ(
      mergeRefused("{retainKeysMap: {}}", "{retainKeysMap: {$retainKeys: [name], value: a}}"),
      "invalid patch format of retainKeys: the patch sets \"value\", which is not in the list");
}

TEST(StrategicApplyTest, SetElementOrderOrdersAndKeepsTheServersElements) {
  checkMerges({
      {"only the order", "{mergingList: [{name: 1}, {name: 2}, {name: 3}]}",
       "{$setElementOrder/mergingList: [{name: 3}, {name: 1}, {name: 2}]}",
       "{mergingList: [{name: 3}, {name: 1}, {name: 2}]}"},
      {"scalars", "{mergingIntList: [1, 2, 3]}", "{$setElementOrder/mergingIntList: [3, 1, 2]}",
       "{mergingIntList: [3, 1, 2]}"},
      {"elements in the order that are nowhere", "{mergingList: [{name: 1}, {name: 3}]}",
       "{$setElementOrder/mergingList: [{name: 3}, {name: 2}, {name: 1}], "
       "mergingList: [{name: 3, value: c}, {name: 1, value: a}]}",
       "{mergingList: [{name: 3, value: c}, {name: 1, value: a}]}"},
      {"added at its place", "{mergingList: [{name: 1}, {name: 3}]}",
       "{$setElementOrder/mergingList: [{name: 1}, {name: 2}, {name: 3}], mergingList: [{name: "
       "2}]}",
       "{mergingList: [{name: 1}, {name: 2}, {name: 3}]}"},
      {"server's elements stay between their neighbours",
       "{mergingList: [{name: 1}, {name: x}, {name: 2}, {name: y}]}",
       "{$setElementOrder/mergingList: [{name: 1}, {name: 2}], "
       "mergingList: [{name: 2, value: b}]}",
       "{mergingList: [{name: 1}, {name: x}, {name: 2, value: b}, {name: y}]}"},
      {"also when the order turns", "{mergingList: [{name: 1}, {name: x}, {name: 2}]}",
       "{$setElementOrder/mergingList: [{name: 2}, {name: 1}]}",
       "{mergingList: [{name: x}, {name: 2}, {name: 1}]}"},
      {"delete, add and a server's element",
       "{mergingList: [{name: 1}, {name: 2, other: b}, {name: 4, other: c}]}",
       "{$setElementOrder/mergingList: [{name: 2}, {name: 3}], "
       "mergingList: [{name: 3}, {name: 1, $patch: delete}]}",
       "{mergingList: [{name: 2, other: b}, {name: 4, other: c}, {name: 3}]}"},
      {"a list that was not there", "{}",
       "{$setElementOrder/mergingList: [{name: 2}, {name: 1}], mergingList: [{name: 2}, {name: "
       "1}]}",
       "{mergingList: [{name: 2}, {name: 1}]}"},
      {"no list at all", "{name: a}", "{$setElementOrder/mergingList: [{name: 2}]}", "{name: a}"},
      {"two lists at once",
       "{mergingList: [{name: 1}, {name: 2}], secondList: [{name: 1}, {name: 2}]}",
       "{$setElementOrder/mergingList: [{name: 2}], $setElementOrder/secondList: [{name: 2}, "
       "{name: 1}], mergingList: [{name: 1, $patch: delete}]}",
       "{mergingList: [{name: 2}], secondList: [{name: 2}, {name: 1}]}"},
      {"scalars deleted, added, ordered", "{mergingIntList: [1, 2, 3, 9]}",
       "{$setElementOrder/mergingIntList: [4, 2], $deleteFromPrimitiveList/mergingIntList: [1, 3], "
       "mergingIntList: [4]}",
       "{mergingIntList: [4, 2, 9]}"},
  });
}

TEST(StrategicApplyTest, AnOrderThatContradictsTheListIsAnError) {
  EXPECT_NE(mergeRefused("{mergingList: [{name: 1}, {name: 3}]}",
                         "{$setElementOrder/mergingList: [{name: 1}, {name: 3}], "
                         "mergingList: [{name: 3, value: c}, {name: 1, value: a}]}")
                .find("doesn't match $setElementOrder list:"),
            std::string::npos);
  EXPECT_NE(mergeRefused("{mergingIntList: [1, 3]}",
                         "{$setElementOrder/mergingIntList: [1, 2], mergingIntList: [3]}")
                .find("doesn't match $setElementOrder list:"),
            std::string::npos);
  EXPECT_EQ(mergeRefused("{mergingList: []}", "{$setElementOrder/mergingList: 1}"),
            "$setElementOrder/mergingList: expected a list, found integer");
  EXPECT_EQ(mergeRefused("{mergingList: [{name: 1}]}",
                         "{$setElementOrder/mergingList: [{name: 1}], mergingList: text}"),
            "mergingList: expected a list, found string");
  EXPECT_EQ(mergeRefused("{mergingList: []}", "{$setElementOrder: []}"),
            "invalid patch format of setElementOrder list: expected \"$setElementOrder/<field>\", "
            "found \"$setElementOrder\"");
  EXPECT_EQ(
      mergeRefused("{mergingList: [{name: 1}]}", "{$setElementOrder/mergingList: [{value: 1}]}"),
      R"(map: {"value":1} does not contain declared merge key: name)");
}

TEST(StrategicApplyTest, InputsAreNotChanged) {
  const Value original = parseYaml("{mergingList: [{name: 1, simpleMap: {a: b}}], name: x}");
  const Value patch = parseYaml("{mergingList: [{name: 1, simpleMap: {a: c}}], name: null}");
  const std::string originalText = toJson(original);
  const std::string patchText = toJson(patch);
  applyStrategicMergePatch(original, patch, mergetypes::kItem);
  EXPECT_EQ(toJson(original), originalText);
  EXPECT_EQ(toJson(patch), patchText);
}

TEST(StrategicApplyTest, CustomResourcesWithoutTypeHaveNone) {
  try {
    applyStrategicMergePatch(parseJson("{}"), parseJson("{}"), TypeOf<Unstructured>::info);
    FAIL();
  } catch (const PatchError& error) {
    EXPECT_NE(std::string(error.what()).find("strategic merge patch format is not supported"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace kube
