// Lets a thread that waits for an exchange do its I/O, instead of waiting for the loop's thread:
// the thread polls the socket of the connection that it was lent, and can be woken.
//
// Thread safety: belongs to the holder of the loop's turn, except poll(), which the waiting thread
// calls without the turn.
#pragma once

#include "kube/http/internal/descriptor.h"

namespace kube::detail {

class CallerIo {
 public:
  /// The object of the calling thread; null if no descriptors are left.
  static CallerIo* ofThisThread();

  /// Waits until a socket is readable or wake() is called. To be called without the turn, between
  /// beforePolling() and afterPolling(), which are called with it.
  void poll(int fd) const;
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
