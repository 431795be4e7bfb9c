// The terminal that a command runs in: made raw for as long as a container's own terminal is on the
// other side, and always given back as it was.
//
//   Interruption interruption([&] { session.resize(...); });     // Ctrl-C, SIGTERM, window sizes
//   RawTerminal raw(STDIN_FILENO);
//   InputPump keys(STDIN_FILENO, session);
//
// Thread safety: one thread makes and destroys them.
#pragma once

#include <termios.h>

#include <atomic>
#include <csignal>
#include <functional>
#include <optional>
#include <stop_token>
#include <string_view>
#include <thread>

#include "kube/base/internal/mutex.h"
#include "kube/client/pods/container_session.h"
#include "kube/http/internal/descriptor.h"

namespace kube::cmd {

/// Keys come one by one and as they are, Ctrl-C included; nothing is echoed.
class RawTerminal {
 public:
  explicit RawTerminal(int fd);
  ~RawTerminal();
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;

 private:
  const int fd_;
  std::optional<termios> before_;
};

/// None where it is no terminal.
std::optional<TerminalSize> terminalSize(int fd);

/// What a person does beside the program, for as long as it lives: Ctrl-C and other signals that
/// end programs ask it to stop; a window that changes its size is told; output that nobody reads is
/// an error of the write, not the program's end. To be made before any other thread is.
class Interruption {
 public:
  explicit Interruption(std::function<void()> onResize = {});
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  std::stop_token token() const { return stop_.get_token(); }
  /// The signal that asked, or 0.
  int signal() const { return signal_; }
  void onResize(std::function<void()> function);

 private:
  void watch();

  std::stop_source stop_;
  std::atomic<int> signal_{0};
  kube::detail::Mutex resizeMutex_;
  std::function<void()> onResize_ KUBE_GUARDED_BY(resizeMutex_);
  sigset_t before_{};
  struct sigaction beforePipe_ {};
  kube::detail::Descriptor signals_, over_;
  std::thread thread_;
};

/// Brings what is typed, or comes from a file, to a session, until either ends. Destroying it ends
/// the session.
class InputPump {
 public:
  /// `note` hears of an end that the server cannot be told of.
  InputPump(int fd, ContainerSession& session, std::function<void(std::string_view)> note);
  ~InputPump();
  InputPump(const InputPump&) = delete;
  InputPump& operator=(const InputPump&) = delete;

 private:
  void pump();

  const int fd_;
  ContainerSession& session_;
  const std::function<void(std::string_view)> note_;
  kube::detail::Descriptor over_;
  std::thread thread_;
};

/// Writes all of it. False where nobody reads.
bool writeAll(int fd, std::string_view bytes);

}  // namespace kube::cmd
