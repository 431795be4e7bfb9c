#include "kube/http/internal/event_loop.h"

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <iterator>
#include <system_error>

#include "kube/base/task.h"
#include "kube/http/internal/understudy.h"

namespace kube::detail {
namespace {

constexpr std::uint64_t kMailboxId = 0;

int checked(int fd, const char* what) {
  if (fd < 0) throw std::system_error(errno, std::generic_category(), what);
  return fd;
}

}  // namespace

Mailbox::Mailbox() : eventFd_(checked(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")) {}

Mailbox::~Mailbox() { close(eventFd_); }

void Mailbox::wake() {
  const std::uint64_t one = 1;
  // Fails only if the counter is full, and then a wake-up is pending.
  [[maybe_unused]] const ssize_t written = write(eventFd_, &one, sizeof one);
}

bool Mailbox::post(Job task) {
  {
    const Lock lock(tasksMutex_);
    if (closed_) return false;
    tasks_.push_back(std::move(task));
    if (std::exchange(woken_, true)) return true;
  }
  wake();
  return true;
}

void Mailbox::rouse() {
  {
    const Lock lock(tasksMutex_);
    if (closed_ || std::exchange(woken_, true)) return;
  }
  wake();
}

void Mailbox::stop() {
  {
    const Lock lock(tasksMutex_);
    stopped_ = true;
    if (std::exchange(woken_, true)) return;
  }
  wake();
}

EventLoop::EventLoop()
    : epollFd_(checked(epoll_create1(EPOLL_CLOEXEC), "epoll_create1")),
      mailbox_(std::make_shared<Mailbox>()) {
  epoll_event event{};
  // Edge-triggered, so the counter need not be read back.
  event.events = EPOLLIN | EPOLLET;
  event.data.u64 = kMailboxId;
  checked(epoll_ctl(epollFd_, EPOLL_CTL_ADD, mailbox_->eventFd_, &event), "epoll_ctl");
}

EventLoop::~EventLoop() { close(epollFd_); }

int EventLoop::timeoutMillis() const {
  if (!nextTurn_.empty()) return 0;
  if (timers_.empty()) return -1;
  const auto left = timers_.begin()->first.first - now_;
  if (left <= TimePoint::duration::zero()) return 0;
  // Rounded up: after an early wake-up the loop would only wait again.
  const auto millis = std::chrono::ceil<std::chrono::milliseconds>(left).count();
  return static_cast<int>(std::min<long long>(millis, INT_MAX));
}

void EventLoop::take() {
  turn_.lock();
  holder_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  now_ = Clock::now();
}

void EventLoop::give() {
  holder_.store({}, std::memory_order_relaxed);
  turn_.unlock();
}

void EventLoop::run(const Job& atEnd) {
  Understudy understudy([&](const auto& enough) { takeTurns(enough, nullptr, atEnd); },
                        [this] { mailbox_->rouse(); });
  understudy.open();
  takeTurns([] { return false; }, &understudy, atEnd);
}

void EventLoop::takeTurns(const std::function<bool()>& enough, Understudy* understudy,
                          const Job& atEnd) {
  std::array<epoll_event, 64> events;
  setMayBlock(false);
  take();
  runner_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  while (!stopping_ && !enough()) {
    now_ = Clock::now();
    const int timeout = timeoutMillis();
    wakeUp_ = timers_.empty() ? TimePoint::max() : timers_.begin()->first.first;
    give();
    const int count = epoll_wait(epollFd_, events.data(), events.size(), timeout);
    take();
    bool posted = false;
    for (int i = 0; i < count; ++i) {
      const epoll_event event = events[i];
      const std::uint64_t id = event.data.u64;  // a copy, because events are packed and not aligned
      if (id == kMailboxId) {
        posted = true;
      } else if (const auto it = handlers_.find(id); it != handlers_.end()) {
        it->second->onEvents(event.events);
      }
    }
    if (posted) runMailbox(false);
    runTimers();
    // Run with the deferred tasks.
    std::move(nextTurn_.begin(), nextTurn_.end(), std::back_inserter(deferred_));
    nextTurn_.clear();
    runDeferred();
    if (understudy != nullptr && understudy->hasWork()) {
      wakeUp_ = TimePoint::min();  // nobody waits
      runner_.store({}, std::memory_order_relaxed);
      give();
      understudy->doWork();
      take();
      runner_.store(std::this_thread::get_id(), std::memory_order_relaxed);
    }
  }
  if (understudy != nullptr) understudy->close();
  if (stopping_ && !std::exchange(ended_, true)) {
    runMailbox(true);
    runDeferred();
    atEnd();
  }
  runner_.store({}, std::memory_order_relaxed);
  give();
}

LoopTurn::LoopTurn(EventLoop& loop, bool wait) : loop_(loop), taken_(wait) {
  if (wait) {
    loop_.take();
    return;
  }
  taken_ = loop_.turn_.try_lock();
  if (!taken_) return;
  loop_.holder_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  loop_.now_ = EventLoop::Clock::now();
}

void LoopTurn::takeAgain() {
  loop_.take();
  taken_ = true;
}

void LoopTurn::giveBack() {
  if (!std::exchange(taken_, false)) return;
  if (!loop_.stopping_) loop_.runDeferred();
  // The waiting loop does not know of timers that were set meanwhile.
  bool sooner = !loop_.timers_.empty() && loop_.timers_.begin()->first.first < loop_.wakeUp_;
  if (sooner) loop_.wakeUp_ = loop_.timers_.begin()->first.first;
  sooner = sooner || !loop_.nextTurn_.empty();
  loop_.give();
  if (sooner) loop_.mailbox_->rouse();
}

void EventLoop::runMailbox(bool last) {
  {
    const Lock lock(mailbox_->tasksMutex_);
    running_.swap(mailbox_->tasks_);
    mailbox_->woken_ = false;
    stopping_ = mailbox_->stopped_;
    mailbox_->closed_ = last;
  }
  for (Job& task : running_) task();
  running_.clear();
}

void EventLoop::runTimers() {
  while (!timers_.empty() && timers_.begin()->first.first <= now_) {
    const auto node = timers_.extract(timers_.begin());
    node.mapped()();
  }
}

void EventLoop::runDeferred() {
  while (!deferred_.empty()) {
    running_.swap(deferred_);
    for (Job& task : running_) task();
    running_.clear();
    std::exchange(buried_, {}).clear();  // their destructors may bury and defer more
  }
  std::exchange(buried_, {}).clear();
}

void EventLoop::discardDeferred() {
  // Destructors may defer or bury more.
  while (!deferred_.empty() || !nextTurn_.empty() || !buried_.empty()) {
    std::exchange(nextTurn_, {}).clear();
    std::exchange(deferred_, {}).clear();
    std::exchange(buried_, {}).clear();
  }
}

FdWatch::FdWatch(EventLoop& loop, int fd, std::uint32_t events, EventHandler& handler)
    : loop_(loop), fd_(fd), id_(++loop.lastId_), events_(events) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = id_;
  checked(epoll_ctl(loop_.epollFd_, EPOLL_CTL_ADD, fd_, &event), "epoll_ctl");
  loop_.handlers_.emplace(id_, &handler);
}

FdWatch::~FdWatch() {
  epoll_ctl(loop_.epollFd_, EPOLL_CTL_DEL, fd_, nullptr);
  loop_.handlers_.erase(id_);
}

void FdWatch::setEvents(std::uint32_t events) {
  if (events == events_) return;
  epoll_event event{};
  event.events = events_ = events;
  event.data.u64 = id_;
  epoll_ctl(loop_.epollFd_, EPOLL_CTL_MOD, fd_, &event);
}

void LoopTimer::set(EventLoop::TimePoint when, Job task) {
  cancel();
  key_ = {when, ++loop_.lastId_};
  loop_.timers_.emplace(key_, std::move(task));
}

void LoopTimer::cancel() {
  if (key_.second != 0) loop_.timers_.erase(key_);
  key_.second = 0;
}

bool LoopTimer::isSet() const { return key_.second != 0 && loop_.timers_.contains(key_); }

}  // namespace kube::detail
