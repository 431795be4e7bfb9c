#include "kube/base/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "kube/base/task_scope.h"
#include "kube/base/task_threads.h"
#include "kube/base/when.h"

namespace kube {
namespace {

using namespace std::chrono_literals;

using ::testing::ElementsAre;

constexpr const char* kParent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

TEST(SpanContextTest, TraceparentIsReadAndWritten) {
  const auto context = SpanContext::parse(kParent);
  ASSERT_TRUE(context);
  EXPECT_TRUE(context->sampled);
  EXPECT_EQ(context->traceId[0], 0x0a);
  EXPECT_EQ(context->spanId[7], 0x31);
  EXPECT_EQ(context->traceparent(), kParent);
  std::string other = kParent;
  other.back() = '2';
  EXPECT_FALSE(SpanContext::parse(other)->sampled);
}

TEST(SpanContextTest, LaterVersionsMayHaveMore) {
  const std::string later = "01" + std::string(kParent).substr(2);
  EXPECT_TRUE(SpanContext::parse(later));
  EXPECT_TRUE(SpanContext::parse(later + "-more"));
  EXPECT_FALSE(SpanContext::parse(later + "more"));
  EXPECT_FALSE(SpanContext::parse(std::string(kParent) + "-more"));
}

TEST(SpanContextTest, OtherTextIsNoTraceparent) {
  const std::string good = kParent;
  EXPECT_FALSE(SpanContext::parse(""));
  EXPECT_FALSE(SpanContext::parse("ff" + good.substr(2)));
  EXPECT_FALSE(SpanContext::parse("00-" + std::string(32, '0') + good.substr(35)));
  EXPECT_FALSE(SpanContext::parse(good.substr(0, 36) + std::string(16, '0') + "-01"));
  for (std::size_t i = 0; i < good.size(); ++i) {
    EXPECT_FALSE(SpanContext::parse(good.substr(0, i)));
    for (const char wrong : {'G', 'A', ' ', '\0', '\xff'}) {
      std::string text = good;
      text[i] = wrong;
      EXPECT_FALSE(SpanContext::parse(text)) << text;
    }
  }
}

Task<std::string> seen() {
  const auto span = co_await taskSpan();
  co_return span ? span->context().traceparent() : "none";
}

TEST(SpanTest, BlockingCallsBeginWithTheSpanOfTheThread) {
  EXPECT_EQ(blockOn(seen()), "none");
  {
    const SpanScope scope(remoteSpan(kParent));
    EXPECT_EQ(blockOn(seen()), kParent);
    EXPECT_EQ(detail::runBlocking(seen(), {}), kParent);
    {
      const SpanScope none(nullptr);
      EXPECT_EQ(blockOn(seen()), "none");
    }
    std::string other;
    std::thread([&] { other = blockOn(seen()); }).join();
    EXPECT_EQ(other, "none");
    EXPECT_EQ(threadSpan()->context().traceparent(), kParent);
  }
  EXPECT_EQ(threadSpan(), nullptr);
}

Task<std::vector<std::string>> twice() {
  std::vector<Task<std::string>> tasks;
  tasks.push_back(seen());
  tasks.push_back(seen());
  co_return co_await whenAll(std::move(tasks));
}

Task<std::vector<std::string>> afterAWait() {
  co_await sleepFor(1ms);
  co_return co_await within(1min, twice());
}

Task<> underASpan(std::vector<std::string>& result) {
  result = co_await withSpan(afterAWait(), remoteSpan(kParent));
  const std::string after = co_await seen();
  result.push_back(after);
}

TEST(SpanTest, TheSpanOfATaskFollowsItOverThreadsAndIntoItsChildren) {
  const auto threads = TaskThreads::shared();
  TaskScope scope(Executor([threads](Executor::Work work) { threads->run(std::move(work)); }));
  const SpanScope notInherited(remoteSpan(kParent));
  std::vector<std::vector<std::string>> results(20);
  for (auto& result : results) scope.start(underASpan(result));
  scope.wait();
  for (const auto& result : results) EXPECT_THAT(result, ElementsAre(kParent, kParent, "none"));
}

TEST(SpanTest, TextThatIsNoTraceparentMakesNoSpan) { EXPECT_EQ(remoteSpan("00-x"), nullptr); }

}  // namespace
}  // namespace kube
