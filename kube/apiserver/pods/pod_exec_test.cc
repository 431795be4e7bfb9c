// Exec and attach, over WebSockets.
#include <gmock/gmock.h>

#include <future>
#include <thread>

#include "kube/apiserver/pods/pod_socket_testing.h"
#include "kube/base/internal/sanitizer.h"

namespace kube::apiserver {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kV5 = "v5.channel.k8s.io";
constexpr const char* kV4 = "v4.channel.k8s.io";
constexpr std::size_t kMuch = 64 << 20;

class PodExecTest : public PodStreamsTest {};

TEST_F(PodExecTest, AProgramsOutputAndEndAreTold) {
  PodSocket client(server, execPath("echo hello world"), kV5);
  EXPECT_THAT(
      client.head(),
      AllOf(StartsWith("HTTP/1.1 101 "), HasSubstr("Sec-WebSocket-Protocol: " + std::string(kV5)),
            HasSubstr("Sec-WebSocket-Accept: ICX+Yqv66kxgM0FcWaLWlFLwTAI=")));
  const PodSocket::Ended ended = client.finish();
  EXPECT_EQ(ended.out, "hello world\n");
  EXPECT_EQ(ended.err, "");
  EXPECT_EQ(ended.result()["status"].asString(), "Success");
  EXPECT_EQ(ended.code, 1000);
}

TEST_F(PodExecTest, ExitCodesAreTold) {
  EXPECT_EQ(PodSocket(server, execPath("true"), kV4).finish().exitCode(), 0);
  EXPECT_EQ(PodSocket(server, execPath("false"), kV4).finish().exitCode(), 1);
  const PodSocket::Ended ended =
      PodSocket(server, execPath("sh -c echo%20oops%20%3E%262;exit%2042"), kV5).finish();
  EXPECT_EQ(ended.err, "oops\n");
  EXPECT_EQ(ended.out, "");
  EXPECT_EQ(ended.exitCode(), 42);
  EXPECT_EQ(ended.result()["reason"].asString(), "NonZeroExitCode");
  EXPECT_EQ(ended.result()["details"]["causes"].asArray()[0]["reason"].asString(), "ExitCode");
}

TEST_F(PodExecTest, AProgramThatIsNotThereCannotBeStarted) {
  const PodSocket::Ended ended = PodSocket(server, execPath("foo"), kV5).finish();
  EXPECT_EQ(ended.result()["reason"].asString(), "InternalError");
  EXPECT_THAT(ended.result()["message"].asString().str(),
              AllOf(StartsWith("Internal error occurred: error executing command in container: "),
                    HasSubstr(R"(exec: "foo": executable file not found in $PATH)")));
}

TEST_F(PodExecTest, InputGoesBothWaysUntilItIsClosed) {
  PodSocket client(server, execPath("cat"), kV5);
  client.send(0, "one");
  EXPECT_EQ(client.next()->payload, "\1one");
  client.send(0, "two");
  EXPECT_EQ(client.next()->payload, "\1two");
  client.closeChannel(0);
  EXPECT_EQ(client.finish().exitCode(), 0);
}

TEST_F(PodExecTest, WhatComesWithTheRequestIsNotLost) {
  PodSocket client(server, execPath("cat"), kV5, "Upgrade: WebSocket\r\nConnection: x, upgrade\r\n",
                   PodSocket::frame(PodSocket::kBinary, std::string("\0early", 6)));
  client.closeChannel(0);
  EXPECT_EQ(client.finish().out, "early");
}

TEST_F(PodExecTest, MessagesMayComeInFragmentsWithPingsBetween) {
  PodSocket client(server, execPath("cat"), kV5);
  client.say(PodSocket::frame(PodSocket::kBinary, "", false));
  client.say(PodSocket::frame(PodSocket::kContinuation, std::string("\0ab", 3), false));
  client.say(PodSocket::frame(PodSocket::kPing, "are you there"));
  client.say(PodSocket::frame(PodSocket::kContinuation, "cd", true));
  client.send(0, "");
  client.closeChannel(0);
  std::string out;
  bool answered = false;
  while (const auto frame = client.next()) {
    if (frame->opcode == PodSocket::kPong) answered = frame->payload == "are you there";
    if (frame->opcode == PodSocket::kClose) break;
    if (frame->opcode == PodSocket::kBinary && frame->payload[0] == 1) {
      out += frame->payload.substr(1);
    }
  }
  EXPECT_TRUE(answered);
  EXPECT_EQ(out, "abcd");
}

TEST_F(PodExecTest, EveryByteArrivesInOneFrame) {
  for (const char byte : {'\0', '\xff'}) {
    const std::string frame = PodSocket::frame(PodSocket::kBinary, std::string("\0x\xff\0", 4));
    PodSocket client(server, execPath("cat"), kV5);
    for (const char c : frame) client.say({&c, 1});
    client.send(0, {&byte, 1});
    client.closeChannel(0);
    EXPECT_EQ(client.finish().out, std::string("x\xff\0", 3) + byte);
  }
}

TEST_F(PodExecTest, ATerminalsSizesAreTold) {
  PodSocket client(server, execPath("tty-size 3", "&tty=true"), kV5);
  client.send(4, R"({"Width":80,"Height":24})");
  client.send(4, R"({"Width":100,)");
  client.send(4, "\"Height\":30}\n");
  client.send(4, R"({"Width":70000,"Height":-1})");
  const PodSocket::Ended ended = client.finish();
  EXPECT_EQ(ended.out, "80x24\n100x30\n65535x0\n");
  EXPECT_EQ(ended.exitCode(), 0);
}

TEST_F(PodExecTest, WithATerminalErrorsGoToTheOutput) {
  const PodSocket::Ended ended =
      PodSocket(server, execPath("sh -c echo%20oops%20%3E%262", "&tty=true"), kV5).finish();
  EXPECT_EQ(ended.out, "oops\n");
  EXPECT_EQ(ended.err, "");
}

TEST_F(PodExecTest, WhatWasNotAskedForIsDropped) {
  const PodSocket::Ended ended =
      PodSocket(server,
                "web/exec?stderr=true&command=sh&command=-c&command=echo%20a;echo%20b%20%3E%262",
                kV5)
          .finish();
  EXPECT_EQ(ended.out, "");
  EXPECT_EQ(ended.err, "b\n");
}

TEST_F(PodExecTest, OlderProtocolsAreSpoken) {
  PodSocket base64(server, execPath("cat"), "v4.base64.channel.k8s.io");
  base64.say(PodSocket::frame(PodSocket::kText, "0aGVsbG8="));
  EXPECT_EQ(base64.next(), (PodSocket::Frame{PodSocket::kText, "1aGVsbG8="}));
  base64.say(PodSocket::frame(PodSocket::kText, "0?"));
  EXPECT_EQ(base64.finish().code, 1002);

  // Before version 4, an error is a text, and success sends nothing.
  EXPECT_EQ(PodSocket(server, execPath("true"), "").finish().status, "");
  EXPECT_THAT(PodSocket(server, execPath("false"), "channel.k8s.io").finish().status,
              StartsWith("command terminated with non-zero exit code"));
  EXPECT_THAT(PodSocket(server, execPath("true"), "v9, v4.channel.k8s.io").head(),
              HasSubstr("Sec-WebSocket-Protocol: v4.channel.k8s.io\r\n"));
}

TEST_F(PodExecTest, AProgramMayBeATests) {
  std::promise<testing::ContainerCall> called;
  server.containers().exec("default/web", "app", [&](testing::Process& process) {
    called.set_value(process.call());
    while (const auto piece = process.read()) process.writeError("<" + *piece + ">");
    return 7;
  });
  PodSocket client(server, execPath("anything at all"), kV5);
  client.send(0, "x");
  EXPECT_EQ(client.next()->payload, "\2<x>");
  client.closeChannel(0);
  EXPECT_EQ(client.finish().exitCode(), 7);
  const testing::ContainerCall call = called.get_future().get();
  EXPECT_EQ(call.namespace_ + "/" + call.pod + "/" + call.container, "default/web/app");
  EXPECT_THAT(call.command, ElementsAre("anything", "at", "all"));
}

TEST_F(PodExecTest, WhatIsSaidOfOneGoesBeforeWhatIsSaidOfAll) {
  const auto says = [](std::string text) {
    return [text](testing::Process& process) { return process.write(text) ? 0 : 1; };
  };
  server.containers().exec("", "", says("all"));
  EXPECT_EQ(PodSocket(server, execPath("x"), kV5).finish().out, "all");
  EXPECT_EQ(PodSocket(server, "pending/exec?stdout=1&command=x", kV5).finish().out, "all");
  server.containers().exec("default/web", "", says("pod"));
  EXPECT_EQ(PodSocket(server, execPath("x"), kV5).finish().out, "pod");
  server.containers().exec("default/web", "app", says("container"));
  EXPECT_EQ(PodSocket(server, execPath("x"), kV5).finish().out, "container");
  server.containers().forget("default/web");
  EXPECT_EQ(PodSocket(server, execPath("x"), kV5).finish().out, "all");
}

TEST_F(PodExecTest, AProgramHearsThatItsClientIsGone) {
  std::promise<void> begun, stopped;
  server.containers().exec("", "", [&](testing::Process& process) {
    begun.set_value();
    while (process.read()) {
    }
    EXPECT_TRUE(process.stop().stop_requested());
    EXPECT_FALSE(process.write("anyone?"));
    stopped.set_value();
    return 0;
  });
  {
    PodSocket client(server, execPath("x"), kV5);
    begun.get_future().get();
  }
  stopped.get_future().get();
}

TEST(PodExecStopTest, TheServersEndStopsPrograms) {
  std::promise<void> begun;
  FakeClock clock;
  std::optional<testing::ApiServer> server(
      std::in_place, testing::ApiServerOptions{.tls = false, .clock = &clock});
  Clientset clients(server->config());
  corev1::Pod pod;
  pod.metadata.name = "web";
  pod.spec->containers.push_back({.name = "app", .image = "scratch"});
  clients.coreV1().pods("default").create(pod);
  bool asleep = true;
  server->containers().exec("", "", [&](testing::Process& process) {
    begun.set_value();
    asleep = process.clock().sleepFor(std::chrono::hours(1), process.stop());
    return 0;
  });
  PodSocket client(*server, "web/exec?stdout=1&command=x", kV5);
  begun.get_future().get();
  EXPECT_EQ(server->containers().running(), 1u);
  server.reset();
  EXPECT_FALSE(asleep);
  EXPECT_EQ(client.next(), std::nullopt);
}

TEST_F(PodExecTest, MuchGoesBothWays) {
  const std::string sent = someBytes(kube::detail::testAmount(kMuch));
  PodSocket client(server, execPath("cat"), kV5);
  std::thread writer([&] {
    for (std::size_t at = 0; at < sent.size(); at += 100'000) {
      client.send(0, std::string_view(sent).substr(at, 100'000));
    }
    client.closeChannel(0);
  });
  const PodSocket::Ended ended = client.finish();
  writer.join();
  EXPECT_EQ(ended.out.size(), sent.size());
  EXPECT_EQ(sha256(ended.out), sha256(sent));
  EXPECT_EQ(ended.exitCode(), 0);
}

TEST_F(PodExecTest, OneMessageMayBeVeryLong) {
  const std::string sent = someBytes(3 << 20);
  PodSocket client(server, execPath("sha256sum"), kV5);
  client.send(0, sent);
  client.closeChannel(0);
  std::string hex;
  for (const char c : sha256(sent)) hex += fmt::format("{:02x}", static_cast<std::uint8_t>(c));
  EXPECT_EQ(client.finish().out, hex + "  -\n");
}

TEST_F(PodExecTest, AProgramIsHeldBackByASlowClient) {
  std::atomic<std::size_t> written = 0;
  server.containers().exec("default/web", "app", [&](testing::Process& process) {
    const std::string piece(1 << 20, 'x');
    while (written < kMuch && process.write(piece)) written += piece.size();
    return 0;
  });
  create("other", {"app"}, "node-1");
  PodSocket slow(server, execPath("x"), kV5);
  // Enough to fill the server's memory, if another client did the same.
  PodSocket other(server, "other/exec?stdout=1&command=bytes&command=" + std::to_string(kMuch),
                  kV5);
  EXPECT_EQ(other.finish().out.size(), kMuch);
  EXPECT_LT(written, 24u << 20);  // most of it in the kernel's buffers
  EXPECT_EQ(slow.finish().out.size(), kMuch);
}

TEST_F(PodExecTest, AClientIsHeldBackByASlowProgram) {
  std::promise<void> go;
  std::atomic<std::size_t> read = 0;
  server.containers().exec("default/web", "app", [&](testing::Process& process) {
    go.get_future().get();
    while (const auto piece = process.read()) read += piece->size();
    return 0;
  });
  PodSocket client(server, execPath("x"), kV5);
  const std::string frame =
      PodSocket::frame(PodSocket::kBinary, std::string(1, '\0') + std::string(65'000, 'x'));
  std::string unsent;
  std::size_t frames = 0;
  while (frames * frame.size() < 2 * kMuch) {
    if (unsent.empty()) {
      unsent = frame;
      ++frames;
    }
    pollfd waiting{.fd = client.fd(), .events = POLLOUT, .revents = 0};
    if (poll(&waiting, 1, 500) == 0) break;  // the server does not read any more
    const ssize_t count =
        send(client.fd(), unsent.data(), unsent.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count > 0) unsent.erase(0, static_cast<std::size_t>(count));
  }
  EXPECT_LT(frames * frame.size(), kMuch);
  go.set_value();
  client.say(unsent);
  client.closeChannel(0);
  EXPECT_EQ(client.finish().exitCode(), 0);
  EXPECT_EQ(read, frames * 65'000);
}

TEST_F(PodExecTest, AProgramNeedNotReadWhatIsSentToIt) {
  PodSocket client(server, execPath("true"), kV5);
  const std::string piece(65'000, 'x');
  for (int i = 0; i < 100; ++i) client.send(0, piece);
  EXPECT_EQ(client.finish().exitCode(), 0);
}

TEST_F(PodExecTest, WhoPingsAndDoesNotListenFillsNothing) {
  PodSocket client(server, execPath("cat"), kV5);
  const std::string ping = PodSocket::frame(PodSocket::kPing, std::string(125, 'p'));
  std::string many;
  while (many.size() < 1 << 20) many += ping;
  std::thread talker([&] {
    for (int i = 0; i < 32; ++i) client.say(many);
    client.closeChannel(0);
  });
  talker.join();  // the server has read all of it, answered or not
  EXPECT_EQ(client.finish().exitCode(), 0);
}

// --- Refusals.

TEST_F(PodExecTest, WithoutAnUpgradeThereIsNothing) {
  const auto refusal = [&](const std::string& path, const std::string& headers) {
    PodSocket client(server, path, kV5, headers);
    EXPECT_EQ(client.status(), 400);
    return client.refusal();
  };
  for (const char* headers : {"", "Upgrade: websocket\r\n", "Connection: upgrade\r\n",
                              "Upgrade: SPDY/3.1\r\nConnection: Upgrade\r\n"}) {
    EXPECT_EQ(refusal(execPath("true"), headers), "Upgrade request required");
    EXPECT_EQ(refusal("web/attach?stdout=true", headers), "Upgrade request required");
    EXPECT_EQ(refusal("web/portforward", headers), "Upgrade request required");
  }
}

TEST_F(PodExecTest, TheRequestIsChecked) {
  create("pair", {"a", "b"}, "node-1");
  const auto refusal = [&](const std::string& path, int status = 400) {
    PodSocket client(server, path, kV5);
    EXPECT_EQ(client.status(), status);
    return client.refusal();
  };
  EXPECT_EQ(refusal("nobody/exec?stdout=1&command=x", 404), R"(pods "nobody" not found)");
  EXPECT_EQ(refusal("web/exec?stdout=1&command=x&container=c"),
            "container c is not valid for pod web");
  EXPECT_EQ(refusal("pair/exec?stdout=1&command=x"),
            "a container name must be specified for pod pair, choose one of: [a b]");
  EXPECT_EQ(refusal("pending/exec?stdout=1&command=x"),
            "pod pending does not have a host assigned");
  EXPECT_EQ(refusal("pending/attach?stdout=1"), "pod pending does not have a host assigned");
  EXPECT_EQ(refusal("web/exec?stdout=1"), "you must specify at least 1 command for the container");
  EXPECT_EQ(refusal("web/exec?command=x"), "you must specify at least 1 of stdin, stdout, stderr");
  EXPECT_EQ(PodSocket(server, execPath("true"), "v9.channel.k8s.io").status(), 403);
}

TEST_F(PodExecTest, BadFramesEndTheConnection) {
  using Client = PodSocket;
  const std::string bad[] = {
      Client::frame(Client::kBinary, "x", true, false),     // without a mask
      Client::frame(3, "x"),                                // unknown
      Client::frame(Client::kContinuation, "x"),            // of nothing
      Client::frame(Client::kPing, "x", false),             // in parts
      Client::frame(Client::kPing, std::string(126, 'x')),  // too long
      Client::frame(Client::kBinary, std::string(2, '\0'), false) +
          Client::frame(Client::kBinary, "x"),     // within another
      Client::frame(Client::kBinary | 0x40, "x"),  // an extension
      Client::frame(Client::kClose, "x"),          // half a code
      std::string("\x82\xff\xff\xff\xff\xff\xff\xff\xff\xff", 10) + "mask",
      std::string("\x82\xfe\x00\x01mask", 8),  // not in its shortest form
      std::string("GET / HTTP/1.1\r\n\r\n"),
      Client::frame(Client::kBinary, "\xff"),      // closes nothing
      Client::frame(Client::kBinary, "\xff\x09"),  // closes what there is not
      Client::frame(Client::kBinary, std::string("\xff\0\0", 3)),
  };
  for (const std::string& bytes : bad) {
    PodSocket client(server, execPath("cat"), kV5);
    client.say(bytes);
    EXPECT_EQ(client.finish().code, 1002) << ::testing::PrintToString(bytes);
  }
  PodSocket sizes(server, execPath("cat", "&tty=true"), kV5);
  sizes.send(4, "{]}");
  EXPECT_EQ(sizes.finish().code, 1002);
  PodSocket longSize(server, execPath("cat", "&tty=true"), kV5);
  longSize.send(4, std::string(2000, ' '));
  EXPECT_EQ(longSize.finish().code, 1002);
  // The server still works.
  EXPECT_EQ(PodSocket(server, execPath("echo alive"), kV5).finish().out, "alive\n");
}

TEST_F(PodExecTest, OddMessagesAreOfNoAccount) {
  PodSocket client(server, execPath("cat"), kV5);
  client.say(PodSocket::frame(PodSocket::kBinary, ""));
  client.say(PodSocket::frame(PodSocket::kPong, "unasked"));
  for (const char channel : {1, 2, 3, 4, 5, 100}) client.send(channel, "?");
  client.closeChannel(4);
  client.send(0, "hello");
  client.closeChannel(0);
  client.send(0, "late");
  client.closeChannel(0);
  const PodSocket::Ended ended = client.finish();
  EXPECT_EQ(ended.out, "hello");
  EXPECT_EQ(ended.exitCode(), 0);
}

TEST_F(PodExecTest, AClientMayLeaveFirst) {
  PodSocket client(server, execPath("cat"), kV5);
  client.say(PodSocket::frame(PodSocket::kClose,
                              "\x03\xe9"
                              "bye"));
  const auto frame = client.next();
  ASSERT_TRUE(frame);
  EXPECT_EQ(*frame, (PodSocket::Frame{PodSocket::kClose, "\x03\xe9"}));
  EXPECT_EQ(client.next(), std::nullopt);
}

// --- Attach.

TEST_F(PodExecTest, AttachGivesBackWhatItIsTold) {
  PodSocket client(server, "web/attach?stdin=true&stdout=true", kV5);
  client.send(0, "hello");
  EXPECT_EQ(client.next()->payload, "\1hello");
  client.closeChannel(0);
  EXPECT_EQ(client.finish().exitCode(), 0);
}

TEST_F(PodExecTest, AttachShowsTheLogFromNowOn) {
  server.containers().append("default/web", "app", "before\n");
  PodSocket client(server, "web/attach?stdout=true&stderr=true", kV5);
  // The log has begun when one line has arrived.
  std::atomic<bool> seen = false;
  std::thread writer([&] {
    while (!seen) server.containers().append("default/web", "app", "tick\n");
    server.containers().append("default/web", "app", "oops\n", testing::Containers::Stream::Stderr);
    server.containers().endLog("default/web", "app");
  });
  EXPECT_EQ(client.next()->payload, "\1tick\n");
  seen = true;
  const PodSocket::Ended ended = client.finish();
  writer.join();
  EXPECT_EQ(ended.err, "oops\n");
  EXPECT_EQ(ended.exitCode(), 0);
}

TEST_F(PodExecTest, AttachMayBeATests) {
  server.containers().attach("default/web", "app", [](testing::Process& process) {
    process.write("main");
    return 5;
  });
  const PodSocket::Ended ended = PodSocket(server, "web/attach?stdout=true", kV5).finish();
  EXPECT_EQ(ended.out, "main");
  EXPECT_EQ(ended.exitCode(), 5);
}

}  // namespace
}  // namespace kube::apiserver
