#include "kube/meta/validation/field_error.h"

#include <gtest/gtest.h>

#include <sstream>

namespace kube {
namespace {

TEST(ErrorPathTest, GrowsByNamesIndexesAndKeys) {
  const ErrorPath root("root");
  EXPECT_EQ(root.str(), "root");
  EXPECT_EQ(root.child("first").child("second").str(), "root.first.second");
  const ErrorPath deep = root.child("first").index(0).child("third").index(93);
  EXPECT_EQ(deep.str(), "root.first[0].third[93]");
  EXPECT_EQ(root.key("example.com/app").str(), "root[example.com/app]");
  EXPECT_EQ(root.str(), "root");
}

TEST(ErrorPathTest, WithoutARootItsStepsStandAlone) {
  EXPECT_EQ(ErrorPath().str(), "<nil>");
  EXPECT_EQ(ErrorPath().child("key").str(), "key");
  EXPECT_EQ(ErrorPath().child("values").index(0).key("x").str(), "values[0][x]");
}

TEST(FieldErrorTest, PrintsAsUpstreamDoes) {
  const ErrorPath f("f");
  EXPECT_EQ(FieldError::invalid(f, "v", "d").str(), "f: Invalid value: \"v\": d");
  EXPECT_EQ(FieldError::invalid(f, "v", "").str(), "f: Invalid value: \"v\"");
  EXPECT_EQ(FieldError::typeInvalid(f, 3, "d").str(), "f: Invalid value: 3: d");
  EXPECT_EQ(FieldError::required(f).str(), "f: Required value");
  EXPECT_EQ(FieldError::required(f, "d").str(), "f: Required value: d");
  EXPECT_EQ(FieldError::duplicate(f, "v").str(), "f: Duplicate value: \"v\"");
  EXPECT_EQ(FieldError::notFound(f, "v").str(), "f: Not found: \"v\"");
  EXPECT_EQ(FieldError::notSupported(f, "x", {"a", "b"}).str(),
            R"(f: Unsupported value: "x": supported values: "a", "b")");
  EXPECT_EQ(FieldError::notSupported(f, "x", {}).str(), R"(f: Unsupported value: "x")");
  EXPECT_EQ(FieldError::forbidden(f, "d").str(), "f: Forbidden: d");
  EXPECT_EQ(FieldError::internal(f, "e").str(), "f: Internal error: e");
}

TEST(FieldErrorTest, ReportsLimits) {
  const ErrorPath f("f");
  EXPECT_EQ(FieldError::tooLong(f, 5).str(), "f: Too long: may not be more than 5 bytes");
  EXPECT_EQ(FieldError::tooLong(f, 1).str(), "f: Too long: may not be more than 1 byte");
  EXPECT_EQ(FieldError::tooLong(f, -1).str(), "f: Too long: value is too long");
  EXPECT_EQ(FieldError::tooLongCharacters(f, 2).str(),
            "f: Too long: may not be more than 2 characters");
  EXPECT_EQ(FieldError::tooShort(f, "a", 3).str(), "f: Too short: must be at least 3 characters");
  EXPECT_EQ(FieldError::tooShort(f, "a", -1).str(), "f: Too short: value is too short");
  EXPECT_EQ(FieldError::tooMany(f, 3, 2).str(), "f: Too many: 3: must have at most 2 items");
  EXPECT_EQ(FieldError::tooMany(f, 3, 1).str(), "f: Too many: 3: must have at most 1 item");
  EXPECT_EQ(FieldError::tooMany(f, 3, -1).str(), "f: Too many: 3: has too many items");
  EXPECT_EQ(FieldError::tooMany(f, -1, 2).str(), "f: Too many: must have at most 2 items");
  EXPECT_EQ(FieldError::tooFew(f, 1, 2).str(), "f: Too few: 1: must have at least 2 items");
}

TEST(FieldErrorTest, ShowsValuesOfEveryType) {
  const ErrorPath f("f");
  const auto shown = [&](Value value) { return FieldError::duplicate(f, std::move(value)).body(); };
  EXPECT_EQ(shown(nullptr), "Duplicate value: null");
  EXPECT_EQ(shown(true), "Duplicate value: true");
  EXPECT_EQ(shown(-7), "Duplicate value: -7");
  EXPECT_EQ(shown(1.5), "Duplicate value: 1.5");
  EXPECT_EQ(shown("a\"b\n"), R"(Duplicate value: "a\"b\n")");
  EXPECT_EQ(shown(Value::Array{"a", 1, nullptr}), R"(Duplicate value: ["a",1,null])");
  EXPECT_EQ(shown(Value::Object{{"b", "x\n\"y"}, {"a", Value::Array{}}}),
            R"(Duplicate value: {"a":[],"b":"x\u000a\"y"})");
}

TEST(FieldErrorTest, BecomesACauseOfAStatus) {
  const auto cause = FieldError::invalid(ErrorPath("metadata.name"), "A", "bad").cause();
  EXPECT_EQ(cause.reason, "FieldValueInvalid");
  EXPECT_EQ(cause.message, "Invalid value: \"A\": bad");
  EXPECT_EQ(cause.field, "metadata.name");
  EXPECT_EQ(FieldError::internal(ErrorPath("f"), "e").cause().reason, "InternalError");
  EXPECT_EQ(causeReason(FieldError::Type::NotSupported), "FieldValueNotSupported");
  EXPECT_EQ(causeReason(FieldError::Type::TooMany), "FieldValueTooMany");
}

TEST(FieldErrorsTest, PrintOnceEach) {
  const ErrorPath f("f");
  EXPECT_EQ(toString(FieldErrors{}), "");
  const auto invalid = FieldError::invalid(f, "v", "d");
  EXPECT_EQ(toString(FieldErrors{invalid}), "f: Invalid value: \"v\": d");
  EXPECT_EQ(toString(FieldErrors{invalid, invalid}), "f: Invalid value: \"v\": d");
  EXPECT_EQ(toString(FieldErrors{invalid, FieldError::required(f), invalid}),
            "[f: Invalid value: \"v\": d, f: Required value]");
}

TEST(FieldErrorsTest, AreThrownIfThereAreAny) {
  EXPECT_NO_THROW(throwIfAny({}));
  FieldErrors errors{FieldError::required(ErrorPath("a"))};
  append(errors, {FieldError::required(ErrorPath("b"))});
  try {
    throwIfAny(errors);
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "[a: Required value, b: Required value]");
    const auto* invalid = dynamic_cast<const ValidationError*>(&e);
    ASSERT_NE(invalid, nullptr);
    EXPECT_EQ(invalid->errors(), errors);
  }
}

TEST(FieldErrorTest, Streams) {
  std::ostringstream out;
  out << ErrorPath("a").index(1) << ' ' << FieldError::required(ErrorPath("b"));
  EXPECT_EQ(out.str(), "a[1] b: Required value");
}

}  // namespace
}  // namespace kube
