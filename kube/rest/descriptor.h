// A file descriptor that is closed with its owner.
#pragma once

#include <unistd.h>

#include <utility>

namespace kube::detail {

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) noexcept : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(); }

  int get() const noexcept { return fd_; }

  /// Somebody else's from now on.
  int release() noexcept { return std::exchange(fd_, -1); }
  /// Says whether all went well: some file systems report a failed write only here.
  bool close() noexcept {
    const int fd = std::exchange(fd_, -1);
    return fd < 0 || ::close(fd) == 0;
  }

 private:
  int fd_;
};

}  // namespace kube::detail
