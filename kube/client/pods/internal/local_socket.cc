#include "kube/client/pods/internal/local_socket.h"

#include <sys/epoll.h>

#include <utility>

#include "kube/base/error.h"

namespace kube::detail {

namespace {

// The events to ask for, and the events that are an answer: hang-ups and errors come unasked.
constexpr std::array<std::uint32_t, 3> kAsked = {EPOLLIN, EPOLLOUT, 0};
constexpr std::array<std::uint32_t, 3> kAnswers = {EPOLLIN | EPOLLHUP | EPOLLERR,
                                                   EPOLLOUT | EPOLLHUP | EPOLLERR, EPOLLERR};

}  // namespace

LocalSocket::LocalSocket(std::shared_ptr<EventLoop> loop, int fd)
    : loop_(std::move(loop)), socket_(fd) {}

LocalSocket::~LocalSocket() {
  std::optional<LoopTurn> turn;
  if (!loop_->isMine()) turn.emplace(*loop_);
  watch_.reset();
}

Task<void> LocalSocket::wait(Kind kind) {
  ask(kind);
  const auto ready = [this, kind]() KUBE_REQUIRES(eventsMutex_) { return !waiting_[kind]; };
  const bool there = co_await came_[kind].wait(ready);
  if (!there) throw CanceledError("port-forward: canceled");
}

void LocalSocket::ask(Kind kind) {
  const Lock lock(eventsMutex_);
  waiting_[kind] = true;
  if (watch_ && (kAsked[kind] & ~events_) == 0) return;
  events_ = wanted();
  if (watch_) {
    watch_->setEvents(events_);
  } else {
    watch_.emplace(*loop_, socket_.get(), events_, static_cast<EventHandler&>(*this));
  }
}

std::uint32_t LocalSocket::wanted() const {
  std::uint32_t events = 0;
  for (const Kind kind : {Readable, Writable, Broken}) {
    if (waiting_[kind]) events |= kAsked[kind];
  }
  return events;
}

void LocalSocket::onEvents(std::uint32_t events) {
  const Lock lock(eventsMutex_);
  bool answered = false;
  for (const Kind kind : {Readable, Writable, Broken}) {
    if ((events & kAnswers[kind]) == 0 || !std::exchange(waiting_[kind], false)) continue;
    answered = true;
    came_[kind].notifyAll();
  }
  if (answered) return;
  // Events stay asked for until nobody has waited for them: a task mostly waits again at once.
  // Hang-ups cannot be refused.
  events_ = wanted();
  if ((events & (EPOLLHUP | EPOLLERR)) != 0) {
    watch_.reset();
  } else {
    watch_->setEvents(events_);
  }
}

}  // namespace kube::detail
