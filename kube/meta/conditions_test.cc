#include "kube/meta/conditions.h"

#include <gtest/gtest.h>

namespace kube {
namespace {

using metav1::Condition;

constexpr Time kBefore = Time::fromUnix(1000);
constexpr Time kAfter = Time::fromUnix(5000);

struct ConditionsTest : testing::Test {
  FakeClock clock;
  Time now() { return clock.wallNow(); }
};

TEST_F(ConditionsTest, AreAddedAtTheEnd) {
  List<Condition> conditions{{.type = "first"}, {.type = "third"}};
  const Condition second{.type = "second",
                         .status = "True",
                         .lastTransitionTime = kBefore,
                         .reason = "reason",
                         .message = "message"};
  EXPECT_TRUE(setStatusCondition(conditions, second, clock));
  EXPECT_EQ(conditions, (List<Condition>{{.type = "first"}, {.type = "third"}, second}));
}

TEST_F(ConditionsTest, AreAddedAsOfNow) {
  List<Condition> conditions;
  EXPECT_TRUE(setStatusCondition(conditions, {.type = "a", .status = "True"}, clock));
  EXPECT_EQ(conditions[0].lastTransitionTime, now());
}

TEST_F(ConditionsTest, AChangeOfStatusIsATransition) {
  List<Condition> conditions{{.type = "a", .status = "False", .lastTransitionTime = kBefore}};
  EXPECT_TRUE(setStatusCondition(conditions, {.type = "a", .status = "True"}, clock));
  EXPECT_EQ(conditions[0].lastTransitionTime, now());
  clock.advance(std::chrono::seconds(10));
  EXPECT_TRUE(setStatusCondition(
      conditions, {.type = "a", .status = "False", .lastTransitionTime = kAfter}, clock));
  EXPECT_EQ(conditions[0].lastTransitionTime, kAfter);
}

TEST_F(ConditionsTest, OtherChangesAreNoTransitions) {
  List<Condition> conditions{{.type = "first"},
                             {.type = "second", .status = "True", .lastTransitionTime = kBefore},
                             {.type = "third"}};
  EXPECT_TRUE(setStatusCondition(conditions,
                                 {.type = "second",
                                  .status = "True",
                                  .observedGeneration = 3,
                                  .lastTransitionTime = kAfter,
                                  .reason = "reason",
                                  .message = "message"},
                                 clock));
  EXPECT_EQ(conditions[1], (Condition{.type = "second",
                                      .status = "True",
                                      .observedGeneration = 3,
                                      .lastTransitionTime = kBefore,
                                      .reason = "reason",
                                      .message = "message"}));
}

TEST_F(ConditionsTest, TheSameAgainChangesNothing) {
  List<Condition> conditions{{.type = "a", .status = "True", .lastTransitionTime = kBefore}};
  const List<Condition> cached = conditions;
  EXPECT_FALSE(setStatusCondition(conditions, {.type = "a", .status = "True"}, clock));
  EXPECT_FALSE(setStatusCondition(
      conditions, {.type = "a", .status = "True", .lastTransitionTime = kAfter}, clock));
  EXPECT_TRUE(conditions.sharesWith(cached));
}

TEST_F(ConditionsTest, AreRemovedByType) {
  List<Condition> conditions{{.type = "first"}, {.type = "second"}, {.type = "third"}};
  EXPECT_TRUE(removeStatusCondition(conditions, "second"));
  EXPECT_EQ(conditions, (List<Condition>{{.type = "first"}, {.type = "third"}}));
  EXPECT_FALSE(removeStatusCondition(conditions, "second"));
  List<Condition> none;
  EXPECT_FALSE(removeStatusCondition(none, "a"));
}

TEST_F(ConditionsTest, AreFoundByType) {
  const List<Condition> conditions{{.type = "first"}, {.type = "second", .status = "Unknown"}};
  ASSERT_NE(findStatusCondition(conditions, "second"), nullptr);
  EXPECT_EQ(findStatusCondition(conditions, "second")->status, "Unknown");
  EXPECT_EQ(findStatusCondition(conditions, "third"), nullptr);
}

TEST_F(ConditionsTest, AreAskedForTheirStatus) {
  const List<Condition> conditions{
      {.type = "yes", .status = "True"}, {.type = "no", .status = "False"}, {.type = "unsaid"}};
  EXPECT_TRUE(isStatusConditionTrue(conditions, "yes"));
  EXPECT_FALSE(isStatusConditionTrue(conditions, "no"));
  EXPECT_FALSE(isStatusConditionTrue(conditions, "absent"));
  EXPECT_TRUE(isStatusConditionFalse(conditions, "no"));
  EXPECT_FALSE(isStatusConditionFalse(conditions, "yes"));
  EXPECT_FALSE(isStatusConditionFalse(conditions, "absent"));
  EXPECT_TRUE(isStatusConditionPresentAndEqual(conditions, "unsaid", ""));
  EXPECT_FALSE(isStatusConditionPresentAndEqual(conditions, "absent", ""));
  EXPECT_FALSE(isStatusConditionPresentAndEqual(conditions, "yes", kConditionUnknown));
}

// The fields of a DeploymentCondition.
struct DeploymentCondition {
  String type = {};
  String status = {};
  Time lastUpdateTime = {};
  Time lastTransitionTime = {};
  String reason = {};
  String message = {};
  bool operator==(const DeploymentCondition&) const = default;
};

TEST_F(ConditionsTest, OfOtherTypesRecordTheirUpdateTime) {
  List<DeploymentCondition> conditions;
  setStatusCondition(conditions, {.type = "a", .status = "True"}, clock);
  const Time start = now();
  EXPECT_EQ(conditions[0].lastUpdateTime, start);
  EXPECT_EQ(conditions[0].lastTransitionTime, start);
  clock.advance(std::chrono::seconds(10));
  EXPECT_FALSE(setStatusCondition(conditions, {.type = "a", .status = "True"}, clock));
  EXPECT_EQ(conditions[0].lastUpdateTime, start);
  EXPECT_TRUE(
      setStatusCondition(conditions, {.type = "a", .status = "True", .reason = "b"}, clock));
  EXPECT_EQ(conditions[0].lastUpdateTime, now());
  EXPECT_EQ(conditions[0].lastTransitionTime, start);
}

// The fields of conditions of Pods and Nodes.
struct ProbedCondition {
  String type = {};
  String status = {};
  Time lastProbeTime = {};
  Time lastHeartbeatTime = {};
  bool operator==(const ProbedCondition&) const = default;
};

TEST_F(ConditionsTest, OfOtherTypesKeepTheTimesThatAreNotGiven) {
  List<ProbedCondition> conditions{
      {.type = "a", .status = "True", .lastProbeTime = kBefore, .lastHeartbeatTime = kBefore}};
  EXPECT_FALSE(setStatusCondition(conditions, {.type = "a", .status = "True"}, clock));
  EXPECT_TRUE(setStatusCondition(
      conditions, {.type = "a", .status = "True", .lastHeartbeatTime = kAfter}, clock));
  EXPECT_EQ(conditions[0].lastProbeTime, kBefore);
  EXPECT_EQ(conditions[0].lastHeartbeatTime, kAfter);
}

TEST(ConditionClockTest, IsTheRealOneUnlessGiven) {
  List<Condition> conditions;
  const Time before = Time::now();
  setStatusCondition(conditions, {.type = "a", .status = "True"});
  EXPECT_GE(conditions[0].lastTransitionTime, before);
}

}  // namespace
}  // namespace kube
