// A command that runs in a container, or the container's own process: its stdin, stdout, stderr and
// exit code.
//
//   auto ls = pods.exec("web", {.command = {"ls", "/"}});
//   while (auto piece = ls.read()) std::cout << piece->bytes;
//   int code = ls.wait();
//
//   auto cat = pods.exec("web", {.command = {"cat"}, .stdin = true});
//   cat.write("hello");
//   cat.closeStdin();
//   ContainerOutput said = cat.output();              // said.out == "hello", said.exitCode == 0
//
//   auto sh = pods.attach("web", {.stdin = true, .tty = true, .onStdout = show}, stop);
//   std::jthread keys([&] { while (...) sh.write(key); });
//   sh.resize({.width = 120, .height = 40});
//   sh.wait();                                        // calls show() meanwhile
//
// Bytes are passed on unchanged, in any amount. A slow reader makes the writer wait, in both
// directions. Unread output is limited to TransportOptions::streamBuffer, for stdout and stderr
// together, so the two must be read together. As with pipes, a program that writes much to a
// command that answers has to read meanwhile, on another thread.
//
// Errors: ApiError with the server's Status for a command that could not be started, and for every
// other failure that the server reports. TransportError for a connection that breaks.
// CanceledError, within milliseconds, for a triggered stop token. An exit code is no error.
//
// Thread safety: one thread reads or waits; others may write, resize and cancel at the same time.
// Destroying the session does not end the command; most commands end when they cannot write any
// more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "kube/base/list.h"
#include "kube/base/string.h"

namespace kube {

class AsyncContainerSession;

struct TerminalSize {
  std::uint16_t width = 0;
  std::uint16_t height = 0;

  bool operator==(const TerminalSize&) const = default;
};

/// The thread in wait() calls the functions for output, which may block.
struct ExecOptions {
  String container = {};      // not needed if the pod has only one
  List<String> command = {};  // with its arguments; there is no shell
  bool stdin = false;
  bool stdout = true;
  bool stderr = true;  // with a terminal, errors are part of stdout
  bool tty = false;
  std::optional<TerminalSize> size = {};  // the first size of the terminal
  std::function<void(std::string_view bytes)> onStdout = {};
  std::function<void(std::string_view bytes)> onStderr = {};
};

struct AttachOptions {
  String container = {};
  bool stdin = false;
  bool stdout = true;
  bool stderr = true;
  bool tty = false;
  std::optional<TerminalSize> size = {};
  std::function<void(std::string_view bytes)> onStdout = {};
  std::function<void(std::string_view bytes)> onStderr = {};
};

/// The whole output of a command.
struct ContainerOutput {
  std::string out = {};
  std::string err = {};
  int exitCode = 0;
};

class ContainerSession {
 public:
  enum class Stream : unsigned char { Stdout, Stderr };
  struct Piece {
    Stream stream = Stream::Stdout;
    std::string_view bytes = {};  // valid until the next call
  };

  ContainerSession(ContainerSession&&) noexcept;
  ContainerSession& operator=(ContainerSession&&) noexcept;
  ~ContainerSession();

  /// Waits for the next output of stdout or stderr, in the order of arrival; none at the end.
  /// Throws if the connection breaks.
  std::optional<Piece> read();
  /// Reads the remaining output, and passes it to onStdout and onStderr if they are set. Returns
  /// the exit code.
  int wait();
  /// Reads the remaining output and returns it with the exit code. Throws Error if it has more than
  /// maxBytes.
  ContainerOutput output(std::size_t maxBytes = std::size_t{64} << 20);

  /// Writes to stdin: waits until the container has taken earlier bytes. Returns false when the
  /// session is over.
  bool write(std::string_view bytes);
  /// Returns whether the server can close stdin: with v5.channel.k8s.io (Kubernetes 1.29), not with
  /// v4.
  bool canCloseStdin() const;
  /// Closes stdin: the command sees the end of its input, and output continues. Throws Error if the
  /// server cannot do that.
  void closeStdin();
  void resize(TerminalSize size);
  /// Ends the session: calls that read or wait throw CanceledError.
  void cancel();

  /// For PodClient.
  explicit ContainerSession(AsyncContainerSession session);

 private:
  struct State;

  std::unique_ptr<State> state_;
};

}  // namespace kube
