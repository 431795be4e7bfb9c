// A handle of a handler that was added to an informer.
//
// Thread safety: a cheap, copyable handle; every method may be called from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stop_token>

#include "kube/cache/async_caches.h"

namespace kube {

namespace detail {
class HandlerQueue;
class Handlers;
}  // namespace detail

/// Asks about a handler, or removes it. Destroying the registration does not remove the handler.
class HandlerRegistration {
 public:
  HandlerRegistration(std::shared_ptr<detail::Handlers> handlers,
                      std::shared_ptr<detail::HandlerQueue> queue);

  /// Returns whether the handler has been called for every object of the initial list.
  bool hasSynced() const;
  /// Blocks until hasSynced(). Returns false if a stop is requested first, the handler is removed,
  /// or the informer ends. If nothing runs the informer, a warning is logged after some seconds.
  bool waitForSync(const std::stop_token& stop = {}) const;
  /// The awaitable form of waitForSync().
  AsyncCaches async() const;
  /// Ends the calls of the handler, and waits for a call under way unless the handler itself calls
  /// this. May be called again.
  void remove() const;
  /// The number of exceptions that the handler has thrown.
  std::uint64_t failures() const noexcept;
  /// The number of notifications that wait for the handler.
  std::size_t pending() const;

 private:
  std::shared_ptr<detail::Handlers> handlers_;
  std::shared_ptr<detail::HandlerQueue> queue_;
};

}  // namespace kube
