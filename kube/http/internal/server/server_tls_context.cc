#include "kube/http/internal/server/server_tls_context.h"

#include <fmt/core.h>
#include <openssl/ssl.h>

#include <boost/asio/buffer.hpp>
#include <utility>

#include "kube/base/error.h"
#include "kube/base/log.h"
#include "kube/http/internal/key_pair.h"

namespace kube::detail {

namespace asio = boost::asio;

namespace {

// Far beyond any chain of certificates.
constexpr std::size_t kMostBytes = 1 << 20;

int selectProtocol(SSL*, const unsigned char** out, unsigned char* outSize, const unsigned char* in,
                   unsigned inSize, void* http2) {
  static constexpr unsigned char kBoth[] = "\x02h2\x08http/1.1";
  static constexpr unsigned char kHttp1[] = "\x08http/1.1";
  const int found = http2 != nullptr
                        ? SSL_select_next_proto(const_cast<unsigned char**>(out), outSize, kBoth,
                                                sizeof kBoth - 1, in, inSize)
                        : SSL_select_next_proto(const_cast<unsigned char**>(out), outSize, kHttp1,
                                                sizeof kHttp1 - 1, in, inSize);
  return found == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

asio::ssl::context makeContext(const ServerTls& tls, bool http2) {
  asio::ssl::context context(asio::ssl::context::tls_server);
  try {
    context.use_certificate_chain(asio::buffer(tls.identity.certPem));
    context.use_private_key(asio::buffer(tls.identity.keyPem), asio::ssl::context::pem);
    if (!tls.clientCaPem.empty()) {
      context.add_certificate_authority(asio::buffer(tls.clientCaPem));
      context.set_verify_mode(asio::ssl::verify_peer |
                              (tls.requireClientCert ? asio::ssl::verify_fail_if_no_peer_cert : 0));
    }
  } catch (const boost::system::system_error& error) {
    throw ConfigError(fmt::format("HTTP server: certificate: {}", error.what()));
  }
  SSL_CTX_set_min_proto_version(context.native_handle(), TLS1_2_VERSION);
  // The fastest first, in the order of Go's servers.
  SSL_CTX_set_ciphersuites(
      context.native_handle(),
      "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256");
  SSL_CTX_set_options(context.native_handle(), SSL_OP_CIPHER_SERVER_PREFERENCE);
  // Resumed sessions would not present their client certificate again without a session id context.
  SSL_CTX_set_session_cache_mode(context.native_handle(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(context.native_handle(), 0);
  static char yes;
  SSL_CTX_set_alpn_select_cb(context.native_handle(), selectProtocol, http2 ? &yes : nullptr);
  return context;
}

void expectOne(const std::string& text, const std::string& file, const char* what) {
  if (text.empty() || file.empty()) return;
  throw ConfigError(fmt::format("HTTP server: {} is given as a text and as a file", what));
}

}  // namespace

ServerTlsContext::ServerTlsContext(ServerTls tls, bool http2)
    : tls_(std::move(tls)),
      http2_(http2),
      hasFiles_(!tls_.certFile.empty() || !tls_.keyFile.empty() || !tls_.clientCaFile.empty()),
      checked_(std::chrono::steady_clock::now()),
      fingerprints_(fingerprints()) {
  expectOne(tls_.identity.certPem, tls_.certFile, "the certificate");
  expectOne(tls_.identity.keyPem, tls_.keyFile, "the key");
  expectOne(tls_.clientCaPem, tls_.clientCaFile, "the authority of clients");
  current_ = load();
}

std::shared_ptr<ServerTlsContext::Context> ServerTlsContext::current() {
  const Lock lock(currentMutex_);
  if (hasFiles_) refresh();
  return current_;
}

void ServerTlsContext::refresh() {
  const auto now = std::chrono::steady_clock::now();
  if (now - checked_ < tls_.checkInterval) return;
  checked_ = now;
  const Fingerprints found = fingerprints();  // before the contents: later changes are seen later
  if (found == fingerprints_) return;
  try {
    current_ = load();
    fingerprints_ = found;
    Logger("http-server").info("new certificates are in use: {}", tls_.certFile);
  } catch (const ConfigError& error) {
    if (std::exchange(refused_, found) == found) return;
    Logger("http-server")
        .warning("TLS files have changed; still using the former ones: {}", error.what());
  }
}

ServerTlsContext::Fingerprints ServerTlsContext::fingerprints() const {
  return {fingerprintOf(tls_.certFile), fingerprintOf(tls_.keyFile),
          fingerprintOf(tls_.clientCaFile)};
}

std::shared_ptr<ServerTlsContext::Context> ServerTlsContext::load() const {
  ServerTls tls = tls_;
  const auto read = [](std::string& text, const std::string& file) {
    if (!file.empty()) text = readFile(file, kMostBytes);
  };
  read(tls.identity.certPem, tls.certFile);
  read(tls.identity.keyPem, tls.keyFile);
  read(tls.clientCaPem, tls.clientCaFile);
  const auto check = [](std::string_view problem, const std::string& file) {
    if (problem.empty()) return;
    throw ConfigError(
        fmt::format("HTTP server: certificate{}{}: {}", file.empty() ? "" : " ", file, problem));
  };
  check(keyPairProblem(tls.identity.certPem, tls.identity.keyPem), tls.certFile);
  if (!tls.clientCaPem.empty() || !tls.clientCaFile.empty()) {
    check(authoritiesProblem(tls.clientCaPem), tls.clientCaFile);
  }
  return std::make_shared<Context>(makeContext(tls, http2_));
}

}  // namespace kube::detail
