#include "kube/client/pods/async_port_forward.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <future>
#include <optional>

#include "kube/base/internal/test_loop_testing.h"
#include "kube/base/when.h"
#include "kube/client/pods/internal/local_program_testing.h"
#include "kube/client/pods/internal/pod_server_testing.h"
#include "kube/http/internal/raw_server_testing.h"
#include "kube/http/internal/streams/websocket_frames.h"
#include "kube/meta/api_error.h"

namespace kube {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::AnyOf;
using testing::Begun;
using ::testing::HasSubstr;
using testing::PortConnection;
using testing::TestLoop;

class AsyncPortForwardTest : public PodServerTest {
 protected:
  AsyncPodClient async() const { return pods().async(); }
  AsyncPortForward forwarding(std::uint16_t remote, PortForwardOptions options = {}) const {
    const std::vector<PortPair> ports{{.remote = remote}};
    return blockOn(async().portForward("web", ports, std::move(options)));
  }
  /// A service that reads nothing until its client is gone.
  void deafService(std::uint16_t port) {
    server.containers().port("book/web", port, [](PortConnection& client) {
      std::promise<void> over;
      const std::stop_callback onStop(client.stop(), [&] { over.set_value(); });
      over.get_future().wait();
    });
  }
  static void await(const std::function<bool()>& done) {
    const auto deadline = std::chrono::steady_clock::now() + 30s;
    while (!done() && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
    EXPECT_TRUE(done());
  }
};

std::size_t threads() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<std::size_t>(std::distance(begin(tasks), end(tasks)));
}

Task<std::string> echoed(AsyncPodClient pods) {
  const std::vector<PortPair> ports{{.remote = 7}};
  auto forward = co_await pods.portForward("web", ports);
  const std::uint16_t port = forward.ports()[0].local;
  auto client = std::async(std::launch::async, [port] {
    const LocalProgram program(port);
    program.say("hello");
    return program.hear(5);
  });
  std::string heard = client.get();
  co_await forward.stop();
  EXPECT_FALSE(LocalProgram(port).connected());
  co_return heard;
}

TEST_F(AsyncPortForwardTest, StartsForwardsAndStops) {
  EXPECT_EQ(blockOn(echoed(async())), "hello");
}

TEST_F(AsyncPortForwardTest, HundredsOfForwardsNeedNoMoreThreadsThanOne) {
  std::deque<AsyncPortForward> all;
  all.push_back(forwarding(7));
  {
    const LocalProgram program(all[0].ports()[0].local);
    program.say("x");
    EXPECT_EQ(program.hear(1), "x");
  }
  const std::size_t before = threads();
  for (int i = 0; i < 200; ++i) all.push_back(forwarding(7, {.addresses = {"127.0.0.1"}}));
  for (const std::size_t i : {1, 100, 200}) {
    const LocalProgram program(all[i].ports()[0].local);
    program.say("x");
    EXPECT_EQ(program.hear(1), "x");
  }
  // The server's threads count, too.
  EXPECT_LT(threads(), before + 20);
}

TEST_F(AsyncPortForwardTest, ErrorsAreThoseOfTheBlockingForm) {
  const auto forward = [&](const char* pod, std::vector<PortPair> ports) {
    return thrown<Error>([&] { blockOn(async().portForward(pod, std::move(ports))); });
  };
  EXPECT_THAT(forward("nobody", {{.remote = 7}}), HasSubstr("not found"));
  EXPECT_THAT(forward("web", {}), HasSubstr("no ports given"));
  EXPECT_THAT(forward("web", {{.remote = 0}}), HasSubstr("0 is not a port of a pod"));
}

TEST_F(AsyncPortForwardTest, ReportsComeToTheProgramsExecutor) {
  TestLoop loop;
  std::vector<std::string> said;
  auto forward = forwarding(
      99,
      {.onConnection = [&](const BoundPort&) { said.emplace_back("connection"); },
       .onError = [&](const BoundPort&, const Error& error) { said.emplace_back(error.what()); },
       .executor = loop.executor()});
  const LocalProgram program(forward.ports()[0].local);
  EXPECT_EQ(program.rest(), "");
  EXPECT_TRUE(said.empty());
  loop.runUntil([&] { return said.size() == 2; });
  EXPECT_EQ(said[0], "connection");
  EXPECT_THAT(said[1], AllOf(HasSubstr("-> 99"), HasSubstr("connection refused")));
}

TEST_F(AsyncPortForwardTest, AFunctionThatBlocksDelaysNothing) {
  std::promise<void> go;
  std::atomic<int> calls = 0;
  auto forward =
      forwarding(7, {.onConnection = [&, gone = go.get_future().share()](const BoundPort&) {
                   gone.wait();
                   ++calls;
                 }});
  for (int i = 0; i < 2; ++i) {
    const LocalProgram program(forward.ports()[0].local);
    program.say("x");
    EXPECT_EQ(program.hear(1), "x");
  }
  EXPECT_EQ(calls, 0);
  go.set_value();
  await([&] { return calls == 2; });
}

TEST_F(AsyncPortForwardTest, AFunctionMayDestroyTheForward) {
  std::optional<PortForward> forward;
  std::promise<void> ready, gone;
  forward =
      pods().portForward("web", {{.remote = 7}},
                         {.addresses = {"127.0.0.1"},
                          .onConnection = [&, set = ready.get_future().share()](const BoundPort&) {
                            set.wait();
                            EXPECT_THROW(forward->stop(), Error) << "it would wait for itself";
                            forward.reset();
                            gone.set_value();
                          }});
  const std::uint16_t port = forward->ports()[0].local;
  ready.set_value();
  const LocalProgram program(port);
  EXPECT_EQ(program.rest(), "");
  EXPECT_EQ(gone.get_future().wait_for(30s), std::future_status::ready);
  EXPECT_FALSE(LocalProgram(port).connected());
}

TEST_F(AsyncPortForwardTest, AStopEndsAWaitAndNotTheForward) {
  auto forward = forwarding(7);
  EXPECT_THROW(blockOn(within(1ms, forward.wait())), TimeoutError);
  const LocalProgram program(forward.ports()[0].local);
  program.say("x");
  EXPECT_EQ(program.hear(1), "x");
  blockOn(forward.stop());
  blockOn(forward.wait());
  EXPECT_EQ(program.rest(), "");
  EXPECT_EQ(forward.connections(), 0u);
}

TEST_F(AsyncPortForwardTest, DestroyingTheForwardEndsItsTasks) {
  TestLoop loop;
  std::optional<AsyncPortForward> forward = forwarding(7);
  const LocalProgram program(forward->ports()[0].local);
  program.say("x");
  EXPECT_EQ(program.hear(1), "x");
  Begun<void> wait(forward->wait(), loop.executor());
  forward.reset();
  EXPECT_EQ(program.rest(), "");
  loop.runUntil([&] { return wait.over(); });
  wait.result();
}

TEST_F(AsyncPortForwardTest, AForwardKeepsItsClientAlive) {
  std::optional<Clientset> own(server.config());
  const std::vector<PortPair> ports{{.remote = 7}};
  auto forward = blockOn(own->coreV1().pods("book").async().portForward("web", ports));
  own.reset();
  const LocalProgram program(forward.ports()[0].local);
  program.say("x");
  EXPECT_EQ(program.hear(1), "x");
}

TEST_F(AsyncPortForwardTest, DestroyedWhileConnectionsComeAndGo) {
  for (int i = 0; i < 10; ++i) {
    std::optional<AsyncPortForward> forward = forwarding(i % 2 == 0 ? 7 : 99);
    const std::uint16_t port = forward->ports()[0].local;
    std::vector<std::jthread> programs;
    for (int j = 0; j < 3; ++j) {
      programs.emplace_back([port] {
        for (;;) {
          const LocalProgram program(port);
          if (!program.connected()) return;
          program.say(std::string(100'000, 'x'));
        }
      });
    }
    await([&] { return forward->connections() > 0; });
    if (i % 3 == 0) server.restart();
    forward.reset();
  }
}

TEST_F(AsyncPortForwardTest, APodThatReadsNothingMakesTheProgramWait) {
  deafService(90);
  auto forward = forwarding(90, {.addresses = {"127.0.0.1"}});
  const LocalProgram program(forward.ports()[0].local);
  std::atomic<std::size_t> written = 0;
  {
    std::jthread writer([&] {
      const std::string block(64 << 10, 'x');
      while (program.say(block)) written += block.size();
    });
    // The program cannot get further than the buffers allow, however long this takes.
    for (int i = 0; i < 50; ++i) EXPECT_TRUE(pods().find("web"));
    EXPECT_LT(written, 64u << 20);
    blockOn(forward.stop());
  }
}

TEST_F(AsyncPortForwardTest, AProgramThatDisappearsEndsItsConnection) {
  deafService(90);
  auto forward = forwarding(90, {.addresses = {"127.0.0.1"}});
  {
    const LocalProgram program(forward.ports()[0].local);
    program.say("x");
    await([&] { return forward.connections() == 1; });
    program.endInput();
    program.resetAtEnd();
  }
  await([&] { return forward.connections() == 0; });
}

TEST_F(AsyncPortForwardTest, NothingIsLostWhenTheProgramEndsItsOutput) {
  constexpr std::size_t kAmount = 4 << 20;
  std::promise<std::size_t> heard;
  server.containers().port("book/web", 90, [&](PortConnection& client) {
    std::size_t all = 0;
    while (const auto piece = client.read()) all += piece->size();
    heard.set_value(all);
  });
  auto forward = forwarding(90);
  {
    const LocalProgram program(forward.ports()[0].local);
    EXPECT_TRUE(program.say(std::string(kAmount, 'x')));
    program.endInput();
    EXPECT_EQ(program.rest(), "");
  }
  EXPECT_EQ(heard.get_future().get(), kAmount);
}

// --- Streams without a port of this machine.

Task<std::string> all(AsyncPortStream& stream) {
  std::string heard;
  for (;;) {
    const auto bytes = co_await stream.read();
    if (!bytes) co_return heard;
    heard += *bytes;
  }
}
Task<std::string> page(AsyncPodClient pods) {
  auto stream = co_await pods.openPort("web", 80);
  co_await stream.write("GET / HTTP/1.0\r\n\r\n");
  co_return co_await all(stream);
}

TEST_F(AsyncPortForwardTest, AStreamToAPort) {
  EXPECT_THAT(blockOn(page(async())), HasSubstr("hello"));
}

TEST_F(AsyncPortForwardTest, AStreamEndsInBothDirections) {
  server.containers().port("book/web", 90, [](PortConnection& client) {
    std::string heard;
    while (const auto piece = client.read()) heard += *piece;
    client.write("heard " + heard);
  });
  auto stream = blockOn(async().openPort("web", 90));
  EXPECT_TRUE(blockOn(stream.write("all of it")));
  EXPECT_TRUE(stream.endOutput());
  EXPECT_FALSE(blockOn(stream.write("late")));
  EXPECT_EQ(blockOn(all(stream)), "heard all of it");
}

Task<> send(AsyncPortStream& stream, std::size_t blocks, Checksum& sum) {
  NoiseSource noise;
  for (std::size_t i = 0; i < blocks; ++i) {
    std::string block = noise.next(1 << 20);
    sum.add(block);
    co_await stream.write(std::move(block));
  }
}
Task<> receive(AsyncPortStream& stream, std::size_t size, Checksum& sum) {
  while (size > 0) {
    const auto bytes = co_await stream.read();
    if (!bytes) co_return;
    sum.add(*bytes);
    size -= bytes->size();
  }
}

TEST_F(AsyncPortForwardTest, LargeAmountsThroughAStreamAreUnchanged) {
  auto stream = blockOn(async().openPort("web", 7));
  Checksum sent, heard;
  blockOn(whenAll(send(stream, 16, sent), receive(stream, 16 << 20, heard)));
  EXPECT_EQ(heard.hex(), sent.hex());
}

TEST_F(AsyncPortForwardTest, AStreamToARefusedPortFails) {
  auto stream = blockOn(async().openPort("web", 99));
  EXPECT_THAT(thrown<TransportError>([&] { blockOn(stream.read()); }),
              AllOf(HasSubstr("pods/portforward \"web\""), HasSubstr("port 99"),
                    HasSubstr("connection refused")));
  EXPECT_FALSE(blockOn(stream.write("x")));
  EXPECT_THAT(thrown<ApiError>([&] { blockOn(async().openPort("nobody", 7)); }),
              HasSubstr("not found"));
}

TEST_F(AsyncPortForwardTest, AStreamIsStoppedAndDestroyedWhereverItWaits) {
  deafService(90);
  std::optional<AsyncPortStream> stream = blockOn(async().openPort("web", 90));
  EXPECT_THROW(blockOn(within(1ms, stream->read())), TimeoutError);
  EXPECT_THROW(blockOn(within(1ms, stream->write(std::string(64 << 20, 'x')))), TimeoutError);
  TestLoop loop;
  Begun<std::optional<std::string_view>> read(stream->read(), loop.executor());
  Begun<bool> write(stream->write(std::string(64 << 20, 'x')), loop.executor());
  stream.reset();
  loop.runUntil([&] { return read.over() && write.over(); });
  EXPECT_THROW(read.result(), CanceledError);
  EXPECT_THROW(write.result(), CanceledError);
  for (int steps = 0; steps < 4; ++steps) {
    Begun<std::string> task(page(async()), loop.executor());
    for (int i = 0; i < steps; ++i) {
      if (!task.over()) loop.runOne();
    }
  }
  loop.runAll();
}

TEST_F(AsyncPortForwardTest, ALostServerEndsAStream) {
  deafService(90);
  auto stream = blockOn(async().openPort("web", 90));
  TestLoop loop;
  Begun<std::optional<std::string_view>> read(stream.read(), loop.executor());
  server.restart();
  loop.runUntil([&] { return read.over(); });
  EXPECT_THAT(thrown<TransportError>([&] { read.result(); }), HasSubstr("lost connection to pod"));
}

// --- A server that agrees to a tunnel, sends these bytes in one message, and disappears.

class OddTunnel {
 public:
  explicit OddTunnel(std::string bytes, std::string frames = {})
      : bytes_(std::move(bytes)), frames_(std::move(frames)) {}

  AsyncPodClient pods() const { return clients_.coreV1().pods("book").async(); }
  /// Waits until the client has received the frames, the last of which is a ping.
  void waitUntilTaken() const { taken_.get_future().wait(); }

 private:
  void serve(RawConnection& connection) const {
    const std::string head = connection.readHead();
    constexpr std::string_view kKey = "Sec-WebSocket-Key: ";
    const std::size_t at = head.find(kKey) + kKey.size();
    std::string answer =
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        "Sec-WebSocket-Protocol: SPDY/3.1+portforward.k8s.io\r\nSec-WebSocket-Accept: " +
        detail::webSocketAcceptKey(head.substr(at, head.find('\r', at) - at)) + "\r\n\r\n";
    // In one piece, so that the message may arrive before there is a tunnel.
    detail::appendWebSocketFrame(answer, detail::WebSocketOpcode::Binary, {}, bytes_, nullptr);
    connection.write(answer + frames_);
    if (frames_.empty()) return;
    connection.readSome();  // the answer to the ping
    taken_.set_value();
  }

  const std::string bytes_, frames_;
  mutable std::promise<void> taken_;
  RawServer server_{[this](RawConnection& connection, int) { serve(connection); }};
  const Clientset clients_{[this] {
    Config config;
    config.host = server_.url();
    config.proxy = "direct";
    return config;
  }()};
};

Task<> openAndRead(AsyncPodClient pods) {
  auto stream = co_await pods.openPort("web", 80);
  co_await stream.read();
}

TEST(AsyncPortForwardToTest, AServerThatSendsGarbage) {
  const OddTunnel server(std::string(1000, '\xff'));
  EXPECT_THAT(thrown<TransportError>([&] { blockOn(openAndRead(server.pods())); }),
              AnyOf(HasSubstr("violates the protocol"), HasSubstr("accepts no stream")));
}

TEST(AsyncPortForwardToTest, AServerThatSendsManyEmptyMessages) {
  std::string messages;
  for (int i = 0; i < 20'000; ++i) messages += std::string_view("\x82\0", 2);
  messages += std::string_view("\x89\0", 2);
  const OddTunnel server("", messages);
  TestLoop loop;
  Begun<void> task(openAndRead(server.pods()), loop.executor());
  server.waitUntilTaken();
  loop.runUntil([&] { return task.over(); });
  EXPECT_THAT(thrown<TransportError>([&] { task.result(); }),
              AnyOf(HasSubstr("accepts no stream"), HasSubstr("too many messages")));
}

TEST(AsyncPortForwardToTest, AServerThatLeavesAtOnce) {
  // GOAWAY of SPDY: no more streams.
  const OddTunnel server(std::string("\x80\x03\0\x07\0\0\0\x08\0\0\0\0\0\0\0\0", 16));
  const auto left = AnyOf(HasSubstr("accepts no"), HasSubstr("lost connection to pod"));
  EXPECT_THAT(thrown<TransportError>([&] { blockOn(openAndRead(server.pods())); }), left);
  std::promise<std::string> problem;
  const std::vector<PortPair> ports{{.remote = 80}};
  const PortForwardOptions options{
      .onError = [&](const BoundPort&, const Error& error) { problem.set_value(error.what()); }};
  auto forward = blockOn(server.pods().portForward("web", ports, options));
  EXPECT_EQ(LocalProgram(forward.ports()[0].local).rest(), "");
  EXPECT_THAT(problem.get_future().get(), left);
}

}  // namespace
}  // namespace kube
