#include "kube/workqueue/internal/worker_parking.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "kube/base/internal/completion.h"

namespace kube::detail {

WorkerParking::Wake WorkerParking::requestWake(const QueueLoad& load) noexcept {
  Wake whom = Wake::Nobody;
  if (lookout(load) == Lookout::Bell && (load.waiting > coming_ || turnBell(true))) {
    if (asleep_ == coroutines_.size()) return Wake::Coroutine;
    called_ = true;
    takenWhenCalled_ = load.taken;
    whom = Wake::Thread;
  }
  if (lookout(load) != Lookout::Bell) turnBell(false);
  assert(lookout(load) != Lookout::Bell || (bellOn_ && load.waiting <= coming_));
  return whom;
}

WorkerParking::Sleepers WorkerParking::callCoroutines(const QueueLoad& load, Wake& whom) noexcept {
  Sleepers called;
  do {
    coroutines_.front().bed_->state = Bed::State::Called;
    called.splice(called.end(), coroutines_, coroutines_.begin());
    --asleep_;
    ++coming_;
    whom = requestWake(load);
  } while (whom == Wake::Coroutine);
  return called;
}

void WorkerParking::goOn(const Sleepers& called) noexcept {
  for (const Sleeper& sleeper : called) sleeper.completion_->complete();
}

void WorkerParking::fallAsleep(Bed& bed, std::shared_ptr<Completion> completion) {
  bed.sleeper = coroutines_.emplace(coroutines_.end(), bed, std::move(completion));
  bed.state = Bed::State::Asleep;
  ++asleep_;
}

void WorkerParking::getUp(Bed& bed) noexcept {
  switch (std::exchange(bed.state, Bed::State::Empty)) {
    case Bed::State::Empty:
      return;
    case Bed::State::Asleep:
      coroutines_.erase(bed.sleeper);
      --asleep_;
      return;
    case Bed::State::Called:
      --coming_;
      return;
  }
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

WorkerParking::Sleepers WorkerParking::close() noexcept {
  closed_ = true;
  awake_.notify_all();
  Sleepers called;
  called.swap(coroutines_);
  for (const Sleeper& sleeper : called) sleeper.bed_->state = Bed::State::Called;
  asleep_ -= static_cast<std::uint32_t>(called.size());
  coming_ += called.size();
  return called;
}

}  // namespace kube::detail
