// A kubeconfig: clusters, users, and contexts that name one of each, as kubectl reads and writes
// them.
//
//   auto kubeconfig = kube::Kubeconfig::read("admin.conf");
//   kubeconfig.contexts["dev"] = {.cluster = "local", .user = "jane", .namespace_ = "book"};
//   kubeconfig.currentContext = "dev";
//   kubeconfig.write("admin.conf");
//
// Here it is a document; kube::KubeconfigFiles finds, merges and changes the files of a user, and
// kube::Config is what a client makes of it. A file whose kind or apiVersion is another's, a name
// that comes twice, or a field of the wrong type is a ConfigError with file, line and field. Fields
// that are not known are ignored, and lost when the document is written, except below
// `extensions`.
//
// Secrets are in it: print redacted() or shortened() copies only.
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

/// A program that hands out credentials (an exec plugin, client.authentication.k8s.io).
struct ExecConfig {
  struct EnvVar {
    String name = {}, value = {};
    bool operator==(const EnvVar&) const = default;
  };

  String command = {};  // with a slash, a path; without, looked up in $PATH
  List<String> args = {};
  List<EnvVar> env = {};  // besides this process's own
  String apiVersion = {};
  String installHint = {};  // shown if there is no such program
  bool provideClusterInfo = false;
  String interactiveMode = {};  // "Never", "IfAvailable" or "Always"

  // Not in a kubeconfig's user. The first is the cluster's extension of the reserved name
  // client.authentication.k8s.io/exec; with the second, a program says that it reads its standard
  // input itself, and why.
  RawExtension clusterConfig = {};
  bool stdinUnavailable = false;
  String stdinUnavailableMessage = {};

  bool operator==(const ExecConfig&) const = default;
};

/// What upstream calls an auth provider: here "oidc", with its settings.
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

  // `origin` is the file that an entry was read from; it is not written. Each field of the wire has
  // its name there in words: certificate-authority-data is certificateAuthorityData.
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

  /// Empty text is an empty document. `file` is for messages, and what `origin` becomes.
  static Kubeconfig parse(std::string_view text, std::string_view file = {});
  /// Throws ConfigError also if there is no such file.
  static Kubeconfig read(const std::string& file);

  /// Byte for byte as kubectl writes it.
  std::string toYaml() const;
  /// Replaces the file at once; a new one is readable by its owner alone.
  void write(const std::string& file) const;

  bool empty() const;

  /// Adds what is not here yet: by kubectl's rules, an entry of that name, the current context and
  /// each preference stay as they are.
  void merge(const Kubeconfig& other);

  /// Makes file names absolute: they are relative to the file that they stand in.
  void resolvePaths();

  /// What is wrong, in one line each with file and field: all of it, or what concerns a context
  /// (the current one if it is empty) and the cluster and user that it names. Files that are named
  /// are looked for.
  std::vector<std::string> problems() const;
  std::vector<std::string> problemsOf(std::string_view context = {}) const;
  /// Throw a ConfigError if there are any.
  void validate() const;
  void confirmUsable(std::string_view context = {}) const;

  /// Leaves the current context alone, with its cluster and user. Throws ConfigError if one of them
  /// is missing.
  void minify();
  /// Puts the contents of the files that it names into it, so that it can be moved elsewhere.
  void flatten();

  /// Copies for the eye: without secrets; also without certificates, as `kubectl config view`.
  Kubeconfig redacted() const;
  Kubeconfig shortened() const;

  bool operator==(const Kubeconfig&) const = default;
};

namespace detail {

/// The name of a cluster's extension that is meant for exec plugins.
inline constexpr std::string_view kExecExtension = "client.authentication.k8s.io/exec";

/// `~/.kube/config: users["jane"].token`, as messages name a field.
std::string fieldOf(std::string_view origin, std::string_view list, std::string_view name,
                    std::string_view field = {});

/// The parts of Kubeconfig::problemsOf.
void findProblems(std::string_view name, const Kubeconfig::Cluster& cluster,
                  std::vector<std::string>& out);
void findProblems(std::string_view name, const Kubeconfig::User& user,
                  std::vector<std::string>& out);

/// Throws what has been found, if anything was.
void throwProblems(const std::vector<std::string>& problems);

}  // namespace detail
}  // namespace kube
