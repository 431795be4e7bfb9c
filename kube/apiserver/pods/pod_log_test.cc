#include "kube/apiserver/pods/pod_log.h"

#include <gmock/gmock.h>

#include "kube/apiserver/pods/pod_socket_testing.h"
#include "kube/base/internal/sanitizer.h"
#include "kube/meta/api_error.h"

namespace kube::apiserver {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class PodLogTest : public PodStreamsTest {
 protected:
  std::string logs(const corev1::PodLogOptions& options = {}, std::string_view pod = "web") {
    LogStream stream = clients.coreV1().pods("default").logs(pod, options);
    std::string text;
    while (const auto line = stream.nextLine()) text.append(*line).append("|");
    return text;
  }
  std::string refusal(const corev1::PodLogOptions& options, int code,
                      std::string_view pod = "web") {
    try {
      return "no error, but " + logs(options, pod);
    } catch (const ApiError& error) {
      EXPECT_EQ(error.status().code, code);
      return error.status().message.str();
    }
  }
};

TEST_F(PodLogTest, WhatATestHasWrittenIsThere) {
  server.containers().log("default/web", "app", "one\ntwo\n");
  EXPECT_EQ(logs(), "one|two|");
  server.containers().append("default/web", "app", "thr");
  server.containers().append("default/web", "app", "ee\n");
  EXPECT_EQ(logs(), "one|two|three|");
  server.containers().log("default/web", "app", "anew");
  EXPECT_EQ(logs(), "anew|");
  server.containers().forget("default/web");
  EXPECT_THAT(logs(), HasSubstr("nothing runs here"));
}

TEST_F(PodLogTest, OfAPodWithoutNodeThereIsOnlyWhatWasWritten) {
  EXPECT_EQ(logs({}, "pending"), "");
  EXPECT_EQ(logs({.previous = true}, "pending"), "");
  server.containers().log("default/pending", "", "hello\n");
  EXPECT_EQ(logs({}, "pending"), "hello|");
}

TEST_F(PodLogTest, OptionsChooseLines) {
  testing::Containers& containers = server.containers();
  for (const char* line : {"one\n", "two\n", "three\n"}) {
    containers.append("default/web", "app", line);
    clock.advance(10s);
  }
  containers.append("default/web", "app", "fo", testing::Containers::Stream::Stderr);
  containers.append("default/web", "app", "ur\n", testing::Containers::Stream::Stderr);
  EXPECT_EQ(logs(), "one|two|three|four|");
  EXPECT_EQ(logs({.tailLines = 2}), "three|four|");
  EXPECT_EQ(logs({.tailLines = 0}), "");
  EXPECT_EQ(logs({.tailLines = 99}), "one|two|three|four|");
  EXPECT_EQ(logs({.sinceSeconds = 20}), "two|three|four|");
  EXPECT_EQ(logs({.sinceSeconds = std::numeric_limits<std::int64_t>::max()}),
            "one|two|three|four|");
  EXPECT_EQ(logs({.sinceTime = Time::parse("2024-01-01T00:00:20Z")}), "three|four|");
  EXPECT_EQ(logs({.limitBytes = 6}), "one|tw|");
  EXPECT_EQ(logs({.limitBytes = 1000}), "one|two|three|four|");
  EXPECT_EQ(logs({.timestamps = true, .tailLines = 2}),
            "2024-01-01T00:00:20.000000000Z three|2024-01-01T00:00:30.000000000Z four|");
  EXPECT_EQ(logs({.insecureSkipTLSVerifyBackend = true, .stream = "Stderr"}), "four|");
  EXPECT_EQ(logs({.stream = "Stdout"}), "one|two|three|");
  EXPECT_EQ(logs({.stream = "All"}), "one|two|three|four|");
}

TEST_F(PodLogTest, AContainerMayHaveHadALifeBefore) {
  EXPECT_EQ(refusal({.previous = true}, 400),
            R"(previous terminated container "app" in pod "web" not found)");
  server.containers().previousLog("default/web", "app", "crashed\n");
  EXPECT_EQ(logs({.previous = true}), "crashed|");
  EXPECT_EQ(logs({.follow = true, .previous = true}), "crashed|");
}

TEST_F(PodLogTest, WhoFollowsSeesWhatComesUntilTheEnd) {
  server.containers().log("default/web", "app", "one\ntwo\n");
  LogStream stream = clients.coreV1().pods("default").logs("web", {.follow = true, .tailLines = 1});
  EXPECT_EQ(stream.nextLine(), "two");
  server.containers().append("default/web", "app", "three\n");
  EXPECT_EQ(stream.nextLine(), "three");
  server.containers().append("default/web", "app", "fo");
  server.containers().append("default/web", "app", "ur\n");
  EXPECT_EQ(stream.nextLine(), "four");
  server.containers().endLog("default/web", "app");
  EXPECT_EQ(stream.nextLine(), std::nullopt);
}

TEST_F(PodLogTest, FollowingEndsAtTheLimitAndWithANewLog) {
  server.containers().log("default/web", "app", "one\n");
  const PodClient pods = clients.coreV1().pods("default");
  LogStream limited = pods.logs("web", {.follow = true, .limitBytes = 6});
  LogStream old = pods.logs("web", {.follow = true});
  EXPECT_EQ(limited.nextLine(), "one");
  EXPECT_EQ(old.nextLine(), "one");
  server.containers().append("default/web", "app", "two\n");
  EXPECT_EQ(limited.nextLine(), "tw");
  EXPECT_EQ(limited.nextLine(), std::nullopt);
  EXPECT_EQ(old.nextLine(), "two");
  server.containers().log("default/web", "app", "anew\n");
  EXPECT_EQ(old.nextLine(), std::nullopt);
}

TEST_F(PodLogTest, MuchIsReadAsItIsTaken) {
  std::string text;
  for (int i = 0; text.size() < kube::detail::testAmount(8u << 20); ++i)
    text += fmt::format("line {}\n", i);
  server.containers().log("default/web", "app", text);
  std::string read;
  LogStream stream = clients.coreV1().pods("default").logs("web");
  while (const auto line = stream.nextLine()) read.append(*line).append("\n");
  EXPECT_EQ(sha256(read), sha256(text));
}

TEST_F(PodLogTest, TheRequestIsChecked) {
  create("pair", {"a", "b"}, "node-1");
  EXPECT_EQ(refusal({}, 404, "nobody"), R"(pods "nobody" not found)");
  EXPECT_EQ(refusal({.container = "c"}, 400), "container c is not valid for pod web");
  EXPECT_EQ(refusal({}, 400, "pair"),
            "a container name must be specified for pod pair, choose one of: [a b]");
  EXPECT_THAT(logs({.container = "b"}, "pair"), HasSubstr("pair/b: ready|"));
  EXPECT_EQ(refusal({.tailLines = -1}, 422),
            R"(PodLogOptions "web" is invalid: tailLines: Invalid value: -1: must be greater than )"
            "or equal to 0");
  EXPECT_THAT(refusal({.limitBytes = 0}, 422), HasSubstr("limitBytes: Invalid value: 0: must be"));
  EXPECT_THAT(refusal({.sinceSeconds = 0}, 422), HasSubstr("sinceSeconds: Invalid value: 0"));
  EXPECT_THAT(refusal({.sinceSeconds = 1, .sinceTime = Time::parse("2024-01-01T00:00:20Z")}, 422),
              HasSubstr("at most one of `sinceTime` or `sinceSeconds` may be specified"));
  EXPECT_THAT(refusal({.stream = "Both"}, 422), HasSubstr("stream: Unsupported value: \"Both\""));
  EXPECT_THAT(refusal({.tailLines = 1, .stream = "Stdout"}, 422),
              HasSubstr("`tailLines` and specific `stream` are mutually exclusive"));
}

}  // namespace
}  // namespace kube::apiserver
