#include "kube/base/signal_stop.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>

#include "kube/base/clock.h"

namespace kube {
namespace {

// In processes of their own, because signals belong to the process.
class SignalStopDeathTest : public ::testing::TestWithParam<int> {
 protected:
  SignalStopDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_P(SignalStopDeathTest, TheFirstSignalRequestsAStop) {
  EXPECT_EXIT(
      {
        const std::stop_token stop = signalStop();
        if (stop.stop_requested() || stop != signalStop()) std::_Exit(4);
        std::raise(GetParam());
        realClock().sleepUntil(Clock::noDeadline, stop);
        std::_Exit(stop.stop_requested() ? 3 : 4);
      },
      ::testing::ExitedWithCode(3), "");
}

TEST_P(SignalStopDeathTest, TheSecondEndsTheProcess) {
  EXPECT_EXIT(
      {
        const std::stop_token stop = signalStop();
        std::raise(SIGTERM);
        std::raise(GetParam());
        std::_Exit(4);
      },
      ::testing::ExitedWithCode(1), "");
}

INSTANTIATE_TEST_SUITE_P(Signals, SignalStopDeathTest, ::testing::Values(SIGINT, SIGTERM));

}  // namespace
}  // namespace kube
