// A run of the program: its input and output, its cluster, and the signal that ends it.
//
//   Invocation invocation(std::cin, std::cout, std::cerr);
//   addClusterCommands(app, invocation, arguments);
//   return runProgram(app, invocation, arguments);
//
// Configuration and connections are made when a command first asks for them, so that commands
// without a server start at once.
//
// Thread safety: one thread, except for the stop token.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "kube/base/error.h"
#include "kube/rest/config.h"

namespace CLI {
class App;
}

namespace kube {
class RestClient;
}

namespace kube::cmd {

class Resources;

/// kubectl's flags that every command takes.
struct ClusterFlags {
  std::string kubeconfig = {}, context = {}, cluster = {}, user = {}, namespace_ = {}, server = {};
  std::string token = {}, username = {}, password = {};
  std::string as = {}, asUid = {};
  std::vector<std::string> asGroups = {};
  std::string certificateAuthority = {}, clientCertificate = {}, clientKey = {};
  std::string tlsServerName = {};
  bool insecureSkipTlsVerify = false;
  std::string requestTimeout = "0";
  std::string cacheDir = {};
  std::int64_t verbosity = 0;
  std::string colour = "auto";

  /// Throws ConfigError.
  Config load() const;
};

class Invocation {
 public:
  Invocation(std::istream& in, std::ostream& out, std::ostream& err);
  ~Invocation();
  Invocation(const Invocation&) = delete;
  Invocation& operator=(const Invocation&) = delete;

  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  bool terminal = false;  // `out` writes to a terminal
  int exitCode = 0;
  ClusterFlags flags = {};

  bool colours() const;

  // These are made by the first call, which throws ConfigError for a bad configuration.

  const Config& config();
  const RestClient& rest();
  const Resources& resources();
  /// The namespace of objects for which the command names none.
  String namespaceName();

  /// Triggered by the signals that end programs, or the token that was set by setStop().
  const std::stop_token& stop();
  void setStop(std::stop_token token) { stop_ = std::move(token); }

 private:
  std::optional<Config> config_;
  std::unique_ptr<const RestClient> rest_;
  std::unique_ptr<const Resources> resources_;
  std::optional<std::stop_token> stop_;
};

/// An error of the command line. The user gets its message as it is.
class UsageError : public Error {
 public:
  explicit UsageError(const std::string& message) : Error(message) {}
};

/// Parses "5", in seconds, or "1m30s"; "0" stands for no timeout. Throws a UsageError that names
/// the flag.
std::chrono::nanoseconds parseTimeout(const std::string& flag, const std::string& text);

/// Adds the program's flags.
void addClusterFlags(CLI::App& app, ClusterFlags& flags);

/// Adds the commands that talk to a cluster, but only those among the words of the command line:
/// adding all of them takes a noticeable part of a short command's time. Adds all if the words
/// contain no command, or ask for help or completion.
void addClusterCommands(CLI::App& app, Invocation& invocation,
                        std::span<const std::string> words = {});

/// Parses the arguments and runs the command. Prints errors in kubectl's words. Returns the exit
/// code.
int runProgram(CLI::App& app, Invocation& invocation, std::vector<std::string> arguments);

}  // namespace kube::cmd
