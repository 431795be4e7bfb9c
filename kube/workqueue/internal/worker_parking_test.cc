#include "kube/workqueue/internal/worker_parking.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

namespace kube::detail {
namespace {

using Lookout = WorkerParking::Lookout;
using Wake = WorkerParking::Wake;

// A queue with only a load, which tests set.
class WorkerParkingTest : public ::testing::Test {
 protected:
  // Takes the item for which waitForItem() has waited, as a queue does.
  void work(const std::stop_token& stop) {
    SpinLock lock(itemsMutex);
    parking.waitForItem(lock, stop, look);
    if (load.waiting == 0) return;
    --load.waiting;
    ++load.taken;
  }
  std::jthread worker(const std::stop_token& stop = {}) {
    return std::jthread([this, stop] { work(stop); });
  }

  // Changes the load as a call of the queue does.
  Wake change(const QueueLoad& to) {
    SpinLock lock(itemsMutex);
    load = to;
    const Wake whom = parking.requestWake(load);
    lock.unlock();
    parking.wake(whom);
    return whom;
  }

  // Waits until a condition holds, which is evaluated with the lock.
  void until(const std::function<bool()>& holds) KUBE_REQUIRES(itemsMutex) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!holds()) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "the condition never holds";
      itemsMutex.unlock();
      std::this_thread::yield();
      itemsMutex.lock();
    }
  }
  void untilAsleep(std::uint32_t workers) {
    const SpinLock lock(itemsMutex);
    until([&] { return parking.asleep() == workers; });
  }

  bool bellRings() { return arrivals.add({}); }

  SpinMutex itemsMutex;
  Arrivals<int> arrivals;
  WorkerParking parking{arrivals};
  QueueLoad load;
  WorkerParking::Look look = [this] { return load; };
};

// Returns the given loads, one after the other.
class ScriptedLooks {
 public:
  explicit ScriptedLooks(std::vector<QueueLoad> loads) : loads_(std::move(loads)) {}
  WorkerParking::Look look() {
    return [this] { return loads_.at(next_++); };
  }
  std::size_t left() const { return loads_.size() - next_; }

 private:
  std::vector<QueueLoad> loads_;
  std::size_t next_ = 0;
};

// --- Waking.

TEST_F(WorkerParkingTest, TheBellRingsForTheFirstItemWhileAWorkerSleeps) {
  auto sleeper = worker();
  untilAsleep(1);
  EXPECT_EQ(parking.lookout(load), Lookout::Bell);
  EXPECT_TRUE(bellRings());
  EXPECT_EQ(change({.waiting = 1}), Wake::Thread);
  sleeper.join();
  EXPECT_EQ(parking.lookout(load), Lookout::Workers);
  EXPECT_EQ(load.taken, 1U);
}

TEST_F(WorkerParkingTest, OneWorkerIsCalledAtATime) {
  std::vector<std::jthread> workers;
  for (int i = 0; i < 3; ++i) workers.push_back(worker());
  untilAsleep(3);
  {
    SpinLock lock(itemsMutex);
    load.waiting = 3;
    EXPECT_EQ(parking.requestWake(load), Wake::Thread);
    EXPECT_EQ(parking.lookout(load), Lookout::Called);
    EXPECT_EQ(parking.requestWake(load), Wake::Nobody);
    EXPECT_FALSE(bellRings());
    lock.unlock();
    parking.wake(Wake::Thread);
  }
  // Each worker that has taken an item calls the next.
  for (const std::uint32_t left : {2U, 1U}) {
    untilAsleep(left);
    EXPECT_EQ(change(load), Wake::Thread);
  }
  workers.clear();
  EXPECT_EQ(load.taken, 3U);
}

TEST_F(WorkerParkingTest, AnItemThatArrivesBeforeTheBellIsOnIsSeen) {
  EXPECT_FALSE(bellRings());  // after a worker has looked and is about to sleep
  ScriptedLooks looks({{}, {}, {.waiting = 1}});
  SpinLock lock(itemsMutex);
  parking.waitForItem(lock, {}, looks.look());
  EXPECT_EQ(looks.left(), 0U);
}

TEST_F(WorkerParkingTest, TheCallOfAStoppedWorkerCanBeRepeated) {
  std::stop_source stop;
  auto stopped = worker(stop.get_token());
  auto other = worker();
  untilAsleep(2);
  {
    const SpinLock lock(itemsMutex);
    load.waiting = 1;
    EXPECT_EQ(parking.requestWake(load), Wake::Thread);
    load.waiting = 0;  // so that neither takes it
  }
  stop.request_stop();  // wakes the worker instead of wake()
  stopped.join();
  untilAsleep(1);
  EXPECT_EQ(change({.waiting = 1}), Wake::Thread);
  other.join();
  EXPECT_EQ(load.taken, 1U);
}

