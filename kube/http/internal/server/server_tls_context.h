// The certificates of a server, loaded, checked, and read again when their files change.
//
// Thread safety: current() may be called from any thread.
#pragma once

#include <array>
#include <boost/asio/ssl/context.hpp>
#include <chrono>
#include <memory>
#include <string>

#include "kube/base/internal/mutex.h"
#include "kube/http/http_server.h"
#include "kube/http/internal/files.h"

namespace kube::detail {

class ServerTlsContext {
 public:
  using Context = boost::asio::ssl::context;

  /// Throws ConfigError, which says what is missing or wrong.
  ServerTlsContext(ServerTls tls, bool http2);

  /// The context for a new connection. Looks at the files, unless that was done just now. Files
  /// that are unreadable or do not fit together (they may be in the middle of a change) are left
  /// for the next time, with a warning.
  std::shared_ptr<Context> current();

 private:
  using Fingerprints = std::array<FileFingerprint, 3>;

  Fingerprints fingerprints() const;
  std::shared_ptr<Context> load() const;
  void refresh() KUBE_REQUIRES(currentMutex_);

  const ServerTls tls_;
  const bool http2_;
  const bool hasFiles_;
  Mutex currentMutex_;
  std::chrono::steady_clock::time_point checked_ KUBE_GUARDED_BY(currentMutex_);
  Fingerprints fingerprints_ KUBE_GUARDED_BY(currentMutex_);  // of the current context's files
  Fingerprints refused_ KUBE_GUARDED_BY(currentMutex_);       // of the last warning
  std::shared_ptr<Context> current_ KUBE_GUARDED_BY(currentMutex_);
};

}  // namespace kube::detail
