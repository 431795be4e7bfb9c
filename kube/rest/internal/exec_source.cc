#include "kube/rest/internal/exec_source.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "kube/base/error.h"
#include "kube/codec/json.h"
#include "kube/codec/yaml.h"
#include "kube/http/internal/files.h"
#include "kube/http/internal/header_text.h"
#include "kube/http/internal/key_pair.h"
#include "kube/meta/describe.h"
#include "kube/meta/time.h"
#include "kube/rest/internal/plugin_metrics.h"
#include "kube/rest/internal/process.h"

// The API object that is sent to a plugin and returned by it. Its two versions are alike, so its
// version is a plain field.
namespace kube::detail {

struct ExecCluster {
  String server;
  String tlsServerName;
  bool insecureSkipTlsVerify = false;
  Bytes certificateAuthorityData;
  String proxyUrl;
  bool disableCompression = false;
  RawExtension config;
};
struct ExecSpec {
  Shared<ExecCluster> cluster;
  bool interactive = false;
};
struct ExecStatus {
  Time expirationTimestamp;
  String token;
  String clientCertificateData;
  String clientKeyData;
};
struct ExecCredential {
  String kind;
  String apiVersion;
  ExecSpec spec;
  Shared<ExecStatus> status;
};

}  // namespace kube::detail

KUBE_DESCRIBE(kube::detail::ExecCluster, (server, keep), (tlsServerName, "tls-server-name"),
              (insecureSkipTlsVerify, "insecure-skip-tls-verify"),
              (certificateAuthorityData, "certificate-authority-data"), (proxyUrl, "proxy-url"),
              (disableCompression, "disable-compression"), (config, keep));
KUBE_DESCRIBE(kube::detail::ExecSpec, cluster, (interactive, keep));
KUBE_DESCRIBE(kube::detail::ExecStatus, expirationTimestamp, token, clientCertificateData,
              clientKeyData);
KUBE_DESCRIBE(kube::detail::ExecCredential, kind, apiVersion, spec, status);

namespace kube::detail {
namespace {

constexpr std::string_view kKind = "ExecCredential";

ExecCluster clusterOf(const Config& config) {
  ExecCluster cluster;
  cluster.server = config.host;
  cluster.tlsServerName = config.tls.serverName;
  cluster.insecureSkipTlsVerify = config.tls.insecureSkipVerify;
  cluster.certificateAuthorityData = config.tls.caData;
  if (config.tls.caData.empty() && !config.tls.caFile.empty()) {
    cluster.certificateAuthorityData = readFile(config.tls.caFile);
  }
  cluster.proxyUrl = config.proxy;
  cluster.disableCompression = config.disableCompression;
  cluster.config = config.exec->clusterConfig;
  return cluster;
}

class ExecSource final : public RenewingSource {
 public:
  ExecSource(const Config& config, Clock& clock, const CredentialsOptions& options)
      : RenewingSource(clock),
        exec_(*config.exec),
        what_(fmt::format("exec plugin {}", withoutControls(exec_.command))),
        timeout_(options.execTimeout),
        stdinIsTerminal_(options.stdinIsTerminal),
        policy_(config.pluginPolicy),
        metrics_(orDefault(config.metrics), clock) {
    checkPolicy();
    if (exec_.command.empty()) throw ConfigError("exec plugin: command is missing");
    const bool isV1 = exec_.apiVersion == "client.authentication.k8s.io/v1";
    const bool isV1beta1 = exec_.apiVersion == "client.authentication.k8s.io/v1beta1";
    if (!isV1 && !isV1beta1) {
      throw ConfigError(fmt::format(
          "{}: apiVersion is \"{}\", expected client.authentication.k8s.io/v1 or v1beta1", what_,
          exec_.apiVersion));
    }
    if (exec_.interactiveMode.empty() && isV1beta1) exec_.interactiveMode = "IfAvailable";
    if (exec_.interactiveMode != "Never" && exec_.interactiveMode != "IfAvailable" &&
        exec_.interactiveMode != "Always") {
      throw ConfigError(
          fmt::format("{}: interactiveMode is \"{}\", expected Never, IfAvailable or Always", what_,
                      exec_.interactiveMode));
    }
    for (const ExecConfig::EnvVar& variable : exec_.env) {
      if (variable.name.empty() || variable.name.view().find('=') != std::string_view::npos) {
        throw ConfigError(what_ + ": env: a variable's name is empty or holds '='");
      }
    }
    if (exec_.provideClusterInfo) cluster_ = clusterOf(config);
  }

