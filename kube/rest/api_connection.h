// A server and all it takes to talk to it: what every client made from one Config shares.
//
// An ApiConnection adds to each request who it is from (Credentials), holds it back as the rate
// limiter says, sends it through a Transport, and sends it again where that is safe: as told by
// Retry-After (429 and 5xx; up to two minutes), with fresh credentials after a 401, and, for
// requests that only read, when the connection broke. What would fail again in the same way is
// tried once. It hands the server's warnings on. It knows nothing of API objects; see RestClient
// for that.
//
// Performance: making one starts a thread and nothing else. Connections to the server are opened as
// needed and shared by all calls.
//
// Thread safety: every method may be called from any thread. Destroying it ends calls that are
// under way with CanceledError.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>

#include "kube/base/clock.h"
#include "kube/http/http.h"
#include "kube/http/transport.h"
#include "kube/http/websocket.h"
#include "kube/rest/config.h"
#include "kube/rest/credentials.h"

namespace kube {

class ApiConnection {
 public:
  /// The clock must outlive it. Throws ConfigError.
  explicit ApiConnection(Config config, Clock& clock = realClock());
  ~ApiConnection();
  ApiConnection(const ApiConnection&) = delete;
  ApiConnection& operator=(const ApiConnection&) = delete;

  struct Call {
    // With a path and query for its url, from a '/' on; anything else is an Error, for it could
    // lead to another server. Its timeout spans all tries, and plugins that run for it.
    HttpRequest request;
    // For messages: `get pods "web"`. Asked for only where there is one.
    std::function<std::string()> doing = [] { return std::string("call"); };
    int maxRetries = 10;
    bool limited = true;  // by the rate limiter
    // Asked right before it is sent, each time, if it does not only read; none: it may be. What it
    // says, if anything, is why not, and is thrown as an Error.
    std::function<std::string()> writeGuard = {};
  };

  /// The answer with any status. Throws TransportError, TimeoutError, CanceledError, or ConfigError
  /// for credentials that cannot be had.
  HttpResponse send(Call call, const std::stop_token& stop = {});
  /// The same, returning when the headers are there.
  HttpStream open(Call call, const std::stop_token& stop = {});

  /// A WebSocket, if its status() is 101; otherwise the answer that refuses it. It is never tried
  /// again after it may have reached the server.
  WebSocket webSocket(Call call, const std::vector<std::string>& protocols,
                      const std::shared_ptr<WebSocketListener>& listener,
                      const std::stop_token& stop = {});

  const Config& config() const noexcept { return config_; }
  const std::shared_ptr<RateLimiter>& rateLimiter() const noexcept { return limiter_; }
  TransportStats stats() const;

 private:
  class Attempts;
  std::string urlOf(const Call& call) const;
  template <class Answer, class Go>
  Answer run(Call call, const std::stop_token& stop, Go go);
  template <class Answer, class Go>
  Answer tryUntilDone(Call& call, const std::stop_token& stop, Go& go, std::string& cause);
  Transport transportFor(const Credentials::Grant& grant);
  void throttle(const Call& call, const std::stop_token& stop, Clock::TimePoint deadline);
  void warn(const HttpHeaders& headers) const;

  const Config config_;
  const std::string base_;    // https://host:port/path
  const std::string origin_;  // https://host:port
  Clock& clock_;
  const std::shared_ptr<RateLimiter> limiter_;  // null: no limit

  // A plugin may hand out another certificate at any time; connections then have to be made anew.
  mutable std::mutex transportMutex_;
  std::shared_ptr<const ClientCertificate> certificate_;  // of transport_, if not the Config's
  Transport transport_;
  std::shared_ptr<Credentials> credentials_;
};

/// The warnings in the headers of an answer.
std::vector<Warning> parseWarnings(const HttpHeaders& headers);

}  // namespace kube
