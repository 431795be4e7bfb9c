// The awaitable forms of the transport, by HTTP/1.1 and by HTTP/2.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kube/base/error.h"
#include "kube/base/internal/error_of_testing.h"
#include "kube/base/internal/test_loop_testing.h"
#include "kube/base/when.h"
#include "kube/http/http_server.h"
#include "kube/http/internal/transport_ca_testing.h"
#include "kube/http/transport.h"

namespace kube {
namespace {

using namespace std::chrono_literals;
using testing::Begun;
using ::testing::HasSubstr;
using testing::TestLoop;

// A server that holds its answers back until the test releases them.
class AwaitedTest : public ::testing::TestWithParam<int> {
 protected:
  AwaitedTest() {
    HttpServerOptions options;
    options.tls = ServerTls{ca().server({"127.0.0.1"})};
    server_ = std::make_unique<HttpServer>(
        std::move(options), [this](const ServerRequest& request, const Responder& responder) {
          if (request.target == "/now") return responder.send({.body = "at once"});
          const std::lock_guard lock(heldMutex_);
          held_.push_back(responder);
          heldChanged_.notify_all();
        });
    TransportOptions client;
    client.tls.caData = ca().certPem();
    client.proxy = "direct";
    client.disableHttp2 = GetParam() == 1;
    client.maxConnectionsPerHost = 0;
    transport_.emplace(std::move(client));
  }

  HttpRequest request(const char* path) const {
    return {.method = "POST", .url = server_->url() + path};
  }
  /// Waits until `count` requests are held back.
  std::vector<Responder> held(std::size_t count) {
    std::unique_lock lock(heldMutex_);
    if (!heldChanged_.wait_for(lock, 30s, [&] { return held_.size() >= count; })) {
      throw Error(fmt::format("{} of {} requests have come", held_.size(), count));
    }
    return std::exchange(held_, {});
  }

