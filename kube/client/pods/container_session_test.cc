#include "kube/client/pods/container_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <future>
#include <thread>

#include "kube/base/internal/sanitizer.h"
#include "kube/client/pods/internal/container_channels.h"
#include "kube/client/pods/internal/pod_server_testing.h"
#include "kube/http/internal/streams/server_websocket.h"
#include "kube/http/internal/streams/websocket_frames.h"
#include "kube/meta/api_error.h"
#include "kube/testing/scripted_server.h"

namespace kube {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::Process;

using Stream = ContainerSession::Stream;

class ContainerSessionTest : public PodServerTest {};

TEST_F(ContainerSessionTest, ReturnsACommandsOutputAndExitCode) {
  const ContainerOutput said =
      pods().exec("web", {.command = {"sh", "-c", "echo out; echo err >&2; exit 3"}}).output();
  EXPECT_EQ(said.out, "out\n");
  EXPECT_EQ(said.err, "err\n");
  EXPECT_EQ(said.exitCode, 3);
}

TEST_F(ContainerSessionTest, ArgumentsAreNotSplit) {
  auto echo = pods().exec("web", {.container = "app", .command = {"echo", "a  b&c=d", "é%", ""}});
  EXPECT_EQ(echo.output().out, "a  b&c=d é% \n");
}

TEST_F(ContainerSessionTest, ReadReturnsBothStreamsInOrder) {
  program([](Process& process) {
    process.write("1");
    process.writeError("2");
    process.write("3");
    return 0;
  });
  auto session = pods().exec("web", {.command = {"x"}});
  std::vector<std::pair<Stream, std::string>> pieces;
  while (const auto piece = session.read()) {
    pieces.emplace_back(piece->stream, std::string(piece->bytes));
  }
  EXPECT_THAT(pieces, ElementsAre(std::pair(Stream::Stdout, "1"), std::pair(Stream::Stderr, "2"),
                                  std::pair(Stream::Stdout, "3")));
  EXPECT_EQ(session.read(), std::nullopt);
  EXPECT_EQ(session.wait(), 0);
  EXPECT_EQ(session.wait(), 0) << "wait() may be called again";
}

TEST_F(ContainerSessionTest, WaitPassesOutputToCallbacks) {
  std::string out, err;
  auto session = pods().exec("web", {.command = {"sh", "-c", "echo a; echo b >&2; echo c"},
                                     .onStdout = [&](std::string_view bytes) { out += bytes; },
                                     .onStderr = [&](std::string_view bytes) { err += bytes; }});
  EXPECT_EQ(session.wait(), 0);
  EXPECT_EQ(out, "a\nc\n");
  EXPECT_EQ(err, "b\n");
}

TEST_F(ContainerSessionTest, StdinIsReadAndCanBeClosed) {
  auto cat = pods().exec("web", {.command = {"cat"}, .stdin = true});
  EXPECT_TRUE(cat.canCloseStdin());
  const std::string bytes("a\0\xff\r\nb", 6);
  EXPECT_TRUE(cat.write(bytes));
  ASSERT_EQ(cat.read()->bytes, bytes);
  cat.closeStdin();
  cat.closeStdin();
  EXPECT_THAT(thrown<Error>([&] { cat.write("late"); }), HasSubstr("stdin is closed"));
  EXPECT_EQ(cat.wait(), 0);
}

TEST_F(ContainerSessionTest, WithoutStdinNothingCanBeWritten) {
  auto cat = pods().exec("web", {.command = {"cat"}});
  EXPECT_THAT(thrown<Error>([&] { cat.write("x"); }), HasSubstr(".stdin = true"));
}

TEST_F(ContainerSessionTest, WriteIsFalseAfterTheCommandHasEnded) {
  auto session = pods().exec("web", {.command = {"true"}, .stdin = true});
  EXPECT_EQ(session.wait(), 0);
  EXPECT_FALSE(session.write("anyone there?"));
  session.closeStdin();
  session.resize({80, 25});
}

TEST_F(ContainerSessionTest, SizesArriveInOrder) {
  auto session =
      pods().exec("web", {.command = {"tty-size", "3"}, .tty = true, .size = TerminalSize{80, 24}});
  session.resize({100, 30});
  session.resize({65535, 1});
  EXPECT_EQ(session.output().out, "80x24\n100x30\n65535x1\n");
}

TEST_F(ContainerSessionTest, ATerminalHasOneOutput) {
  program([](Process& process) {
    EXPECT_TRUE(process.call().tty);
    EXPECT_FALSE(process.call().stderr_);
    process.write("out");
    process.writeError("err");
    return 0;
  });
  EXPECT_EQ(pods().exec("web", {.command = {"x"}, .tty = true}).output().out, "outerr");
}

TEST_F(ContainerSessionTest, AttachConnectsToTheContainersOwnProcess) {
  server.containers().attach("book/web", "app", [](Process& process) {
    process.write("main heard: " + process.read().value_or("nothing"));
    return 5;
  });
  auto session = pods().attach("web", {.stdin = true});
  session.write("hello");
  const ContainerOutput said = session.output();
  EXPECT_EQ(said.out, "main heard: hello");
  EXPECT_EQ(said.exitCode, 5);
}

TEST_F(ContainerSessionTest, OutputIsBounded) {
  auto session = pods().exec("web", {.command = {"yes"}});
  EXPECT_THAT(thrown<Error>([&] { session.output(1000); }), HasSubstr("1000 bytes"));
}

// --- Large amounts. KUBEXX_EXEC_MB sets another size: 1024 for a gigabyte.

std::size_t megabytes() {
  const char* const wanted = std::getenv("KUBEXX_EXEC_MB");
  return wanted != nullptr ? std::strtoul(wanted, nullptr, 10) : 64;
}
long memoryKb() {
  std::ifstream in("/proc/self/status");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("VmRSS:")) return std::strtol(line.c_str() + 6, nullptr, 10);
  }
  return 0;
}
constexpr std::size_t kMegabyte = std::size_t{1} << 20;
// Far less than the data, far more than the buffers of both sides.
#if defined(KUBE_ADDRESS_SANITIZER)
constexpr long kMaxGrowthKb = 400 << 10;  // freed memory stays in quarantine, up to 256 MB
#else
constexpr long kMaxGrowthKb = 40 << 10;
#endif

