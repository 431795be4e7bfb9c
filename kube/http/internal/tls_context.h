// What TLS sessions are made from: a TlsConfig, read, checked, and read again when its files
// change.
//
// Trust follows Go's: names are checked against subject alternative names only, and any certificate
// of the CA file is an anchor, be it self-signed or not. TLS 1.2 is the least.
//
// Thread safety: one thread at a time.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <memory>
#include <string>

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

  /// Throws ConfigError that names the part (and its file) that is missing or wrong, or says that
  /// certificate and key do not belong together.
  TlsContext(TlsConfig config, bool offerHttp2, std::chrono::nanoseconds checkInterval);
  ~TlsContext();

  /// Looks at the files again, unless that was done just now. Says whether sessions made from here
  /// on differ from those before: then those should serve no new requests. Files that cannot be
  /// read or do not fit together (they may be half-way through a change) are left for the next
  /// look, with a warning.
  bool refresh(TimePoint now);

  /// A client's session with the server `host`, with HTTP/2 if that is allowed here and there.
  SslSession toServer(const std::string& host, bool http2 = true) const;
  /// One with a proxy, which gets to see no certificate of ours.
  SslSession toProxy(const std::string& host) const;

 private:
  struct Fingerprint {
    timespec changed{};
    std::int64_t size = 0;
    std::uint64_t device = 0, inode = 0;
    bool operator==(const Fingerprint& other) const;
  };
  struct Loaded {
    std::array<Fingerprint, 3> fingerprints;
    std::array<std::string, 3> texts;  // CA, certificate, key
    std::unique_ptr<ssl_ctx_st, SslFree> context;
  };

  std::array<Fingerprint, 3> fingerprints() const;
  Loaded load() const;
  SslSession session(const std::string& host) const;

  const TlsConfig config_;
  const bool offerHttp2_;
  const std::chrono::nanoseconds checkInterval_;
  TimePoint checked_;
  Loaded loaded_;
  std::array<Fingerprint, 3> refused_{};  // what was warned of last
};

}  // namespace kube::detail
