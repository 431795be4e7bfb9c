// Spans of reconciles, and the requests within them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "kube/base/internal/recording_tracer_testing.h"
#include "kube/cache/core/v1.h"
#include "kube/controller/manager.h"
#include "kube/controller/reconcile_log_testing.h"
#include "kube/testing/api_server_testing.h"

namespace kube {
namespace {

using corev1::ConfigMap;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::Running;

class ReconcileTraceTest : public testing::ApiServerTest {
 protected:
  // The line of the ended span that begins with this text.
  std::string line(std::string_view start) const {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (std::chrono::steady_clock::now() < deadline) {
      for (const std::string& one : tracer->lines()) {
        if (one.starts_with(start)) return one;
      }
      std::this_thread::yield();
    }
    ADD_FAILURE() << "no span begins with " << start;
    return {};
  }
  Config traced() const {
    Config config = server.config();
    config.tracer = tracer;
    return config;
  }
  // The id of the span whose child the line is.
  static std::string parentOf(const std::string& line) {
    const std::size_t at = line.find("parent=");
    return at == line.npos ? "" : line.substr(at + 7, 55);
  }

  std::shared_ptr<testing::RecordingTracer> tracer = std::make_shared<testing::RecordingTracer>();
  Metrics metrics;
};

TEST_F(ReconcileTraceTest, RequestsOfABlockingReconcileAreItsChildren) {
  maps().create(map("a"));
  Manager manager(traced(), {.metrics = &metrics});
  std::string span;
  manager.controller<ConfigMap>("blocking").reconcile([&](const ObjectKey& key) -> Requeue {
    if (key.name == "a") {
      span = threadSpan()->context().traceparent();
      manager.clients().coreV1().pods("default").find("x");
    }
    return {};
  });
  const Running running([&](const std::stop_token& stop) { manager.run(stop); });
  const std::string get = line("get pods");
  EXPECT_THAT(line("reconcile blocking"),
              AllOf(HasSubstr("parent=root"), HasSubstr("controller=blocking")));
  EXPECT_EQ(parentOf(get), span);
}

TEST_F(ReconcileTraceTest, RequestsOfACoroutineAreItsChildrenAndAFailureIsShown) {
  maps().create(map("a"));
  Manager manager(traced(), {.metrics = &metrics});
  std::string span;
  manager.controller<ConfigMap>("tasks").inFlight(10).reconcile(
      [&](const ObjectKey& key) -> Task<Requeue> {
        if (key.name != "a") co_return Requeue{};
        const auto own = co_await taskSpan();
        span = own->context().traceparent();
        co_await sleepFor(std::chrono::milliseconds(1));
        co_await manager.clients().coreV1().pods("default").async().find("x");
        throw std::runtime_error("no luck");
      });
  const Running running([&](const std::stop_token& stop) { manager.run(stop); });
  const std::string get = line("get pods");
  EXPECT_THAT(line("reconcile tasks"), HasSubstr("failed: no luck"));
  EXPECT_EQ(parentOf(get).substr(0, 35), span.substr(0, 35));  // it may have been retried
}

}  // namespace
}  // namespace kube