TEST_F(ContainerSessionTest, LargeOutputIsUnchanged) {
  const std::size_t amount = megabytes();
  std::promise<std::string> sent;
  program([&](Process& process) {
    NoiseSource noise;
    const std::string block = noise.next(kMegabyte);
    Checksum sum;
    for (std::size_t i = 0; i < amount; ++i) {
      const std::string head = std::to_string(i);
      for (const std::string_view part : {std::string_view(head), std::string_view(block)}) {
        sum.add(part);
        process.write(part);
      }
    }
    sent.set_value(sum.hex());
    return 0;
  });
  auto session = pods().exec("web", {.command = {"x"}});
  const long before = memoryKb();
  long most = 0;
  Checksum sum;
  std::size_t pieces = 0;
  while (const auto piece = session.read()) {
    sum.add(piece->bytes);
    if (++pieces % 1000 == 0) most = std::max(most, memoryKb() - before);
  }
  EXPECT_EQ(session.wait(), 0);
  EXPECT_EQ(sum.hex(), sent.get_future().get());
  EXPECT_LT(most, kMaxGrowthKb);
}

TEST_F(ContainerSessionTest, LargeInputIsUnchanged) {
  auto session = pods().exec("web", {.command = {"sha256sum"}, .stdin = true});
  const std::size_t amount = megabytes();
  NoiseSource noise;
  const std::string block = noise.next(kMegabyte);
  const long before = memoryKb();
  long most = 0;
  Checksum sum;
  for (std::size_t i = 0; i < amount; ++i) {
    const std::string head = std::to_string(i);
    for (const std::string_view part : {std::string_view(head), std::string_view(block)}) {
      sum.add(part);
      ASSERT_TRUE(session.write(part));
    }
    if (i % 16 == 0) most = std::max(most, memoryKb() - before);
  }
  session.closeStdin();
  EXPECT_EQ(session.output().out, sum.hex() + "  -\n");
  EXPECT_LT(most, kMaxGrowthKb);
}

TEST_F(ContainerSessionTest, BothWaysAtOnce) {
  auto cat = pods().exec("web", {.command = {"cat"}, .stdin = true});
  constexpr std::size_t kAmount = 16;
  Checksum in, out;
  std::jthread writer([&] {
    NoiseSource noise;
    for (std::size_t i = 0; i < kAmount; ++i) {
      const std::string block = noise.next(kMegabyte);
      in.add(block);
      if (!cat.write(block)) return;
    }
    cat.closeStdin();
  });
  while (const auto piece = cat.read()) out.add(piece->bytes);
  writer.join();
  EXPECT_EQ(cat.wait(), 0);
  EXPECT_EQ(out.hex(), in.hex());
}

