#include "kube/meta/schema_notes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/base/error.h"
#include "kube/meta/describe.h"

namespace notestest {

struct Part {
  kube::String name;
  kube::String hidden;
  kube::Time since;
  std::optional<std::int32_t> count;
};
struct Whole {
  kube::metav1::ObjectMeta metadata;
  kube::Shared<Part> class_;
};
struct Plain {
  kube::String name;
};

}  // namespace notestest

template <>
struct kube::SchemaOf<notestest::Part> {
  static void annotate(kube::SchemaNotes<notestest::Part>& part) {
    part[&notestest::Part::name] = {.description = "What it is called", .minLength = 1};
    part.rule({.rule = "self.count > 0"});
  }
};
template <>
struct kube::SchemaOf<notestest::Whole> {
  static void annotate(kube::SchemaNotes<notestest::Whole>& whole) {
    using notestest::Part;
    using notestest::Whole;
    whole.column("Name", &Whole::class_, &Part::name);
    whole.column("Since", &Whole::class_, &Part::since);
    whole.column("Count", &Whole::class_, &Part::count);
  }
};

KUBE_DESCRIBE(notestest::Part, name, since, count);
KUBE_DESCRIBE_KIND(notestest::Whole, (.group = "", .version = "v1", .kind = "Whole"), metadata,
                   class_);
KUBE_DESCRIBE(notestest::Plain, name);

namespace kube {
namespace {

TEST(SchemaNotesTest, AreWrittenByMembersAndReadByNames) {
  const TypeNotes notes = notesOf(TypeOf<notestest::Part>::info);
  ASSERT_TRUE(notes.fields.contains("name"));
  EXPECT_EQ(notes.fields.at("name").minLength, 1);
  EXPECT_EQ(notes.self.rules.at(0).rule, "self.count > 0");
  EXPECT_EQ(notes.text("name"), "");
}

TEST(SchemaNotesTest, AColumnTakesPathAndTypeFromTheMembers) {
  const auto columns = notesOf(TypeOf<notestest::Whole>::info).kind.columns;
  ASSERT_EQ(columns.size(), 3U);
  EXPECT_EQ(columns[0].jsonPath, ".class.name");
  EXPECT_EQ(columns[0].type, "string");
  EXPECT_EQ(columns[1].type, "date");
  EXPECT_EQ(columns[2].type, "integer");
}

TEST(SchemaNotesTest, AMemberThatIsNotDescribedIsAnErrorThatNamesItsStruct) {
  TypeNotes all;
  SchemaNotes<notestest::Part> notes(all);
  try {
    notes[&notestest::Part::hidden] = {.description = "x"};
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("Part: a note on a member"));
  }
}

TEST(SchemaNotesTest, TypesWithoutAnyCostNothing) {
  EXPECT_EQ(TypeOf<notestest::Plain>::info.annotate, nullptr);
  EXPECT_EQ(TypeOf<metav1::ObjectMeta>::info.annotate, nullptr);
  EXPECT_TRUE(notesOf(TypeOf<notestest::Plain>::info).fields.empty());
}

}  // namespace
}  // namespace kube
