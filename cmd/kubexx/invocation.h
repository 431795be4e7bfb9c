// One run of the program: where it reads and writes, which cluster it is about, and what it is
// asked to end by.
//
//   Invocation invocation(std::cin, std::cout, std::cerr);
//   addClusterCommands(app, invocation, arguments);
//   return runProgram(app, invocation, arguments);
//
// Nothing is read and nothing connected before a command asks for it: what takes no server starts
// at once.
//
// Thread safety: one thread, but for the stop token.
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
  bool terminal = false;  // out is one
  int exitCode = 0;
  ClusterFlags flags = {};

  bool colours() const;

  // What follows is made by the first who asks. Throw ConfigError.

  const Config& config();
  const RestClient& rest();
  const Resources& resources();
  /// The namespace that is meant where none is named.
  String namespaceName();

  /// Triggered by the signals that end programs, or by what setStop() was given.
  const std::stop_token& stop();
  void setStop(std::stop_token token) { stop_ = std::move(token); }

 private:
  std::optional<Config> config_;
  std::unique_ptr<const RestClient> rest_;
  std::unique_ptr<const Resources> resources_;
  std::optional<std::stop_token> stop_;
};

/// A command was given what it cannot take: its message goes to the user as it is.
class UsageError : public Error {
 public:
  explicit UsageError(const std::string& message) : Error(message) {}
};

/// "5", in seconds, or "1m30s"; "0" for none. Throws UsageError that names the flag.
std::chrono::nanoseconds parseTimeout(const std::string& flag, const std::string& text);

/// The program's flags.
void addClusterFlags(CLI::App& app, ClusterFlags& flags);

/// The commands that talk to a cluster: those that the words of a command line name, because making
/// all of them takes a noticeable part of a short command's time; all if they name none, or ask for
/// help.
void addClusterCommands(CLI::App& app, Invocation& invocation,
                        std::span<const std::string> words = {});

/// Parses and runs; says what goes wrong in kubectl's words. Returns the exit code.
int runProgram(CLI::App& app, Invocation& invocation, std::vector<std::string> arguments);

}  // namespace kube::cmd
