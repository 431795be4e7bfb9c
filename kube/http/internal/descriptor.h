// A file descriptor that is closed with its owner.
#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <limits>
#include <utility>

namespace kube::detail {

/// The number of descriptors that the process may have.
inline std::size_t mostDescriptors() noexcept {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return std::numeric_limits<int>::max();
  }
  return limit.rlim_cur;
}

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) noexcept : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    close();
    fd_ = other.release();
    return *this;
  }
  ~Descriptor() { close(); }

  int get() const noexcept { return fd_; }

  /// Gives the descriptor to the caller, which has to close it.
  int release() noexcept { return std::exchange(fd_, -1); }
  /// Returns whether it succeeded: some file systems report a failed write only here.
  bool close() noexcept {
    const int fd = std::exchange(fd_, -1);
    return fd < 0 || ::close(fd) == 0;
  }

 private:
  int fd_;
};

}  // namespace kube::detail
