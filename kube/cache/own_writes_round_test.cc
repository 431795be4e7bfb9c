#include "kube/cache/own_writes_round_testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kube::testing {
namespace {

TEST(OwnWritesRoundTest, NoReadMissesAnOwnWriteWhileTheServerFails) {
  for (const std::uint64_t seed : {1, 2}) {
    ApiServer server({.historyWindow = 500});
    OwnWritesRound round({.seed = seed, .operations = detail::testAmount(4000)}, server.config(),
                         &server);
    const OwnWritesRound::Result result = round.run();
    EXPECT_THAT(result.problems, ::testing::IsEmpty()) << "seed " << seed;
    EXPECT_GT(result.reads, result.failed);
    EXPECT_GT(result.faults, 0U);
  }
}

}  // namespace
}  // namespace kube::testing
