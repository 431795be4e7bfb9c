#include "kube/http/internal/understudy.h"

#include <pthread.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "kube/base/error.h"
#include "kube/base/internal/guarded.h"
#include "kube/base/internal/start_thread.h"
#include "kube/base/log.h"

namespace kube::detail {

namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 5ms;  // until work counts as long

}  // namespace

Understudy::Understudy(Run run, std::function<void()> rouse)
    : run_(std::move(run)), rouse_(std::move(rouse)) {}

Understudy::~Understudy() {
  if (!thread_.joinable()) return;
  {
    const Lock lock(stateMutex_);
    state_ = State::Closed;
  }
  setAlarm(1ns);
  thread_.join();
}

bool Understudy::add(const std::shared_ptr<Work>& work) {
  if (!thread_.joinable()) start();
  if (!thread_.joinable()) return false;
  const Lock lock(stateMutex_);
  work_.push_back(work);
  return true;
}

bool Understudy::hasWork() {
  const Lock lock(stateMutex_);
  return !work_.empty();
}

std::shared_ptr<AfterTurn::Work> Understudy::next() {
  const Lock lock(stateMutex_);
  if (work_.empty()) return nullptr;
  auto work = std::move(work_.front());
  work_.pop_front();
  return work;
}

// Leaves no thread behind if a descriptor or a thread is missing.
void Understudy::start() {
  if (!alarm_) {
    const int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    if (fd < 0) return;
    alarm_.emplace(fd);
  }
  try {
    thread_ = startingThread("an understudy of an I/O thread", [this] {
      return std::thread([this] {
        blockSignals();
        pthread_setname_np(pthread_self(), "kubexx-http-2");
        serve();
      });
    });
  } catch (const Error& error) {
    Logger("http").debug("{}", error.what());
  }
}

void Understudy::onBlocking() noexcept { setAlarm(1ns); }

void Understudy::doWork() {
  {
    const Lock lock(stateMutex_);
    state_ = State::Watching;
  }
  setAlarm(kPatience);
  workHere();
  setAlarm(0ns);
  Lock lock(stateMutex_);
  if (state_ == State::Running) {
    back_ = true;
    rouse_();
    changed_.wait(lock, [this]() KUBE_REQUIRES(stateMutex_) { return state_ != State::Running; });
    back_ = false;
  }
  state_ = State::Idle;
}

void Understudy::serve() {
  std::deque<std::shared_ptr<Work>> rest;
  for (;;) {
    std::uint64_t expirations = 0;
    if (read(alarm_->get(), &expirations, sizeof expirations) < 0 && errno != EINTR) return;
    {
      const Lock lock(stateMutex_);
      if (state_ == State::Closed) return;
      if (state_ != State::Watching) continue;  // the work has ended in time
      state_ = State::Running;
      rest.swap(work_);
    }
    for (const auto& work : rest) {
      guarded("threads", "passing on a task", [&] { work->runElsewhere(); });
    }
    rest.clear();
    run_([this] { return back_.load(); });
    {
      const Lock lock(stateMutex_);
      state_ = State::Idle;
    }
    changed_.notify_one();
  }
}

// 0 stops the alarm.
void Understudy::setAlarm(std::chrono::nanoseconds in) const noexcept {
  itimerspec time{};
  time.it_value.tv_nsec = in.count();
  timerfd_settime(alarm_->get(), 0, &time, nullptr);
}

}  // namespace kube::detail
