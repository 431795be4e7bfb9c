#include "cmd/kubexx/terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <utility>

#include "kube/base/error.h"

namespace kube::cmd {

namespace {

int checked(int fd, const char* what) {
  if (fd < 0) throw Error(std::string(what) + ": too many open files");
  return fd;
}

int makeEvent() { return checked(eventfd(0, EFD_CLOEXEC), "eventfd"); }

void tell(int event) {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(event, &one, sizeof one);
}

sigset_t watched() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int one : {SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGWINCH}) sigaddset(&signals, one);
  return signals;
}

}  // namespace

// --- RawTerminal.

RawTerminal::RawTerminal(int fd) : fd_(fd) {
  termios settings{};
  if (tcgetattr(fd, &settings) != 0) return;
  before_ = settings;
  cfmakeraw(&settings);
  tcsetattr(fd, TCSADRAIN, &settings);
}

RawTerminal::~RawTerminal() {
  if (before_) tcsetattr(fd_, TCSADRAIN, &*before_);
}

std::optional<TerminalSize> terminalSize(int fd) {
  winsize size{};
  if (ioctl(fd, TIOCGWINSZ, &size) != 0) return std::nullopt;
  return TerminalSize{size.ws_col, size.ws_row};
}

// --- Interruption.

Interruption::Interruption(std::function<void()> onResize)
    : onResize_(std::move(onResize)),
      signals_([this] {
        const sigset_t signals = watched();
        pthread_sigmask(SIG_BLOCK, &signals, &before_);
        struct sigaction ignore {};
        ignore.sa_handler = SIG_IGN;
        sigaction(SIGPIPE, &ignore, &beforePipe_);
        return checked(signalfd(-1, &signals, SFD_CLOEXEC), "signalfd");
      }()),
      over_(makeEvent()),
      thread_([this] { watch(); }) {}

Interruption::~Interruption() {
  tell(over_.get());
  thread_.join();
  sigaction(SIGPIPE, &beforePipe_, nullptr);
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void Interruption::onResize(std::function<void()> function) {
  const kube::detail::Lock lock(resizeMutex_);
  onResize_ = std::move(function);
}

void Interruption::watch() {
  std::array<pollfd, 2> fds{pollfd{signals_.get(), POLLIN, 0}, pollfd{over_.get(), POLLIN, 0}};
  while (poll(fds.data(), fds.size(), -1) >= 0 || errno == EINTR) {
    if (fds[1].revents != 0) return;
    if ((fds[0].revents & POLLIN) == 0) continue;
    signalfd_siginfo info{};
    if (read(signals_.get(), &info, sizeof info) != sizeof info) continue;
    if (info.ssi_signo == SIGWINCH) {
      const kube::detail::Lock lock(resizeMutex_);
      if (onResize_) onResize_();
      continue;
    }
    signal_ = static_cast<int>(info.ssi_signo);
    stop_.request_stop();
  }
}

// --- InputPump.

InputPump::InputPump(int fd, ContainerSession& session, std::function<void(std::string_view)> note)
    : fd_(fd), session_(session), note_(std::move(note)), over_(makeEvent()), thread_([this] {
        pump();
      }) {}

InputPump::~InputPump() {
  tell(over_.get());
  session_.cancel();  // wakes the thread from a write() that waits for the container
  thread_.join();
}

void InputPump::pump() {
  std::string buffer(32 << 10, '\0');
  std::array<pollfd, 2> fds{pollfd{fd_, POLLIN, 0}, pollfd{over_.get(), POLLIN, 0}};
  for (;;) {
    if (poll(fds.data(), fds.size(), -1) < 0 && errno != EINTR) return;
    if (fds[1].revents != 0) return;
    if (fds[0].revents == 0) continue;
    const ssize_t count = read(fd_, buffer.data(), buffer.size());
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count <= 0) break;
    if (!session_.write({buffer.data(), static_cast<std::size_t>(count)})) return;
  }
  if (session_.canCloseStdin()) return session_.closeStdin();
  note_("warning: the server's protocol cannot signal the end of the input\n");
}

bool writeAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) {
      pollfd ready{fd, POLLOUT, 0};
      poll(&ready, 1, -1);
      continue;
    }
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

}  // namespace kube::cmd
