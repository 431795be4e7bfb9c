#include "kube/rest/credentials.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "kube/base/error.h"
#include "kube/base/internal/base64.h"
#include "kube/base/internal/text.h"
#include "kube/base/log.h"
#include "kube/http/internal/header_text.h"
#include "kube/rest/internal/credential_source.h"
#include "kube/rest/internal/exec_source.h"
#include "kube/rest/internal/oidc_source.h"
#include "kube/rest/internal/token_function.h"

namespace kube {
namespace {

constexpr std::string_view kAuthorization = "Authorization";
constexpr std::string_view kImpersonateUser = "Impersonate-User";

bool has(const HttpHeaders& headers, std::string_view name) {
  return std::any_of(headers.begin(), headers.end(), [&](const HttpHeader& header) {
    return equalIgnoringCase(header.name, name) && !header.value.empty();
  });
}

/// Encodes a key as part of a header's name: characters that are invalid there, and '%', are
/// percent-encoded.
std::string escapeKey(std::string_view key) {
  constexpr std::string_view kLegal = "!#$&'*+-.^_`|~";
  std::string escaped;
  for (const char c : key) {
    if (detail::isAlphanumeric(c) || kLegal.find(c) != kLegal.npos) {
      escaped += c;
    } else {
      escaped += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return escaped;
}

HttpHeaders impersonationHeaders(const Impersonation& impersonate) {
  HttpHeaders headers;
  if (impersonate.empty()) return headers;
  if (impersonate.user.empty()) {
    throw ConfigError("impersonate.user is missing: uid, groups and extra need one");
  }
  const auto add = [&](std::string name, const std::string& value) {
    detail::checkHeaderText(value, "impersonate: " + name);
    headers.add(std::move(name), value);
  };
  add(std::string(kImpersonateUser), impersonate.user);
  if (!impersonate.uid.empty()) add("Impersonate-Uid", impersonate.uid);
  for (const std::string& group : impersonate.groups) add("Impersonate-Group", group);
  for (const auto& [key, values] : impersonate.extra) {
    for (const std::string& value : values) add("Impersonate-Extra-" + escapeKey(key), value);
  }
  return headers;
}

std::string basic(const std::string& username, const std::string& password) {
  std::string value = "Basic ";
  detail::base64Encode(username + ":" + password, value);
  return value;
}

std::unique_ptr<detail::CredentialSource> makeSource(const Config& config,
                                                     const CredentialsOptions& options) {
  Clock& clock = orReal(options.clock);
  const bool hasToken = !config.bearerToken.empty() || !config.bearerTokenFile.empty();
  const bool hasBasic = !config.username.empty() || !config.password.empty();
  if (hasToken && hasBasic) {
    throw ConfigError("a bearer token and a username with password: set only one of both");
  }
  if (config.exec && config.authProvider) {
    throw ConfigError("an exec plugin and an auth provider: set only one of both");
  }
  if (config.tokenSource && (hasToken || hasBasic || config.exec || config.authProvider)) {
    throw ConfigError("a token source and another credential: set only one of both");
  }
  if (config.tokenSource) return detail::tokenFunction(config.tokenSource, clock);
  std::unique_ptr<detail::CredentialSource> plugin;
  if (config.exec) plugin = detail::execSource(config, clock, options);
  if (config.authProvider) plugin = detail::oidcSource(config, clock, options.fetch);

  if (!config.bearerTokenFile.empty()) {
    std::string fallback;
    if (!config.bearerToken.empty()) fallback = detail::bearer(config.bearerToken, "bearerToken");
    auto source = detail::tokenFileSource(config.bearerTokenFile, std::move(fallback), clock);
    const std::stop_token never;
    source->get({never});  // reports an unreadable file at once
    return source;
  }
  if (hasToken) return detail::fixedSource(detail::bearer(config.bearerToken, "bearerToken"));
  if (hasBasic) return detail::fixedSource(basic(config.username, config.password));
  const bool hasCertificate = !config.tls.certData.empty() || !config.tls.certFile.empty();
  if (config.exec && hasCertificate) plugin = nullptr;
  return plugin ? std::move(plugin) : detail::fixedSource({});
}

class ConfiguredCredentials final : public Credentials {
 public:
  ConfiguredCredentials(std::unique_ptr<detail::CredentialSource> source, HttpHeaders impersonation)
      : source_(std::move(source)), impersonation_(std::move(impersonation)) {}

  Grant apply(HttpHeaders& headers, const std::stop_token& stop,
              Clock::TimePoint deadline) override {
    if (has(headers, kAuthorization)) return add({}, headers);
    return add(source_->get({stop, deadline}), headers);
  }

  std::optional<Grant> applyNow(HttpHeaders& headers) override {
    if (has(headers, kAuthorization)) return add({}, headers);
    const auto issued = source_->current();
    if (!issued) return std::nullopt;
    return add(*issued, headers);
  }

  bool refresh(const Grant& used, const std::stop_token& stop, Clock::TimePoint deadline) override {
    if (used.number == 0) return false;  // the request had its own
    try {
      return source_->renew(used.number, {stop, deadline}).number != used.number;
    } catch (const CanceledError&) {
      throw;
    } catch (const TimeoutError&) {
      throw;
    } catch (const std::exception& error) {
      Logger("credentials")
          .error("the server refused the credentials, and there are no others: {}", error.what());
      return false;
    }
  }

 private:
  Grant add(const detail::CredentialSource::Issued& issued, HttpHeaders& headers) const {
    Grant grant;
    if (issued.secret) {
      if (!issued.secret->authorization.empty()) {
        headers.add(std::string(kAuthorization), issued.secret->authorization);
      }
      grant = {issued.number, issued.secret->certificate};
    }
    if (!has(headers, kImpersonateUser)) {
      for (const HttpHeader& header : impersonation_) headers.add(header.name, header.value);
    }
    return grant;
  }

  const std::unique_ptr<detail::CredentialSource> source_;
  const HttpHeaders impersonation_;
};

}  // namespace

Credentials::~Credentials() = default;

std::shared_ptr<Credentials> makeCredentials(const Config& config,
                                             const CredentialsOptions& options) {
  config.requireTlsForSecrets();
  HttpHeaders impersonation = impersonationHeaders(config.impersonate);
  return std::make_shared<ConfiguredCredentials>(makeSource(config, options),
                                                 std::move(impersonation));
}

}  // namespace kube
