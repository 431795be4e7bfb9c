// The awaitable form of a PortForward: the same functions, options and errors, for coroutines.
//
//   auto pods = clients.coreV1().pods("book").async();
//   const std::vector<kube::PortPair> ports{{.local = 8080, .remote = 80}};
//   auto forward = co_await pods.portForward("web", ports);
//   ...                                                   // it forwards meanwhile
//   co_await forward.stop();
//
// A stop ends what the task waits for, with CanceledError, and not the forward: that ends with
// stop() or its destruction. Set PortForwardOptions::executor, if its functions are to be called
// where the program's tasks run.
//
// Thread safety: every method may be called from any thread. Destroying the object closes all
// connections at once.
#pragma once

#include <cstddef>
#include <memory>
#include <stop_token>
#include <vector>

#include "kube/base/task.h"
#include "kube/client/pods/port_forward.h"

namespace kube {

namespace detail {
class Forwarder;
}

class AsyncPortForward {
 public:
  AsyncPortForward(AsyncPortForward&&) noexcept;
  AsyncPortForward& operator=(AsyncPortForward&&) noexcept;
  ~AsyncPortForward();

  const std::vector<BoundPort>& ports() const;
  std::size_t connections() const;

  /// Waits until forwarding has ended, and no function of the options is called any more.
  Task<void> wait() const;
  /// Closes all connections, stops listening, and waits.
  Task<void> stop();

  /// For clients. The forward also ends when `until` stops.
  static Task<AsyncPortForward> start(detail::PodPorts pod, std::vector<PortPair> ports,
                                      PortForwardOptions options, std::stop_token until = {});

 private:
  friend class PortForward;
  explicit AsyncPortForward(std::shared_ptr<detail::Forwarder> forwarder);

  std::shared_ptr<detail::Forwarder> forwarder_;
};

}  // namespace kube
