// Many calls and many transports: no call is lost, and no connection is left over.
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <future>
#include <latch>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "kube/base/error.h"
#include "kube/base/internal/sanitizer.h"
#include "kube/http/http_server.h"
#include "kube/http/internal/raw_server_testing.h"
#include "kube/http/internal/transport_ca_testing.h"
#include "kube/http/transport.h"
#include "kube/testing/test_ca.h"

namespace kube {
namespace {

using namespace std::chrono_literals;

HttpServerOptions serverOptions(std::uint32_t maxStreams) {
  return {.tls = ServerTls{ca().server({"127.0.0.1"})},
          .threads = 2,
          .maxConcurrentStreams = maxStreams};
}

std::size_t entries(const char* folder) {
  const std::filesystem::directory_iterator all(folder);
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

// Makes GETs while watches stay open.
void watchAndGet(std::uint32_t maxStreams, int watches, int gets, std::size_t maxConnections) {
  std::mutex mutex;
  std::vector<ResponseStream> writers;
  const HttpServer server(serverOptions(maxStreams),
                          [&](ServerRequest request, Responder responder) {
                            if (request.target != "/watch")
                              return responder.send({.body = std::string(10'000, 'x')});
                            const ResponseStream writer = responder.stream(200, {});
                            std::lock_guard lock(mutex);
                            writers.push_back(writer);
                          });
  const Transport transport({.tls = {.caData = ca().certPem()}});
  std::vector<std::future<HttpStream>> opening;
  std::vector<std::future<HttpResponse>> answers;
  for (int i = 0; i < std::max(watches, gets); ++i) {
    if (i < watches) {
      opening.push_back(std::async(
          std::launch::async, [&] { return transport.open({.url = server.url() + "/watch"}); }));
    }
    if (i < gets) {
      answers.push_back(std::async(std::launch::async,
                                   [&] { return transport.send({.url = server.url() + "/pod"}); }));
    }
  }
  for (auto& answer : answers) EXPECT_EQ(answer.get().body.size(), 10'000u);
  std::vector<HttpStream> streams;
  for (auto& stream : opening) streams.push_back(stream.get());
  EXPECT_LE(transport.stats().connectionsMade, maxConnections);

  ASSERT_EQ(writers.size(), static_cast<std::size_t>(watches));
  for (const ResponseStream& writer : writers) EXPECT_TRUE(writer.write("event"));
  for (HttpStream& stream : streams) EXPECT_EQ(stream.read(), "event");
}

TEST(TransportLoadTest, ManyWatchesAndGetsShareFewConnections) { watchAndGet(100, 200, 200, 8); }

TEST(TransportLoadTest, FewStreamsPerConnectionAreNoReasonToHang) { watchAndGet(10, 100, 50, 16); }

TEST(TransportLoadTest, CallsBeyondTheLimitOfConnectionsWait) {
  std::atomic<int> atOnce = 0, most = 0;
  const HttpServer server(serverOptions(100), [&](ServerRequest, Responder responder) {
    most = std::max(most.load(), ++atOnce);
    --atOnce;
    responder.send({});
  });
  const Transport transport(
      {.tls = {.caData = ca().certPem()}, .disableHttp2 = true, .maxConnectionsPerHost = 2});
  std::vector<std::future<HttpResponse>> answers;
  for (int i = 0; i < 50; ++i) {
    answers.push_back(
        std::async(std::launch::async, [&] { return transport.send({.url = server.url()}); }));
  }
  for (auto& answer : answers) EXPECT_EQ(answer.get().status, 200);
  EXPECT_LE(transport.stats().connectionsMade, 2u);
}

TEST(TransportLoadTest, EveryCallerOfManyGetsItsOwnAnswer) {
  const HttpServer server(serverOptions(100), [](ServerRequest request, Responder responder) {
    responder.send({.body = request.target + request.body});
  });
  for (const bool http1 : {false, true}) {
    const Transport transport({.tls = {.caData = ca().certPem()}, .disableHttp2 = http1});
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 200; ++i) {
          const std::string path = "/" + std::to_string(t) + "/" + std::to_string(i);
          const std::string body(static_cast<std::size_t>(i) * 97, static_cast<char>('a' + t));
          EXPECT_EQ(
              transport.send({.method = "POST", .url = server.url() + path, .body = body}).body,
              path + body);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(transport.stats().requests, 1600u);
    EXPECT_LE(transport.stats().connectionsMade, http1 ? 8u : 1u);
  }
}

TEST(TransportLoadTest, CallsMayEndAtAnyMoment) {
  const HttpServer server(serverOptions(50), [](ServerRequest request, Responder responder) {
    if (request.target == "/never") {
      const ResponseStream writer = responder.stream(200, {});
      writer.tryWrite("x");
      return writer.onClosed([writer] {});
    }
    responder.send({.body = std::string(50'000, 'x')});
  });
  for (const bool http1 : {false, true}) {
    const Transport transport({.tls = {.caData = ca().certPem()}, .disableHttp2 = http1});
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 6; ++t) {
      threads.emplace_back([&, t] {
        std::minstd_rand random(t);
        for (int i = 0; i < 60; ++i) {
          const std::string url = server.url() + (random() % 2 == 0 ? "/never" : "/body");
          std::stop_source source;
          std::jthread canceler;
          if (random() % 3 == 0)
            canceler = std::jthread([source]() mutable { source.request_stop(); });
          try {
            HttpStream stream = transport.open(
                {.url = url, .timeout = std::chrono::microseconds(random() % 5000 + 1)},
                source.get_token());
            if (random() % 2 == 0) stream.read();
          } catch (const TimeoutError&) {
          } catch (const CanceledError&) {
          }
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(transport.send({.url = server.url() + "/body"}).body.size(), 50'000u);
  }
}

TEST(TransportLoadTest, TransportsLeaveNothingBehind) {
  const HttpServer server(serverOptions(100),
                          [](ServerRequest, Responder responder) { responder.send({}); });
  const auto round = [&](int i) {
    const Transport transport({.tls = {.caData = ca().certPem()}, .disableHttp2 = i % 4 == 1});
    if (i % 4 != 3) transport.send({.url = server.url()});
    if (i % 4 == 2) transport.open({.url = server.url()});
  };
  const auto settled = [&](std::size_t files, std::size_t threads) {
    // The server notices a closed connection a moment after the client closed it.
    const auto deadline = std::chrono::steady_clock::now() + 30s;
    while (std::chrono::steady_clock::now() < deadline) {
      if (entries("/proc/self/fd") == files && entries("/proc/self/task") == threads) return true;
      std::this_thread::yield();
    }
    return false;
  };
  round(0);
  while (server.stats().connectionsOpen > 0) std::this_thread::yield();
  const std::size_t files = entries("/proc/self/fd");
  const std::size_t threads = entries("/proc/self/task");
  for (int i = 0; i < detail::testAmount(1000); ++i) round(i);
  EXPECT_TRUE(settled(files, threads))
      << entries("/proc/self/fd") << " descriptors, were " << files << "; "
      << entries("/proc/self/task") << " threads, were " << threads;
}

}  // namespace
}  // namespace kube
