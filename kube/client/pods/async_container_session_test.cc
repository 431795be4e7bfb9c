#include "kube/client/pods/async_container_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <optional>

#include "kube/base/internal/test_loop_testing.h"
#include "kube/base/task_scope.h"
#include "kube/base/task_threads.h"
#include "kube/base/when.h"
#include "kube/client/pods/internal/pod_server_testing.h"
#include "kube/http/internal/streams/server_websocket.h"
#include "kube/http/internal/streams/websocket_frames.h"
#include "kube/meta/api_error.h"
#include "kube/testing/scripted_server.h"

namespace kube {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using testing::Begun;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::Process;
using testing::TestLoop;

class AsyncSessionTest : public PodServerTest {
 protected:
  AsyncPodClient async() const { return pods().async(); }
  AsyncContainerSession opened(ExecOptions options) const {
    return blockOn(async().exec("web", options));
  }
  /// A program that neither reads nor writes until its client is gone.
  void idleProgram() {
    program([](Process& process) {
      process.nextSize();
      process.clock().sleepFor(1000s, process.stop());
      return 0;
    });
  }
};

Task<ContainerOutput> outputOf(AsyncPodClient pods, ExecOptions options) {
  auto session = co_await pods.exec("web", options);
  co_return co_await session.output();
}

Task<std::string> cat(AsyncPodClient pods, std::vector<std::string> lines) {
  const ExecOptions options{.command = {"cat"}, .stdin = true};
  auto session = co_await pods.exec("web", options);
  std::string all;
  for (const std::string& line : lines) {
    const bool open = co_await session.write(line);
    EXPECT_TRUE(open);
    for (std::string heard; heard.size() < line.size();) {
      const auto piece = co_await session.read();
      if (!piece) co_return "too early";
      heard += piece->bytes;
      all += piece->bytes;
    }
  }
  session.closeStdin();
  const auto end = co_await session.read();
  EXPECT_EQ(end, std::nullopt);
  const int code = co_await session.wait();
  co_return all + std::to_string(code);
}

TEST_F(AsyncSessionTest, ReturnsACommandsOutputAndExitCode) {
  const ExecOptions options{.command = {"sh", "-c", "echo out; echo err >&2; exit 3"}};
  const ContainerOutput said = blockOn(outputOf(async(), options));
  EXPECT_EQ(said.out, "out\n");
  EXPECT_EQ(said.err, "err\n");
  EXPECT_EQ(said.exitCode, 3);
}

TEST_F(AsyncSessionTest, ReadsAndWritesByTurns) {
  EXPECT_EQ(blockOn(cat(async(), {"one", "two", std::string("\0\xff", 2)})),
            std::string("onetwo\0\xff", 8) + "0");
}

TEST_F(AsyncSessionTest, ManySessionsRunOnOneThread) {
  std::vector<Task<std::string>> tasks;
  for (int i = 0; i < 50; ++i) tasks.push_back(cat(async(), {std::to_string(i), "x"}));
  const auto all = blockOn(whenAll(std::move(tasks)));
  for (int i = 0; i < 50; ++i) EXPECT_EQ(all[i], std::to_string(i) + "x0");
}

TEST_F(AsyncSessionTest, AttachAndOptionsAreThoseOfTheBlockingForm) {
  server.containers().attach("book/web", "app", [](Process& process) {
    const auto size = process.nextSize();
    process.write(fmt::format("{}x{}", size->width, size->height));
    return 5;
  });
  std::string said;
  const AttachOptions options{.container = "app",
                              .tty = true,
                              .size = TerminalSize{80, 24},
                              .onStdout = [&](std::string_view bytes) { said += bytes; }};
  auto session = blockOn(async().attach("web", options));
  EXPECT_EQ(blockOn(session.wait()), 5);
  EXPECT_EQ(said, "80x24");
}

TEST_F(AsyncSessionTest, ErrorsAreThoseOfTheBlockingForm) {
  const ExecOptions command{.command = {"x"}};
  EXPECT_THAT(thrown<ApiError>([&] { blockOn(async().exec("nobody", command)); }),
              AllOf(HasSubstr(R"(pods "nobody" not found)"), HasSubstr("pods/exec")));
  EXPECT_THAT(thrown<Error>([&] { blockOn(async().exec("web", {})); }), HasSubstr("no command"));
  auto missing = opened({.command = {"frobnicate"}});
  EXPECT_THAT(thrown<ApiError>([&] { blockOn(missing.wait()); }),
              HasSubstr("executable file not found"));
  auto silent = opened({.command = {"cat"}});
  EXPECT_THAT(thrown<Error>([&] { blockOn(silent.write("x")); }), HasSubstr(".stdin = true"));
  auto much = opened({.command = {"yes"}});
  EXPECT_THAT(thrown<Error>([&] { blockOn(much.output(1000)); }), HasSubstr("1000 bytes"));
}

TEST_F(AsyncSessionTest, WriteIsFalseAfterTheCommandHasEnded) {
  auto session = opened({.command = {"true"}, .stdin = true});
  EXPECT_EQ(blockOn(session.wait()), 0);
  EXPECT_FALSE(blockOn(session.write("anyone there?")));
}

Task<> copyIn(AsyncContainerSession& to, std::size_t blocks, Checksum& sum) {
  NoiseSource noise;
  for (std::size_t i = 0; i < blocks; ++i) {
    std::string block = noise.next(256 << 10);
    sum.add(block);
    const bool open = co_await to.write(std::move(block));
    if (!open) co_return;
  }
  to.closeStdin();
}
Task<int> copyOut(AsyncContainerSession& from, Checksum& sum) {
  for (;;) {
    const auto piece = co_await from.read();
    if (!piece) break;
    sum.add(piece->bytes);
  }
  co_return co_await from.wait();
}

TEST_F(AsyncSessionTest, BothWaysAtOnceOnOneThread) {
  auto session = opened({.command = {"cat"}, .stdin = true});
  Checksum in, out;
  blockOn(whenAll(copyIn(session, 64, in), copyOut(session, out)));
  EXPECT_EQ(out.hex(), in.hex());
}

TEST_F(AsyncSessionTest, BothWaysAtOnceOnSeveralThreads) {
  auto session = opened({.command = {"cat"}, .stdin = true});
  Checksum in, out;
  const auto threads = TaskThreads::shared();
  const Executor executor([threads](Executor::Work work) { threads->run(std::move(work)); });
  TaskScope tasks(executor);
  tasks.start(copyIn(session, 32, in));
  tasks.start(copyOut(session, out));
  tasks.wait();
  EXPECT_EQ(out.hex(), in.hex());
}

TEST_F(AsyncSessionTest, AWriteWaitsForTheContainer) {
  idleProgram();
  auto session = opened({.command = {"x"}, .stdin = true});
  TestLoop loop;
  // Far more than the buffers of both sides.
  Begun<bool> write(session.write(std::string(64 << 20, 'x')), loop.executor());
  EXPECT_FALSE(write.over());
  // A stop ends the write, and not the session.
  EXPECT_THROW(blockOn(within(1ms, session.write("more"))), TimeoutError);
  session.cancel();
  loop.runUntil([&] { return write.over(); });
  EXPECT_FALSE(write.result());
}

TEST_F(AsyncSessionTest, AReadThatWasStoppedCanBeRepeated) {
  auto session = opened({.command = {"cat"}, .stdin = true});
  EXPECT_THROW(blockOn(within(1ms, session.read())), TimeoutError);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(blockOn(session.read(), stop.get_token()), CanceledError);
  EXPECT_TRUE(blockOn(session.write("still there")));
  EXPECT_EQ(blockOn(session.read())->bytes, "still there");
}

TEST_F(AsyncSessionTest, AStopEndsTheOpening) {
  std::stop_source stop;
  stop.request_stop();
  const ExecOptions command{.command = {"true"}};
  EXPECT_THROW(blockOn(async().exec("web", command), stop.get_token()), CanceledError);
}

TEST_F(AsyncSessionTest, ATaskMayBeDestroyedWhereverItWaits) {
  idleProgram();
  const ExecOptions options{.command = {"x"}, .stdin = true};
  TestLoop loop;
  // Before the answer, with the answer in the loop, and later.
  for (int steps = 0; steps < 6; ++steps) {
    Begun<ContainerOutput> task(outputOf(async(), options), loop.executor());
    for (int i = 0; i < steps && loop.queued() > 0; ++i) loop.runOne();
  }
  auto session = opened(options);
  {
    Begun<std::optional<AsyncContainerSession::Piece>> read(session.read(), loop.executor());
    Begun<bool> write(session.write(std::string(8 << 20, 'x')), loop.executor());
  }
  loop.runAll();
}

TEST_F(AsyncSessionTest, DestroyingTheSessionEndsItsTasks) {
  idleProgram();
  std::optional<AsyncContainerSession> session = opened({.command = {"x"}, .stdin = true});
  TestLoop loop;
  Begun<int> wait(session->wait(), loop.executor());
  Begun<bool> write(session->write(std::string(8 << 20, 'x')), loop.executor());
  session.reset();
  loop.runUntil([&] { return wait.over() && write.over(); });
  EXPECT_THROW(wait.result(), CanceledError);
  EXPECT_FALSE(write.result());
}

TEST_F(AsyncSessionTest, DestroyingTheClientEndsItsTasks) {
  idleProgram();
  std::optional<Clientset> own(server.config());
  const ExecOptions options{.command = {"x"}, .stdin = true};
  std::optional<AsyncContainerSession> session =
      blockOn(own->coreV1().pods("book").async().exec("web", options));
  TestLoop loop;
  Begun<int> wait(session->wait(), loop.executor());
  own.reset();
  loop.runUntil([&] { return wait.over(); });
  EXPECT_THROW(wait.result(), CanceledError);
  EXPECT_FALSE(blockOn(session->write("x")));
}

TEST_F(AsyncSessionTest, StopsComeAtAnyTime) {
  const auto threads = std::make_shared<TaskThreads>();
  const Executor executor([threads](Executor::Work work) { threads->run(std::move(work)); });
  for (int i = 0; i < 20; ++i) {
    TaskScope tasks(executor);
    for (int j = 0; j < 3; ++j) {
      const auto echo = [](AsyncPodClient pods) -> Task<void> {
        std::vector<std::string> lines{"a", "b", "c"};
        const auto said = co_await cat(pods, std::move(lines));
        EXPECT_EQ(said, "abc0");
      };
      tasks.start(echo(async()));
    }
    if (i % 2 == 0) tasks.requestStop();
    if (i % 3 == 0) tasks.wait();
  }
}

// --- Servers that behave badly.

using Answer = std::function<void(const std::shared_ptr<detail::ServerWebSocket>&)>;

// Accepts every request as a WebSocket.
class BadServer {
 public:
  explicit BadServer(Answer answer) : answer_(std::move(answer)) {}

