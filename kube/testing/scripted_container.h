// What happens inside the containers of an API server that has none: programs, logs and ports that
// a test has written.
//
//   server.containers().log("book/web", "app", "started\n");
//   server.containers().append("book/web", "app", "GET /\n");      // who follows sees it
//   server.containers().exec("book/web", "app", [](Process& process) {
//     while (const auto piece = process.read()) process.write(*piece);
//     return 3;
//   });
//   server.containers().port("book/web", 5432, [](PortConnection& client) { client.write("hi"); });
//
// A pod is given as "namespace/name". An empty pod means all pods, an empty container all
// containers; what is said of one goes before what is said of all. A pod that nothing was said of
// behaves as kube-apiserver's: without a node its log is empty and nothing can be run in it; with
// one (spec.nodeName) it gets a few lines of log, runBuiltIn() for exec, ports 7 (echo) and 80
// (HTTP).
//
// Programs and ports run on threads of their own, one for every call; their streams hold them back
// when the client is slow. The server's end stops their tokens, ends their streams and waits for
// them to return.
//
// Thread safety: everything of Containers may be called from any thread. A Process or
// PortConnection belongs to the program's thread, which may share it with others that it joins.
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

/// What a client asks to be run, and where.
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
  /// The client is gone, or the server ends.
  virtual std::stop_token stop() const = 0;

  /// What comes on stdin: waits for some, nothing at its end.
  virtual std::optional<std::string> read() = 0;
  /// Waits for the client to take what came before. False when it is gone; what it did not ask for
  /// is dropped. With a terminal, errors go to stdout.
  virtual bool write(std::string_view bytes) = 0;
  virtual bool writeError(std::string_view bytes) = 0;
  /// The next size that the client's terminal takes: waits for it, nothing when there is no more.
  virtual std::optional<TerminalSize> nextSize() = 0;
};

/// Returns the exit code. What it throws is told as the runtime's error: the program could not be
/// started.
using Program = std::function<int(Process&)>;

/// A container's side of a connection to one of its ports.
class PortConnection {
 public:
  virtual ~PortConnection() = default;

  virtual std::uint16_t port() const = 0;
  virtual std::stop_token stop() const = 0;
  /// Waits; nothing at the end.
  virtual std::optional<std::string> read() = 0;
  /// Waits for the client to take what came before. False when it is gone.
  virtual bool write(std::string_view bytes) = 0;
};

/// The connection ends when it returns. What it throws is told to the client.
using PortService = std::function<void(PortConnection&)>;

/// A few programs: echo [-n], cat, env, date, hostname, pwd, true, false, sleep SECONDS, sha256sum
/// (of stdin), yes, bytes N (of which the byte at i is i mod 251), tty-size [N] (the next N sizes,
/// each on a line), and sh, which knows `;`, quotes, `>&2`, `exit`, `-c` and lines of stdin. Throws
/// Error for others, as a runtime does.
int runBuiltIn(Process& process);

class Containers {
 public:
  explicit Containers(Clock& clock);
  ~Containers();
  Containers(const Containers&) = delete;
  Containers& operator=(const Containers&) = delete;

  // --- Logs. Lines get the time at which they come.
  enum class Stream { Stdout, Stderr };

  /// This and nothing else is in the log. Who follows the old one sees its end.
  void log(std::string_view pod, std::string_view container, std::string_view text);
  void append(std::string_view pod, std::string_view container, std::string_view text,
              Stream stream = Stream::Stdout);
  /// The container has ended: so does who follows.
  void endLog(std::string_view pod, std::string_view container);
  /// Of the container before it was restarted.
  void previousLog(std::string_view pod, std::string_view container, std::string_view text);

  // --- Programs and ports.
  void exec(std::string_view pod, std::string_view container, Program program);
  /// Unless told otherwise, attach gives back its stdin; without one, it follows the log.
  void attach(std::string_view pod, std::string_view container, Program program);
  void port(std::string_view pod, std::uint16_t port, PortService service);

  /// All that was said of a pod.
  void forget(std::string_view pod);

  /// Programs and connections under way.
  std::size_t running() const;

  /// For the server.
  apiserver::ContainerState& state() noexcept { return *state_; }

 private:
  std::unique_ptr<apiserver::ContainerState> state_;
};

}  // namespace kube::testing