TEST_F(WorkerParkingTest, NoWorkerSleepsOnceItIsClosed) {
  std::vector<std::jthread> workers;
  for (int i = 0; i < 3; ++i) workers.push_back(worker());
  untilAsleep(3);
  {
    const SpinLock lock(itemsMutex);
    EXPECT_TRUE(parking.close().empty());
  }
  workers.clear();
  EXPECT_EQ(parking.asleep(), 0U);
  work({});
}

// --- Yielding to others.

TEST_F(WorkerParkingTest, NapsAsLongAsOthersKeepUp) {
  ScriptedLooks looks({{.waiting = 0, .taken = 104, .inWork = true},
                       {.waiting = 10, .taken = 108, .inWork = true},
                       {.waiting = 5000, .taken = 118, .inWork = true},
                       {.waiting = 5000, .taken = 218, .inWork = true},
                       {.waiting = 5000, .taken = 317, .inWork = true}});
  SpinLock lock(itemsMutex);
  parking.yieldToOthers(lock, {}, looks.look(), 100);
  EXPECT_EQ(looks.left(), 0U);
  EXPECT_EQ(parking.asleep(), 0U);
}

TEST_F(WorkerParkingTest, DoesNotYieldToSlowWorkersOrToNone) {
  SpinLock lock(itemsMutex);
  ScriptedLooks slow({{.waiting = 1, .taken = 103, .inWork = true}});
  parking.yieldToOthers(lock, {}, slow.look(), 100);
  EXPECT_EQ(slow.left(), 0U);
  ScriptedLooks none({{.waiting = 1, .taken = 1000, .inWork = false}});
  parking.yieldToOthers(lock, {}, none.look(), 100);
  EXPECT_EQ(none.left(), 0U);
}

TEST_F(WorkerParkingTest, NoWorkerIsCalledWhileOneNapsAndAnotherHasAnItem) {
  const WorkerParking::Look fast = [this] {
    load.taken += WorkerParking::kMaxThroughput;
    return load;
  };
  load = {.waiting = 1, .inWork = true};
  std::jthread napping([&] {
    SpinLock lock(itemsMutex);
    parking.yieldToOthers(lock, {}, fast, 0);
  });
  {
    SpinLock lock(itemsMutex);
    until([&] { return parking.asleep() == 1; });
    EXPECT_EQ(parking.lookout(load), Lookout::Napping);
    EXPECT_EQ(parking.requestWake(load), Wake::Nobody);
    EXPECT_FALSE(bellRings());
    // The other has finished its item.
    load.inWork = false;
    EXPECT_EQ(parking.requestWake(load), Wake::Thread);
    lock.unlock();
    parking.wake(Wake::Thread);
  }
  napping.join();
}

TEST_F(WorkerParkingTest, OneWorkerNapsAndOthersSleep) {
  bool fast = true;
  const WorkerParking::Look othersWork = [&] {
    if (fast) load.taken += WorkerParking::kMaxThroughput;
    return load;
  };
  load.inWork = true;
  std::vector<std::jthread> yielding;
  for (int i = 0; i < 3; ++i) {
    yielding.emplace_back([&] {
      SpinLock lock(itemsMutex);
      parking.yieldToOthers(lock, {}, othersWork, 0);
    });
  }
  {
    SpinLock lock(itemsMutex);
    until([&] { return parking.asleep() == 3; });
    fast = false;  // the napping worker notices it
  }
  untilAsleep(2);
  for (const std::uint32_t left : {1U, 0U}) {
    EXPECT_EQ(change({.waiting = 1, .inWork = true}), Wake::Thread);
    untilAsleep(left);
  }
}

TEST_F(WorkerParkingTest, AWorkerYieldsIfOthersWereFasterThanItsWaking) {
  int looks = 0;
  look = [&] {
    ++looks;
    return load;
  };
  auto sleeper = worker();
  SpinLock lock(itemsMutex);
  until([&] { return parking.asleep() == 1; });
  EXPECT_EQ(looks, 1);
  load.waiting = 1;
  EXPECT_EQ(parking.requestWake(load), Wake::Thread);
  load = {.waiting = 0, .taken = WorkerParking::kMinThroughput, .inWork = true};
  lock.unlock();
  parking.wake(Wake::Thread);
  lock.lock();
  // One look before the nap, one after it, and one before it sleeps again.
  until([&] { return looks == 4 && parking.asleep() == 1; });
  lock.unlock();
  change({.waiting = 1, .taken = load.taken});
}

}  // namespace
}  // namespace kube::detail
