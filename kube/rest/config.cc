#include "kube/rest/config.h"

#include <fmt/core.h>
#include <unistd.h>

#include <climits>
#include <iterator>

#include "kube/base/error.h"
#include "kube/base/version.h"

namespace kube {
namespace {

#if defined(__x86_64__)
constexpr std::string_view kArchitecture = "amd64";
#elif defined(__aarch64__)
constexpr std::string_view kArchitecture = "arm64";
#elif defined(__arm__)
constexpr std::string_view kArchitecture = "arm";
#elif defined(__i386__)
constexpr std::string_view kArchitecture = "386";
#elif defined(__powerpc64__) && defined(__LITTLE_ENDIAN__)
constexpr std::string_view kArchitecture = "ppc64le";
#elif defined(__s390x__)
constexpr std::string_view kArchitecture = "s390x";
#elif defined(__riscv) && __riscv_xlen == 64
constexpr std::string_view kArchitecture = "riscv64";
#else
constexpr std::string_view kArchitecture = "unknown";
#endif

std::string programName() {
  char path[PATH_MAX];
  const ssize_t n = ::readlink("/proc/self/exe", path, sizeof path);
  if (n <= 0) return "unknown";
  std::string_view name(path, static_cast<std::size_t>(n));
  // The kernel's suffix for a program file that was replaced while it runs.
  constexpr std::string_view kDeleted = " (deleted)";
  if (name.ends_with(kDeleted)) name.remove_suffix(kDeleted.size());
  name.remove_prefix(name.rfind('/') + 1);
  // File names may hold characters that are invalid in a header.
  std::string clean;
  for (const char c : name) clean += c > ' ' && c < 0x7f && c != '/' ? c : '_';
  return clean.empty() ? "unknown" : clean;
}

/// Collects "name: value" of the fields that are set.
class Lines {
 public:
  void text(std::string_view name, std::string_view value) {
    if (!value.empty()) put(name, fmt::format("\"{}\"", value));
  }
  void secret(std::string_view name, std::string_view value) {
    if (!value.empty()) put(name, "REDACTED");
  }
  void data(std::string_view name, std::string_view value) {
    if (!value.empty()) put(name, fmt::format("{} bytes", value.size()));
  }
  void flag(std::string_view name, bool value) {
    if (value) put(name, "true");
  }
  void put(std::string_view name, std::string_view value) {
    if (!text_.empty()) text_ += ", ";
    text_.append(name).append(": ").append(value);
  }
  std::string str() const { return "{" + text_ + "}"; }
  bool empty() const { return text_.empty(); }

