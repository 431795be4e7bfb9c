#include "kube/codec/patch/merge_patch.h"

#include <gtest/gtest.h>

#include <string>

#include "kube/codec/json.h"
#include "kube/codec/patch/patch_error.h"

namespace kube {
namespace {

std::string merged(std::string_view document, std::string_view patch) {
  return toJson(applyMergePatch(parseJson(document), parseJson(patch)));
}

TEST(MergePatchTest, AppliesAsInTheRfc) {
  struct Case {
    const char *document, *patch, *result;
  };
  for (const Case& c : {
           Case{R"({"a":"b"})", R"({"a":"c"})", R"({"a":"c"})"},
           Case{R"({"a":"b"})", R"({"b":"c"})", R"({"a":"b","b":"c"})"},
           Case{R"({"a":"b"})", R"({"a":null})", "{}"},
           Case{R"({"a":"b","b":"c"})", R"({"a":null})", R"({"b":"c"})"},
           Case{R"({"a":["b"]})", R"({"a":"c"})", R"({"a":"c"})"},
           Case{R"({"a":"c"})", R"({"a":["b"]})", R"({"a":["b"]})"},
           Case{R"({"a":{"b":"c"}})", R"({"a":{"b":"d","c":null}})", R"({"a":{"b":"d"}})"},
           Case{R"({"a":[{"b":"c"}]})", R"({"a":[1]})", R"({"a":[1]})"},
           Case{R"(["a","b"])", R"(["c","d"])", R"(["c","d"])"},
           Case{R"({"a":"b"})", R"(["c"])", R"(["c"])"},
           Case{R"({"a":"foo"})", "null", "null"},
           Case{R"({"a":"foo"})", R"("bar")", R"("bar")"},
           Case{R"({"e":null})", R"({"a":1})", R"({"a":1,"e":null})"},
           Case{"[1,2]", R"({"a":"b","c":null})", R"({"a":"b"})"},
           Case{"{}", R"({"a":{"bb":{"ccc":null}}})", R"({"a":{"bb":{}}})"},
       }) {
    EXPECT_EQ(merged(c.document, c.patch), c.result) << c.document << ' ' << c.patch;
  }
}

TEST(MergePatchTest, CreatesThePatchOfDifferences) {
  const auto created = [](std::string_view original, std::string_view modified) {
    const Value before = parseJson(original);
    const Value after = parseJson(modified);
    const Value patch = createMergePatch(before, after);
    EXPECT_EQ(applyMergePatch(before, patch), after);
    return toJson(patch);
  };
  EXPECT_EQ(created(R"({"a":1})", R"({"a":1})"), "{}");
  EXPECT_EQ(created(R"({"a":1,"b":{"c":1,"d":2}})", R"({"b":{"c":2},"e":{}})"),
            R"({"a":null,"b":{"c":2,"d":null},"e":{}})");
  EXPECT_EQ(created(R"({"a":[1,2]})", R"({"a":[2,1]})"), R"({"a":[2,1]})");
  EXPECT_EQ(created(R"({"a":{"b":1}})", R"({"a":{}})"), R"({"a":{"b":null}})");
  EXPECT_EQ(created(R"({"a":{"b":1}})", R"({"a":[]})"), R"({"a":[]})");
  EXPECT_EQ(created(R"({"a":1})", R"({"a":{"b":1}})"), R"({"a":{"b":1}})");
  EXPECT_EQ(created(R"({"a":1})", "[1]"), "[1]");
  EXPECT_EQ(created("1", R"({"a":1})"), R"({"a":1})");
}

std::string threeWay(std::string_view original, std::string_view modified, std::string_view current,
                     const PatchPreconditions& preconditions = {}) {
  return toJson(createThreeWayJsonMergePatch(parseJson(original), parseJson(modified),
                                             parseJson(current), preconditions));
}

TEST(MergePatchTest, ThreeWayKeepsAdditionsOfOthers) {
  EXPECT_EQ(threeWay(R"({"a":1,"b":2})", R"({"a":3})", R"({"a":1,"b":2,"server":9})"),
            R"({"a":3,"b":null})");
  EXPECT_EQ(threeWay("null", R"({"name":1,"value":1})", R"({"name":1,"other":"a"})"),
            R"({"value":1})");
  EXPECT_EQ(threeWay(R"({"m":{"x":1,"y":2}})", R"({"m":{"x":1}})", R"({"m":{"x":1,"y":2,"z":3}})"),
            R"({"m":{"y":null}})");
  // Empty objects are values; those that became empty here are not.
  EXPECT_EQ(threeWay("{}", R"({"m":{}})", "{}"), R"({"m":{}})");
  EXPECT_EQ(threeWay(R"({"m":{"a":1}})", R"({"m":{"a":1}})", R"({"m":{"a":1,"b":2}})"), "{}");
  EXPECT_EQ(threeWay(R"({"l":[1,2]})", R"({"l":[1]})", R"({"l":[1,2,3]})"), R"({"l":[1]})");
  EXPECT_EQ(threeWay(R"({"a":1})", "{}", R"({"b":1})"), R"({"a":null})");
  EXPECT_THROW(threeWay("[]", "{}", "{}"), PatchError);
}

TEST(MergePatchTest, PreconditionsAreChecked) {
  const PatchPreconditions fixed = {requireKeyUnchanged("kind"),
                                    requireMetadataKeyUnchanged("name")};
  EXPECT_EQ(threeWay("{}", R"({"metadata":{"labels":{"a":"b"}}})", R"({"metadata":{}})", fixed),
            R"({"metadata":{"labels":{"a":"b"}}})");
  for (const char* modified : {R"({"kind":"B"})", R"({"kind":"A","metadata":{"name":"n"}})"}) {
    try {
      threeWay(R"({"kind":"A"})", modified, R"({"kind":"A"})", fixed);
      ADD_FAILURE() << modified;
    } catch (const PatchError& error) {
      EXPECT_EQ(error.reason(), PatchError::Reason::Precondition);
      EXPECT_EQ(std::string(error.what()).find("precondition failed for: {"), 0) << error.what();
    }
  }
}

TEST(MergePatchTest, ConflictsAreDifferentValuesForOneThing) {
  const auto conflict = [](std::string_view a, std::string_view b) {
    const bool result = hasConflicts(parseJson(a), parseJson(b));
    EXPECT_EQ(hasConflicts(parseJson(b), parseJson(a)), result);
    return result;
  };
  EXPECT_FALSE(conflict(R"("hello")", R"("hello")"));
  EXPECT_TRUE(conflict(R"("hello")", R"("hell")"));
  EXPECT_TRUE(conflict(R"("hello")", "null"));
  EXPECT_TRUE(conflict(R"("true")", "true"));
  EXPECT_TRUE(conflict("0", "false"));
  EXPECT_FALSE(conflict("null", "null"));
  EXPECT_FALSE(conflict("[]", "[]"));
  EXPECT_TRUE(conflict("[1]", "[]"));
  EXPECT_TRUE(conflict("{}", "[1]"));
  EXPECT_FALSE(conflict("{}", R"({"a":1})"));
  EXPECT_FALSE(conflict(R"({"a":1})", R"({"b":2})"));
  EXPECT_TRUE(conflict(R"({"a":1,"b":2})", R"({"a":1,"b":0})"));
  EXPECT_FALSE(conflict(R"({"a":1,"b":2})", R"({"a":1,"b":2,"c":3})"));
  EXPECT_TRUE(conflict(R"({"a":[1,2]})", R"({"a":[1,0]})"));
  EXPECT_FALSE(conflict(R"({"a":[{"x":1}]})", R"({"a":[{"y":1}]})"));
}

}  // namespace
}  // namespace kube
