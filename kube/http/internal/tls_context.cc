#include "kube/http/internal/tls_context.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "kube/base/error.h"
#include "kube/base/log.h"
#include "kube/http/internal/files.h"
#include "kube/http/internal/pem.h"

namespace kube::detail {
namespace {

constexpr unsigned char kAlpnBoth[] = "\x02h2\x08http/1.1";
constexpr unsigned char kAlpnHttp1[] = "\x08http/1.1";

std::string opensslReason() {
  const unsigned long error = ERR_get_error();
  ERR_clear_error();
  const char* reason = error != 0 ? ERR_reason_error_string(error) : nullptr;
  return reason != nullptr ? reason : "unknown error";
}

// Checks calls that fail only without memory or by misuse. Their settings may be security checks,
// so a failure is never ignored.
void must(bool done, const char* what) {
  if (!done) throw Error(fmt::format("TLS: {}: {}", what, opensslReason()));
}

// For messages: "client key (tls.key)" or "client key".
std::string named(const char* what, const std::string& data, const std::string& file) {
  return data.empty() && !file.empty() ? fmt::format("{} ({})", what, file) : what;
}

std::string readText(const char* what, const std::string& data, const std::string& file) {
  if (!data.empty() || file.empty()) return data;
  try {
    return readFile(file);
  } catch (const ConfigError& error) {
    throw ConfigError(fmt::format("{} {}", what, error.what()));
  }
}

// Loaded once, because that takes tens of milliseconds.
X509_STORE* systemAuthorities() {
  struct Free {
    void operator()(X509_STORE* store) const noexcept { X509_STORE_free(store); }
  };
  static const std::unique_ptr<X509_STORE, Free> store = [] {
    std::unique_ptr<X509_STORE, Free> made(X509_STORE_new());
    must(made != nullptr, "the system's authorities");
    // After a failure there are none, and every server is refused.
    X509_STORE_set_default_paths(made.get());
    ERR_clear_error();
    return made;
  }();
  return store.get();
}

void trust(SSL_CTX* context, const std::string& pem, const std::string& name) {
  X509_STORE* store = SSL_CTX_get_cert_store(context);
  const Bio bio = pemReader(pem);
  int count = 0;
  while (const Certificate certificate = nextCertificate(bio.get(), PemUse::Connect)) {
    if (X509_STORE_add_cert(store, certificate.get()) != 1) {
      throw ConfigError(fmt::format("{}: {}", name, opensslReason()));
    }
    ++count;
  }
  // The end of the text is reported as "no start line"; other errors mean a broken certificate.
  const bool atEnd = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  const std::string reason = opensslReason();
  if (!atEnd) throw ConfigError(fmt::format("{}: bad certificate: {}", name, reason));
  if (count == 0) throw ConfigError(fmt::format("{}: contains no PEM certificate", name));
}

void identify(SSL_CTX* context, const std::string& certificates, const std::string& certName,
              const std::string& key, const std::string& keyName) {
  const Bio bio = pemReader(certificates);
  const Certificate own = nextCertificate(bio.get(), PemUse::Connect);
  if (!own || SSL_CTX_use_certificate(context, own.get()) != 1) {
    throw ConfigError(fmt::format("{}: no usable PEM certificate: {}", certName, opensslReason()));
  }
  while (X509* issuer = PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)) {
    if (SSL_CTX_add0_chain_cert(context, issuer) == 1) continue;
    X509_free(issuer);
    throw ConfigError(fmt::format("{}: {}", certName, opensslReason()));
  }
  ERR_clear_error();

  const PrivateKey parsed = privateKey(key, PemUse::Connect);
  if (!parsed) {
    throw ConfigError(
        fmt::format("{}: no usable PEM private key (encrypted ones are not "
                    "supported): {}",
                    keyName, opensslReason()));
  }
  // Checked here rather than by SSL_CTX_use_PrivateKey(), for a clear message.
  if (X509_check_private_key(own.get(), parsed.get()) != 1) {
    ERR_clear_error();
    throw ConfigError(
        fmt::format("{} and {} do not belong together: the key is not that of the "
                    "certificate",
                    certName, keyName));
  }
  if (SSL_CTX_use_PrivateKey(context, parsed.get()) != 1) {
    throw ConfigError(fmt::format("{}: {}", keyName, opensslReason()));
  }
}

// Returns the reason that a name cannot be checked against a certificate. OpenSSL would treat a
// name with a NUL as empty and check nothing, and a leading dot as a wildcard for all names with
// that ending.
std::string_view hostNameProblem(std::string_view name) {
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= ' ' || byte == 0x7f) return "contains a blank or control character";
  }
  if (name.starts_with('.')) return "begins with a dot";
  if (name.empty() || name.find("..") != std::string_view::npos) return "has an empty part";
  if (name.size() > 253) return "is longer than 253 characters";
  return {};
}

// SSL_set_alpn_protos() returns 0 on success.
void offer(SSL* session, bool http2) {
  const unsigned char* protocols = http2 ? kAlpnBoth : kAlpnHttp1;
  const std::size_t size = http2 ? sizeof kAlpnBoth - 1 : sizeof kAlpnHttp1 - 1;
  must(SSL_set_alpn_protos(session, protocols, static_cast<unsigned>(size)) == 0,
       "the protocols to offer");
}

