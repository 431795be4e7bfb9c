// How to reach an API server and as whom: everything a client is made from.
//
//   auto config = kube::Config::load();              // as kubectl finds it, or in a pod
//   auto config = kube::Config::load({.context = "dev", .namespace_ = "book"});
//   kube::Config config{.host = "https://10.0.0.1:6443", .tls = {.caFile = "ca.crt"},
//                       .bearerToken = token};
//
// load() takes the kubeconfig at `path` if one is named; otherwise the files in $KUBECONFIG,
// otherwise ~/.kube/config, otherwise the service account of the pod that it runs in. What is
// wrong is a ConfigError that names file and field.
//
// A Config holds secrets. Formatted with fmt (or toString) it shows none.
//
// Thread safety: a plain value. The functions it holds may be called from several threads.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kube/base/clock.h"
#include "kube/base/internal/text_formatter.h"
#include "kube/base/rate_limiter.h"
#include "kube/http/tls_config.h"
#include "kube/rest/kubeconfig.h"
#include "kube/rest/server_url.h"

namespace kube {

/// Whom to act as, where the server allows it.
struct Impersonation {
  std::string user = {};
  std::string uid = {};
  std::vector<std::string> groups = {};
  std::map<std::string, std::vector<std::string>> extra = {};

  bool empty() const { return *this == Impersonation{}; }
  bool operator==(const Impersonation&) const = default;
};

/// A warning that a server sent with an answer, such as that an API is going away.
struct Warning {
  int code = 299;
  std::string agent = {};
  std::string text = {};
};
using WarningHandler = std::function<void(const Warning&)>;

struct TransportOptions;  // transport.h

/// Keeps an auth provider's new settings (its tokens).
using AuthProviderPersister = std::function<void(const Map<String>& config)>;

struct LoadOptions {
  std::string path = {};  // a kubeconfig, instead of the ones found by the environment
  // What wins over the kubeconfig's own:
  std::string context = {};
  std::string cluster = {};
  std::string user = {};
  std::string namespace_ = {};
  std::string server = {};
  // Where a pod finds its service account; for tests.
  std::string serviceAccountFolder = "/var/run/secrets/kubernetes.io/serviceaccount";
};

struct Config {
  static constexpr double kDefaultQps = 50;
  static constexpr int kDefaultBurst = 100;
  /// More than the largest clusters have of anything: 150,000 pods of 10 kB each are 1.5 GB, and
  /// etcd keeps 8 GiB of everything at most.
  static constexpr std::uint64_t kDefaultMaxListBytes = std::uint64_t{4} << 30;

  std::string host = {};  // a URL (a path in it goes before every request's), host:port or host
  TlsConfig tls = {};     // also the client's certificate and key

  // Who the client is: at most one of token, name with password, plugin and provider. A token file
  // is read again as it changes and wins over bearerToken. What is given here wins over a plugin.
  std::string bearerToken = {};
  std::string bearerTokenFile = {};
  std::string username = {};
  std::string password = {};
  Shared<ExecConfig> exec = {};
  Shared<AuthProviderConfig> authProvider = {};
  AuthProviderPersister authProviderPersister = {};

  Impersonation impersonate = {};

  std::string namespace_ = "default";  // for requests that name none

  std::string userAgent = {};           // empty: defaultUserAgent()
  std::string contentType = {};         // empty: protobuf for built-in types, JSON for others
  std::string acceptContentTypes = {};  // empty: the same, either accepted
  double qps = kDefaultQps;             // requests a second; negative: no limit
  int burst = kDefaultBurst;            // requests at once
  std::shared_ptr<RateLimiter> rateLimiter = {};  // instead of one for qps and burst
  /// Of every request with all its tries, and of a plugin that runs for it; 0: none.
  std::chrono::nanoseconds timeout = {};
  /// What one list may take: its bytes, decompressed, and the size of each object besides. A
  /// compressed list of small objects could take all memory otherwise. 0: no limit. Watches have
  /// none.
  std::uint64_t maxListBytes = kDefaultMaxListBytes;
  std::string proxy = {};  // a URL; empty: as the environment says
  /// Set by inCluster(). A server on this machine is never asked for compression (but by
  /// tweakTransport).
  bool disableCompression = false;
  WarningHandler warningHandler = {};  // empty: warnings are logged
  /// May change what else there is about connections: when a silent server is given up, how large
  /// buffers are. (Include kube/http/transport.h.)
  std::function<void(TransportOptions& options)> tweakTransport = {};

  /// As described above.
  static Config load(const LoadOptions& options = {});

  /// As upstream's programs take their flags --master and --kubeconfig: without both, the pod's
  /// service account; otherwise that file alone, with `master` as its server.
  static Config fromFlags(const std::string& master, const std::string& kubeconfig);

  /// From a kubeconfig's text or document; of the options, those that win over it are looked at.
  static Config fromKubeconfig(std::string_view text, const LoadOptions& options = {});
  static Config fromKubeconfig(const Kubeconfig& kubeconfig, const LoadOptions& options = {});

  /// The service account of the pod that this runs in. Throws ConfigError if it runs in none.
  static Config inCluster(const LoadOptions& options = {});

  /// The address in full: https for a mere host if there is anything about TLS, localhost if there
  /// is no host. Throws ConfigError.
  ServerUrl serverUrl() const;

  /// Secrets (a token, a name with password, what a plugin or provider gives) go over TLS alone:
  /// throws ConfigError, which says what to do, where there are some and the server's address is
  /// http://. Every client asks this; load() leaves out what a kubeconfig has for such a server.
  void requireTlsForSecrets() const;

  /// The same without credentials.
  Config anonymous() const;

  /// rateLimiter; or one for qps and burst; or null for no limit.
  std::shared_ptr<RateLimiter> makeRateLimiter(Clock& clock = realClock()) const;

  /// Every field that is set, in one line; REDACTED for what is secret.
  std::string toString() const;
};

/// "binary/version (os/arch) kubexx/commit", with the name of this process's program.
const std::string& defaultUserAgent();

}  // namespace kube

template <>
struct fmt::formatter<kube::Config> : kube::detail::TextFormatter {
  auto format(const kube::Config& config, fmt::format_context& context) const {
    return text(config.toString(), context);
  }
};
