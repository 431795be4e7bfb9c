#include "kube/codec/patch/json_patch.h"

#include <gtest/gtest.h>

#include <string>

#include "kube/base/internal/error_of_testing.h"
#include "kube/codec/json.h"
#include "kube/codec/patch/patch_error.h"

namespace kube {
namespace {

using Reason = PatchError::Reason;

std::string applied(std::string_view document, std::string_view patch,
                    const JsonPatchLimits& limits = {}) {
  return toJson(JsonPatch::parse(patch).apply(parseJson(document), limits));
}

struct Refusal {
  Reason reason;
  std::string what;
};
Refusal refused(std::string_view document, std::string_view patch,
                const JsonPatchLimits& limits = {}) {
  try {
    applied(document, patch, limits);
  } catch (const PatchError& error) {
    return {error.reason(), error.what()};
  }
  ADD_FAILURE() << "applied: " << patch;
  return {};
}

TEST(JsonPatchTest, EachOperationFollowsTheRfc) {
  struct Case {
    const char *document, *patch, *result;
  };
  for (const Case& c : {
           Case{R"({"foo":"bar"})", R"([{"op":"add","path":"/baz","value":"qux"}])",
                R"({"baz":"qux","foo":"bar"})"},
           Case{R"({"foo":["bar","baz"]})", R"([{"op":"add","path":"/foo/1","value":"qux"}])",
                R"({"foo":["bar","qux","baz"]})"},
           Case{R"({"foo":["bar"]})", R"([{"op":"add","path":"/foo/-","value":["a","b"]}])",
                R"({"foo":["bar",["a","b"]]})"},
           Case{R"({"foo":["bar"]})", R"([{"op":"add","path":"/foo/1","value":1}])",
                R"({"foo":["bar",1]})"},
           Case{R"({"foo":1})", R"([{"op":"add","path":"/foo","value":null}])", R"({"foo":null})"},
           Case{R"({"baz":"qux","foo":"bar"})", R"([{"op":"remove","path":"/baz"}])",
                R"({"foo":"bar"})"},
           Case{R"({"foo":["a","b","c"]})", R"([{"op":"remove","path":"/foo/1"}])",
                R"({"foo":["a","c"]})"},
           Case{R"({"a":{"b":null}})", R"([{"op":"remove","path":"/a/b"}])", R"({"a":{}})"},
           Case{R"({"baz":"qux"})", R"([{"op":"replace","path":"/baz","value":"boo"}])",
                R"({"baz":"boo"})"},
           Case{R"([{"foo":["a","b"]}])", R"([{"op":"replace","path":"/0/foo/0","value":1}])",
                R"([{"foo":[1,"b"]}])"},
           Case{R"({"a":1})", R"([{"op":"replace","path":"","value":{"b":2}}])", R"({"b":2})"},
           Case{R"({"foo":{"bar":1,"waldo":2},"qux":{}})",
                R"([{"op":"move","from":"/foo/waldo","path":"/qux/thud"}])",
                R"({"foo":{"bar":1},"qux":{"thud":2}})"},
           Case{R"({"foo":["all","grass","cows","eat"]})",
                R"([{"op":"move","from":"/foo/1","path":"/foo/3"}])",
                R"({"foo":["all","cows","eat","grass"]})"},
           Case{R"({"foo":["bar"]})", R"([{"op":"copy","from":"/foo","path":"/foo/0"}])",
                R"({"foo":[["bar"],"bar"]})"},
           Case{R"({"a":{"b":[1]}})", R"([{"op":"copy","from":"/a/b","path":"/c"}])",
                R"({"a":{"b":[1]},"c":[1]})"},
           Case{R"({"a/b":{"m~n":1}})", R"([{"op":"test","path":"/a~1b/m~0n","value":1},
                {"op":"add","path":"/x","value":{"y":{"z":[]}}}])",
                R"({"a/b":{"m~n":1},"x":{"y":{"z":[]}}})"},
           Case{R"({"":1})", R"([{"op":"replace","path":"/","value":2}])", R"({"":2})"},
           Case{R"({"a":1})", "[]", R"({"a":1})"},
       }) {
    EXPECT_EQ(applied(c.document, c.patch), c.result) << c.patch;
  }
}

