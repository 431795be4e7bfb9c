// No threads.

#include "kube/apiserver/rules/built_in_cron.h"

#include <gtest/gtest.h>

namespace kube::apiserver::rules {
namespace {

std::string problem(std::string_view schedule) {
  return scheduleProblem(schedule).value_or("none");
}

TEST(BuiltInCronTest, GoodSchedules) {
  for (std::string_view schedule :
       {"* * * * *", "*/5 0 1,15 * mon-fri", "0 0 ? JAN,feb Sun", "5/10 * * * *", "  0 0 1 1 6 ",
        "@hourly", "@every 1h30m", "0-59/2 * * * 0-6", "1,,2 * * * *"}) {
    EXPECT_EQ(problem(schedule), "none") << schedule;
  }
}

TEST(BuiltInCronTest, BadSchedules) {
  EXPECT_EQ(problem(""), "empty spec string");
  EXPECT_EQ(problem("* * * *"), "expected exactly 5 fields, found 4: [* * * *]");
  EXPECT_EQ(problem("* * * * * *"), "expected exactly 5 fields, found 6: [* * * * * *]");
  EXPECT_EQ(problem("60 * * * *"), "end of range (60) above maximum (59): 60");
  EXPECT_EQ(problem("* 24 * * *"), "end of range (24) above maximum (23): 24");
  EXPECT_EQ(problem("* * 0 * *"), "beginning of range (0) below minimum (1): 0");
  EXPECT_EQ(problem("* * * * 7"), "end of range (7) above maximum (6): 7");
  EXPECT_EQ(problem("5-3 * * * *"), "beginning of range (5) beyond end of range (3): 5-3");
  EXPECT_EQ(problem("*/0 * * * *"), "step of range should be a positive number: */0");
  EXPECT_EQ(problem("1-2-3 * * * *"), "too many hyphens: 1-2-3");
  EXPECT_EQ(problem("1/2/3 * * * *"), "too many slashes: 1/2/3");
  EXPECT_EQ(problem("a * * * *"),
            "failed to parse int from a: strconv.Atoi: parsing \"a\": invalid syntax");
  EXPECT_EQ(problem("99999999999999999999 * * * *"),
            "failed to parse int from 99999999999999999999: strconv.Atoi: parsing "
            "\"99999999999999999999\": value out of range");
  EXPECT_EQ(problem("@often"), "unrecognized descriptor: @often");
  EXPECT_EQ(problem("@every x"), "failed to parse duration @every x: time: invalid duration \"x\"");
  EXPECT_NE(problem("TZ=UTC"), "none");
  EXPECT_EQ(problem("TZ=UTC * * * * *"), "none");
  EXPECT_NE(problem("TZ=UTC  "), "none");
}

}  // namespace
}  // namespace kube::apiserver::rules
