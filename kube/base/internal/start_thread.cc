#include "kube/base/internal/start_thread.h"

#include <fmt/core.h>
#include <signal.h>

#include "kube/base/error.h"

namespace kube::detail {

std::atomic<int> threadsAllowed{-1};

void takeThread() {
  int left = threadsAllowed.load(std::memory_order_relaxed);
  while (left >= 0) {
    if (left == 0) {
      throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
    }
    if (threadsAllowed.compare_exchange_weak(left, left - 1)) return;
  }
}

void throwNoThread(std::string_view what, const std::system_error& error) {
  throw Error(
      fmt::format("no thread for {}: {}; a limit is reached: that of the container or the service "
                  "(pids.max of its cgroup), of the user (ulimit -u), of the system "
                  "(kernel.threads-max), or of memory",
                  what, error.code().message()));
}

void blockSignals() {
  sigset_t signals;
  sigfillset(&signals);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS, SIGPROF}) {
    sigdelset(&signals, fault);
  }
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

}  // namespace kube::detail