TEST(JsonPatchTest, NegativeIndicesCountFromTheEndAsInTheServer) {
  EXPECT_EQ(applied("[1,2,3]", R"([{"op":"remove","path":"/-2"}])"), "[1,3]");
  EXPECT_EQ(applied("[1,2,3]", R"([{"op":"replace","path":"/-1","value":9}])"), "[1,2,9]");
  EXPECT_EQ(applied("[]", R"([{"op":"add","path":"/-1","value":9}])"), "[9]");
  EXPECT_EQ(applied("[1,2]", R"([{"op":"add","path":"/-2","value":9}])"), "[1,9,2]");
  EXPECT_EQ(applied("[1,2]", R"([{"op":"add","path":"/-3","value":9}])"), "[9,1,2]");
  EXPECT_EQ(refused("[1,2]", R"([{"op":"add","path":"/-4","value":9}])").reason, Reason::Missing);
  EXPECT_EQ(refused("[1]", R"([{"op":"remove","path":"/-2"}])").reason, Reason::Missing);
}

TEST(JsonPatchTest, ReplacingOrCopyingAMissingMemberIsAsLenientAsInTheServer) {
  EXPECT_EQ(applied("{}", R"([{"op":"replace","path":"/a","value":1}])"), R"({"a":1})");
  EXPECT_EQ(applied("{}", R"([{"op":"copy","from":"/a","path":"/b"}])"), R"({"b":null})");
}

TEST(JsonPatchTest, AMissingPlaceIsAnErrorThatNamesTheOperation) {
  struct Case {
    const char *document, *patch, *what;
  };
  for (
      const Case& c : {
          Case{"{}", R"([{"op":"test","path":"/a","value":null},{"op":"remove","path":"/a"}])",
               R"(json patch: operation 1 (remove "/a"): the member "a" does not exist)"},
          Case{R"({"foo":"bar"})", R"([{"op":"add","path":"/baz/bat","value":1}])",
               R"(json patch: operation 0 (add "/baz/bat"): the member "baz" does not exist)"},
          Case{R"({"a":1})", R"([{"op":"add","path":"/a/b","value":1}])",
               R"(json patch: operation 0 (add "/a/b"): expected an object or array that has "b", )"
               "found integer"},
          Case{
              R"({"a":null})", R"([{"op":"replace","path":"/a/b/c","value":1}])",
              R"(json patch: operation 0 (replace "/a/b/c"): expected an object or array that has )"
              R"("b", found null)"},
          Case{
              R"({"a":[1]})", R"([{"op":"remove","path":"/a/1"}])",
              R"(json patch: operation 0 (remove "/a/1"): index 1 is outside of an array that takes )"
              "1 here"},
          Case{R"({"a":[]})", R"([{"op":"remove","path":"/a/-"}])",
               R"(json patch: operation 0 (remove "/a/-"): expected an array index, found "-")"},
          Case{R"({"a":[]})", R"([{"op":"add","path":"/a/x","value":1}])",
               R"(json patch: operation 0 (add "/a/x"): expected an array index, found "x")"},
          Case{R"({"a":[1,2,3,4]})", R"([{"op":"move","from":"/a/1","path":"/a/4"}])",
               R"(json patch: operation 0 (move from "/a/1" to "/a/4"): index 4 is outside of an )"
               "array that takes 4 here"},
          Case{R"({"a":{"b":1}})", R"([{"op":"move","from":"/a","path":"/a/c"}])",
               R"(json patch: operation 0 (move from "/a" to "/a/c"): the member "a" )"
               "does not exist"},
          Case{R"({"a":["b"]})", R"([{"op":"copy","from":"/a/0","path":"/a/6666666666666666666"}])",
               R"(json patch: operation 0 (copy from "/a/0" to "/a/6666666666666666666"): index )"
               "6666666666666666666 is outside of an array that takes 2 here"},
          Case{"{}", R"([{"op":"add","path":"","value":1}])",
               R"(json patch: operation 0 (add ""): the whole document can only be replaced or )"
               "tested: expected a path like /spec"},
      }) {
    const Refusal refusal = refused(c.document, c.patch);
    EXPECT_EQ(refusal.reason, Reason::Missing);
    EXPECT_EQ(refusal.what, c.what);
  }
  for (const char* patch :
       {R"([{"op":"remove","path":""}])", R"([{"op":"copy","from":"","path":"/a"}])",
        R"([{"op":"move","from":"","path":"/a"}])", R"([{"op":"replace","path":"/l/2","value":1}])",
        R"([{"op":"test","path":"/l/2","value":null}])",
        R"([{"op":"test","path":"/x/y","value":null}])"}) {
    EXPECT_EQ(refused(R"({"l":[1,2]})", patch).reason, Reason::Missing) << patch;
  }
}

