#include "kube/client/pods/log_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <vector>

#include "kube/base/internal/test_loop_testing.h"
#include "kube/client/core/v1.h"
#include "kube/codec/json.h"
#include "kube/meta/api_error.h"
#include "kube/testing/scripted_server.h"

namespace kube {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::SizeIs;

// A server with a pod; the test writes its log.
class LogStreamTest : public ::testing::Test {
 protected:
  // Blocks until the log has been requested.
  ResponseStream& container() {
    if (!container_) container_ = asked_.get_future().get();
    return *container_;
  }
  std::string target() const { return server_.requests().back().target; }

  PodClient pods() const { return clients_.coreV1().pods("book"); }
  static std::vector<std::string> rest(LogStream& log) {
    std::vector<std::string> lines;
    for (const std::string_view line : log) lines.emplace_back(line);
    return lines;
  }

 private:
  std::promise<ResponseStream> asked_;
  std::optional<ResponseStream> container_;
  ScriptedServer server_{
      ScriptedServer::RawScript([this](const ServerRequest&, const Responder& responder) {
        asked_.set_value(responder.stream(200, {{"Content-Type", "text/plain"}}));
      })};
  Clientset clients_{server_.config()};
};

TEST_F(LogStreamTest, LinesAreJoinedFromPieces) {
  LogStream log = pods().logs("web");
  for (const char* piece : {"first\nsec", "o", "nd\n", "\nfour", "th\nfifth\n"}) {
    ASSERT_TRUE(container().write(piece));
  }
  container().close();
  EXPECT_THAT(rest(log), ElementsAre("first", "second", "", "fourth", "fifth"));
  EXPECT_EQ(log.nextLine(), std::nullopt);
  EXPECT_EQ(log.read(), std::nullopt);
}

TEST_F(LogStreamTest, TheLastLineNeedsNoBreak) {
  LogStream log = pods().logs("web");
  container().write("first\r\nsecond");
  container().close();
  EXPECT_THAT(rest(log), ElementsAre("first\r", "second"));
}

TEST_F(LogStreamTest, OptionsAreParameters) {
  corev1::PodLogOptions options{.container = "app", .follow = true, .tailLines = 0};
  options.sinceTime = Time::parse("2024-01-02T03:04:05Z");
  LogStream log = pods().logs("web", options);
  container().close();
  EXPECT_EQ(target(),
            "/api/v1/namespaces/book/pods/web/log?container=app&follow=true&"
            "sinceTime=2024-01-02T03%3A04%3A05Z&tailLines=0");
}

TEST_F(LogStreamTest, ALineIsReturnedAsSoonAsItIsWritten) {
  LogStream log = pods().logs("web", {.follow = true});
  container().write("one\n");
  EXPECT_EQ(log.nextLine(), "one");
  container().write("two\nthr");
  EXPECT_EQ(log.nextLine(), "two");
  container().write("ee\n");
  EXPECT_EQ(log.nextLine(), "three");
}

TEST_F(LogStreamTest, BytesAreUnchangedAndBeginAfterTheLastLine) {
  LogStream log = pods().logs("web");
  const std::string text("one\ntwo\0\xff\n\nthree", 16);
  container().write(text);
  container().close();
  EXPECT_EQ(log.nextLine(), "one");
  std::string bytes;
  while (const auto piece = log.read()) bytes += *piece;
  EXPECT_EQ(bytes, text.substr(4));
}

TEST_F(LogStreamTest, ABrokenConnectionThrowsAfterTheWholeLines) {
  LogStream log = pods().logs("web", {.follow = true});
  container().write("first\nhal");
  EXPECT_EQ(log.nextLine(), "first");
  container().abort();
  EXPECT_THROW(log.nextLine(), TransportError);
  EXPECT_THROW(log.nextLine(), TransportError);
}

TEST_F(LogStreamTest, AStopEndsAWaitingRead) {
  std::stop_source stop;
  LogStream log = pods().logs("web", {.follow = true}, stop.get_token());
  container().write("first\nhal");
  EXPECT_EQ(log.nextLine(), "first");
  auto end = std::async(std::launch::async, [&] { return log.nextLine(); });
  stop.request_stop();
  ASSERT_EQ(end.wait_for(10s), std::future_status::ready);
  EXPECT_EQ(end.get(), std::nullopt);
  EXPECT_EQ(log.nextLine(), std::nullopt);
  EXPECT_EQ(log.read(), std::nullopt);
}

TEST_F(LogStreamTest, DestructionClosesTheConnection) {
  std::promise<void> gone;
  {
    const LogStream log = pods().logs("web", {.follow = true});
    container().onClosed([&] { gone.set_value(); });
  }
  EXPECT_EQ(gone.get_future().wait_for(10s), std::future_status::ready);
}

TEST_F(LogStreamTest, AnEndlessLineIsReturnedInPieces) {
  LogStream log = pods().logs("web");
  auto writer = std::async(std::launch::async, [&] {
    const std::string block(64 << 10, 'x');
    for (std::size_t i = 0; i < 2 * LogStream::kMaxLineBytes / block.size(); ++i) {
      container().write(block);
    }
    container().write("\nshort\n");
    container().close();
  });
  EXPECT_THAT(log.nextLine(), ::testing::Optional(SizeIs(LogStream::kMaxLineBytes)));
  EXPECT_THAT(log.nextLine(), ::testing::Optional(SizeIs(LogStream::kMaxLineBytes)));
  EXPECT_EQ(log.nextLine(), "short");
  EXPECT_EQ(log.nextLine(), std::nullopt);
  writer.get();
}

TEST_F(LogStreamTest, MayBeMovedInTheMiddle) {
  LogStream log = pods().logs("web");
  container().write("one\ntwo\nthree\n");
  container().close();
  EXPECT_EQ(log.nextLine(), "one");
  LogStream moved = std::move(log);
  EXPECT_THAT(rest(moved), ElementsAre("two", "three"));
}

// --- The awaitable form.

Task<std::vector<std::string>> awaitedLines(AsyncPodClient pods) {
  AsyncLogStream log = co_await pods.logs("web");
  std::vector<std::string> lines;
  for (;;) {
    const auto line = co_await log.nextLine();
    if (!line) break;
    lines.emplace_back(*line);
  }
  co_return lines;
}
Task<std::optional<std::string>> copied(Task<std::optional<std::string_view>> reading) {
  const auto piece = co_await std::move(reading);
  co_return piece ? std::optional<std::string>(*piece) : std::nullopt;
}

TEST_F(LogStreamTest, LinesAreAwaited) {
  testing::TestLoop loop;
  testing::Begun<std::vector<std::string>> task(awaitedLines(pods().async()), loop.executor());
  for (const char* piece : {"first\nsec", "o", "nd\n", "\nthi"}) {
    ASSERT_TRUE(container().write(piece));
    loop.runOne();
  }
  EXPECT_FALSE(task.over());
  container().close();
  loop.runUntil([&] { return task.over(); });
  EXPECT_THAT(task.result(), ElementsAre("first", "second", "", "thi"));
}

TEST_F(LogStreamTest, ALogIsReadOnAfterAStoppedOrDestroyedRead) {
  AsyncLogStream log = blockOn(pods().async().logs("web"));
  container().write("one\nhal");
  EXPECT_EQ(blockOn(copied(log.nextLine())), "one");
  testing::TestLoop loop;
  using Read = testing::Begun<std::optional<std::string>>;
  std::stop_source stop;
  Read stopped(copied(log.nextLine()), loop.executor(), stop.get_token());
  stop.request_stop();
  loop.runUntil([&] { return stopped.over(); });
  EXPECT_THROW(stopped.result(), CanceledError);
  { const Read destroyed(copied(log.nextLine()), loop.executor()); }
  container().write("f\nquart");
  EXPECT_EQ(blockOn(copied(log.nextLine())), "half");
  { const Read destroyed(copied(log.nextLine()), loop.executor()); }
  container().write("er\n");
  EXPECT_EQ(blockOn(copied(log.read())), "quart");  // bytes begin after the last line
  EXPECT_EQ(blockOn(copied(log.read())), "er\n");
  container().abort();
  EXPECT_THROW(blockOn(copied(log.nextLine())), TransportError);
}

TEST(LogsTest, AFailureIsAnApiError) {
  ScriptedServer server([](const ServerRequest&) -> ServerResponse {
    const metav1::Status status = status::badRequest("container \"app\" is waiting to start");
    return {.status = status.code, .body = toJson(status)};
  });
  const PodClient pods = Clientset(server.config()).coreV1().pods("book");
  try {
    pods.logs("web");
    FAIL() << "no error";
  } catch (const ApiError& error) {
    EXPECT_TRUE(isBadRequest(error));
    EXPECT_THAT(error.what(), ::testing::HasSubstr(R"(get pods/log "web" in namespace "book")"));
  }
}

}  // namespace
}  // namespace kube