 private:
  std::string text_;
};

std::string show(const TlsConfig& tls) {
  Lines lines;
  lines.data("caData", tls.caData);
  lines.text("caFile", tls.caFile);
  lines.data("certData", tls.certData);
  lines.text("certFile", tls.certFile);
  lines.secret("keyData", tls.keyData);
  lines.text("keyFile", tls.keyFile);
  lines.text("serverName", tls.serverName);
  lines.flag("insecureSkipVerify", tls.insecureSkipVerify);
  return lines.empty() ? std::string() : lines.str();
}

// Arguments and variables of a plugin may be secrets, and so may all settings of a provider.
std::string show(const ExecConfig& exec) {
  Lines lines;
  lines.text("command", exec.command);
  if (!exec.args.empty()) lines.put("args", fmt::format("{} REDACTED", exec.args.size()));
  for (const auto& variable : exec.env) lines.secret("env " + variable.name, "-");
  lines.text("apiVersion", exec.apiVersion);
  lines.text("interactiveMode", exec.interactiveMode);
  lines.flag("provideClusterInfo", exec.provideClusterInfo);
  return lines.str();
}

std::string show(const AuthProviderConfig& provider) {
  Lines lines;
  lines.text("name", provider.name);
  for (const auto& [key, value] : provider.config) lines.secret(key, value);
  return lines.str();
}

std::string show(const Impersonation& impersonate) {
  Lines lines;
  lines.text("user", impersonate.user);
  lines.text("uid", impersonate.uid);
  for (const std::string& group : impersonate.groups) lines.text("group", group);
  for (const auto& entry : impersonate.extra) lines.secret("extra " + entry.first, "-");
  return lines.str();
}

}  // namespace

const std::string& defaultUserAgent() {
  static const std::string agent = fmt::format("{}/{} (linux/{}) kubexx/{}", programName(),
                                               version(), kArchitecture, gitCommit());
  return agent;
}

ServerUrl Config::serverUrl() const {
  const bool defaultTls = !tls.caData.empty() || !tls.caFile.empty() || !tls.certData.empty() ||
                          !tls.certFile.empty() || tls.insecureSkipVerify;
  return parseServerUrl(host.empty() ? "localhost" : host, defaultTls);
}

void Config::requireTlsForSecrets() const {
  std::string_view secret;
  if (!bearerToken.empty() || !bearerTokenFile.empty()) secret = "a bearer token";
  if (!username.empty() || !password.empty()) secret = "a username with password";
  if (exec) secret = "a credential of an exec plugin";
  if (authProvider) secret = "a credential of an auth provider";
  if (tokenSource) secret = "a token of a token source";
  if (secret.empty()) return;
  const ServerUrl url = serverUrl();
  if (url.tls()) return;
  throw ConfigError(fmt::format(
      "{}: {} is not sent without TLS, where others can read it: name the server as https://{}, or "
      "leave the credentials out",
      url.str(), secret, url.authority));
}

Config Config::anonymous() const {
  Config copy = *this;
  copy.tls.certData.clear();
  copy.tls.certFile.clear();
  copy.tls.keyData.clear();
  copy.tls.keyFile.clear();
  copy.bearerToken.clear();
  copy.bearerTokenFile.clear();
  copy.username.clear();
  copy.password.clear();
  copy.exec.reset();
  copy.authProvider.reset();
  copy.authProviderPersister = nullptr;
  copy.tokenSource = nullptr;
  copy.impersonate = {};
  return copy;
}

std::shared_ptr<RateLimiter> Config::makeRateLimiter(Clock& clock) const {
  if (rateLimiter) return rateLimiter;
  if (qps < 0) return nullptr;
  return std::make_shared<TokenBucket>(
      TokenBucketOptions{.qps = qps == 0 ? kDefaultQps : qps,
                         .burst = burst == 0 ? kDefaultBurst : burst},
      clock);
}

std::string Config::toString() const {
  Lines lines;
  lines.text("host", detail::withoutUserInfo(host));
  if (const std::string shown = show(tls); !shown.empty()) lines.put("tls", shown);
  lines.secret("bearerToken", bearerToken);
  lines.text("bearerTokenFile", bearerTokenFile);
  lines.text("username", username);
  lines.secret("password", password);
  if (exec) lines.put("exec", show(*exec));
  if (authProvider) lines.put("authProvider", show(*authProvider));
  lines.flag("tokenSource", tokenSource != nullptr);
  if (!impersonate.empty()) lines.put("impersonate", show(impersonate));
  lines.text("namespace", namespace_);
  lines.text("defaults.fieldManager", defaults.fieldManager);
  lines.flag("defaults.dryRun", defaults.dryRun);
  lines.text("defaults.fieldValidation", defaults.fieldValidation);
  lines.text("defaults.namespace", defaults.namespace_);
  lines.text("userAgent", userAgent);
  lines.text("contentType", contentType);
  lines.text("acceptContentTypes", acceptContentTypes);
  lines.put("qps", fmt::format("{}", qps));
  lines.put("burst", fmt::format("{}", burst));
  lines.flag("rateLimiter", rateLimiter != nullptr);
  if (timeout.count() != 0) {
    lines.put("timeout", fmt::format("{}s", std::chrono::duration<double>(timeout).count()));
  }
  if (maxListBytes != kDefaultMaxListBytes) {
    lines.put("maxListBytes", fmt::format("{}", maxListBytes));
  }
  lines.text("proxy", detail::withoutUserInfo(proxy));
  lines.flag("disableCompression", disableCompression);
  lines.flag("tweakTransport", tweakTransport != nullptr);
  lines.flag("dial", dial != nullptr);
  if (!middleware.empty()) lines.put("middleware", fmt::format("{}", middleware.size()));
  lines.flag("tracer", tracer != nullptr);
  return "Config" + lines.str();
}

}  // namespace kube
