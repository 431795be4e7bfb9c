// Tests of logs that are followed while connections break.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "kube/client/pods/internal/pod_server_testing.h"
#include "kube/meta/api_error.h"

namespace kube {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class FollowLogsTest : public PodServerTest {
 protected:
  void write(const std::string& text) { server.containers().append("book/web", "app", text); }
};

TEST_F(FollowLogsTest, NothingIsLostOrRepeatedOverCuts) {
  write("line 0\nline 1\n");
  LogStream log = pods().followLogs("web");
  constexpr int kLines = 30;
  for (int i = 0; i < kLines; ++i) {
    EXPECT_EQ(log.nextLine(), "line " + std::to_string(i));
    // The writer is two lines ahead of the reader; some lines are written while there is no
    // connection.
    if (i % 10 == 4) server.restart();
    write("line " + std::to_string(i + 2) + "\n");
    if (i == 18) server.restart();
  }
  server.containers().endLog("book/web", "app");
  EXPECT_EQ(log.nextLine(), "line " + std::to_string(kLines));
  EXPECT_EQ(log.nextLine(), "line " + std::to_string(kLines + 1));
  EXPECT_EQ(log.nextLine(), std::nullopt);
}

TEST_F(FollowLogsTest, TimestampsAreKeptIfRequested) {
  write("hello\n");
  LogStream log = pods().followLogs("web", {.timestamps = true});
  EXPECT_THAT(log.nextLine(), ::testing::Optional(::testing::MatchesRegex(".*Z hello")));
}

TEST_F(FollowLogsTest, TailLinesApplyToTheFirstConnectionOnly) {
  write("a\nb\nc\n");
  LogStream log = pods().followLogs("web", {.tailLines = 1});
  EXPECT_EQ(log.nextLine(), "c");
  server.restart();
  write("d\n");
  EXPECT_EQ(log.nextLine(), "d");
}

TEST_F(FollowLogsTest, ReadReturnsWholeLines) {
  write("a\nb\n");
  LogStream log = pods().followLogs("web");
  EXPECT_EQ(log.read(), "a\n");
  EXPECT_EQ(log.nextLine(), "b");
}

TEST_F(FollowLogsTest, AFailureToReopenIsThrown) {
  write("a\n");
  LogStream log = pods().followLogs("web");
  EXPECT_EQ(log.nextLine(), "a");
  pods().remove("web", {.gracePeriodSeconds = 0});
  server.restart();
  EXPECT_THAT(thrown<ApiError>([&] { log.nextLine(); }), HasSubstr("not found"));
}

TEST_F(FollowLogsTest, AStopEndsTheLog) {
  write("a\n");
  std::stop_source stop;
  LogStream log = pods().followLogs("web", {}, stop.get_token());
  EXPECT_EQ(log.nextLine(), "a");
  auto next = std::async(std::launch::async, [&] { return log.nextLine(); });
  stop.request_stop();
  ASSERT_EQ(next.wait_for(30s), std::future_status::ready);
  EXPECT_EQ(next.get(), std::nullopt);
}

TEST_F(FollowLogsTest, LimitBytesIsRefused) {
  EXPECT_THAT(thrown<Error>([&] { pods().followLogs("web", {.limitBytes = 5}); }),
              HasSubstr("limitBytes"));
}

}  // namespace
}  // namespace kube
