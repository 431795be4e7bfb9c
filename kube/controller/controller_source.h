// A handle of a source of keys that was added to a controller.
//
//   kube::ControllerSource secrets = networks.addOwns<corev1::Secret>();   // also while it runs
//   ...
//   secrets.drop();
//
// A source that is added while the controller runs counts once it has synced: keys of its first
// list wait until the cache has all objects. Dropping a source ends its handler; keys that are
// already in the queue stay there.
//
// Thread safety: a cheap, copyable handle; every method may be called from any thread. It may
// outlive the controller.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <utility>

#include "kube/base/task.h"
#include "kube/cache/async_caches.h"

namespace kube {

namespace detail {

/// A source of a controller, whatever the type of its keys.
class SourceState {
 public:
  virtual ~SourceState() = default;
  virtual const std::string& name() const noexcept = 0;
  virtual void drop() = 0;
  virtual Task<bool> waitForSync() const = 0;
};

}  // namespace detail

class ControllerSource {
 public:
  /// Stands for no source. No method but drop() may be called.
  ControllerSource() = default;
  explicit ControllerSource(std::shared_ptr<detail::SourceState> state)
      : state_(std::move(state)) {}

  const std::string& name() const noexcept { return state_->name(); }
  /// Ends the source. When it returns, no function of the source runs any more, unless that
  /// function itself calls this. May be called again.
  void drop() const {
    if (state_) state_->drop();
  }
  /// Waits until the source has handed on its first list. Returns false if a stop is requested
  /// first, the source is dropped, or its controller does not run.
  bool waitForSync(const std::stop_token& stop = {}) const {
    return detail::runBlocking(wait(state_), stop);
  }
  /// The awaitable form of waitForSync().
  AsyncCaches async() const {
    return AsyncCaches([state = state_] { return wait(state); });
  }

 private:
  static Task<bool> wait(std::shared_ptr<detail::SourceState> state) {
    co_return co_await state->waitForSync();
  }

  std::shared_ptr<detail::SourceState> state_;
};

}  // namespace kube
