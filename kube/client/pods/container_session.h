// A command that runs in a container, or the container's own process: its stdin, stdout, stderr and
// how it ends.
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
// Bytes go through as they are, in any amount: who is slow makes the other wait. What comes is held
// back at TransportOptions::streamBuffer, for stdout and stderr together, so that they are read
// together. As with pipes, who writes much to a command that answers has to read meanwhile, on
// another thread.
//
// Errors: a command that could not be started, and whatever else the server has to say, is an
// ApiError with its Status; a connection that breaks in the middle a TransportError; a triggered
// stop token CanceledError, within milliseconds. An exit code is no error.
//
// Thread safety: one thread reads or waits; others may write, resize and cancel at the same time.
// Destroying it leaves the command to itself; most end when they cannot write any more.
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

class Request;

struct TerminalSize {
  std::uint16_t width = 0;
  std::uint16_t height = 0;

  bool operator==(const TerminalSize&) const = default;
};

/// Functions that take output are called by the thread in wait(), and may block.
struct ExecOptions {
  String container = {};      // a pod's only one needs no name
  List<String> command = {};  // and its arguments; no shell sees them
  bool stdin = false;
  bool stdout = true;
  bool stderr = true;  // with a terminal, errors are part of stdout
  bool tty = false;
  std::optional<TerminalSize> size = {};  // of the terminal, to begin with
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

/// All that a command has written.
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

  /// Waits for the next output, stdout's and stderr's as they come; none at the end. Throws where
  /// the connection broke.
  std::optional<Piece> read();
  /// Reads the rest, which goes to onStdout and onStderr where they are given. Returns the exit
  /// code.
  int wait();
  /// Reads the rest, and returns it with the exit code. Throws Error for more than maxBytes.
  ContainerOutput output(std::size_t maxBytes = std::size_t{64} << 20);

  /// To stdin: waits for the container to take what came before. False once the session is over.
  bool write(std::string_view bytes);
  /// Whether the server knows how to end stdin: by v5.channel.k8s.io (Kubernetes 1.29), not by v4.
  bool canCloseStdin() const;
  /// The command sees the end of its input; output goes on. Throws Error where that cannot be.
  void closeStdin();
  void resize(TerminalSize size);
  /// Ends the session: whoever reads or waits gets a CanceledError.
  void cancel();

  /// For PodClient.
  static ContainerSession start(Request request, const ExecOptions& options,
                                const std::stop_token& stop);

 private:
  struct State;
  explicit ContainerSession(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace kube