bool isAddress(const std::string& host) {
  unsigned char bytes[16];
  return inet_pton(AF_INET, host.c_str(), bytes) == 1 ||
         inet_pton(AF_INET6, host.c_str(), bytes) == 1;
}

}  // namespace

void SslFree::operator()(ssl_st* session) const noexcept { SSL_free(session); }
void SslFree::operator()(ssl_ctx_st* context) const noexcept { SSL_CTX_free(context); }

TlsContext::TlsContext(TlsConfig config, bool offerHttp2, std::chrono::nanoseconds checkInterval)
    : config_(std::move(config)),
      offerHttp2_(offerHttp2),
      checkInterval_(checkInterval),
      checked_(std::chrono::steady_clock::now()),
      loaded_(load()) {
  // Checked now, rather than when the first connection is made.
  if (const std::string& name = config_.serverName; !name.empty()) {
    if (const std::string_view problem = hostNameProblem(name); !problem.empty()) {
      throw ConfigError(fmt::format("TLS: the server's name (TlsConfig::serverName) {}", problem));
    }
  }
}

TlsContext::~TlsContext() = default;

std::array<FileFingerprint, 3> TlsContext::fingerprints() const {
  const auto fingerprint = [](const std::string& data, const std::string& file) {
    return data.empty() ? fingerprintOf(file) : FileFingerprint();
  };
  return {fingerprint(config_.caData, config_.caFile),
          fingerprint(config_.certData, config_.certFile),
          fingerprint(config_.keyData, config_.keyFile)};
}

TlsContext::Loaded TlsContext::load() const {
  Loaded loaded;
  loaded.fingerprints =
      fingerprints();  // before the contents, so that a change in between is seen later
  auto& [ca, certificate, key] = loaded.texts;
  ca = readText("certificate authority", config_.caData, config_.caFile);
  certificate = readText("client certificate", config_.certData, config_.certFile);
  key = readText("client key", config_.keyData, config_.keyFile);

  loaded.context.reset(SSL_CTX_new(TLS_client_method()));
  SSL_CTX* context = loaded.context.get();
  if (context == nullptr) throw ConfigError("TLS: " + opensslReason());
  must(SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1, "the minimum version");
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_IGNORE_UNEXPECTED_EOF);

  if (config_.insecureSkipVerify) {
    if (!config_.caData.empty() || !config_.caFile.empty()) {
      throw ConfigError(
          "TLS: a certificate authority and insecureSkipVerify exclude each other: leave out the "
          "authority to trust any server, or insecureSkipVerify to check the server");
    }
    SSL_CTX_set_verify(context, SSL_VERIFY_NONE, nullptr);
  } else {
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
    must(X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(context), X509_V_FLAG_PARTIAL_CHAIN) == 1,
         "how to verify");
    if (!config_.caData.empty() || !config_.caFile.empty()) {
      trust(context, ca, named("certificate authority", config_.caData, config_.caFile));
    } else {
      SSL_CTX_set1_cert_store(context, systemAuthorities());
    }
  }

  const std::string certName = named("client certificate", config_.certData, config_.certFile);
  const std::string keyName = named("client key", config_.keyData, config_.keyFile);
  if (certificate.empty() != key.empty()) {
    throw ConfigError(fmt::format("{} without a {}: both or none are needed",
                                  key.empty() ? certName : keyName,
                                  key.empty() ? "client key" : "client certificate"));
  }
  if (!certificate.empty()) identify(context, certificate, certName, key, keyName);
  return loaded;
}

bool TlsContext::refresh(TimePoint now) {
  if (now - checked_ < checkInterval_) return false;
  checked_ = now;
  const auto found = fingerprints();
  if (found == loaded_.fingerprints) return false;
  try {
    Loaded loaded = load();
    const bool same = loaded.texts == loaded_.texts;
    loaded_ = std::move(loaded);
    return !same;
  } catch (const ConfigError& error) {
    // Tried again at the next check, when they may be readable; logged once.
    if (std::exchange(refused_, found) == found) return false;
    Logger("transport")
        .warning("TLS files have changed; still using the former ones: {}", error.what());
    return false;
  }
}

SslSession TlsContext::session(const std::string& host) const {
  if (const std::string_view problem = hostNameProblem(host); !problem.empty()) {
    throw ConfigError(fmt::format("TLS: the host's name {}", problem));
  }
  SslSession session(SSL_new(loaded_.context.get()));
  must(session != nullptr, "a session");
  X509_VERIFY_PARAM* check = SSL_get0_param(session.get());
  X509_VERIFY_PARAM_set_hostflags(
      check, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
  if (isAddress(host)) {
    must(X509_VERIFY_PARAM_set1_ip_asc(check, host.c_str()) == 1, "the address to check");
  } else {
    must(X509_VERIFY_PARAM_set1_host(check, host.data(), host.size()) == 1, "the name to check");
    must(SSL_set_tlsext_host_name(session.get(), host.c_str()) == 1, "the name to send");
  }
  SSL_set_connect_state(session.get());
  return session;
}

SslSession TlsContext::toServer(const std::string& host, bool http2) const {
  SslSession made = session(config_.serverName.empty() ? host : config_.serverName);
  offer(made.get(), offerHttp2_ && http2);
  return made;
}

SslSession TlsContext::toProxy(const std::string& host) const {
  SslSession made = session(host);
  SSL_certs_clear(made.get());
  offer(made.get(), false);
  return made;
}

}  // namespace kube::detail
