// The awaitable form of calls that wait for caches.
//
//   factory.start();
//   const bool synced = co_await factory.async().waitForSync();
//   if (!synced) co_return;                                 // a stop was requested, or a shutdown
//
// Thread safety: every method may be called from any thread.
#pragma once

#include <functional>
#include <utility>

#include "kube/base/task.h"

namespace kube {

class AsyncCaches {
 public:
  explicit AsyncCaches(std::function<Task<bool>()> wait) : wait_(std::move(wait)) {}

  /// As waitForSync() of the factory, the informer or the registration: with the same errors, and
  /// false after a stop of the tree.
  Task<bool> waitForSync() const { return wait_(); }

 private:
  const std::function<Task<bool>()> wait_;
};

}  // namespace kube
