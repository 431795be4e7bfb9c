// A kubeconfig: clusters, users, and contexts that combine one of each, as kubectl reads and writes
// them.
//
//   auto kubeconfig = kube::Kubeconfig::read("admin.conf");
//   kubeconfig.contexts["dev"] = {.cluster = "local", .user = "jane", .namespace_ = "book"};
//   kubeconfig.currentContext = "dev";
//   kubeconfig.write("admin.conf");
//
// This class is the document; kube::KubeconfigFiles finds, merges and changes the files of a user,
// and kube::Config is made from it for a client. A wrong kind or apiVersion, a duplicate name, or a
// field of the wrong type is a ConfigError with file, line and field. Unknown fields are ignored,
// and lost when the document is written, except below `extensions`.
//
// It contains secrets: print copies made by redacted() or shortened() only.
//
// Thread safety: a plain value.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/base/list.h"
#include "kube/base/map.h"
#include "kube/base/shared.h"
#include "kube/base/string.h"
#include "kube/meta/raw_extension.h"

namespace kube {

/// A program that provides credentials (an exec plugin, client.authentication.k8s.io).
struct ExecConfig {
  struct EnvVar {
    String name = {}, value = {};
    bool operator==(const EnvVar&) const = default;
  };

  String command = {};  // a path if it has a slash; otherwise looked up in $PATH
  List<String> args = {};
  List<EnvVar> env = {};  // in addition to this process's environment
  String apiVersion = {};
  String installHint = {};  // shown if the program does not exist
  bool provideClusterInfo = false;
  String interactiveMode = {};  // "Never", "IfAvailable" or "Always"

  // Not part of a kubeconfig's user. clusterConfig is the cluster's extension of the reserved name
  // client.authentication.k8s.io/exec. A program that reads its standard input itself sets
  // stdinUnavailable, and the reason as the message.
  RawExtension clusterConfig = {};
  bool stdinUnavailable = false;
  String stdinUnavailableMessage = {};

  bool operator==(const ExecConfig&) const = default;
};

/// An auth provider of upstream: "oidc", with its settings.
struct AuthProviderConfig {
  String name = {};
  Map<String> config = {};

  bool operator==(const AuthProviderConfig&) const = default;
};

struct Kubeconfig {
  struct NamedExtension {
    String name = {};
    RawExtension extension = {};
    bool operator==(const NamedExtension&) const = default;
  };

  // `origin` is the file that an entry was read from; it is not written. Fields are named like
  // those of the file: certificate-authority-data is certificateAuthorityData.
  struct Cluster {
    String server = {};
    String tlsServerName = {};
    bool insecureSkipTlsVerify = false;
    String certificateAuthority = {};
    Bytes certificateAuthorityData = {};
    String proxyUrl = {};
    bool disableCompression = false;
    List<NamedExtension> extensions = {};
    String origin = {};
    bool operator==(const Cluster&) const = default;
  };

  struct User {
    String clientCertificate = {};
    Bytes clientCertificateData = {};
    String clientKey = {};
    Bytes clientKeyData = {};
    String token = {};
    String tokenFile = {};
    String as = {};
    String asUid = {};
    List<String> asGroups = {};
    Map<Strings> asUserExtra = {};
    String username = {};
    String password = {};
    Shared<AuthProviderConfig> authProvider = {};
    Shared<ExecConfig> exec = {};
    List<NamedExtension> extensions = {};
    String origin = {};
    bool operator==(const User&) const = default;
  };

  struct Context {
    String cluster = {};
    String user = {};
    String namespace_ = {};
    List<NamedExtension> extensions = {};
    String origin = {};
    bool operator==(const Context&) const = default;
  };

  struct Preferences {
    bool colors = false;
    List<NamedExtension> extensions = {};
    bool operator==(const Preferences&) const = default;
  };

  Map<Cluster> clusters = {};
  Map<User> users = {};
  Map<Context> contexts = {};
  String currentContext = {};
  Preferences preferences = {};
  List<NamedExtension> extensions = {};

  /// Parses text; empty text is an empty document. `file` appears in messages and becomes `origin`.
  static Kubeconfig parse(std::string_view text, std::string_view file = {});
  /// Throws ConfigError, also if there is no such file.
  static Kubeconfig read(const std::string& file);

  /// Returns the text, byte for byte as kubectl writes it.
  std::string toYaml() const;
  /// Replaces the file atomically; a new file is readable by its owner only.
  void write(const std::string& file) const;

  bool empty() const;

  /// Adds missing entries by kubectl's rules: existing entries, the current context and preferences
  /// are kept.
  void merge(const Kubeconfig& other);

  /// Makes file names absolute: they are relative to the file that contains them.
  void resolvePaths();

  /// Return the problems, each in a line with file and field: all of them, or those of a context
  /// (the current one if empty) with its cluster and user. Checks that named files are readable.
  std::vector<std::string> problems() const;
  std::vector<std::string> problemsOf(std::string_view context = {}) const;
  /// Throw a ConfigError if there are problems.
  void validate() const;
  void confirmUsable(std::string_view context = {}) const;

  /// Removes everything but the current context, its cluster and its user. Throws ConfigError if
  /// one of them is missing.
  void minify();
  /// Replaces file names by the contents of the files, so that the document can be moved.
  void flatten();

  /// Return copies for display: without secrets; and also without certificates, as `kubectl config
  /// view`.
  Kubeconfig redacted() const;
  Kubeconfig shortened() const;

  bool operator==(const Kubeconfig&) const = default;
};

namespace detail {

/// The name of a cluster's extension for exec plugins.
inline constexpr std::string_view kExecExtension = "client.authentication.k8s.io/exec";

/// Names a field in messages: `~/.kube/config: users["jane"].token`.
std::string fieldOf(std::string_view origin, std::string_view list, std::string_view name,
                    std::string_view field = {});

/// The parts of Kubeconfig::problemsOf.
void findProblems(std::string_view name, const Kubeconfig::Cluster& cluster,
                  std::vector<std::string>& out);
void findProblems(std::string_view name, const Kubeconfig::User& user,
                  std::vector<std::string>& out);

/// Throws a ConfigError with the problems, if there are any.
void throwProblems(const std::vector<std::string>& problems);

}  // namespace detail
}  // namespace kube