 private:
  Secret issue(const Secret* last, bool, const Patience& patience) override {
    const bool interactive = isInteractive();
    const std::string file = findProgram(exec_.command.str());
    const bool allowed = isAllowed(file);
    metrics_.judged(allowed);
    if (!allowed) {
      throw ConfigError(fmt::format("{}: the plugin policy does not allow to run {}", what_,
                                    withoutControls(file.empty() ? exec_.command.str() : file)));
    }
    if (file.empty()) {
      metrics_.called(1, "plugin_not_found_error");
      throwMissing();
    }
    const ProcessResult result = run(file, interactive, patience);
    if (result.signal != 0) {
      metrics_.called(-1, "plugin_execution_error");
      throw TransportError(fmt::format("{}: ended by signal {}", what_, result.signal));
    }
    if (result.exitCode != 0) {
      metrics_.called(result.exitCode, "plugin_execution_error");
      throw TransportError(fmt::format("{}: failed with exit code {}", what_, result.exitCode));
    }
    metrics_.called(0, "no_error");
    Secret secret = secretOf(result.output);
    noteCertificate(last, secret);
    return secret;
  }

  ProcessResult run(const std::string& file, bool interactive, const Patience& patience) const {
    try {
      return runProcess(
          {.program = file,
           .args = {std::as_const(exec_).args.begin(), std::as_const(exec_).args.end()},
           .variables = variables(interactive),
           .passStdin = interactive,
           .timeout = timeout_,
           .deadline = patience.deadline},
          what_, clock_, patience.stop);
    } catch (const std::exception&) {
      metrics_.called(1, "client_internal_error");
      throw;
    }
  }

  void noteCertificate(const Secret* last, const Secret& secret) const {
    const ClientCertificate* const before = last != nullptr ? last->certificate.get() : nullptr;
    if (secret.certificate == nullptr || (before != nullptr && *before == *secret.certificate)) {
      return;
    }
    const auto life = certificateLife(secret.certificate->certData);
    if (!life) return;
    std::optional<Clock::WallTime> previous;
    if (before != nullptr) {
      if (const auto old = certificateLife(before->certData)) previous = old->from;
    }
    metrics_.rotated(previous, life->until);
  }

  // A policy that says nothing is a mistake: it protects.
  void checkPolicy() const {
    const bool listed = policy_.type == PluginPolicy::Type::Allowlist;
    if (!listed && !policy_.allowlist.empty()) {
      throw ConfigError("pluginPolicy: there is an allowlist, but the type is not Allowlist");
    }
    if (listed && policy_.allowlist.empty()) {
      throw ConfigError("pluginPolicy: the allowlist is empty; use DenyAll to run no plugin");
    }
    for (const std::string& entry : policy_.allowlist) {
      if (entry.empty()) throw ConfigError("pluginPolicy: an entry of the allowlist is empty");
    }
  }

  // An entry allows the command as it is written, and the file that it stands for in $PATH. Paths
  // are not simplified: what "a/../b" means depends on links.
  bool isAllowed(const std::string& file) const {
    if (policy_.type == PluginPolicy::Type::AllowAll) return true;
    if (policy_.type == PluginPolicy::Type::DenyAll) return false;
    return std::ranges::any_of(policy_.allowlist, [&](const std::string& entry) {
      return exec_.command == entry || (!file.empty() && findProgram(entry) == file);
    });
  }

