// A connection to a port of a pod, without a port of this machine: a stream of bytes in both
// directions.
//
//   auto stream = clients.coreV1().pods("book").openPort("web", 80, stop);
//   stream.write("GET / HTTP/1.0\r\n\r\n");
//   while (auto bytes = stream.read()) std::cout << *bytes;
//
// AsyncPortStream is the form for coroutines; limits and errors are the same.
//
// Stops: the stop token of openPort() ends the waits of all calls, with CanceledError. A stopped
// write() may have sent a part of its bytes.
//
// Thread safety: one thread reads and one writes, at the same time. Destroying the stream closes
// it, when no call is under way.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "kube/client/pods/async_port_stream.h"

namespace kube {

class PortStream {
 public:
  /// PodClient opens streams.
  PortStream(AsyncPortStream stream, std::stop_token stop);

  /// Blocks for bytes, which are valid until the next read(). None: the pod sends no more.
  std::optional<std::string_view> read();
  /// Blocks until earlier bytes are on their way. Returns false once the connection is over, and
  /// after endOutput().
  bool write(std::string bytes);
  /// Tells the pod that nothing more is sent. Returns false if the server cannot do that (before
  /// Kubernetes 1.30).
  bool endOutput();

 private:
  AsyncPortStream stream_;
  std::stop_token stop_;
};

}  // namespace kube