  std::mutex heldMutex_;
  std::condition_variable heldChanged_;
  std::vector<Responder> held_;
  std::unique_ptr<HttpServer> server_;
  std::optional<Transport> transport_;
  std::optional<ResponseStream> answer_;
  TestLoop loop_;
};

INSTANTIATE_TEST_SUITE_P(Http, AwaitedTest, ::testing::Values(1, 2),
                         [](const auto& info) { return "Version" + std::to_string(info.param); });

Task<std::string> bodyOf(Task<HttpResponse> response) {
  const HttpResponse answer = co_await std::move(response);
  co_return answer.body;
}
Task<std::string> readAll(Task<HttpStream> opening) {
  HttpStream stream = co_await std::move(opening);
  std::string all;
  for (;;) {
    const auto piece = co_await stream.readAsync();
    if (!piece) break;
    all += *piece;
  }
  co_return all;
}

TEST_P(AwaitedTest, SendsARequest) {
  EXPECT_EQ(blockOn(bodyOf(transport_->sendAsync(request("/now")))), "at once");
  Begun<std::string> task(bodyOf(transport_->sendAsync(request("/later"))), loop_.executor());
  held(1).front().send({.body = "later"});
  loop_.runUntil([&] { return task.over(); });
  EXPECT_EQ(task.result(), "later");
}

TEST_P(AwaitedTest, TheIoThreadCancelsACallThatItHasNotBegun) {
  std::promise<void> busy, begun;
  std::stop_source stop;
  transport_->executor().post([&] {
    busy.set_value();
    begun.get_future().wait();
    stop.request_stop();
  });
  busy.get_future().wait();
  Begun<std::string> task(bodyOf(transport_->sendAsync(request("/later"))), loop_.executor(),
                          stop.get_token());
  begun.set_value();
  loop_.runUntil([&] { return task.over(); });
  EXPECT_THAT(errorOf<CanceledError>([&] { task.result(); }), HasSubstr("canceled"));
  EXPECT_EQ(blockOn(bodyOf(transport_->sendAsync(request("/now")))), "at once");
}

TEST_P(AwaitedTest, ReadsAStream) {
  EXPECT_EQ(blockOn(readAll(transport_->openAsync(request("/now")))), "at once");
  Begun<std::string> task(readAll(transport_->openAsync(request("/later"))), loop_.executor());
  ResponseStream answer = held(1).front().stream(200, {});
  loop_.runOne();  // the head
  answer.write("one,");
  loop_.runOne();
  EXPECT_FALSE(task.over());
  answer.write("two");
  answer.close();
  loop_.runUntil([&] { return task.over(); });
  EXPECT_EQ(task.result(), "one,two");
}

TEST_P(AwaitedTest, StopsAtEachWait) {
  std::stop_source before;
  before.request_stop();
  Begun<std::string> never(bodyOf(transport_->sendAsync(request("/later"))), loop_.executor(),
                           before.get_token());
  ASSERT_TRUE(never.over());
  EXPECT_THAT(errorOf<CanceledError>([&] { never.result(); }), HasSubstr("/later: canceled"));

  std::stop_source sending;
  Begun<std::string> send(bodyOf(transport_->sendAsync(request("/later"))), loop_.executor(),
                          sending.get_token());
  const auto first = held(1);
  sending.request_stop();
  loop_.runUntil([&] { return send.over(); });
  EXPECT_THAT(errorOf<CanceledError>([&] { send.result(); }), HasSubstr("/later"));

  std::stop_source opening;
  Begun<std::string> open(readAll(transport_->openAsync(request("/later"))), loop_.executor(),
                          opening.get_token());
  const auto second = held(1);
  opening.request_stop();
  loop_.runUntil([&] { return open.over(); });
  EXPECT_THAT(errorOf<CanceledError>([&] { open.result(); }), HasSubstr("/later"));

  std::stop_source reading;
  Begun<std::string> read(readAll(transport_->openAsync(request("/later"))), loop_.executor(),
                          reading.get_token());
  const ResponseStream stream = held(1).front().stream(200, {});
  loop_.runOne();
  reading.request_stop();
  loop_.runUntil([&] { return read.over(); });
  EXPECT_THAT(errorOf<CanceledError>([&] { read.result(); }), HasSubstr("/later: canceled"));
}

TEST_P(AwaitedTest, IsDestroyedAtEachWait) {
  {
    const Task<HttpResponse> unused = transport_->sendAsync(request("/later"));
    Begun<std::string> send(bodyOf(transport_->sendAsync(request("/later"))), loop_.executor());
    const auto held = this->held(1);
  }
  {
    Begun<std::string> open(readAll(transport_->openAsync(request("/later"))), loop_.executor());
    const auto held = this->held(1);
  }
  {
    Begun<std::string> read(readAll(transport_->openAsync(request("/later"))), loop_.executor());
    const ResponseStream stream = held(1).front().stream(200, {});
    loop_.runOne();
    EXPECT_FALSE(read.over());
  }
  {
    // The answer is in the executor already, or came before the task had to wait.
    Begun<std::string> done(bodyOf(transport_->sendAsync(request("/now"))), loop_.executor());
    while (loop_.queued() == 0 && !done.over()) std::this_thread::yield();
  }
  loop_.runAll();
  EXPECT_EQ(blockOn(bodyOf(transport_->sendAsync(request("/now")))), "at once");
}

// A POST is not sent twice, so it must not be given to a connection that is about to be closed.
TEST_P(AwaitedTest, ARequestAfterOneThatWasGivenUpIsSent) {
  for (int round = 0; round < 20; ++round) {
    std::optional<Begun<std::string>> first;
    first.emplace(bodyOf(transport_->sendAsync(request("/later"))), loop_.executor());
    const auto unanswered = held(1);
    // The I/O thread gives up the first request and begins the second in one turn.
    std::promise<void> done;
    transport_->executor().post([&] {
      first.reset();
      done.set_value();
    });
    Begun<std::string> second(bodyOf(transport_->sendAsync(request("/now"))), loop_.executor());
    done.get_future().wait();
    loop_.runUntil([&] { return second.over(); });
    EXPECT_EQ(second.result(), "at once");
  }
}

TEST_P(AwaitedTest, EndsWithTheTransport) {
  Task<HttpResponse> late = transport_->sendAsync(request("/now"));
  Begun<std::string> send(bodyOf(transport_->sendAsync(request("/later"))), loop_.executor());
  Begun<std::string> read(readAll(transport_->openAsync(request("/later"))), loop_.executor());
  const auto held = this->held(2);
  transport_.reset();
  loop_.runUntil([&] { return send.over() && read.over(); });
  EXPECT_THAT(errorOf<CanceledError>([&] { send.result(); }), HasSubstr("shut down"));
  EXPECT_THAT(errorOf<CanceledError>([&] { read.result(); }), HasSubstr("shut down"));
  EXPECT_THAT(errorOf<CanceledError>([&] { blockOn(bodyOf(std::move(late))); }),
              HasSubstr("the transport was shut down"));
}

TEST_P(AwaitedTest, ManyRequestsAreUnderWayAtOnce) {
  const std::size_t count = GetParam() == 1 ? 50 : 1000;
  std::vector<Task<std::string>> tasks;
  for (std::size_t i = 0; i < count; ++i) {
    tasks.push_back(bodyOf(transport_->sendAsync(request("/later"))));
  }
  Begun<std::vector<std::string>> all(whenAll(std::move(tasks)), loop_.executor());
  for (const Responder& responder : held(count)) responder.send({.body = "yes"});
  loop_.runUntil([&] { return all.over(); });
  EXPECT_THAT(all.result(), ::testing::Each("yes"));
}

Task<HttpStream> opened(Task<HttpStream> opening) { co_return co_await std::move(opening); }
Task<std::optional<std::string_view>> readOnce(HttpStream& stream) {
  co_return co_await stream.readAsync();
}

// whenAny() stops the other tasks and the tree that opened the stream; the stream is used after
// that.
TEST_P(AwaitedTest, AStreamOutlivesTheTreeThatHasOpenedIt) {
  FakeClock clock;
  using Result = std::variant<HttpStream, bool>;
  Begun<Result> first(
      whenAny(opened(transport_->openAsync(request("/later"))), sleepFor(1h, clock)),
      loop_.executor());
  ResponseStream answer = held(1).front().stream(200, {});
  loop_.runUntil([&] { return first.over(); });
  HttpStream stream = std::get<0>(first.result());
  answer.write("more");
  EXPECT_EQ(blockOn(readOnce(stream)), "more");
}

TEST_P(AwaitedTest, AStoppedReadCanBeRepeated) {
  HttpStream stream = [&] {
    Begun<HttpStream> open(opened(transport_->openAsync(request("/later"))), loop_.executor());
    answer_ = held(1).front().stream(200, {});
    loop_.runUntil([&] { return open.over(); });
    return open.result();
  }();
  std::stop_source stop;
  Begun<std::optional<std::string_view>> read(readOnce(stream), loop_.executor(), stop.get_token());
  stop.request_stop();
  loop_.runUntil([&] { return read.over(); });
  EXPECT_NE(errorOf<CanceledError>([&] { read.result(); }), "");
  answer_->write("more");
  EXPECT_EQ(blockOn(readOnce(stream)), "more");
}

class BlocksInCallback final : public HttpReceiver {
 public:
  void onHeaders(HttpResponse) override {}
  std::size_t onBody(std::string_view piece) override { return piece.size(); }
  void onDone(std::exception_ptr) noexcept override {
    error.set_value(errorOf<Error>([] { blockOn(sleepFor(1h)); }));
  }
  std::promise<std::string> error;
};

TEST_P(AwaitedTest, BlockOnIsAnErrorOnTheIoThread) {
  const auto receiver = std::make_shared<BlocksInCallback>();
  transport_->start(request("/now"), receiver);
  EXPECT_THAT(receiver->error.get_future().get(),
              HasSubstr("blockOn: this is an I/O thread of the library"));
}

}  // namespace
}  // namespace kube
