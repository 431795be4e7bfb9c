// A file descriptor that is closed with its owner.
#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <limits>
#include <utility>

namespace kube::detail {

/// How many the process may have.
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
