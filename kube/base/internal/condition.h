// A condition variable for threads and coroutines.
//
//   Mutex itemsMutex_;
//   Condition changed_;                                    // of what itemsMutex_ guards
//
//   { const Lock lock(itemsMutex_); ...; changed_.notifyAll(); }
//   co_await changed_.wait(itemsMutex_, [this] { return !items_.empty(); });
//
// Threads wait by `threads`, as with any condition variable, and by the same tasks, in trees that
// may block. The predicate is called with the mutex held. The condition, the mutex and what the
// predicate uses outlive the task.
//
// Thread safety: notifyAll() is called with the mutex held.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "kube/base/clock.h"
#include "kube/base/internal/completion.h"
#include "kube/base/internal/mutex.h"
#include "kube/base/task.h"

namespace kube::detail {

class Condition {
 public:
  void notifyAll() {
    threads.notify_all();
    for (const auto& completion : std::exchange(waiting_, {})) completion->complete();
  }

  /// Waits until the predicate holds, the deadline has passed or a stop is requested. Returns the
  /// predicate's last value.
  template <class Predicate>
  Task<bool> wait(Mutex& mutex, Predicate holds, Clock::TimePoint deadline = Clock::noDeadline,
                  Clock& clock = realClock()) KUBE_NOT_CHECKED {
    const TaskContext& context = co_await CurrentContext();
    if (context.mayBlock) {
      Lock lock(mutex);
      co_return clock.waitUntil(threads, lock, context.stop, deadline, holds);
    }
    Waiting<Predicate> waiting(*this, mutex, holds, deadline, clock);
    for (;;) {
      const auto result = co_await waiting;
      if (result) co_return *result;
    }
  }

  std::condition_variable_any threads;

 private:
  // Waits for the next notification, unless the wait is over: then it returns the result.
  template <class Predicate>
  class Waiting {
   public:
    Waiting(Condition& condition, Mutex& mutex, Predicate& holds, Clock::TimePoint deadline,
            Clock& clock)
        : condition_(condition), mutex_(mutex), holds_(holds), deadline_(deadline), clock_(clock) {}
    ~Waiting() {
      if (completion_) completion_->abandon();
    }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

    bool await_ready() const noexcept { return false; }
    template <std::derived_from<PromiseBase> Promise>
    bool await_suspend(std::coroutine_handle<Promise> self) {
      return suspend(self, self.promise().context());
    }
    std::optional<bool> await_resume() {
      onStop_.reset();
      timer_.cancel();
      return result_;
    }

   private:
    // Not checked: the predicate may require the mutex by another name.
    KUBE_SUSPENDS bool suspend(std::coroutine_handle<> self,
                               const TaskContext& context) KUBE_NOT_CHECKED {
      const auto completion = std::make_shared<Completion>(self, context.executor);
      {
        const Lock lock(mutex_);
        const bool holds = holds_();
        if (holds || context.stop.stop_requested() || clock_.now() >= deadline_) {
          result_ = holds;
          return false;
        }
        // Waits that were given up are forgotten here at the latest.
        auto& waiting = condition_.waiting_;
        std::erase_if(waiting, [](const auto& other) { return other.use_count() == 1; });
        waiting.push_back(completion);
      }
      completion_ = completion;
      if (deadline_ != Clock::noDeadline) timer_ = clock_.callAt(deadline_, Complete{completion});
      if (context.stop.stop_possible()) onStop_.emplace(context.stop, Complete{completion});
      return completion->wait();
    }

    struct Complete {
      std::shared_ptr<Completion> completion;
      void operator()() const noexcept { completion->complete(); }
    };
    Condition& condition_;
    Mutex& mutex_;
    Predicate& holds_;
    const Clock::TimePoint deadline_;
    Clock& clock_;
    std::optional<bool> result_;
    std::shared_ptr<Completion> completion_;
    Timer timer_;
    std::optional<std::stop_callback<Complete>> onStop_;
  };

  std::vector<std::shared_ptr<Completion>> waiting_;
};

}  // namespace kube::detail
