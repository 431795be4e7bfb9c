// The source of TLS sessions: a TlsConfig, loaded, checked, and reloaded when its files change.
//
// Trust works as in Go: names are checked against subject alternative names only, and every
// certificate of the CA file is a trust anchor, even if it is not self-signed. The minimum version
// is TLS 1.2.
//
// Thread safety: one thread at a time.
#pragma once

#include <array>
#include <chrono>
#include <memory>
#include <string>

#include "kube/http/internal/files.h"
#include "kube/http/tls_config.h"

struct ssl_ctx_st;
struct ssl_st;

namespace kube::detail {

struct SslFree {
  void operator()(ssl_st* session) const noexcept;
  void operator()(ssl_ctx_st* context) const noexcept;
};
using SslSession = std::unique_ptr<ssl_st, SslFree>;

class TlsContext {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  /// Throws ConfigError, which names the part (and its file) that is missing or wrong, or says that
  /// certificate and key do not belong together.
  TlsContext(TlsConfig config, bool offerHttp2, std::chrono::nanoseconds checkInterval);
  ~TlsContext();

  /// Checks the files again, unless that was done just now. Returns whether new sessions differ
  /// from earlier ones, whose connections should then serve no new requests. Files that are
  /// unreadable or do not fit together (they may be in the middle of a change) are left for the
  /// next check, with a warning.
  bool refresh(TimePoint now);

  /// Returns a client's session with the server `host`, with HTTP/2 if both this call and the
  /// constructor allow it.
  SslSession toServer(const std::string& host, bool http2 = true) const;
  /// Returns a session with a proxy, to which no client certificate is shown.
  SslSession toProxy(const std::string& host) const;

 private:
  struct Loaded {
    std::array<FileFingerprint, 3> fingerprints;
    std::array<std::string, 3> texts;  // CA, certificate, key
    std::unique_ptr<ssl_ctx_st, SslFree> context;
  };

  std::array<FileFingerprint, 3> fingerprints() const;
  Loaded load() const;
  SslSession session(const std::string& host) const;

  const TlsConfig config_;
  const bool offerHttp2_;
  const std::chrono::nanoseconds checkInterval_;
  TimePoint checked_;
  Loaded loaded_;
  std::array<FileFingerprint, 3> refused_{};  // of the last warning
};

}  // namespace kube::detail
