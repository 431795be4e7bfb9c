// How a thread that waits for an exchange does its I/O meanwhile, instead of waiting for the loop's
// thread: it polls the socket of the connection that it was lent, and can be woken from that.
//
// Thread safety: belongs to whoever has the loop's turn, except the descriptor.
#pragma once

#include <chrono>

#include "kube/http/internal/descriptor.h"

namespace kube::detail {

class CallerIo {
 public:
  /// Of this thread; null where there are no descriptors left.
  static CallerIo* ofThisThread();

  /// Waits until a socket can be read or wake() is called. Between beforePolling() and
  /// afterPolling(), which have to be called with the turn, while this has to be called without.
  void poll(int fd) const;
  /// The same, without a socket, for some time only.
  void rest(std::chrono::milliseconds time) const;
  void beforePolling() { polling_ = true; }
  void afterPolling();
  void wake();

 private:
  CallerIo();

  Descriptor eventFd_;
  bool polling_ = false;
  bool woken_ = false;
};

}  // namespace kube::detail
