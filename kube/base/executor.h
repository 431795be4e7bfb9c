// An executor runs functions: it is the place where coroutines (kube/base/task.h) and handlers run.
//
//   kube::Executor loop([&](kube::Executor::Work work) { myLoop.post(std::move(work)); });
//
// A program with an event loop of its own wraps the loop's function "run this soon, on your
// thread". An executor may have several threads; those of one Task run one after the other all the
// same.
//
// The function must not call the work itself before it returns, and may be called from any thread.
// It has to run all work that it has accepted, or destroy it. A program may destroy its loop when
// everything that was started on the executor has ended.
//
// Waiting (sleepFor) can use a second function, "run this later". Without one, the library's clock
// waits, on a thread of its own, and then calls the first. What was posted for later cannot be
// taken back: it stays in the loop's timers until its time, and does nothing then if it is not
// needed.
//
// Thread safety: a cheap, copyable handle; every method may be called from any thread.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "kube/base/clock.h"

namespace kube {

class Executor {
 public:
  using Work = std::function<void()>;
  using Post = std::function<void(Work)>;
  using PostAfter = std::function<void(Clock::Duration, Work)>;

  /// Runs nothing: post() throws Error.
  Executor() = default;
  explicit Executor(Post post, PostAfter postAfter = {})
      : functions_(
            std::make_shared<const Functions>(Functions{std::move(post), std::move(postAfter)})) {}

  explicit operator bool() const noexcept { return functions_ != nullptr; }

  /// Runs the work soon.
  void post(Work work) const;
  /// Returns whether the executor can wait by itself.
  bool canWait() const noexcept {
    return functions_ != nullptr && functions_->postAfter != nullptr;
  }
  /// Runs the work after a time, if canWait().
  void postAfter(Clock::Duration delay, Work work) const;

  bool operator==(const Executor&) const = default;

 private:
  struct Functions {
    Post post;
    PostAfter postAfter;
  };
  std::shared_ptr<const Functions> functions_;
};

}  // namespace kube
