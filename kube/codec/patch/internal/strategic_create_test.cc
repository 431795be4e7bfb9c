// Creates strategic merge patches: between two objects, and among three.
#include <gtest/gtest.h>

#include <string>

#include "kube/codec/json.h"
#include "kube/codec/patch/internal/merge_types_testing.h"
#include "kube/codec/patch/patch_error.h"
#include "kube/codec/patch/strategic_merge.h"
#include "kube/codec/yaml.h"

namespace kube {
namespace {

struct TwoWay {
  const char *why, *original, *modified, *patch;
};
void check(std::initializer_list<TwoWay> cases) {
  for (const TwoWay& c : cases) {
    const Value original = parseYaml(c.original);
    const Value modified = parseYaml(c.modified);
    try {
      const Value patch = createStrategicMergePatch(original, modified, mergetypes::kItem);
      EXPECT_EQ(toJson(patch), mergetypes::asJson(c.patch)) << c.why;
      EXPECT_EQ(toJson(applyStrategicMergePatch(original, patch, mergetypes::kItem)),
                toJson(modified))
          << c.why;
    } catch (const Error& error) {
      ADD_FAILURE() << c.why << ": " << error.what();
    }
  }
}

TEST(StrategicCreateTest, ObjectsAndMaps) {
  check({
      {"nothing", "{name: a, item: {value: b}}", "{name: a, item: {value: b}}", "{}"},
      {"from nothing", "null", "{name: a}", "{name: a}"},
      {"add, change, delete", "{name: a, value: b}", "{value: c, other: d}",
       "{name: null, value: c, other: d}"},
      {"deep", "{item: {item: {name: a, value: b}, name: x}}", "{item: {item: {name: a}, name: x}}",
       "{item: {item: {value: null}}}"},
      {"a map", "{simpleMap: {a: x, b: y}}", "{simpleMap: {b: z, c: w}}",
       "{simpleMap: {a: null, b: z, c: w}}"},
      {"free form is replaced", "{jsonItem: {a: 1, b: 2}}", "{jsonItem: {a: 1}}",
       "{jsonItem: {a: 1}}"},
      {"so is what has that strategy", "{replacingMap: {name: a, value: b}}",
       "{replacingMap: {name: a}}", "{replacingMap: {name: a}}"},
      {"another type", "{item: {name: a}}", "{item: [1]}", "{item: [1]}"},
      {"unknown fields that stay", "{unknown: {a: 1}, list: [1], name: x}",
       "{unknown: {a: 1}, list: [1]}", "{name: null}"},
  });
}

TEST(StrategicCreateTest, Lists) {
  check({
      {"objects without strategy", "{nonMergingList: [{name: a}]}", "{nonMergingList: [{name: b}]}",
       "{nonMergingList: [{name: b}]}"},
      {"change an element", "{mergingList: [{name: 1, value: a}, {name: 2}]}",
       "{mergingList: [{name: 1, value: b}, {name: 2}]}",
       "{$setElementOrder/mergingList: [{name: 1}, {name: 2}], mergingList: [{name: 1, value: "
       "b}]}"},
      {"add and delete", "{mergingList: [{name: 1}, {name: 2}]}",
       "{mergingList: [{name: 2}, {name: 3, value: x}]}",
       "{$setElementOrder/mergingList: [{name: 2}, {name: 3}], "
       "mergingList: [{name: 3, value: x}, {name: 1, $patch: delete}]}"},
      {"delete all", "{mergingList: [{name: 1}]}", "{mergingList: []}",
       "{mergingList: [{name: 1, $patch: delete}]}"},
      {"fill an empty one", "{mergingList: []}", "{mergingList: [{name: 1}]}",
       "{mergingList: [{name: 1}]}"},
      {"reorder", "{mergingList: [{name: 1}, {name: 2}]}", "{mergingList: [{name: 2}, {name: 1}]}",
       "{$setElementOrder/mergingList: [{name: 2}, {name: 1}]}"},
      {"changes come in the new order", "{mergingList: [{name: 1}, {name: 2}, {name: 3}]}",
       "{mergingList: [{name: 3, value: c}, {name: 1, value: a}, {name: 2}]}",
       "{$setElementOrder/mergingList: [{name: 3}, {name: 1}, {name: 2}], "
       "mergingList: [{name: 3, value: c}, {name: 1, value: a}]}"},
      {"nested", "{mergingList: [{name: 1, mergingList: [{name: x, value: a}, {name: y}]}]}",
       "{mergingList: [{name: 1, mergingList: [{name: x, value: b}, {name: y}]}]}",
       "{$setElementOrder/mergingList: [{name: 1}], mergingList: [{name: 1, "
       "$setElementOrder/mergingList: [{name: x}, {name: y}], "
       "mergingList: [{name: x, value: b}]}]}"},
      {"scalars", "{mergingIntList: [1, 2, 3]}", "{mergingIntList: [4, 2]}",
       "{$setElementOrder/mergingIntList: [4, 2], $deleteFromPrimitiveList/mergingIntList: [1, 3], "
       "mergingIntList: [4]}"},
      {"reordered scalars", "{mergingIntList: [1, 2]}", "{mergingIntList: [2, 1]}",
       "{$setElementOrder/mergingIntList: [2, 1]}"},
      {"unsorted scalars that stay", "{mergingIntList: [3, 1, 2], name: a}",
       "{mergingIntList: [3, 1, 2]}", "{name: null}"},
      {"scalars without strategy", "{nonMergingIntList: [1, 2]}", "{nonMergingIntList: [2]}",
       "{nonMergingIntList: [2]}"},
  });
  EXPECT_THROW(
      createStrategicMergePatch(parseYaml("{mergingList: [{value: a}]}"),
                                parseYaml("{mergingList: [{value: b}]}"), mergetypes::kItem),
      PatchError);
  EXPECT_THROW(createStrategicMergePatch(parseYaml("{unknown: {a: 1}}"),
                                         parseYaml("{unknown: {a: 2}}"), mergetypes::kItem),
               PatchError);
}

TEST(StrategicCreateTest, RetainKeys) {
  check({
      {"change", "{retainKeysMap: {name: a}}", "{retainKeysMap: {name: a, value: b}}",
       "{retainKeysMap: {$retainKeys: [name, value], value: b}}"},
      {"delete", "{retainKeysMap: {name: a, value: b}}", "{retainKeysMap: {name: a}}",
       "{retainKeysMap: {$retainKeys: [name], value: null}}"},
      {"nothing", "{retainKeysMap: {name: a}, name: x}", "{retainKeysMap: {name: a}}",
       "{name: null}"},
      {"in a list", "{retainKeysMergingList: [{name: a, value: b}]}",
       "{retainKeysMergingList: [{name: a, other: c}]}",
       "{$setElementOrder/retainKeysMergingList: [{name: a}], retainKeysMergingList: [{name: a, "
       "$retainKeys: [name, other], other: c, value: null}]}"},
  });
}

struct ThreeWay {
  const char *why, *original, *modified, *current, *patch, *result;
  bool conflict = false;
};
void check(std::initializer_list<ThreeWay> cases) {
  for (const ThreeWay& c : cases) {
    const Value original = parseYaml(c.original);
    const Value modified = parseYaml(c.modified);
    const Value current = parseYaml(c.current);
    try {
      const Value patch =
          createThreeWayStrategicMergePatch(original, modified, current, mergetypes::kItem);
      EXPECT_EQ(toJson(patch), mergetypes::asJson(c.patch)) << c.why;
      EXPECT_EQ(toJson(applyStrategicMergePatch(current, patch, mergetypes::kItem)),
                mergetypes::asJson(c.result))
          << c.why;
    } catch (const Error& error) {
      ADD_FAILURE() << c.why << ": " << error.what();
    }
    bool conflict = false;
    try {
      createThreeWayStrategicMergePatch(original, modified, current, mergetypes::kItem,
                                        {.overwrite = false});
    } catch (const PatchError& error) {
      conflict = error.reason() == PatchError::Reason::Conflict;
      EXPECT_TRUE(conflict) << c.why << ": " << error.what();
    }
    EXPECT_EQ(conflict, c.conflict) << c.why;
  }
}

TEST(StrategicCreateTest, ThreeWayKeepsChangesOfOthers) {
  check({
      {"first time", "null", "{name: 1, value: 1}", "{name: 1, other: a}", "{value: 1}",
       "{name: 1, value: 1, other: a}"},
      {"nothing to do", "{name: 1}", "{name: 1}", "{name: 1, other: a}", "{}",
       "{name: 1, other: a}"},
      {"delete what I had", "{name: 1, value: 2}", "{name: 1}", "{name: 1, value: 2, other: a}",
       "{value: null}", "{name: 1, other: a}"},
      {"deleted already", "{name: 1, value: 2}", "{name: 1}", "{name: 1, other: a}",
       "{value: null}", "{name: 1, other: a}"},
      {"mine again", "{name: 1}", "{name: 1}", "{name: 2}", "{name: 1}", "{name: 1}", true},
      {"both changed it alike", "{name: 1}", "{name: 2}", "{name: 2}", "{}", "{name: 2}"},
      {"both changed it", "{name: 1}", "{name: 2}", "{name: 3}", "{name: 2}", "{name: 2}", true},
      {"I delete what another changed", "{name: 1}", "{}", "{name: 3}", "{name: null}", "{}", true},
      {"maps", "{simpleMap: {a: 1, b: 2}}", "{simpleMap: {a: 3}}",
       "{simpleMap: {a: 1, b: 2, c: 3}}", "{simpleMap: {a: 3, b: null}}",
       "{simpleMap: {a: 3, c: 3}}"},
  });
}

TEST(StrategicCreateTest, ThreeWayLists) {
  check({
      {"others' elements stay", "{mergingList: [{name: 1}, {name: 2}]}",
       "{mergingList: [{name: 2}, {name: 3}]}",
       "{mergingList: [{name: 1}, {name: 2, other: b}, {name: 4, other: c}]}",
       "{$setElementOrder/mergingList: [{name: 2}, {name: 3}], "
       "mergingList: [{name: 3}, {name: 1, $patch: delete}]}",
       "{mergingList: [{name: 2, other: b}, {name: 4, other: c}, {name: 3}]}"},
      {"an element changed by both", "{mergingList: [{name: 1, value: a}]}",
       "{mergingList: [{name: 1, value: b}]}", "{mergingList: [{name: 1, value: c}]}",
       "{$setElementOrder/mergingList: [{name: 1}], mergingList: [{name: 1, value: b}]}",
       "{mergingList: [{name: 1, value: b}]}", true},
      {"elements of different names", "{mergingList: [{name: 1, value: a}]}",
       "{mergingList: [{name: 1, value: b}]}",
       "{mergingList: [{name: 1, value: a}, {name: 2, value: c}]}",
       "{$setElementOrder/mergingList: [{name: 1}], mergingList: [{name: 1, value: b}]}",
       "{mergingList: [{name: 1, value: b}, {name: 2, value: c}]}"},
      {"deleted by me, changed by another", "{mergingList: [{name: 1}, {name: 2}]}",
       "{mergingList: [{name: 2}]}", "{mergingList: [{name: 1, other: x}, {name: 2}]}",
       "{$setElementOrder/mergingList: [{name: 2}], mergingList: [{name: 1, $patch: delete}]}",
       "{mergingList: [{name: 2}]}", true},
      {"scalars", "{mergingIntList: [1, 2, 3]}", "{mergingIntList: [1, 4]}",
       "{mergingIntList: [1, 2, 3, 5]}",
       "{$setElementOrder/mergingIntList: [1, 4], $deleteFromPrimitiveList/mergingIntList: [2, 3], "
       "mergingIntList: [4]}",
       "{mergingIntList: [1, 4, 5]}"},
      {"scalars that both deleted", "{mergingIntList: [1, 2]}", "{mergingIntList: [1]}",
       "{mergingIntList: [1]}",
       "{$setElementOrder/mergingIntList: [1], $deleteFromPrimitiveList/mergingIntList: [2]}",
       "{mergingIntList: [1]}"},
      {"a replaced list", "{nonMergingIntList: [1]}", "{nonMergingIntList: [1, 2]}",
       "{nonMergingIntList: [1, 3]}", "{nonMergingIntList: [1, 2]}", "{nonMergingIntList: [1, 2]}",
       true},
      {"retained keys", "{retainKeysMap: {name: a, value: b}}",
       "{retainKeysMap: {name: a, other: c}}",
       "{retainKeysMap: {name: a, value: b, simpleMap: {x: y}}}",
       "{retainKeysMap: {$retainKeys: [name, other], other: c, value: null}}",
       "{retainKeysMap: {name: a, other: c}}"},
  });
}

TEST(StrategicCreateTest, AConflictTellsBothSides) {
  try {
    createThreeWayStrategicMergePatch(parseYaml("{name: 1}"), parseYaml("{name: 2}"),
                                      parseYaml("{name: 3}"), mergetypes::kItem,
                                      {.overwrite = false});
    FAIL();
  } catch (const PatchError& error) {
    EXPECT_STREQ(error.what(),
                 "patch:\nname: 2\n\nconflicts with changes made from original to "
                 "current:\nname: 3\n\n");
  }
}

TEST(StrategicCreateTest, PreconditionsAreChecked) {
  const PatchPreconditions fixed = {requireKeyUnchanged("name")};
  EXPECT_NO_THROW(createStrategicMergePatch(
      parseYaml("{name: 1}"), parseYaml("{name: 1, value: 2}"), mergetypes::kItem, fixed));
  EXPECT_THROW(createStrategicMergePatch(parseYaml("{name: 1}"), parseYaml("{name: 2}"),
                                         mergetypes::kItem, fixed),
               PatchError);
  EXPECT_THROW(createThreeWayStrategicMergePatch(parseYaml("{name: 1}"), parseYaml("{name: 2}"),
                                                 parseYaml("{name: 1}"), mergetypes::kItem,
                                                 {.preconditions = fixed}),
               PatchError);
}

TEST(StrategicCreateTest, ConflictsOfTwoPatches) {
  const auto conflict = [](std::string_view a, std::string_view b) {
    const bool result = hasConflicts(parseYaml(a), parseYaml(b), mergetypes::kItem);
    EXPECT_EQ(hasConflicts(parseYaml(b), parseYaml(a), mergetypes::kItem), result) << a << ' ' << b;
    return result;
  };
  EXPECT_FALSE(conflict("{name: a}", "{value: b}"));
  EXPECT_FALSE(conflict("{name: a}", "{name: a}"));
  EXPECT_TRUE(conflict("{name: a}", "{name: b}"));
  EXPECT_TRUE(conflict("{name: a}", "{name: null}"));
  EXPECT_TRUE(conflict("{item: {}}", "{item: []}"));
  EXPECT_TRUE(conflict("{item: {$patch: delete}}", "{item: {name: a}}"));
  EXPECT_TRUE(conflict("{item: {$patch: delete}}", "{item: {$patch: replace}}"));
  EXPECT_FALSE(conflict("{item: {$patch: delete}}", "{item: {$patch: delete}}"));
  EXPECT_FALSE(
      conflict("{retainKeysMap: {$retainKeys: [a]}}", "{retainKeysMap: {$retainKeys: [b]}}"));
  EXPECT_FALSE(conflict("{mergingIntList: [1]}", "{mergingIntList: [2]}"));
  EXPECT_TRUE(conflict("{nonMergingIntList: [1]}", "{nonMergingIntList: [2]}"));
  EXPECT_FALSE(conflict("{nonMergingIntList: [1, 2]}", "{nonMergingIntList: [2, 1]}"));
  EXPECT_FALSE(conflict("{mergingList: [{name: 1}]}", "{mergingList: [{name: 2}]}"));
  EXPECT_TRUE(
      conflict("{mergingList: [{name: 1, value: a}]}", "{mergingList: [{name: 1, value: b}]}"));
  EXPECT_FALSE(
      conflict("{mergingList: [{name: 1, value: a}]}", "{mergingList: [{name: 1, other: b}]}"));
  EXPECT_TRUE(conflict("{nonMergingList: [{name: 1}]}", "{nonMergingList: [{name: 2}]}"));
  EXPECT_FALSE(conflict("{$deleteFromPrimitiveList/mergingIntList: [1]}",
                        "{$deleteFromPrimitiveList/mergingIntList: [2]}"));
  EXPECT_TRUE(conflict("{$setElementOrder/mergingIntList: [1, 2]}",
                       "{$setElementOrder/mergingIntList: [2, 1]}"));
  EXPECT_FALSE(conflict("{mergingIntList: []}", "{mergingIntList: []}"));
}

}  // namespace
}  // namespace kube
