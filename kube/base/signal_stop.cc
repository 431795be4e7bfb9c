#include "kube/base/signal_stop.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <string>
#include <system_error>
#include <thread>

#include "kube/base/error.h"
#include "kube/base/internal/start_thread.h"

namespace kube {
namespace {

// Used by the signal handler. A handler may call hardly any function, so it wakes a thread at the
// other end of a pipe.
std::atomic<int> wakePipe = -1;
std::atomic<int> signalsSeen = 0;
static_assert(std::atomic<int>::is_always_lock_free);

extern "C" void onStopSignal(int) {
  const int errorBefore = errno;
  if (signalsSeen.fetch_add(1) > 0) _exit(1);
  const char byte = 0;
  [[maybe_unused]] const auto written = write(wakePipe.load(), &byte, 1);
  errno = errorBefore;
}

// Never destroyed: its thread waits until the process ends.
class StopBySignal {
 public:
  StopBySignal() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) {
      throw Error("signal stop: cannot create a pipe: " + std::generic_category().message(errno));
    }
    wakePipe = ends[1];
    detail::startingThread("the stop by signals", [this, in = ends[0]] {
      std::thread([this, in] {
        char byte = 0;
        while (read(in, &byte, 1) < 0 && errno == EINTR) {
        }
        source_.request_stop();
      }).detach();
    });
    struct sigaction action {};
    action.sa_handler = onStopSignal;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
  }

  std::stop_token token() const { return source_.get_token(); }

 private:
  std::stop_source source_;
};

}  // namespace

std::stop_token signalStop() {
  static const StopBySignal* const stop = new StopBySignal;
  return stop->token();
}

}  // namespace kube
