// The terminal that a command runs in. It is raw while a container's own terminal is on the other
// side, and is always restored afterwards.
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

/// Makes a terminal raw while it lives: every key is passed on at once and unchanged, Ctrl-C
/// included, and nothing is echoed. Does nothing if `fd` is not a terminal.
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

/// Returns nullopt if `fd` is not a terminal.
std::optional<TerminalSize> terminalSize(int fd);

/// Handles signals while it lives: Ctrl-C and other signals that end programs trigger a stop token,
/// a new window size calls `onResize`, and a write to a closed pipe fails instead of ending the
/// program. Must be made before any other thread, so that all threads have these signals blocked.
class Interruption {
 public:
  explicit Interruption(std::function<void()> onResize = {});
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  std::stop_token token() const { return stop_.get_token(); }
  /// The signal that triggered the token, or 0.
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

/// Copies input from a terminal or a file to a session until either ends, on a thread of its own.
/// Destroying it cancels the session.
class InputPump {
 public:
  /// Calls `note` if the server's protocol cannot signal the end of the input.
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

/// Writes all bytes. Returns false if that fails, such as on a closed pipe.
bool writeAll(int fd, std::string_view bytes);

}  // namespace kube::cmd
