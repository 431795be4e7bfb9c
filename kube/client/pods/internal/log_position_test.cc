// No threads.

#include "kube/client/pods/internal/log_position.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kube::detail {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> read(LogPosition& position, const std::vector<const char*>& lines) {
  std::vector<std::string> taken;
  for (const char* line : lines) {
    if (const auto text = position.accept(line)) taken.emplace_back(*text);
  }
  return taken;
}

TEST(LogPositionTest, TimestampsAreRemovedOrKept) {
  LogPosition bare(false), kept(true);
  EXPECT_THAT(
      read(bare, {"2024-01-02T03:04:05.1Z a b", "2024-01-02T03:04:06Z ", "2024-01-02T03:04:06Z"}),
      ElementsAre("a b", "", ""));
  EXPECT_THAT(read(kept, {"2024-01-02T03:04:05.1Z a"}), ElementsAre("2024-01-02T03:04:05.1Z a"));
  EXPECT_EQ(kept.since().str(), "2024-01-02T03:04:05Z");
}

TEST(LogPositionTest, LinesOfTheLastSecondAreReturnedOnce) {
  LogPosition position(false);
  EXPECT_THAT(read(position, {"2024-01-02T03:04:05.1Z a", "2024-01-02T03:04:05.25Z b"}),
              ElementsAre("a", "b"));
  position.resume();
  EXPECT_THAT(
      read(position, {"2024-01-02T03:04:05Z never seen, but before", "2024-01-02T03:04:05.1Z a",
                      "2024-01-02T03:04:05.250000000Z b", "2024-01-02T03:04:05.3Z c"}),
      ElementsAre("c"));
}

TEST(LogPositionTest, LinesOfOneInstantAreCounted) {
  LogPosition position(false);
  const char *a = "2024-01-02T03:04:05Z a", *b = "2024-01-02T03:04:05Z b",
             *c = "2024-01-02T03:04:05Z c";
  EXPECT_THAT(read(position, {a, b}), ElementsAre("a", "b"));
  position.resume();
  EXPECT_THAT(read(position, {a, b, c}), ElementsAre("c"));
  position.resume();
  EXPECT_THAT(read(position, {a, b, c}), IsEmpty());
  position.resume();
  EXPECT_THAT(read(position, {a}), IsEmpty()) << "cut before all lines were repeated";
  position.resume();
  EXPECT_THAT(read(position, {a, b, c, "2024-01-02T03:04:06Z d"}), ElementsAre("d"));
}

TEST(LogPositionTest, EqualLinesOfOneInstantAreCounted) {
  LogPosition position(false);
  const char *a = "2024-01-02T03:04:05Z a", *b = "2024-01-02T03:04:05Z b";
  EXPECT_THAT(read(position, {a, b, a}), ElementsAre("a", "b", "a"));
  position.resume();
  EXPECT_THAT(read(position, {a, b, a, a}), ElementsAre("a"));
}

TEST(LogPositionTest, LinesBeforeTheFirstReadLineAreOld) {
  LogPosition position(false);
  const char *a = "2024-01-02T03:04:05Z a", *b = "2024-01-02T03:04:05Z b",
             *c = "2024-01-02T03:04:05Z c", *d = "2024-01-02T03:04:05Z d";
  EXPECT_THAT(read(position, {c}), ElementsAre("c")) << "by --tail";
  position.resume();
  EXPECT_THAT(read(position, {a, b, c, d}), ElementsAre("d"));
}

TEST(LogPositionTest, ALineWithoutATimestampBelongsToTheOneBefore) {
  LogPosition position(false);
  EXPECT_THAT(read(position, {"lost", "2024-01-02T03:04:05Z a", "rest of it"}),
              ElementsAre("lost", "a", "rest of it"));
  position.resume();
  EXPECT_THAT(read(position,
                   {"2024-01-02T03:04:05Z a", "rest of it", "2024-01-02T03:04:06Z b", "and more"}),
              ElementsAre("b", "and more"));
}

TEST(LogPositionTest, OffsetsAreTheSameInstant) {
  LogPosition position(false);
  EXPECT_THAT(read(position, {"2024-01-02T03:04:05.5Z a"}), ElementsAre("a"));
  position.resume();
  EXPECT_THAT(read(position, {"2024-01-02T05:04:05.5+02:00 a", "2024-01-02T05:04:05.6+02:00 b"}),
              ElementsAre("b"));
}

}  // namespace
}  // namespace kube::detail
