// Coroutines on an event loop of the program's own, here a bare epoll loop with one thread.
//
//   epoll_loop [SECONDS]      prints the pods of each namespace, and changes for so long (10)

#include <fmt/core.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <charconv>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <string_view>

#include "kube/base/task_scope.h"
#include "kube/base/when.h"
#include "kube/client/async_resource_client.h"
#include "kube/client/core/v1.h"

namespace {

using Clock = std::chrono::steady_clock;

// Any event loop has these two functions: run this, and run this later.
class Loop {
 public:
  Loop() {
    add(wakeFd_);
    add(timerFd_);
  }
  ~Loop() {
    for (const int fd : {wakeFd_, timerFd_, epollFd_}) close(fd);
  }

  /// Called by any thread.
  void post(std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    work_.push_back(std::move(work));
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = write(wakeFd_, &one, sizeof one);
  }
  void postAfter(std::chrono::nanoseconds delay, std::function<void()> work) {
    const auto when = Clock::now() + delay;
    post([this, when, work = std::move(work)]() mutable {
      timers_.emplace(when, std::move(work));
      setTimer();
    });
  }

  void run() {
    while (!over_) {
      epoll_event event{};
      if (epoll_wait(epollFd_, &event, 1, -1) < 1) continue;
      std::uint64_t count = 0;
      [[maybe_unused]] const auto got = read(event.data.fd, &count, sizeof count);
      // A program's own sockets would be served here.
      if (event.data.fd == wakeFd_) runWork();
      if (event.data.fd == timerFd_) runTimers();
    }
  }
  void stop() { over_ = true; }

 private:
  void add(int fd) {
    epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
    epoll_ctl(epollFd_, EPOLL_CTL_ADD, fd, &event);
  }
  void runWork() {
    std::unique_lock lock(mutex_);
    const auto work = std::move(work_);
    work_.clear();
    lock.unlock();
    for (const auto& each : work) each();
  }
  void runTimers() {
    while (!timers_.empty() && timers_.begin()->first <= Clock::now()) {
      const auto due = timers_.extract(timers_.begin());
      due.mapped()();
    }
    setTimer();
  }
  void setTimer() {
    if (timers_.empty()) return;
    const auto when = timers_.begin()->first.time_since_epoch();
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(when);
    const itimerspec at{
        .it_interval = {},
        .it_value = {.tv_sec = seconds.count(), .tv_nsec = (when - seconds).count()}};
    timerfd_settime(timerFd_, TFD_TIMER_ABSTIME, &at, nullptr);
  }

  const int epollFd_ = epoll_create1(EPOLL_CLOEXEC);
  const int wakeFd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  const int timerFd_ = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
  std::mutex mutex_;
  std::deque<std::function<void()>> work_;
  std::multimap<Clock::time_point, std::function<void()>> timers_;
  bool over_ = false;
};

kube::Executor executorOf(Loop& loop) {
  return kube::Executor([&loop](kube::Executor::Work work) { loop.post(std::move(work)); },
                        [&loop](kube::Clock::Duration delay, kube::Executor::Work work) {
                          loop.postAfter(delay, std::move(work));
                        });
}

kube::Task<> countPods(kube::AsyncResourceClient<kube::corev1::Pod> pods, std::string space) {
  const auto list = co_await pods.list();
  fmt::print("{}: {} pods\n", space, list.items.size());
}

kube::Task<> printChanges(kube::AsyncResourceClient<kube::corev1::Pod> pods) {
  auto watch = co_await pods.watch();
  for (;;) {
    const auto event = co_await watch.next();
    if (!event) break;
    fmt::print("{} {}\n", event->type, event->object.metadata.name);
  }
}

kube::Task<> program(kube::Clientset clients, kube::TaskScope& tasks, Loop& loop,
                     std::chrono::seconds time) {
  const auto spaces = co_await clients.coreV1().namespaces().async().list();
  for (const auto& space : spaces.items) {
    const auto& name = space.metadata.name;
    tasks.start(countPods(clients.coreV1().pods(name).async(), name.str()), "counting pods");
  }
  tasks.start(printChanges(clients.coreV1().pods("").async()), "the watch");
  co_await kube::sleepFor(time);
  loop.stop();
}

}  // namespace

int main(int argc, char** argv) {
  int seconds = 10;
  if (argc > 1) std::from_chars(argv[1], argv[1] + std::strlen(argv[1]), seconds);
  try {
    const kube::Clientset clients(kube::Config::load());
    Loop loop;
    kube::TaskScope tasks(executorOf(loop));
    tasks.start(program(clients, tasks, loop, std::chrono::seconds(seconds)), "the program");
    loop.run();
    // The scope is destroyed before the loop, and gives up the tasks that are left.
  } catch (const kube::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
