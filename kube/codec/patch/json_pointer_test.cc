#include "kube/codec/patch/json_pointer.h"

#include <gtest/gtest.h>

#include "kube/base/internal/error_of_testing.h"
#include "kube/codec/json.h"

namespace kube {
namespace {

TEST(JsonPointerTest, FindsTheExamplesOfTheRfc) {
  const Value document = parseJson(R"({"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,
                                       "i\\j":5,"k\"l":6," ":7,"m~n":8})");
  const auto at = [&](std::string_view pointer) {
    const Value* found = JsonPointer::parse(pointer).find(document);
    return found != nullptr ? toJson(*found) : "nothing";
  };
  EXPECT_EQ(at(""), toJson(document));
  EXPECT_EQ(at("/foo"), R"(["bar","baz"])");
  EXPECT_EQ(at("/foo/0"), R"("bar")");
  EXPECT_EQ(at("/"), "0");
  EXPECT_EQ(at("/a~1b"), "1");
  EXPECT_EQ(at("/c%d"), "2");
  EXPECT_EQ(at("/i\\j"), "5");
  EXPECT_EQ(at("/k\"l"), "6");
  EXPECT_EQ(at("/ "), "7");
  EXPECT_EQ(at("/m~0n"), "8");
}

TEST(JsonPointerTest, FindsNothingWhereThereIsNothing) {
  const Value document = parseJson(R"({"foo":["bar"],"n":null,"s":"text"})");
  for (const char* pointer : {"/bar", "/foo/1", "/foo/-", "/foo/-1", "/foo/00", "/foo/+0", "/foo/x",
                              "/foo/", "/n/x", "/s/0", "/foo/99999999999999999999999"}) {
    EXPECT_EQ(JsonPointer::parse(pointer).find(document), nullptr) << pointer;
  }
  EXPECT_TRUE(JsonPointer::parse("/n").find(document)->isNull());
}

TEST(JsonPointerTest, TextIsEscapedBothWays) {
  const JsonPointer pointer = JsonPointer() / "metadata" / "labels" / "a.b/c~d" / 7;
  EXPECT_EQ(pointer.toString(), "/metadata/labels/a.b~1c~0d/7");
  EXPECT_EQ(JsonPointer::parse(pointer.toString()), pointer);
  EXPECT_EQ(JsonPointer::parse("/~01").tokens()[0], "~1");  // not a slash
  EXPECT_EQ(pointer.parent().toString(), "/metadata/labels/a.b~1c~0d");
  EXPECT_EQ(JsonPointer().parent(), JsonPointer());
  EXPECT_EQ(JsonPointer::parse("/").size(), 1);
  EXPECT_EQ(JsonPointer::parse("//").size(), 2);
}

TEST(JsonPointerTest, MalformedTextIsAnError) {
  EXPECT_EQ(errorOf([] { JsonPointer::parse("foo/bar"); }),
            "json pointer: offset 0: expected a slash at the start, as in /metadata/name");
  for (const char* text : {"/a~", "/~2", "/a/b~x"}) {
    EXPECT_NE(errorOf([&] { JsonPointer::parse(text); }).find("expected 0 or 1 after ~"),
              std::string::npos)
        << text;
  }
}

}  // namespace
}  // namespace kube
