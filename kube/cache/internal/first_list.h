// Tells whether an informer has passed on its first list: those of all its namespaces, if it has
// some. Registrations of handlers share it, and may outlive the informer.
//
// Thread safety: every method may be called from any thread.
#pragma once

#include "kube/base/internal/condition.h"
#include "kube/base/internal/mutex.h"
#include "kube/base/task.h"

namespace kube::detail {

class FirstList {
 public:
  bool complete() const {
    const Lock lock(stateMutex_);
    return complete_;
  }
  void setComplete(bool complete) {
    const Lock lock(stateMutex_);
    complete_ = complete;
    changed_.notifyAll();
  }
  /// Ends all waits: the informer has ended.
  void giveUp() {
    const Lock lock(stateMutex_);
    ended_ = true;
    changed_.notifyAll();
  }
  /// Waits until the list is complete, or will never be. Returns whether it was complete then.
  Task<bool> wait() const {
    bool complete = false;
    const auto over = [this, &complete]() KUBE_REQUIRES(stateMutex_) {
      complete = complete_;
      return complete_ || ended_;
    };
    co_await changed_.wait(over);
    co_return complete;
  }

 private:
  mutable Mutex stateMutex_;
  mutable Condition changed_{stateMutex_};
  bool complete_ KUBE_GUARDED_BY(stateMutex_) = false;
  bool ended_ KUBE_GUARDED_BY(stateMutex_) = false;
};

}  // namespace kube::detail
