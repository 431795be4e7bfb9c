#include "kube/cache/internal/handlers.h"

#include <algorithm>
#include <utility>

#include "kube/base/internal/slow_wait.h"
#include "kube/base/log.h"

namespace kube::detail {

namespace {
constexpr Clock::Duration kLeastPeriod = std::chrono::seconds(1);
}

Clock::Duration Handlers::periodFor(Clock::Duration wanted) const {
  if (wanted <= Clock::Duration::zero()) return {};
  if (checkPeriod_ == Clock::Duration::zero()) {
    Logger("informer")
        .with("resource", resource_)
        .warning(
            "a handler has a resync period, but the informer never resyncs: set its resync option");
    return {};
  }
  return std::max(wanted, checkPeriod_);
}

void Handlers::add(std::shared_ptr<HandlerQueue> queue, Clock::Duration resync) {
  const Lock lock(entriesMutex_);
  if (resync > Clock::Duration::zero()) resync = std::max(resync, kLeastPeriod);
  if (resync > Clock::Duration::zero() && resync < checkPeriod_ && !started_) {
    checkPeriod_ = resync;
    for (Entry& entry : entries_) entry.period = periodFor(entry.wanted);
  }
  Entry entry{.queue = std::move(queue), .wanted = resync, .period = periodFor(resync)};
  entry.next = clock_.deadlineAfter(entry.period);
  entries_.push_back(std::move(entry));
  noteQueues();
}

void Handlers::remove(const std::shared_ptr<HandlerQueue>& queue) {
  {
    const Lock lock(entriesMutex_);
    if (std::erase_if(entries_, [&](const Entry& entry) { return entry.queue == queue; }) != 0) {
      failuresOfRemoved_ += queue->failures();
      noteQueues();
    }
  }
  queue->stop();
}

void Handlers::distribute(const Notification& notification, bool sync) {
  const Lock lock(entriesMutex_);
  for (const Entry& entry : entries_) {
    if (!sync || entry.syncing) entry.queue->push(notification);
  }
}

void Handlers::noteQueues() {
  auto queues = std::make_shared<Queues>();
  for (const Entry& entry : entries_) {
    (entry.queue->quick() ? queues->quick : queues->others).push_back(entry.queue);
  }
  queues_ = std::move(queues);
}

void Handlers::call(bool quick) const {
  std::shared_ptr<const Queues> queues;
  {
    const Lock lock(entriesMutex_);
    queues = queues_;
  }
  if (queues == nullptr) return;
  for (const auto& queue : quick ? queues->quick : queues->others) queue->deliver();
}

Clock::Duration Handlers::start() {
  const Lock lock(entriesMutex_);
  started_ = true;
  for (const Entry& entry : entries_) entry.queue->start();
  return checkPeriod_;
}

void Handlers::stop() {
  std::vector<Entry> entries;
  {
    const Lock lock(entriesMutex_);
    entries = entries_;
  }
  for (const Entry& entry : entries) entry.queue->stop();
}

bool Handlers::shouldResync() {
  const Lock lock(entriesMutex_);
  const Clock::TimePoint now = clock_.now();
  bool any = false;
  for (Entry& entry : entries_) {
    entry.syncing = entry.period > Clock::Duration::zero() && now >= entry.next;
    if (!entry.syncing) continue;
    any = true;
    entry.next = clock_.deadlineAfter(entry.period);
  }
  return any;
}

std::uint64_t Handlers::failures() const {
  const Lock lock(entriesMutex_);
  std::uint64_t sum = failuresOfRemoved_;
  for (const Entry& entry : entries_) sum += entry.queue->failures();
  return sum;
}

std::size_t Handlers::pending() const {
  const Lock lock(entriesMutex_);
  std::size_t sum = 0;
  for (const Entry& entry : entries_) sum += entry.queue->pending();
  return sum;
}

Clock::Duration Handlers::lag() const {
  const Lock lock(entriesMutex_);
  Clock::Duration longest{};
  for (const Entry& entry : entries_) longest = std::max(longest, entry.queue->lag());
  return longest;
}

Task<bool> Handlers::waitForFirstList() const {
  if (firstList_.complete()) co_return true;
  const SlowWait slow(clock_, [this](Clock::Duration waited) {
    {
      const Lock lock(entriesMutex_);
      if (started_) return;
    }
    Logger("informer")
        .with("resource", resource_)
        .warning(
            "has waited {} for an informer that nothing runs: call start() of its factory "
            "(again, if the informer was requested after it), or run() of the informer",
            inSeconds(waited));
  });
  co_return co_await firstList_.wait();
}

bool Handlers::areCalling() const {
  const Lock lock(entriesMutex_);
  return std::ranges::any_of(entries_, [](const Entry& one) { return one.queue->isDelivering(); });
}

std::vector<std::string> Handlers::busy() const {
  std::vector<std::string> busy;
  const Lock lock(entriesMutex_);
  for (const Entry& entry : entries_) {
    if (std::string what = entry.queue->busyWith(); !what.empty()) busy.push_back(std::move(what));
  }
  return busy;
}

std::size_t Handlers::size() const {
  const Lock lock(entriesMutex_);
  return entries_.size();
}

}  // namespace kube::detail
