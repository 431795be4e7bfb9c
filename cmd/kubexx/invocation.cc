#include "cmd/kubexx/invocation.h"

#include <fmt/core.h>

#include <cstdlib>

#include "cmd/kubexx/command.h"
#include "cmd/kubexx/resources.h"
#include "kube/base/log.h"
#include "kube/base/signal_stop.h"
#include "kube/meta/time.h"
#include "kube/rest/rest_client.h"

namespace kube::cmd {

namespace {

LogLevel levelOf(std::int64_t verbosity) {
  if (verbosity >= 8) return LogLevel::Trace;
  if (verbosity >= 6) return LogLevel::Debug;
  return verbosity >= 1 ? LogLevel::Info : LogLevel::Error;
}

}  // namespace

std::chrono::nanoseconds parseTimeout(const std::string& flag, const std::string& text) {
  try {
    if (!text.empty() && text.find_first_not_of("-0123456789") == std::string::npos) {
      return Duration::parse(text + "s");
    }
    return Duration::parse(text);
  } catch (const Error& error) {
    throw UsageError(
        fmt::format("invalid value \"{}\" for {}: expected a number of seconds, or a time as 1m30s",
                    text, flag));
  }
}

Config ClusterFlags::load() const {
  Config config = Config::load({.path = kubeconfig,
                                .context = context,
                                .cluster = cluster,
                                .user = user,
                                .namespace_ = namespace_,
                                .server = server});
  if (!token.empty()) {
    config.bearerToken = token;
    config.bearerTokenFile.clear();
    config.exec = {};
    config.authProvider = {};
  }
  if (!username.empty()) config.username = username;
  if (!password.empty()) config.password = password;
  if (!as.empty()) config.impersonate.user = as;
  if (!asUid.empty()) config.impersonate.uid = asUid;
  if (!asGroups.empty()) config.impersonate.groups = asGroups;
  if (!certificateAuthority.empty()) {
    if (insecureSkipTlsVerify) {
      throw UsageError(
          "--certificate-authority and --insecure-skip-tls-verify: only one of both can be given");
    }
    config.tls.caFile = certificateAuthority;
    config.tls.caData.clear();
    config.tls.insecureSkipVerify = false;  // whatever the kubeconfig says
  }
  if (!clientCertificate.empty()) {
    config.tls.certFile = clientCertificate;
    config.tls.certData.clear();
  }
  if (!clientKey.empty()) {
    config.tls.keyFile = clientKey;
    config.tls.keyData.clear();
  }
  if (!tlsServerName.empty()) config.tls.serverName = tlsServerName;
  if (insecureSkipTlsVerify) {
    config.tls.insecureSkipVerify = true;
    config.tls.caData.clear();
    // With both flags it stays, and is refused.
    if (certificateAuthority.empty()) config.tls.caFile.clear();
  }
  config.timeout = parseTimeout("--request-timeout", requestTimeout);
  return config;
}

Invocation::Invocation(std::istream& input, std::ostream& output, std::ostream& errors)
    : in(input), out(output), err(errors) {}
Invocation::~Invocation() = default;

bool Invocation::colours() const {
  if (flags.colour == "always") return true;
  return flags.colour == "auto" && terminal && std::getenv("NO_COLOR") == nullptr;
}

const Config& Invocation::config() {
  if (config_) return *config_;
  if (flags.verbosity > 0) setLogLevel(levelOf(flags.verbosity));
  config_ = flags.load();
  // As kubectl shows them: once each, on the side.
  config_->warningHandler = [this](const Warning& warning) {
    err << "Warning: " << warning.text << '\n';
  };
  return *config_;
}

const RestClient& Invocation::rest() {
  if (!rest_) rest_ = std::make_unique<const RestClient>(config());
  return *rest_;
}

const Resources& Invocation::resources() {
  if (!resources_) resources_ = std::make_unique<const Resources>(rest(), flags.cacheDir, err);
  return *resources_;
}

String Invocation::namespaceName() { return config().namespace_; }

const std::stop_token& Invocation::stop() {
  if (!stop_) stop_ = signalStop();
  return *stop_;
}

void addClusterFlags(CLI::App& app, ClusterFlags& flags) {
  Command(app)
      .option("--kubeconfig", flags.kubeconfig, "the kubeconfig, instead of $KUBECONFIG")
      .option("--context", flags.context, "the kubeconfig's context to use")
      .option("--cluster", flags.cluster, "the kubeconfig's cluster to use")
      .option("--user", flags.user, "the kubeconfig's user to use")
      .option("-n,--namespace", flags.namespace_, "the namespace of the request")
      .option("-s,--server", flags.server, "the address of the API server")
      .option("--token", flags.token, "a bearer token for the API server")
      .option("--username", flags.username, "for basic authentication")
      .option("--password", flags.password, "for basic authentication")
      .option("--as", flags.as, "the user to impersonate")
      .option("--as-group", flags.asGroups, "a group to impersonate; may be repeated")
      .option("--as-uid", flags.asUid, "the UID to impersonate")
      .option("--certificate-authority", flags.certificateAuthority,
              "a file of certificates to trust")
      .option("--client-certificate", flags.clientCertificate, "a client certificate's file")
      .option("--client-key", flags.clientKey, "a client key's file")
      .option("--tls-server-name", flags.tlsServerName, "the name in the server's certificate")
      .flag("--insecure-skip-tls-verify", flags.insecureSkipTlsVerify, "trust any server")
      .option("--request-timeout", flags.requestTimeout,
              "how long to wait for one answer, as 1s, 2m or 3h; 0 for ever")
      .option("--cache-dir", flags.cacheDir, "where answers of discovery are kept (~/.kube/cache)")
      .option("-v,--v", flags.verbosity, "how much is logged: 0 to 9")
      .option("--color", flags.colour, "colours: auto (on a terminal), always or never");
}

}  // namespace kube::cmd
