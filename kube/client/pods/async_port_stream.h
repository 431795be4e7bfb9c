// A connection to a port of a pod, without a port of this machine: a stream of bytes in both
// directions, for coroutines. PortStream is the blocking form.
//
//   auto pods = clients.coreV1().pods("book").async();
//   auto stream = co_await pods.openPort("web", 80);
//   co_await stream.write("GET / HTTP/1.0\r\n\r\n");
//   for (;;) {
//     const auto bytes = co_await stream.read();
//     if (!bytes) break;                                  // the pod sends no more
//     ...
//   }
//
// Each stream has a WebSocket of its own. A slow reader makes the pod's program wait, in both
// directions; unread bytes are limited to TransportOptions::streamBuffer.
//
// Errors: openPort() throws ApiError if the pod does not exist, and TransportError if the server
// has no WebSockets. read() throws TransportError if nothing listens on the port, or the connection
// breaks.
//
// Stops: a stop ends what the task waits for, with CanceledError, and not the stream. A stopped
// write() may have sent a part of its bytes.
//
// Thread safety: one task reads and one writes, at the same time. Destroying the stream closes it:
// tasks that still use it throw CanceledError.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "kube/base/task.h"

namespace kube {

namespace detail {
class TunnelStream;
struct PodPorts;
}  // namespace detail

class AsyncPortStream {
 public:
  AsyncPortStream(AsyncPortStream&&) noexcept;
  AsyncPortStream& operator=(AsyncPortStream&&) noexcept;
  ~AsyncPortStream();

  /// Waits for bytes, which are valid until the next read(). None: the pod sends no more.
  Task<std::optional<std::string_view>> read();
  /// Waits until earlier bytes are on their way. Returns false once the connection is over, and
  /// after endOutput().
  Task<bool> write(std::string bytes);
  /// Tells the pod that nothing more is sent. Returns false if the server cannot do that (before
  /// Kubernetes 1.30).
  bool endOutput();

  /// For clients.
  static Task<AsyncPortStream> open(detail::PodPorts pod, std::uint16_t port);

 private:
  explicit AsyncPortStream(std::shared_ptr<detail::TunnelStream> stream);

  std::shared_ptr<detail::TunnelStream> stream_;
};

}  // namespace kube
