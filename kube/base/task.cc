#include "kube/base/task.h"

#include <fmt/core.h>

#include <condition_variable>
#include <deque>

#include "kube/base/error.h"
#include "kube/base/internal/mutex.h"
#include "kube/base/internal/threads/after_turn.h"
#include "kube/base/task_threads.h"

namespace kube::detail {

namespace {

thread_local bool mustNotBlock = false;

}  // namespace

bool mayBlock() noexcept { return !mustNotBlock; }

void setMayBlock(bool may) noexcept { mustNotBlock = !may; }

void checkMayBlock(const char* what) {
  if (!mustNotBlock) return AfterTurn::aboutToBlock();
  throw Error(fmt::format(
      "{}: this is an I/O thread of the library, which must not wait: use the awaitable form, or "
      "another thread",
      what));
}

void throwBegun() { throw Error("task: it was moved away or begun before: await each task once"); }

class CallerLoop::State {
 public:
  void post(Executor::Work work) {
    {
      const Lock lock(workMutex_);
      if (closed_) return;
      work_.push_back(std::move(work));
    }
    changed_.notify_one();
  }

  void close() {
    std::deque<Executor::Work> dropped;  // destroyed without the lock
    const Lock lock(workMutex_);
    closed_ = true;
    dropped.swap(work_);
  }

  Executor::Work next() {
    Lock lock(workMutex_);
    changed_.wait(lock, [this]() KUBE_REQUIRES(workMutex_) { return !work_.empty(); });
    Executor::Work work = std::move(work_.front());
    work_.pop_front();
    return work;
  }

 private:
  Mutex workMutex_;
  std::condition_variable changed_;
  std::deque<Executor::Work> work_ KUBE_GUARDED_BY(workMutex_);
  bool closed_ KUBE_GUARDED_BY(workMutex_) = false;
};

CallerLoop::CallerLoop() : state_(std::make_shared<State>()) {}
// Work that is left holds the executor, which holds the state.
CallerLoop::~CallerLoop() { state_->close(); }

Executor CallerLoop::executor() const {
  return Executor([state = state_](Executor::Work work) { state->post(std::move(work)); });
}

void CallerLoop::run(const bool& over) const {
  while (!over) state_->next()();
}

ThreadWork::~ThreadWork() {
  // Not after the end: the result may hold the stop token.
  if (!completion_ || over_) return;
  completion_->abandon();
  stop_.request_stop();
}

bool ThreadWork::suspend(std::coroutine_handle<> self, const TaskContext& context) {
  const auto completion = std::make_shared<Completion>(self, context.executor);
  TaskThreads::shared()->run([completion, body = std::move(body_), stop = stop_.get_token(),
                              threads = TaskThreads::shared()] {
    body(stop);
    completion->complete();
  });
  completion_ = completion;
  if (context.stop.stop_possible()) onStop_.emplace(context.stop, RequestStop{stop_});
  return completion->wait();
}

void Sleep::Complete::operator()() const noexcept { completion->complete(); }

Sleep::~Sleep() {
  if (completion_) completion_->abandon();
}

bool Sleep::suspend(std::coroutine_handle<> self, const TaskContext& context) {
  stop_ = context.stop;
  if (context.mayBlock) {
    clock_.sleepUntil(deadline_, stop_);
    return false;
  }
  const auto now = clock_.now();
  if (now >= deadline_ || stop_.stop_requested()) return false;
  const auto completion = std::make_shared<Completion>(self, context.executor);
  completion_ = completion;
  if (deadline_ == Clock::noDeadline) {
    // Only a stop ends it.
  } else if (&clock_ == &realClock() && context.executor.canWait()) {
    context.executor.postAfter(deadline_ - now, Complete{completion});
  } else {
    timer_ = clock_.callAt(deadline_, Complete{completion});
  }
  if (stop_.stop_possible()) onStop_.emplace(stop_, Complete{completion});
  return completion->wait();
}

}  // namespace kube::detail
