// The address of an API server and the client's identity: everything that a client is made from.
//
//   auto config = kube::Config::load();  // as kubectl finds it, or in a pod
//   auto config = kube::Config::load({.context = "dev", .namespace_ = "book"});
//   kube::Config config{.host = "https://10.0.0.1:6443",
//                       .tls = {.caFile = "ca.crt"},
//                       .bearerToken = token};
//
// load() uses the kubeconfig at `path` if that is set; otherwise the files in $KUBECONFIG;
// otherwise ~/.kube/config; otherwise the service account of the pod that the program runs in.
// Mistakes are ConfigErrors that name file and field.
//
// A Config holds secrets. Text made by fmt or toString() shows none of them.
//
// Thread safety: a plain value. Its functions may be called on several threads.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "kube/base/clock.h"
#include "kube/base/internal/text_formatter.h"
#include "kube/base/metrics.h"
#include "kube/base/rate_limiter.h"
#include "kube/base/trace.h"
#include "kube/http/tls_config.h"
#include "kube/rest/client_defaults.h"
#include "kube/rest/kubeconfig.h"
#include "kube/rest/middleware.h"
#include "kube/rest/server_url.h"
#include "kube/rest/token_source.h"

namespace kube {

/// The user to impersonate, if the server allows it.
struct Impersonation {
  std::string user = {};
  std::string uid = {};
  std::vector<std::string> groups = {};
  std::map<std::string, std::vector<std::string>> extra = {};

  bool empty() const { return *this == Impersonation{}; }
  bool operator==(const Impersonation&) const = default;
};

/// A warning that a server sent with an answer, such as that an API is deprecated.
struct Warning {
  int code = 299;
  std::string agent = {};
  std::string text = {};
  std::string doing = {};  // the request, as in messages: `list cronjobs`
};
using WarningHandler = std::function<void(const Warning&)>;

struct TransportOptions;  // kube/http/transport.h

/// Which exec plugins may be run. A kubeconfig from another source can name any program.
struct PluginPolicy {
  enum class Type : unsigned char { AllowAll, DenyAll, Allowlist };
  Type type = Type::AllowAll;
  /// For Allowlist: programs as paths, or as names that are looked up in $PATH. A plugin may be run
  /// if its command, or the file that it stands for, is one of them.
  std::vector<std::string> allowlist = {};
};

/// Stores an auth provider's new settings (its tokens).
using AuthProviderPersister = std::function<void(const Map<String>& config)>;

struct LoadOptions {
  std::string path = {};  // a kubeconfig, instead of those of the environment
  // Overrides of the kubeconfig:
  std::string context = {};
  std::string cluster = {};
  std::string user = {};
  std::string namespace_ = {};
  std::string server = {};
  // The folder of the pod's service account; for tests.
  std::string serviceAccountFolder = "/var/run/secrets/kubernetes.io/serviceaccount";
};

struct Config {
  static constexpr double kDefaultQps = 50;
  static constexpr int kDefaultBurst = 100;
  /// More than the largest lists of the largest clusters: 150,000 pods of 10 kB each are 1.5 GB,
  /// and etcd stores 8 GiB at most.
  static constexpr std::uint64_t kDefaultMaxListBytes = std::uint64_t{4} << 30;

  std::string host = {};  // a URL, host:port or host; a URL's path begins every request's path
  TlsConfig tls = {};     // including the client's certificate and key

  // The client's identity: at most one of token, user name with password, plugin and provider. A
  // token file is read again when it changes, and overrides bearerToken. A token or password set
  // here overrides a plugin.
  std::string bearerToken = {};
  std::string bearerTokenFile = {};
  std::string username = {};
  std::string password = {};
  Shared<ExecConfig> exec = {};
  Shared<AuthProviderConfig> authProvider = {};
  AuthProviderPersister authProviderPersister = {};
  /// A function that gives tokens, instead of all of the above; see TokenSource.
  TokenSource tokenSource = {};
  /// Says which plugins may be run.
  PluginPolicy pluginPolicy = {};

