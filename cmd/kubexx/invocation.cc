#include "cmd/kubexx/invocation.h"

#include <fmt/core.h>

#include <cstdlib>

#include "cmd/kubexx/command.h"
#include "cmd/kubexx/resources.h"
#include "kube/base/internal/control_characters.h"
#include "kube/base/log.h"
#include "kube/base/signal_stop.h"
#include "kube/meta/time.h"
#include "kube/rest/request_log.h"
#include "kube/rest/rest_client.h"
#include "kube/rest/warnings.h"

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
    throw UsageError(fmt::format(
        "invalid value \"{}\" for {}: expected a number of seconds, or a duration like 1m30s", text,
        flag));
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
    config.tls.caFile.clear();
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
  if (flags.verbosity >= 7) {
    config_->middleware.push_back(logRequests(
        static_cast<int>(flags.verbosity),
        [this](const std::string& text) { err << detail::withoutControls(text) + "\n"; }));
  }
  // As kubectl prints the server's warnings: to stderr, each once.
  config_->warningHandler = eachWarningOnce(
      [this](const Warning& warning) { err << "Warning: " << warning.text << '\n'; });
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
      .option("--kubeconfig", flags.kubeconfig, "The kubeconfig file, instead of $KUBECONFIG")
      .option("--context", flags.context, "The kubeconfig's context to use")
      .option("--cluster", flags.cluster, "The kubeconfig's cluster to use")
      .option("--user", flags.user, "The kubeconfig's user to use")
      .option("-n,--namespace", flags.namespace_, "The namespace of the request")
      .option("-s,--server", flags.server, "The address of the API server")
      .option("--token", flags.token, "A bearer token for the API server")
      .option("--username", flags.username, "The user name for basic authentication")
      .option("--password", flags.password, "The password for basic authentication")
      .option("--as", flags.as, "The user to impersonate")
      .option("--as-group", flags.asGroups, "A group to impersonate; may be repeated")
      .option("--as-uid", flags.asUid, "The UID to impersonate")
      .option("--certificate-authority", flags.certificateAuthority,
              "A file with the certificates of authorities to trust")
      .option("--client-certificate", flags.clientCertificate, "A file with the client certificate")
      .option("--client-key", flags.clientKey, "A file with the client certificate's key")
      .option("--tls-server-name", flags.tlsServerName,
              "The name to expect in the server's certificate")
      .flag("--insecure-skip-tls-verify", flags.insecureSkipTlsVerify,
            "Do not verify the server's certificate")
      .option("--request-timeout", flags.requestTimeout,
              "The longest wait for one answer, such as 1s, 2m or 3h; 0 for no limit")
      .option("--cache-dir", flags.cacheDir, "The folder of cached discovery (~/.kube/cache)")
      .option("-v,--v", flags.verbosity, "The log level, from 0 to 9")
      .option("--color", flags.colour, "Colours: auto (on a terminal), always or never");
}

}  // namespace kube::cmd
