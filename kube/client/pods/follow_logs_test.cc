// Tests of logs that are followed while connections break.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "kube/base/internal/each_wait_testing.h"
#include "kube/client/pods/internal/pod_server_testing.h"
#include "kube/meta/api_error.h"
#include "kube/testing/scripted_server.h"

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

// --- The awaitable form.

Task<std::string> lineOf(AsyncLogStream& log) {
  const auto line = co_await log.nextLine();
  co_return line ? std::string(*line) : "the end";
}

TEST_F(FollowLogsTest, AwaitedLinesSurviveCuts) {
  write("line 0\n");
  AsyncLogStream log = blockOn(pods().async().followLogs("web"));
  EXPECT_EQ(blockOn(lineOf(log)), "line 0");
  for (int i = 1; i < 10; ++i) {
    testing::TestLoop loop;
    {
      const testing::Begun<std::string> destroyed(lineOf(log), loop.executor());
      if (i % 4 == 2) server.restart();
    }
    if (i % 4 == 3) server.restart();
    const std::string line = "line " + std::to_string(i);
    write(line + "\n");
    EXPECT_EQ(blockOn(lineOf(log)), line);
  }
}

// A server whose log breaks after one line, and then goes on.
class BrokenLogTest : public ::testing::Test {
 protected:
  static Task<> readsAll(PodClient pods) {
    AsyncLogStream log = co_await pods.async().followLogs("web");
    std::string all;
    for (;;) {
      const std::string line = co_await lineOf(log);
      all += line + ", ";
      if (line == "the end") break;
    }
    EXPECT_EQ(all, "one, two, the end, ");
  }

  ScriptedServer server_{
      ScriptedServer::RawScript([](const ServerRequest& request, const Responder& responder) {
        ResponseStream log = responder.stream(200, {{"Content-Type", "text/plain"}});
        log.write("2024-01-02T03:04:05.1Z one\n");
        if (request.target.find("sinceTime") == std::string::npos) return log.abort();
        log.write("2024-01-02T03:04:05.2Z two\n");
        log.close();
      })};
  PodClient pods_ = Clientset(server_.config()).coreV1().pods("book");
  const testing::MakeTask make_ = [this] { return readsAll(pods_); };
};

TEST_F(BrokenLogTest, IsStoppedAtEachWait) { testing::stopAtEachWait(make_); }
TEST_F(BrokenLogTest, IsDestroyedAtEachWait) { testing::destroyAtEachWait(make_); }

}  // namespace
}  // namespace kube
