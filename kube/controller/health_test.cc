#include "kube/controller/health.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

#include "kube/base/internal/no_threads_testing.h"
#include "kube/http/transport.h"

namespace kube {
namespace {

TEST(AnswerQueueTest, AnswersAgainWhenThereAreThreadsAgain) {
  std::optional<TaskThreads> threads(std::in_place);
  AnswerQueue answers([](const std::string& target) { return ServerResponse{.body = target}; }, 1,
                      *threads);
  const HttpServer server({}, [&](const ServerRequest& request, const Responder& responder) {
    if (request.target == "/direct") return responder.send({.body = "direct"});
    answers.ask(request.target, responder);
  });
  const Transport transport;
  const auto ask = [&](const std::string& target) {
    return transport.send({.url = server.url() + target});
  };
  EXPECT_EQ(ask("/direct").body, "direct");  // the client has its threads
  {
    const testing::NoThreads none;
    EXPECT_EQ(ask("/first").status, 500);
  }
  EXPECT_EQ(ask("/second").body, "/second");
  threads.reset();  // its tasks use the queue
}

}  // namespace
}  // namespace kube
