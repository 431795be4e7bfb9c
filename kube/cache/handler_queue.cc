#include "kube/cache/handler_queue.h"

#include <utility>

#include "kube/base/log.h"

namespace kube::detail {

namespace {
// After so many, others who wait for a thread come first.
constexpr int kInARow = 64;
}  // namespace

void HandlerQueue::start() {
  {
    const std::lock_guard lock(pendingMutex_);
    started_ = true;
    if (!becomesDue()) return;
  }
  getThread();
}

void HandlerQueue::push(Notification notification) {
  notification.since = clock_.now();
  const std::lock_guard lock(pendingMutex_);
  if (stopped_) return;
  if (notification.inInitialList) ++initial_;
  pending_.push_back(std::move(notification));
}

void HandlerQueue::deliver() {
  {
    const std::lock_guard lock(pendingMutex_);
    if (!becomesDue()) return;
  }
  quick_ ? run() : getThread();  // without the lock, which that thread needs
}

// Whether a thread is needed now, which is not on its way yet. Called with the lock.
bool HandlerQueue::becomesDue() {
  if (scheduled_ || stopped_ || !started_ || pending_.empty()) return false;
  scheduled_ = true;
  return true;
}

void HandlerQueue::getThread() {
  threads_.run([self = shared_from_this()] { self->run(); });
}

void HandlerQueue::stop() {
  std::deque<Notification> dropped;
  std::unique_lock lock(pendingMutex_);
  stopped_ = true;
  dropped.swap(pending_);
  changed_.notify_all();
  if (delivering_ == std::this_thread::get_id()) return;
  changed_.wait(lock, [&] { return delivering_ == std::thread::id(); });
  lock.unlock();  // before `dropped` goes
}

bool HandlerQueue::initialDelivered() const {
  const std::lock_guard lock(pendingMutex_);
  return initial_ == 0;
}

bool HandlerQueue::waitForInitial(const std::stop_token& stop) const {
  std::unique_lock lock(pendingMutex_);
  changed_.wait(lock, stop, [&] { return initial_ == 0 || stopped_; });
  return initial_ == 0;
}

std::size_t HandlerQueue::pending() const {
  const std::lock_guard lock(pendingMutex_);
  return pending_.size();
}

Clock::Duration HandlerQueue::lag() const {
  const std::lock_guard lock(pendingMutex_);
  return pending_.empty() ? Clock::Duration{} : clock_.now() - pending_.front().since;
}

void HandlerQueue::run() {
  std::unique_lock lock(pendingMutex_);
  for (int i = 0; i < kInARow && !pending_.empty(); ++i) {
    Notification notification = std::move(pending_.front());
    pending_.pop_front();
    delivering_ = std::this_thread::get_id();
    lock.unlock();
    call(notification);
    const bool initial = notification.inInitialList;
    notification = {};  // let go without the lock
    lock.lock();
    delivering_ = {};
    if (initial) --initial_;
    if (stopped_ || (initial && initial_ == 0)) changed_.notify_all();
  }
  scheduled_ = false;
  // With the lock: stop() may be the last thing that its owner does.
  if (becomesDue()) getThread();
}

void HandlerQueue::call(const Notification& notification) {
  const auto failed = [&](std::string_view what) {
    ++failures_;
    Logger("informer")
        .error("the handler{}{} has thrown: {}", name_.empty() ? "" : " ", name_, what);
  };
  try {
    handler_->handle(notification);
  } catch (const std::exception& error) {
    failed(error.what());
  } catch (...) {
    failed("something that is no exception");
  }
}

}  // namespace kube::detail
