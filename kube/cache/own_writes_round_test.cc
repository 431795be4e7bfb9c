#include "kube/cache/own_writes_round_testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kube::testing {
namespace {

void passes(OwnWritesRound::Options options) {
  options.operations = detail::testAmount(4000);
  ApiServer server({.historyWindow = 500});
  OwnWritesRound round(options, server.config(), &server);
  const OwnWritesRound::Result result = round.run();
  EXPECT_THAT(result.problems, ::testing::IsEmpty()) << "seed " << options.seed;
  EXPECT_GT(result.reads, result.failed);
  EXPECT_GT(result.faults, 0U);
}

TEST(OwnWritesRoundTest, NoReadMissesAnOwnWriteWhileTheServerFails) {
  for (const std::uint64_t seed : {1, 2}) passes({.seed = seed});
}

TEST(OwnWritesRoundTest, NoReadMissesOneWhileNamespacesComeAndGo) {
  for (const std::uint64_t seed : {1, 2}) passes({.seed = seed, .namespaces = 3});
}

}  // namespace
}  // namespace kube::testing
