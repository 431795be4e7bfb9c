#include "kube/workqueue/internal/worker_parking.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace kube::detail {

WorkerParking::Wake WorkerParking::requestWake(const QueueLoad& load) noexcept {
  Wake whom = Wake::Nobody;
  if (lookout(load) == Lookout::Bell && (load.waiting > 0 || turnBell(true))) {
    called_ = true;
    takenWhenCalled_ = load.taken;
    whom = Wake::Thread;
  }
  if (lookout(load) != Lookout::Bell) turnBell(false);
  assert(lookout(load) != Lookout::Bell || (bellOn_ && load.waiting == 0));
  return whom;
}

// Returns whether the bell was off until now, and items have arrived.
bool WorkerParking::turnBell(bool on) noexcept {
  return std::exchange(bellOn_, on) != on && bell_.turn(on);
}

bool WorkerParking::sleep(SpinLock& lock, const std::stop_token& stop, const QueueLoad& load,
                          Sleep how) {
  ++asleep_;
  if (how == Sleep::Nap) napping_ = true;
  (void)requestWake(load);  // a call is for this worker, which is not asleep yet
  const auto over = [this] { return called_ || closed_; };
  if (how == Sleep::Nap) {
    awake_.wait_for(lock, stop, kNap, over);
    napping_ = false;
  } else {
    awake_.wait(lock, stop, over);
  }
  --asleep_;
  return std::exchange(called_, false);
}

void WorkerParking::waitForItem(SpinLock& lock, const std::stop_token& stop, const Look& look) {
  for (QueueLoad load = look(); load.waiting == 0; load = look()) {
    if (closed_ || stop.stop_requested()) return;
    if (sleep(lock, stop, load, Sleep::UntilCalled)) {
      yieldToOthers(lock, stop, look, takenWhenCalled_);
    }
  }
}

void WorkerParking::yieldToOthers(SpinLock& lock, const std::stop_token& stop, const Look& look,
                                  std::uint64_t takenBefore) {
  std::size_t wanted = kMinThroughput;
  for (QueueLoad load = look(); napping_ || load.taken - takenBefore >= wanted; load = look()) {
    if (!load.inWork || closed_ || stop.stop_requested()) return;
    const Sleep how = napping_ ? Sleep::UntilCalled : Sleep::Nap;
    if (sleep(lock, stop, load, how)) return;
    takenBefore = load.taken;
    wanted = std::clamp(load.waiting, kMinThroughput, kMaxThroughput);
  }
}

void WorkerParking::close() noexcept {
  closed_ = true;
  awake_.notify_all();
}

}  // namespace kube::detail
