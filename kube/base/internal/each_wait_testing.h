// Gives a task up at each of its waits: it is begun again and again, and runs one piece further
// each time, until it ends by itself.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <stop_token>

#include "kube/base/error.h"
#include "kube/base/internal/test_loop_testing.h"
#include "kube/base/task.h"

namespace kube::testing {

/// Makes a task that can be repeated, whatever has become of the one before.
using MakeTask = std::function<Task<>()>;
using GiveUp = std::function<void(TestLoop&, Begun<void>&, std::stop_source&)>;

/// Calls `giveUp` after each number of pieces. A task that finds an answer at once does not wait,
/// so all of it is done a few times.
inline void atEachWait(const MakeTask& make, const GiveUp& giveUp) {
  constexpr int kRounds = 3;
  constexpr int kMostPieces = 1000;
  for (int round = 0; round < kRounds; ++round) {
    for (int pieces = 0;; ++pieces) {
      ASSERT_LT(pieces, kMostPieces) << "the task does not end";
      TestLoop loop;
      std::stop_source stop;
      Begun<void> task(make(), loop.executor(), stop.get_token());
      for (int i = 0; i < pieces && !task.over(); ++i) loop.runOne();
      if (task.over()) {
        task.result();
        break;
      }
      giveUp(loop, task, stop);
    }
  }
}

/// Requests a stop at each wait, and waits for the end, which throws nothing but CanceledError.
inline void stopAtEachWait(const MakeTask& make) {
  atEachWait(make, [](TestLoop& loop, Begun<void>& task, std::stop_source& stop) {
    stop.request_stop();
    loop.runUntil([&] { return task.over(); });
    try {
      task.result();  // it may have been too late for the stop
    } catch (const CanceledError&) {
    }
  });
}

/// Destroys the task at each wait. Nothing of it goes on.
inline void destroyAtEachWait(const MakeTask& make) {
  atEachWait(make, [](TestLoop& loop, Begun<void>& task, std::stop_source& stop) {
    task.destroy();
    stop.request_stop();
    loop.runAll();
    EXPECT_FALSE(task.over());
  });
}

}  // namespace kube::testing
