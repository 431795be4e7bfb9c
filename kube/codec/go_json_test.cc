// No threads.
#include "kube/codec/go_json.h"

#include <gtest/gtest.h>

#include "kube/codec/json.h"

namespace kube {
namespace {

TEST(GoJsonTest, EscapesWhatGoEscapes) {
  const Value value = Value::Object{
      {"<k>", "a & b \u2028\u2029 \u2027 é"}, {"x", "\b\f\n\x01 \\u0008 \\\\f"}, {"n", 1.5}};
  EXPECT_EQ(toGoJson(value), R"({"\u003ck\u003e":"a \u0026 b \u2028\u2029 )"
                             "\u2027 é"
                             R"(","n":1.5,"x":"\b\f\n\u0001 \\u0008 \\\\f"})");
  EXPECT_EQ(parseJson(toGoJson(value)), value);
  EXPECT_EQ(toGoJson(Value::Array{"&"}, 2), "[\n  \"\\u0026\"\n]");
}

}  // namespace
}  // namespace kube
