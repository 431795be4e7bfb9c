// Peers that vanish without closing their connections, in a network namespace of the test. Needs
// root and most of a minute, so it runs only if KUBEXX_SLOW_TESTS is set.
#include <gtest/gtest.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "kube/base/error.h"
#include "kube/http/http_server.h"
#include "kube/http/transport.h"
#include "kube/testing/test_ca.h"

namespace kube {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// Switches the loopback device of this thread's network. When it is down, packets are lost.
bool setLoopback(bool up) {
  const int fd = socket(AF_INET, SOCK_DGRAM, 0);
  ifreq request{};
  std::strcpy(request.ifr_name, "lo");
  bool done = ioctl(fd, SIOCGIFFLAGS, &request) == 0;
  request.ifr_flags =
      static_cast<short>(up ? request.ifr_flags | IFF_UP : request.ifr_flags & ~IFF_UP);
  done = done && ioctl(fd, SIOCSIFFLAGS, &request) == 0;
  close(fd);
  return done;
}

// The time until these fail when the network is down: a stream that is read, and a request on an
// idle connection.
struct Times {
  std::chrono::duration<double> stream{}, request{};
};

Times timesToFail(bool http1, bool pings) {
  const TestCa ca;
  std::vector<ResponseStream> writers;
  const HttpServer server({.tls = ServerTls{ca.server({"127.0.0.1"})}},
                          [&](ServerRequest request, Responder responder) {
                            if (request.target == "/watch")
                              return writers.push_back(responder.stream(200, {}));
                            responder.send({});
                          });
  const TransportOptions options{.tls = {.caData = ca.certPem()},
                                 .disableHttp2 = http1,
                                 .pingAfter = pings ? TransportOptions{}.pingAfter : 0ms};
  const Transport streaming(options), idle(options);
  HttpStream stream = streaming.open({.url = server.url() + "/watch"});
  idle.send({.url = server.url()});
  EXPECT_TRUE(setLoopback(false));
  const auto start = Clock::now();
  auto request = std::async(std::launch::async, [&] {
    EXPECT_THROW(idle.send({.method = "POST", .url = server.url()}), TransportError);
    return Clock::now() - start;
  });
  EXPECT_THROW(stream.read(), TransportError);
  return {Clock::now() - start, request.get()};
}

class TransportLivenessTest : public ::testing::TestWithParam<std::pair<bool, bool>> {};

TEST_P(TransportLivenessTest, ASilentPeerIsGivenUpWithin45Seconds) {
  if (std::getenv("KUBEXX_SLOW_TESTS") == nullptr) GTEST_SKIP() << "KUBEXX_SLOW_TESTS is not set";
  if (geteuid() != 0) GTEST_SKIP() << "only root may have a network of its own";
  Times times;
  std::string skip;
  // A network namespace belongs to a thread and to the threads that it starts.
  std::thread([&] {
    if (unshare(CLONE_NEWNET) != 0 || !setLoopback(true)) {
      skip = "cannot make a network";
      return;
    }
    times = timesToFail(GetParam().first, GetParam().second);
  }).join();
  if (!skip.empty()) GTEST_SKIP() << skip;
  RecordProperty("stream", std::to_string(times.stream.count()));
  RecordProperty("request", std::to_string(times.request.count()));
  EXPECT_LT(times.stream, 46s);
  EXPECT_LT(times.request, 46s);
}

INSTANTIATE_TEST_SUITE_P(Http, TransportLivenessTest,
                         ::testing::Values(std::pair(true, false), std::pair(false, true),
                                           std::pair(false, false)),
                         [](const auto& info) {
                           return info.param.first    ? "Version1"
                                  : info.param.second ? "Version2"
                                                      : "Version2WithoutPings";
                         });

}  // namespace
}  // namespace kube
