// A handler of an informer, as who has added it sees it.
//
// Thread safety: a cheap, copyable handle; every method may be called from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stop_token>

namespace kube {

namespace detail {
class HandlerQueue;
class Handlers;
}  // namespace detail

/// A handler that was added, to ask about it or remove it. Dropping this does not remove the
/// handler.
class HandlerRegistration {
 public:
  HandlerRegistration(std::shared_ptr<detail::Handlers> handlers,
                      std::shared_ptr<detail::HandlerQueue> queue);

  /// Whether the handler has been called for every object of the initial list.
  bool hasSynced() const;
  /// Blocks until then; false if a stop is requested before, the handler is removed, or the
  /// informer ends. Where nothing runs the informer yet, that is logged after some seconds.
  bool waitForSync(const std::stop_token& stop = {}) const;
  /// The handler is not called any more; waits for a call under way, unless it is that call. May be
  /// called again.
  void remove() const;
  /// How often the handler has thrown.
  std::uint64_t failures() const noexcept;
  /// How many notifications wait for it.
  std::size_t pending() const;

 private:
  std::shared_ptr<detail::Handlers> handlers_;
  std::shared_ptr<detail::HandlerQueue> queue_;
};

}  // namespace kube