  AsyncContainerSession exec() const {
    const ExecOptions options{.command = {"x"}, .stdin = true};
    return blockOn(clients_.coreV1().pods("book").async().exec("web", options));
  }

 private:
  const Answer answer_;
  ScriptedServer server_{
      ScriptedServer::RawScript([this](const ServerRequest& request, const Responder& responder) {
        detail::ServerWebSocket::accept(request, responder, "v5.channel.k8s.io", answer_);
      })};
  const Clientset clients_{server_.config()};
};

TEST(AsyncSessionWithTest, AServerThatDisappears) {
  std::shared_ptr<detail::ServerWebSocket> held;
  std::promise<void> accepted;
  const BadServer server([&](const auto& socket) {
    socket->start({});
    socket->sendNow("\1half of");
    held = socket;
    accepted.set_value();
  });
  auto session = server.exec();
  accepted.get_future().get();
  EXPECT_EQ(blockOn(session.read())->bytes, "half of");
  TestLoop loop;
  Begun<int> wait(session.wait(), loop.executor());
  held->cut();
  loop.runUntil([&] { return wait.over(); });
  EXPECT_THAT(thrown<TransportError>([&] { wait.result(); }), HasSubstr("closed in the middle"));
  EXPECT_FALSE(blockOn(session.write("x")));
}

TEST(AsyncSessionWithTest, AServerThatSendsGarbage) {
  RawServer server([](RawConnection& connection, int) {
    const std::string head = connection.readHead();
    constexpr std::string_view kKey = "Sec-WebSocket-Key: ";
    const std::size_t at = head.find(kKey) + kKey.size();
    connection.write(
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        "Sec-WebSocket-Protocol: v5.channel.k8s.io\r\nSec-WebSocket-Accept: " +
        detail::webSocketAcceptKey(head.substr(at, head.find('\r', at) - at)) + "\r\n\r\n");
    connection.write(std::string(1000, '\xff'));
  });
  Config config;
  config.host = server.url();
  config.proxy = "direct";
  const Clientset clients(config);
  const ExecOptions options{.command = {"x"}};
  auto session = blockOn(clients.coreV1().pods("book").async().exec("web", options));
  EXPECT_THAT(thrown<TransportError>([&] { blockOn(session.wait()); }),
              HasSubstr("violates the protocol"));
}

}  // namespace
}  // namespace kube