  Impersonation impersonate = {};

  std::string namespace_ = "default";  // of requests without one
  /// Sent by every client made from this configuration, those of a Manager included.
  ClientDefaults defaults = {};

  std::string userAgent = {};           // empty: defaultUserAgent()
  std::string contentType = {};         // empty: protobuf for built-in types, JSON for others
  std::string acceptContentTypes = {};  // empty: the same, and JSON
  double qps = kDefaultQps;             // requests per second; negative: no limit
  int burst = kDefaultBurst;            // requests in a burst
  std::shared_ptr<RateLimiter> rateLimiter = {};  // replaces qps and burst
  /// Limits every request with all its tries, and plugins that run for it. 0: no limit.
  std::chrono::nanoseconds timeout = {};
  /// Limits the memory of one list: its decompressed bytes and the size of its objects. Without it,
  /// a compressed list of small objects could fill all memory. 0: no limit. Watches are not
  /// limited.
  std::uint64_t maxListBytes = kDefaultMaxListBytes;
  std::string proxy = {};  // a URL; empty: from the environment
  /// Set by inCluster(). A server on this machine is never asked for compression, unless by
  /// tweakTransport.
  bool disableCompression = false;
  WarningHandler warningHandler = {};  // empty: warnings are logged
  /// Changes other options of connections, such as timeouts and buffer sizes. Include
  /// kube/http/transport.h to use it.
  std::function<void(TransportOptions& options)> tweakTransport = {};
  /// Makes connections to the server, or to the proxy; see DialFunction in kube/http/transport.h.
  std::function<int(const std::string& host, std::uint16_t port, std::stop_token stop)> dial = {};
  /// Sees and may change each request and answer; see kube/rest/middleware.h.
  std::vector<Middleware> middleware = {};
  /// For the metrics of requests. Null: defaultMetrics(). Outlives the clients.
  Metrics* metrics = nullptr;
  /// Makes a span for each request, and for each reconcile of a Manager; see kube/base/trace.h.
  /// Without it, requests within a span still carry its `traceparent`.
  std::shared_ptr<Tracer> tracer = {};

  /// Loads a configuration as described above.
  static Config load(const LoadOptions& options = {});

  /// Loads a configuration from the flags --master and --kubeconfig of upstream's programs. Without
  /// both: the pod's service account. Otherwise that file alone, with `master` as its server.
  static Config fromFlags(const std::string& master, const std::string& kubeconfig);

  /// Makes a Config from the text or the document of a kubeconfig. Uses only the overrides of the
  /// options.
  static Config fromKubeconfig(std::string_view text, const LoadOptions& options = {});
  static Config fromKubeconfig(const Kubeconfig& kubeconfig, const LoadOptions& options = {});

  /// Loads the service account of the pod that the program runs in. Throws ConfigError outside of a
  /// pod.
  static Config inCluster(const LoadOptions& options = {});

  /// Returns the full address. A host without scheme uses https if any TLS option is set; an empty
  /// host is localhost. Throws ConfigError.
  ServerUrl serverUrl() const;

  /// Throws ConfigError if there are credentials (a token, a password, a plugin or a provider) and
  /// the server's address is http://: secrets are sent over TLS only. Every client calls this.
  /// load() ignores the credentials of a kubeconfig for such a server.
  void requireTlsForSecrets() const;

  /// Returns a copy without credentials.
  Config anonymous() const;

  /// Returns rateLimiter, or a limiter for qps and burst, or null for no limit.
  std::shared_ptr<RateLimiter> makeRateLimiter(Clock& clock = realClock()) const;

  /// Returns every field that is set, in one line, with REDACTED for secrets.
  std::string toString() const;
};

/// Returns "binary/version (os/arch) kubexx/commit", with the name of this program.
const std::string& defaultUserAgent();

}  // namespace kube

template <>
struct fmt::formatter<kube::Config> : kube::detail::TextFormatter {
  auto format(const kube::Config& config, fmt::format_context& context) const {
    return text(config.toString(), context);
  }
};
