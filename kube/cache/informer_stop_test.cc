// An informer stops at once when a stop is requested, in whatever situation. kubexx-soak measures
// how many milliseconds that takes; here it is enough that no timeout had to pass first.
#include <gtest/gtest.h>

#include <latch>

#include "kube/cache/internal/stop_scenarios_testing.h"

namespace kube {
namespace {

using namespace std::chrono_literals;

class InformerStopTest : public ::testing::TestWithParam<StopScenario> {};

TEST_P(InformerStopTest, TakesNoTime) { EXPECT_LT(GetParam().run(), 5s); }

INSTANTIATE_TEST_SUITE_P(All, InformerStopTest, ::testing::ValuesIn(stopScenarios(20'000)),
                         [](const auto& info) { return info.param.name; });

TEST(InformerStopTest, WaitsForAHandlerThatIsAtWork) {
  SharedInformer<corev1::ConfigMap> informer(hugeSource(3), {.streamList = false});
  std::latch entered(1), leave(1);
  std::atomic<bool> returned{false};
  informer.addHandler({.onAdd = [&](const auto&) {
    entered.count_down();
    leave.wait();
    returned = true;
  }});
  std::jthread runner([&](const std::stop_token& stop) {
    informer.run(stop);
    EXPECT_TRUE(returned);
  });
  entered.wait();
  runner.request_stop();
  leave.count_down();
  runner.join();
}

}  // namespace
}  // namespace kube