  bool isInteractive() const {
    if (exec_.interactiveMode == "Never") return false;
    const bool terminal = stdinIsTerminal_ ? stdinIsTerminal_() : ::isatty(STDIN_FILENO) != 0;
    if (exec_.interactiveMode == "IfAvailable") return terminal && !exec_.stdinUnavailable;
    if (!terminal) {
      throw ConfigError(what_ + ": must be interactive, but standard input is not a terminal");
    }
    if (exec_.stdinUnavailable) {
      throw ConfigError(fmt::format(
          "{}: must be interactive, but standard input is unavailable{}{}", what_,
          exec_.stdinUnavailableMessage.empty() ? "" : ": ", exec_.stdinUnavailableMessage));
    }
    return true;
  }

  [[noreturn]] void throwMissing() const {
    throw ConfigError(fmt::format(
        "{}: there is no such program{}{}", what_,
        std::string_view(exec_.command).find('/') == std::string_view::npos ? " in $PATH" : "",
        exec_.installHint.empty() ? "" : "\n\n" + withoutControls(exec_.installHint)));
  }

  std::vector<std::string> variables(bool interactive) const {
    std::vector<std::string> result;
    for (const ExecConfig::EnvVar& variable : exec_.env) {
      result.push_back(variable.name + "=" + variable.value);
    }
    ExecCredential request;
    request.kind = kKind;
    request.apiVersion = exec_.apiVersion;
    request.spec.cluster = cluster_;
    request.spec.interactive = interactive;
    result.push_back("KUBERNETES_EXEC_INFO=" + toJson(request));
    return result;
  }

  Secret secretOf(const std::string& output) const {
    ExecCredential answer;
    try {
      answer = fromYaml<ExecCredential>(output);
    } catch (const DecodeError& error) {
      // Without the reason, which could quote a secret.
      throw ConfigError(fmt::format("{}: its output is not a valid {} at line {}, column {}{}{}",
                                    what_, kKind, error.line(), error.column(),
                                    error.path().empty() ? "" : ": ", error.path()));
    }
    if (answer.kind != kKind || answer.apiVersion != exec_.apiVersion) {
      throw ConfigError(fmt::format("{}: expected {} of {}, it returned kind \"{}\" of \"{}\"",
                                    what_, kKind, exec_.apiVersion, withoutControls(answer.kind),
                                    withoutControls(answer.apiVersion)));
    }
    if (!answer.status) throw ConfigError(what_ + ": its answer has no status");

    const ExecStatus& status = answer.status.read();
    if (status.clientCertificateData.empty() != status.clientKeyData.empty()) {
      throw ConfigError(what_ + ": it gave only one of certificate and key");
    }
    if (status.token.empty() && status.clientKeyData.empty()) {
      throw ConfigError(what_ + ": it gave neither a token nor a certificate with its key");
    }
    Secret secret;
    if (!status.token.empty()) {
      secret.authorization = bearer(status.token, what_ + ": status.token");
    }
    if (!status.clientKeyData.empty()) {
      const std::string_view problem =
          keyPairProblem(status.clientCertificateData, status.clientKeyData);
      if (!problem.empty()) throw ConfigError(fmt::format("{}: {}", what_, problem));
      secret.certificate = std::make_shared<const ClientCertificate>(
          ClientCertificate{status.clientCertificateData.str(), status.clientKeyData.str()});
    }
    if (status.expirationTimestamp) secret.expires = status.expirationTimestamp.timePoint();
    return secret;
  }

  ExecConfig exec_;
  const std::string what_;
  const Clock::Duration timeout_;
  const std::function<bool()> stdinIsTerminal_;
  const PluginPolicy policy_;
  const PluginMetrics metrics_;
  Shared<ExecCluster> cluster_;
};

}  // namespace

std::unique_ptr<CredentialSource> execSource(const Config& config, Clock& clock,
                                             const CredentialsOptions& options) {
  return std::make_unique<ExecSource>(config, clock, options);
}

}  // namespace kube::detail