TEST_F(ContainerSessionTest, ASlowReaderMakesTheCommandWait) {
  // The command may outlive the test, but not the server.
  const auto written = std::make_shared<std::atomic<std::size_t>>(0);
  program([written](Process& process) {
    const std::string block(64 << 10, 'x');
    while (process.write(block)) *written += block.size();
    return 0;
  });
  auto session = pods().exec("web", {.command = {"x"}});
  session.read();
  // The command cannot get further than the buffers allow, however long this takes.
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(pods().find("web"));
  EXPECT_LT(*written, 16u << 20);
}

// --- Ends of sessions.

TEST_F(ContainerSessionTest, AStopEndsARead) {
  std::stop_source stop;
  auto session = pods().exec("web", {.command = {"sleep", "1000"}}, stop.get_token());
  auto waiter = std::async(std::launch::async, [&] { return session.wait(); });
  stop.request_stop();
  ASSERT_EQ(waiter.wait_for(10s), std::future_status::ready);
  EXPECT_THROW(waiter.get(), CanceledError);
  EXPECT_THROW(session.read(), CanceledError);
}

TEST_F(ContainerSessionTest, AStopEndsAWrite) {
  program([](Process& process) {
    process.nextSize();
    process.clock().sleepFor(1000s, process.stop());
    return 0;
  });
  std::stop_source stop;
  auto session = pods().exec("web", {.command = {"x"}, .stdin = true}, stop.get_token());
  auto writer = std::async(std::launch::async, [&] {
    const std::string block(kMegabyte, 'x');
    while (session.write(block)) {
    }
  });
  stop.request_stop();
  EXPECT_EQ(writer.wait_for(10s), std::future_status::ready);
}

TEST_F(ContainerSessionTest, CancelAndDestructionAreVisibleToTheCommand) {
  std::promise<void> gone;
  program([&](Process& process) {
    while (process.read()) {
    }
    gone.set_value();
    return 0;
  });
  {
    auto session = pods().exec("web", {.command = {"x"}, .stdin = true});
    session.cancel();
    EXPECT_THROW(session.wait(), CanceledError);
  }
  EXPECT_EQ(gone.get_future().wait_for(10s), std::future_status::ready);
  gone = {};
  { const auto session = pods().exec("web", {.command = {"x"}, .stdin = true}); }
  EXPECT_EQ(gone.get_future().wait_for(10s), std::future_status::ready);
}

TEST_F(ContainerSessionTest, AStopBeforeTheStartIsACanceledError) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(pods().exec("web", {.command = {"true"}}, stop.get_token()), CanceledError);
}

TEST_F(ContainerSessionTest, ARefusalOfTheServerIsAnApiError) {
  create("pair", {"a", "b"});
  const auto refusal = [&](const char* pod, const ExecOptions& options) {
    return thrown<ApiError>([&] { pods().exec(pod, options); });
  };
  EXPECT_THAT(refusal("nobody", {.command = {"x"}}),
              AllOf(HasSubstr(R"(pods "nobody" not found)"), HasSubstr("pods/exec")));
  EXPECT_THAT(refusal("web", {.container = "other", .command = {"x"}}),
              HasSubstr("container other is not valid for pod web"));
  EXPECT_THAT(refusal("pair", {.command = {"x"}}), HasSubstr("choose one of: [a b]"));
  EXPECT_THAT(refusal("web", {.command = {"x"}, .stdout = false, .stderr = false}),
              HasSubstr("at least 1 of stdin, stdout, stderr"));
  EXPECT_THAT(thrown<Error>([&] { pods().exec("web", {}); }), HasSubstr("no command"));
}

TEST_F(ContainerSessionTest, AMissingCommandIsAnApiError) {
  auto session = pods().exec("web", {.command = {"frobnicate"}});
  EXPECT_EQ(session.read(), std::nullopt);
  try {
    session.wait();
    FAIL() << "no error";
  } catch (const ApiError& error) {
    EXPECT_TRUE(isInternalError(error));
    EXPECT_THAT(error.what(), AllOf(HasSubstr("\"frobnicate\": executable file not found"),
                                    HasSubstr(R"(pods/exec "web" in namespace "book")")));
  }
}

// --- Unusual servers.

using Answer = std::function<void(const std::shared_ptr<detail::ServerWebSocket>&)>;

// A server that accepts every request as a WebSocket.
class OddServer {
 public:
  OddServer(std::string protocol, Answer answer)
      : protocol_(std::move(protocol)), answer_(std::move(answer)) {}

  ContainerSession exec(const ExecOptions& options = {.command = {"x"}, .stdin = true}) const {
    return clients_.coreV1().pods("book").exec("web", options);
  }
  std::string offered() const {
    return std::string(server_.requests().back().headers.get("Sec-WebSocket-Protocol"));
  }

