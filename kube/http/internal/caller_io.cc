#include "kube/http/internal/caller_io.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <array>
#include <cstdint>
#include <utility>

namespace kube::detail {

CallerIo::CallerIo() : eventFd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

CallerIo* CallerIo::ofThisThread() {
  static thread_local CallerIo own;
  return own.eventFd_.get() >= 0 ? &own : nullptr;
}

void CallerIo::poll(int fd) const {
  std::array<pollfd, 2> ready = {{{fd, POLLIN, 0}, {eventFd_.get(), POLLIN, 0}}};
  // After an interruption by a signal the caller finds nothing to read and polls again.
  ::poll(ready.data(), ready.size(), -1);
}

void CallerIo::wake() {
  if (!polling_ || std::exchange(woken_, true)) return;
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(eventFd_.get(), &one, sizeof one);
}

void CallerIo::afterPolling() {
  polling_ = false;
  if (!std::exchange(woken_, false)) return;
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t got = read(eventFd_.get(), &count, sizeof count);
}

}  // namespace kube::detail