TEST(JsonPatchTest, TestsCompareValues) {
  const char* document = R"({"s":"qux","l":["a",2],"n":null,"o":{},"e":[],"b":{"x":1,"y":[1,2]}})";
  for (const char* patch :
       {R"([{"op":"test","path":"/s","value":"qux"}])",
        R"([{"op":"test","path":"/l/1","value":2}])", R"([{"op":"test","path":"/n","value":null}])",
        R"([{"op":"test","path":"/gone","value":null}])", R"([{"op":"test","path":"/gone"}])",
        R"([{"op":"test","path":"/b","value":{"y":[1,2],"x":1}}])",
        R"([{"op":"test","path":"","value":{"s":"qux","l":["a",2],"n":null,"o":{},"e":[],
            "b":{"x":1,"y":[1,2]}}}])"}) {
    EXPECT_EQ(parseJson(applied(document, patch)), parseJson(document)) << patch;
  }
  for (const char* patch :
       {R"([{"op":"test","path":"/s","value":"bar"}])",
        R"([{"op":"test","path":"/s","value":null}])",
        R"([{"op":"test","path":"/l/1","value":"c"}])",
        R"([{"op":"test","path":"/gone","value":42}])",
        R"([{"op":"test","path":"/o","value":null}])",
        R"([{"op":"test","path":"/e","value":null}])", R"([{"op":"test","path":"/e"}])",
        R"([{"op":"test","path":"/b","value":{"x":1,"y":[2,1]}}])",
        R"([{"op":"test","path":"/b/x","value":1.5}])"}) {
    const Refusal refusal = refused(document, patch);
    EXPECT_EQ(refusal.reason, Reason::TestFailed) << patch;
    EXPECT_NE(refusal.what.find("test failed"), std::string::npos) << refusal.what;
  }
}

TEST(JsonPatchTest, AFailureChangesNothing) {
  const Value document = parseJson(R"({"a":{"b":[1,2]}})");
  const Value copy = parseJson(toJson(document));
  const auto patch = JsonPatch::parse(
      R"([{"op":"add","path":"/a/b/0","value":0},{"op":"remove","path":"/a/b/1"},
          {"op":"test","path":"/a/b","value":"never"}])");
  EXPECT_THROW(patch.apply(document), PatchError);
  EXPECT_EQ(document, copy);
  JsonPatch fine = patch;
  fine.operations.pop_back();
  EXPECT_EQ(toJson(fine.apply(document)), R"({"a":{"b":[0,2]}})");
  EXPECT_EQ(document, copy);
}

TEST(JsonPatchTest, TextThatIsNoPatchIsAnErrorThatNamesTheOperation) {
  const auto error = [](std::string_view text) { return errorOf([&] { JsonPatch::parse(text); }); };
  EXPECT_EQ(error(R"({"op":"add"})"), "json patch: expected an array of operations, found object");
  EXPECT_EQ(error("[1]"), "json patch: [0]: expected an operation, found integer");
  EXPECT_EQ(error(R"([{"op":"remove","path":"/a"},{"path":"/a"}])"),
            "json patch: [1].op: missing: expected a string");
  EXPECT_EQ(error(R"([{"op":null,"path":""}])"),
            "json patch: [0].op: expected a string, found null");
  EXPECT_EQ(error(R"([{"op":"delete","path":""}])"),
            "json patch: [0].op: expected add, remove, replace, move, copy or test, found "
            "\"delete\"");
  EXPECT_EQ(error(R"([{"op":"add","pathz":"/a","value":1}])"),
            "json patch: [0].path: missing: expected a string");
  EXPECT_EQ(error(R"([{"op":"add","path":"a","value":1}])"),
            "json patch: [0].path: expected a slash at the start, as in /metadata/name");
  EXPECT_EQ(error(R"([{"op":"add","path":"/a"}])"), "json patch: [0].value: missing");
  EXPECT_EQ(error(R"([{"op":"copy","path":"/a"}])"),
            "json patch: [0].from: missing: expected a string");
  EXPECT_NE(error("[{").find("json: "), std::string::npos);
}

TEST(JsonPatchTest, OperationsAreLimited) {
  std::string many = "[";
  for (int i = 0; i < 10'001; ++i) {
    many += std::string(i == 0 ? "" : ",") + R"({"op":"test","path":"/a","value":null})";
  }
  many += "]";
  try {
    JsonPatch::parse(many);
    FAIL() << "taken";
  } catch (const PatchError& error) {
    EXPECT_EQ(error.reason(), Reason::TooLarge);
    EXPECT_STREQ(error.what(),
                 "The allowed maximum operations in a JSON patch is 10000, got 10001");
  }
  EXPECT_EQ(refused("{}", R"([{"op":"test","path":"/a"},{"op":"test","path":"/a"}])",
                    {.maxOperations = 1})
                .reason,
            Reason::TooLarge);
}

