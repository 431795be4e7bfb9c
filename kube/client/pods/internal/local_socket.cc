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

class LocalSocket::Ready {
 public:
  Ready(LocalSocket& socket, Kind kind) : socket_(socket), kind_(kind) {}
  ~Ready() {
    if (completion_) completion_->abandon();
  }

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  KUBE_SUSPENDS bool await_suspend(std::coroutine_handle<Promise> self) {
    const TaskContext& context = self.promise().context();
    const auto completion = std::make_shared<Completion>(self, context.executor);
    completion_ = completion;
    socket_.completeOn(kind_, completion);
    if (context.stop.stop_possible()) onStop_.emplace(context.stop, Complete{completion});
    return completion->wait();
  }
  void await_resume() const noexcept {}

 private:
  struct Complete {
    std::shared_ptr<Completion> completion;
    void operator()() const noexcept { completion->complete(); }
  };
  LocalSocket& socket_;
  const Kind kind_;
  std::shared_ptr<Completion> completion_;
  std::optional<std::stop_callback<Complete>> onStop_;
};

LocalSocket::LocalSocket(std::shared_ptr<EventLoop> loop, int fd)
    : loop_(std::move(loop)), socket_(fd) {}

LocalSocket::~LocalSocket() {
  std::optional<LoopTurn> turn;
  if (!loop_->isMine()) turn.emplace(*loop_);
  watch_.reset();
}

Task<void> LocalSocket::wait(Kind kind) {
  Ready ready(*this, kind);
  co_await ready;
  const std::stop_token stop = co_await taskStop();
  if (stop.stop_requested()) throw CanceledError("port-forward: canceled");
}

void LocalSocket::completeOn(Kind kind, std::shared_ptr<Completion> completion) {
  waiting_[kind] = std::move(completion);
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
  bool answered = false;
  for (const Kind kind : {Readable, Writable, Broken}) {
    if ((events & kAnswers[kind]) == 0 || !waiting_[kind]) continue;
    answered = true;
    std::exchange(waiting_[kind], nullptr)->complete();
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
