#include "kube/cache/handler_queue.h"

#include <utility>

#include "kube/base/log.h"

namespace kube::detail {

HandlerQueue::~HandlerQueue() {
  // The thread holds a reference: either it is over, or this is it.
  if (thread_.joinable()) thread_.detach();
}

void HandlerQueue::start() {
  const std::lock_guard lock(pendingMutex_);
  if (stopped_ || thread_.joinable()) return;
  thread_ = std::thread([self = shared_from_this()] { self->run(); });
}

void HandlerQueue::push(Notification notification) {
  const std::lock_guard lock(pendingMutex_);
  if (stopped_) return;
  if (notification.inInitialList) ++initial_;
  pending_.push_back(std::move(notification));
  if (pending_.size() == 1) changed_.notify_all();
}

void HandlerQueue::stop() {
  std::deque<Notification> dropped;
  std::thread ended;
  {
    std::unique_lock lock(pendingMutex_);
    stopped_ = true;
    dropped.swap(pending_);
    changed_.notify_all();
    if (thread_.get_id() == std::this_thread::get_id()) return;
    changed_.wait(lock, [&] { return !delivering_; });
    ended.swap(thread_);
  }
  if (ended.joinable()) ended.join();
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

void HandlerQueue::run() {
  std::unique_lock lock(pendingMutex_);
  for (;;) {
    changed_.wait(lock, [&] { return !pending_.empty() || stopped_; });
    if (stopped_) return;
    Notification notification = std::move(pending_.front());
    pending_.pop_front();
    delivering_ = true;
    lock.unlock();
    deliver(notification);
    const bool initial = notification.inInitialList;
    notification = {};  // let go without the lock
    lock.lock();
    delivering_ = false;
    if (initial) --initial_;
    if (stopped_ || (initial && initial_ == 0)) changed_.notify_all();
  }
}

void HandlerQueue::deliver(const Notification& notification) {
  const auto failed = [&](std::string_view what) {
    ++failures_;
    Logger("informer")
        .error("the handler{}{} has thrown: {}", name_.empty() ? "" : " ", name_, what);
  };
  try {
    deliver_(notification);
  } catch (const std::exception& error) {
    failed(error.what());
  } catch (...) {
    failed("something that is no exception");
  }
}

}  // namespace kube::detail