TEST(JsonPatchTest, CopiesAreLimitedAllTogether) {
  const std::string document = R"({"foo":["A",")" + std::string(48, 'A') + R"("]})";
  const char* twice = R"([{"op":"copy","path":"/foo/-","from":"/foo/1"},
                          {"op":"copy","path":"/foo/-","from":"/foo/1"}])";
  EXPECT_NO_THROW(applied(document, twice, {.maxCopyBytes = 100}));  // with their quotes
  EXPECT_EQ(refused(document, twice, {.maxCopyBytes = 99}).reason, Reason::TooLarge);

  // Doubles with every operation: memory could hold it, since copies share, but no text could.
  std::string doubling = "[";
  for (int i = 0; i < 60; ++i) {
    doubling += std::string(i == 0 ? "" : ",") + R"({"op":"copy","from":"/a","path":"/a/-"})";
  }
  const Refusal refusal = refused(R"({"a":["xxxxxxxxxxxxxxxx"]})", doubling + "]");
  EXPECT_EQ(refusal.reason, Reason::TooLarge);
  EXPECT_NE(refusal.what.find("exceed 3145728 bytes"), std::string::npos) << refusal.what;
}

TEST(JsonPatchTest, NestingIsLimited) {
  std::string deeper = "[";
  for (int i = 0; i < 1500; ++i) {
    deeper += std::string(i == 0 ? "" : ",") +
              R"({"op":"add","path":"/b","value":{}},{"op":"move","from":"/a","path":"/b/a"},)"
              R"({"op":"move","from":"/b","path":"/a"})";
  }
  const Refusal refusal = refused(R"({"a":1})", deeper + "]");
  EXPECT_EQ(refusal.reason, Reason::TooLarge);
  EXPECT_NE(refusal.what.find("nests deeper than 1000 levels"), std::string::npos) << refusal.what;
}

TEST(JsonPatchTest, PrintsWhatItReads) {
  JsonPatch patch;
  patch.add("/a~1b", Value::Object{{"x", 1}})
      .remove("/b")
      .replace("/c", nullptr)
      .move("/d", "/e")
      .copy("/f", "/g")
      .test("", 1.5);
  EXPECT_EQ(patch.toJson(),
            R"([{"op":"add","path":"/a~1b","value":{"x":1}},{"op":"remove","path":"/b"},)"
            R"({"op":"replace","path":"/c","value":null},{"from":"/d","op":"move","path":"/e"},)"
            R"({"from":"/f","op":"copy","path":"/g"},{"op":"test","path":"","value":1.5}])");
  EXPECT_EQ(JsonPatch::parse(patch.toJson()), patch);
}

TEST(JsonPatchTest, DifferencesAreAsDeepAsPossible) {
  const auto diff = [](std::string_view from, std::string_view to) {
    const Value a = parseJson(from);
    const Value b = parseJson(to);
    const JsonPatch patch = createJsonPatch(a, b);
    EXPECT_EQ(patch.apply(a), b) << patch.toJson();
    return patch.toJson();
  };
  EXPECT_EQ(diff(R"({"a":1})", R"({"a":1})"), "[]");
  EXPECT_EQ(diff(R"({"a":1,"b":2})", R"({"b":3,"c":4})"),
            R"([{"op":"remove","path":"/a"},{"op":"replace","path":"/b","value":3},)"
            R"({"op":"add","path":"/c","value":4}])");
  EXPECT_EQ(diff(R"({"a":{"b":{"c":1}}})", R"({"a":{"b":{"c":null}}})"),
            R"([{"op":"replace","path":"/a/b/c","value":null}])");
  EXPECT_EQ(diff("[1,2,3,4]", "[1,3,4]"), R"([{"op":"remove","path":"/1"}])");
  EXPECT_EQ(diff("[1,2]", "[0,1,2]"), R"([{"op":"add","path":"/0","value":0}])");
  EXPECT_EQ(
      diff("[1,2,3,4,5]", "[1,5]"),
      R"([{"op":"remove","path":"/1"},{"op":"remove","path":"/1"},{"op":"remove","path":"/1"}])");
  EXPECT_EQ(diff(R"([{"a":1,"b":2}])", R"([{"a":1,"b":3}])"),
            R"([{"op":"replace","path":"/0/b","value":3}])");
  EXPECT_EQ(diff("[1]", "{}"), R"([{"op":"replace","path":"","value":{}}])");
  EXPECT_EQ(diff("[]", "[1,2]"),
            R"([{"op":"add","path":"/0","value":1},{"op":"add","path":"/1","value":2}])");
  diff("[1,1,1]", "[1,1]");
  diff(R"({"x/y":{"~":1}})", R"({"x/y":{"~":2}})");
}

}  // namespace
}  // namespace kube
