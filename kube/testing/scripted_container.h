// Scripts for the containers of an API server that runs none: programs, logs and ports that a test
// provides.
//
//   server.containers().log("book/web", "app", "started\n");
//   server.containers().append("book/web", "app", "GET /\n");      // clients that follow see it
//   server.containers().exec("book/web", "app", [](Process& process) {
//     while (const auto piece = process.read()) process.write(*piece);
//     return 3;
//   });
//   server.containers().port("book/web", 5432, [](PortConnection& client) { client.write("hi"); });
//
// A pod is given as "namespace/name". An empty pod means all pods, an empty container all
// containers; a script for a single pod or container takes precedence. A pod without scripts
// behaves as on a real server: without a node, its log is empty and nothing can run in it. With a
// node (spec.nodeName), it gets a few lines of log, runBuiltIn() for exec, and the ports 7 (echo)
// and 80 (HTTP).
//
// Each call of a program or a port runs on a thread of its own. Writes block while the client is
// slow. When the server is destroyed, it stops their tokens, ends their streams and waits for them
// to return.
//
// Thread safety: every method of Containers may be called from any thread. A Process or
// PortConnection belongs to the program's thread, which may share it with threads that it joins.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "kube/base/clock.h"
#include "kube/client/pods/container_session.h"

namespace kube::apiserver {
class ContainerState;
}

namespace kube::testing {

using kube::TerminalSize;

/// A client's call of exec or attach: the command, and where it is to run.
struct ContainerCall {
  std::string namespace_ = {}, pod = {}, container = {};
  std::vector<std::string> command = {};  // empty: attach
  bool stdin_ = false, stdout_ = false, stderr_ = false, tty = false;
  std::map<std::string, std::string> env = {};
};

/// A program's side of an exec or attach.
class Process {
 public:
  virtual ~Process() = default;

  virtual const ContainerCall& call() const = 0;
  virtual Clock& clock() const = 0;
  /// Triggered when the client is gone or the server is destroyed.
  virtual std::stop_token stop() const = 0;

  /// Waits for bytes on stdin. Returns nullopt at its end.
  virtual std::optional<std::string> read() = 0;
  /// Waits until the client has taken the earlier output. Returns false when the client is gone.
  /// Output that the client did not ask for is dropped. With a terminal, errors go to stdout.
  virtual bool write(std::string_view bytes) = 0;
  virtual bool writeError(std::string_view bytes) = 0;
  /// Waits for the next size of the client's terminal. Returns nullopt if there will be none.
  virtual std::optional<TerminalSize> nextSize() = 0;
};

/// Returns the exit code. An exception is reported to the client as the runtime's error: the
/// program could not be started.
using Program = std::function<int(Process&)>;

/// A container's side of a connection to one of its ports.
class PortConnection {
 public:
  virtual ~PortConnection() = default;

  virtual std::uint16_t port() const = 0;
  virtual std::stop_token stop() const = 0;
  /// Waits for bytes. Returns nullopt at the end.
  virtual std::optional<std::string> read() = 0;
  /// Waits until the client has taken the earlier bytes. Returns false when the client is gone.
  virtual bool write(std::string_view bytes) = 0;
};

/// The connection ends when the function returns. An exception is reported to the client.
using PortService = std::function<void(PortConnection&)>;

/// Runs one of a few programs: echo [-n], cat, env, date, hostname, pwd, true, false, sleep
/// SECONDS, sha256sum (of stdin), yes, bytes N (the byte at i is i mod 251), tty-size [N] (prints
/// the next N sizes, each on a line), and sh, which knows `;`, quotes, `>&2`, `exit`, `-c` and
/// lines of stdin. Throws Error for other programs, as a runtime does.
int runBuiltIn(Process& process);

class Containers {
 public:
  explicit Containers(Clock& clock);
  ~Containers();
  Containers(const Containers&) = delete;
  Containers& operator=(const Containers&) = delete;

  // --- Logs. Lines get the time at which they are added.
  enum class Stream { Stdout, Stderr };

  /// Replaces the log. Clients that follow the old log see its end.
  void log(std::string_view pod, std::string_view container, std::string_view text);
  void append(std::string_view pod, std::string_view container, std::string_view text,
              Stream stream = Stream::Stdout);
  /// Ends the log, as when the container ends: clients that follow it see its end.
  void endLog(std::string_view pod, std::string_view container);
  /// Sets the log of the container's previous instance, from before a restart.
  void previousLog(std::string_view pod, std::string_view container, std::string_view text);

  // --- Programs and ports.
  void exec(std::string_view pod, std::string_view container, Program program);
  /// Without a script, attach returns its stdin as output; without stdin, it follows the log.
  void attach(std::string_view pod, std::string_view container, Program program);
  void port(std::string_view pod, std::uint16_t port, PortService service);

  /// Removes all scripts of a pod.
  void forget(std::string_view pod);

  /// The number of programs and port connections that are running.
  std::size_t running() const;

  /// For the server.
  apiserver::ContainerState& state() noexcept { return *state_; }

 private:
  std::unique_ptr<apiserver::ContainerState> state_;
};

}  // namespace kube::testing
