#include "kube/rest/internal/oidc_source.h"

#include <fmt/core.h>

#include <cmath>
#include <utility>

#include "kube/base/error.h"
#include "kube/base/internal/base64.h"
#include "kube/base/internal/text.h"
#include "kube/base/log.h"
#include "kube/codec/json.h"
#include "kube/http/internal/files.h"
#include "kube/http/internal/header_text.h"

namespace kube::detail {
namespace {

constexpr auto kAnswerTime = std::chrono::seconds{30};
constexpr std::string_view kIssuer = "idp-issuer-url";
constexpr std::string_view kClientId = "client-id";
constexpr std::string_view kClientSecret = "client-secret";
constexpr std::string_view kAuthority = "idp-certificate-authority";
constexpr std::string_view kAuthorityData = "idp-certificate-authority-data";
constexpr std::string_view kIdToken = "id-token";
constexpr std::string_view kRefreshToken = "refresh-token";

// A token counts as expired a little early: it has to reach the server, whose clock may differ.
constexpr auto kLeeway = std::chrono::seconds{10};

// A token that is refused this soon after it was issued would be refused again.
constexpr auto kRetryAfter = std::chrono::minutes{1};

std::string formEncode(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (isAlphanumeric(c) || c == '-' || c == '.' || c == '_' || c == '~') {
      out += c;
    } else if (c == ' ') {
      out += '+';
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

bool isSecure(std::string_view url) {
  constexpr std::string_view kSecure = "https://";
  return equalIgnoringCase(url.substr(0, kSecure.size()), kSecure);
}

/// Decodes base64 in the alphabet of URLs, without padding.
std::optional<std::string> decodeUrlBase64(std::string text) {
  for (char& c : text) {
    if (c == '+' || c == '/' || c == '=') return std::nullopt;
    if (c == '-') c = '+';
    if (c == '_') c = '/';
  }
  text.append((4 - text.size() % 4) % 4, '=');
  std::string bytes;
  if (!base64Decode(text, bytes)) return std::nullopt;
  return bytes;
}

class OidcSource final : public RenewingSource {
 public:
  OidcSource(const Config& config, Clock& clock, HttpFetch fetch)
      : RenewingSource(clock),
        settings_(config.authProvider->config),
        persist_(config.authProviderPersister),
        fetch_(std::move(fetch)) {
    for (const std::string_view key : {kIssuer, kClientId}) {
      if (setting(key).empty())
        throw ConfigError(fmt::format("auth provider oidc: {} is missing", key));
    }
    tls_.caFile = setting(kAuthority).str();
    if (!base64Decode(setting(kAuthorityData), tls_.caData)) {
      throw ConfigError(fmt::format("auth provider oidc: {} is not base64", kAuthorityData));
    }
    if (setting(kIdToken).empty() && setting(kRefreshToken).empty()) {
      throw ConfigError(fmt::format("auth provider oidc: neither {} nor {} is set: log in first",
                                    kIdToken, kRefreshToken));
    }
    if (!setting(kIdToken).empty() && !expiryOf(setting(kIdToken))) {
      throw ConfigError(fmt::format("auth provider oidc: {} is not a JSON Web Token", kIdToken));
    }
  }

 private:
  const String& setting(std::string_view key) const { return settings_[key]; }

  Secret issue(const Secret* last, bool refused, const Patience& patience) override {
    if (refused && last != nullptr && renewed_ &&
        clock_.now() < *renewed_ + Clock::Duration(kRetryAfter)) {
      return *last;
    }
    if (!refused && !setting(kIdToken).empty()) {
      Secret kept = secretOf(setting(kIdToken));
      if (clock_.wallNow() < *kept.expires) return kept;
    }
    if (setting(kRefreshToken).empty()) {
      if (refused && last != nullptr) return *last;
      throw ConfigError(
          fmt::format("auth provider oidc: the {} has expired and there is no {}: log in again",
                      kIdToken, kRefreshToken));
    }
    refresh(patience);
    renewed_ = clock_.now();
    return secretOf(setting(kIdToken));
  }

  static Secret secretOf(const String& idToken) {
    const auto expiry = expiryOf(idToken);
    if (!expiry) {
      throw ConfigError("auth provider oidc: the provider's id_token is not a JSON Web Token");
    }
    return {.authorization = bearer(idToken, "auth provider oidc: id-token"),
            .expires = *expiry - Clock::Duration(kLeeway)};
  }

  void refresh(const Patience& patience) {
    const std::string endpoint = tokenEndpoint(patience);
    const Value answer = parse(requestTokens(endpoint, patience).body, "the provider's answer");
    const String idToken = answer["id_token"].asString();
    if (idToken.empty()) {
      throw ConfigError(
          "auth provider oidc: the provider returned no id_token: it returns none when refreshing, "
          "or the scope openid was not requested at login");
    }
    secretOf(idToken);  // throws if it is unusable

    settings_.insert_or_assign(kIdToken, idToken);
    const String refreshToken = answer["refresh_token"].asString();
    if (!refreshToken.empty()) settings_.insert_or_assign(kRefreshToken, refreshToken);
    if (!persist_) return;
    try {
      persist_(settings_);
    } catch (const std::exception& error) {
      // The new tokens are valid, and the old refresh-token may no longer be.
      Logger("credentials").warning("new OIDC tokens could not be stored: {}", error.what());
    }
  }

  HttpResponse fetch(HttpRequest call, const Patience& patience) const {
    if (!fetch_) {
      throw ConfigError(
          "auth provider oidc: nothing to send requests with: set CredentialsOptions::fetch");
    }
    call.headers.add("Accept", "application/json");
    const auto left = patience.deadline - clock_.now();
    if (left.count() <= 0) throw TimeoutError("auth provider oidc: no time is left to ask it");
    call.timeout = std::min<Clock::Duration>(kAnswerTime, left);
    call.maxBodyBytes = 1 << 20;
    try {
      return fetch_(std::move(call), tls_, patience.stop);
    } catch (const TimeoutError& error) {
      if (left <= kAnswerTime) throw;
      throw TransportError(error.what());  // the provider is slow; the request itself has time left
    }
  }

  std::string tokenEndpoint(const Patience& patience) const {
    std::string issuer = setting(kIssuer).str();
    if (issuer.ends_with('/')) issuer.pop_back();
    // Without TLS, an attacker on the network could name another endpoint.
    if (!isSecure(issuer)) {
      throw ConfigError(fmt::format(
          "auth provider oidc: {} is without TLS, and secrets are not sent there; it has to begin "
          "with https://",
          kIssuer));
    }
    const std::string url = issuer + "/.well-known/openid-configuration";
    const HttpResponse reply = fetch({.url = url}, patience);
    if (reply.status != 200) {
      throw TransportError(fmt::format("auth provider oidc: {} answered {}", url, reply.status));
    }
    std::string endpoint = parse(reply.body, url)["token_endpoint"].asString().str();
    if (endpoint.empty()) {
      throw ConfigError(fmt::format("auth provider oidc: {} names no token_endpoint", url));
    }
    if (!isSecure(endpoint)) {
      throw ConfigError(fmt::format(
          "auth provider oidc: {} names a token_endpoint without TLS; secrets are not sent there",
          url));
    }
    return endpoint;
  }

  /// Sends the client's id and secret in a header, as the standard prefers. If the provider refuses
  /// that, sends them in the form, and remembers it.
  HttpResponse requestTokens(const std::string& endpoint, const Patience& patience) {
    const std::string form =
        "grant_type=refresh_token&refresh_token=" + formEncode(setting(kRefreshToken));
    const std::string id = formEncode(setting(kClientId));
    const std::string secret = formEncode(setting(kClientSecret));
    HttpRequest call{.method = "POST",
                     .url = endpoint,
                     .headers = {{"Content-Type", "application/x-www-form-urlencoded"}}};
    if (!idInForm_) {
      HttpRequest first = call;
      std::string basic = "Basic ";
      base64Encode(id + ":" + secret, basic);
      first.headers.add("Authorization", std::move(basic));
      first.body = form;
      HttpResponse reply = fetch(std::move(first), patience);
      if (reply.status / 100 == 2) return reply;
    }
    call.body = form + "&client_id=" + id;
    if (!secret.empty()) call.body += "&client_secret=" + secret;
    HttpResponse reply = fetch(std::move(call), patience);
    if (reply.status / 100 == 2) {
      idInForm_ = true;
      return reply;
    }
    throw TransportError(
        fmt::format("auth provider oidc: refreshing the token failed: {} answered {}{}", endpoint,
                    reply.status, errorCode(reply.body)));
  }

  /// Returns OAuth's error code, such as invalid_grant. Nothing else of an answer is shown.
  static std::string errorCode(const std::string& body) {
    try {
      const String code = parseJson(body)["error"].asString();
      if (code.size() > 40) return {};
      for (const char c : code) {
        if (!isAlphanumeric(c) && c != '_') return {};
      }
      return code.empty() ? std::string() : " (" + code.str() + ")";
    } catch (const DecodeError&) {
      return {};
    }
  }

  static Value parse(const std::string& body, std::string_view what) {
    try {
      return parseJson(body);
    } catch (const DecodeError&) {
      throw TransportError(fmt::format("auth provider oidc: {} is not JSON", what));
    }
  }

  // Owned by issue(), which one thread runs at a time.
  Map<String> settings_;
  TlsConfig tls_;
  const AuthProviderPersister persist_;
  const HttpFetch fetch_;
  std::optional<Clock::TimePoint> renewed_;
  bool idInForm_ = false;
};

}  // namespace

std::unique_ptr<CredentialSource> oidcSource(const Config& config, Clock& clock, HttpFetch fetch) {
  if (config.authProvider->name != "oidc") {
    throw ConfigError(fmt::format(
        "unknown auth provider \"{}\": only oidc is supported; most others are exec plugins now",
        config.authProvider->name));
  }
  return std::make_unique<OidcSource>(config, clock, std::move(fetch));
}

std::optional<Clock::WallTime> expiryOf(std::string_view token) {
  const auto first = token.find('.');
  const auto second = first == std::string_view::npos ? first : token.find('.', first + 1);
  if (second == std::string_view::npos || token.find('.', second + 1) != std::string_view::npos) {
    return std::nullopt;
  }
  const auto payload = decodeUrlBase64(std::string(token.substr(first + 1, second - first - 1)));
  if (!payload) return std::nullopt;
  Value claims;
  try {
    claims = parseJson(*payload);
  } catch (const DecodeError&) {
    return std::nullopt;
  }
  if (!claims.isObject()) return std::nullopt;
  const double seconds = claims["exp"].asDouble();
  // A time that is too large to represent counts as never.
  constexpr double kMax = 9e9;
  if (!(seconds < kMax)) return Clock::WallTime::max();
  return Clock::WallTime(std::chrono::seconds(static_cast<std::int64_t>(std::max(seconds, 0.0))));
}

}  // namespace kube::detail
