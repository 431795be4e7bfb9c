#include "kube/base/internal/join_later.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <future>
#include <string>
#include <thread>
#include <utility>

namespace kube {
namespace {

// A thread that ends by itself, after the thread that started it.
struct Leaver {
  explicit Leaver(std::shared_future<void> go, std::promise<void> left = {})
      : thread([this, go, left = std::move(left)]() mutable {
          go.wait();
          joinLater(std::move(thread));
          left.set_value();
        }) {}
  std::thread thread;
};

TEST(JoinLaterTest, AThreadMayHandOverItself) {
  std::promise<void> go;
  std::promise<void> left;
  auto done = left.get_future();
  const Leaver leaver(go.get_future().share(), std::move(left));
  go.set_value();
  done.wait();
  EXPECT_FALSE(leaver.thread.joinable());
}

// The address space of the process. A thread that is not joined keeps its stack there.
long addressSpaceKb() {
  std::ifstream in("/proc/self/status");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("VmSize:")) return std::strtol(line.c_str() + 7, nullptr, 10);
  }
  return 0;
}

TEST(JoinLaterTest, EndedThreadsAreReleased) {
  const long before = addressSpaceKb();
  for (int i = 0; i < 200; ++i) {
    std::promise<void> ended;
    auto done = ended.get_future();
    joinLater(std::thread([ended = std::move(ended)]() mutable { ended.set_value(); }));
    done.wait();
  }
  // Stacks mostly have 8 MB; a few threads may be about to end.
  EXPECT_LT(addressSpaceKb() - before, 100 * 8192);
}

TEST(JoinLaterDeathTest, TheProcessWaitsForRunningThreads) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        static std::promise<void> leaving;
        joinLater(std::thread([] {
          leaving.get_future().wait();
          std::fputs("the thread has ended\n", stderr);
        }));
        std::atexit([] { leaving.set_value(); });  // runs before the joining of threads
        std::exit(0);
      },
      ::testing::ExitedWithCode(0), "the thread has ended");
}

TEST(JoinLaterDeathTest, ThreadsMayBeAddedWhileTheProcessEnds) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        std::atexit([] {  // runs after the joining of threads
          joinLater(std::thread([] {}));
          std::fputs("taken\n", stderr);
        });
        joinLater(std::thread([] {}));
        std::exit(0);
      },
      ::testing::ExitedWithCode(0), "taken");
}

}  // namespace
}  // namespace kube