 private:
  const std::string protocol_;
  const Answer answer_;
  ScriptedServer server_{
      ScriptedServer::RawScript([this](const ServerRequest& request, const Responder& responder) {
        detail::ServerWebSocket::accept(request, responder, protocol_, answer_);
      })};
  const Clientset clients_{server_.config()};
};

const std::string kSuccess = "\3{\"status\":\"Success\"}";

TEST(ContainerProtocolTest, TheFourthVersionCannotCloseStdin) {
  const OddServer server("v4.channel.k8s.io", [](const auto& socket) {
    socket->start({.onData =
                       [socket](std::string_view piece, bool, bool) {
                         socket->sendNow("\1" + std::string(piece.substr(1)));
                         socket->sendNow(kSuccess);
                         socket->close(1000);
                       },
                   .onClosed = [] {}});
  });
  auto session = server.exec();
  EXPECT_EQ(server.offered(), "v5.channel.k8s.io, v4.channel.k8s.io");
  EXPECT_FALSE(session.canCloseStdin());
  EXPECT_THAT(thrown<Error>([&] { session.closeStdin(); }), HasSubstr("v4.channel.k8s.io"));
  session.write("hello");
  EXPECT_EQ(session.output().out, "hello");
}

TEST(ContainerProtocolTest, ACutInTheMiddleIsATransportError) {
  const OddServer server("v5.channel.k8s.io", [](const auto& socket) {
    socket->sendNow("\1half of");
    socket->cut();
  });
  auto session = server.exec();
  EXPECT_EQ(session.read()->bytes, "half of");
  EXPECT_THAT(thrown<TransportError>([&] { session.read(); }), HasSubstr("closed in the middle"));
  EXPECT_THAT(thrown<TransportError>([&] { session.wait(); }), HasSubstr("closed in the middle"));
}

TEST(ContainerProtocolTest, AnEndWithoutAStatusIsATransportError) {
  const OddServer server("v5.channel.k8s.io", [](const auto& socket) {
    socket->start({});
    socket->close(1011, "the node is on fire");
  });
  auto session = server.exec();
  EXPECT_EQ(session.read(), std::nullopt);
  EXPECT_THAT(thrown<TransportError>([&] { session.wait(); }),
              AllOf(HasSubstr("1011"), HasSubstr("the node is on fire")));
}

TEST(ContainerProtocolTest, OddMessagesAreIgnored) {
  const OddServer server("v5.channel.k8s.io", [](const auto& socket) {
    socket->start({});
    for (const char* odd : {"", "\4{}", "\5x", "\1", "\xff\1", "\x7f"}) socket->sendNow(odd);
    socket->sendNow("\1ok");
    socket->sendNow(kSuccess);
    socket->close(1000);
  });
  EXPECT_EQ(server.exec().output().out, "ok");
}

TEST(ContainerProtocolTest, AnInvalidStatusIsReportedAsText) {
  const OddServer server("v5.channel.k8s.io", [](const auto& socket) {
    socket->start({});
    socket->sendNow("\3something went wrong");
    socket->close(1000);
  });
  auto session = server.exec();
  EXPECT_THAT(thrown<ApiError>([&] { session.wait(); }), HasSubstr("something went wrong"));
}

TEST(ContainerProtocolTest, AProtocolThatWasNotOfferedIsRefused) {
  const OddServer server("v9.channel.k8s.io", [](const auto& socket) { socket->start({}); });
  EXPECT_THAT(thrown<TransportError>([&] { server.exec(); }), HasSubstr("v9.channel.k8s.io"));
}

TEST(ContainerProtocolTest, AServerWithoutWebSocketsIsAnError) {
  for (const int status : {200, 400, 403, 404, 503}) {
    ScriptedServer server([status](const ServerRequest&) -> ServerResponse {
      return {.status = status, .body = "upgrade? never heard of it"};
    });
    const auto exec = [&] {
      Clientset(server.config()).coreV1().pods("book").exec("web", {.command = {"x"}});
    };
    if (status == 200) {
      EXPECT_THAT(thrown<TransportError>(exec), HasSubstr("instead of switching to a WebSocket"));
    } else {
      try {
        exec();
        FAIL() << "no error";
      } catch (const ApiError& error) {
        EXPECT_EQ(error.code(), status);
        const metav1::StatusCause* const cause = error.cause("UnexpectedServerResponse");
        const std::string said = cause != nullptr ? cause->message.str() : error.what();
        EXPECT_THAT(said, HasSubstr("never heard of it"));
      }
    }
  }
}

}  // namespace
}  // namespace kube
