// The connection to an API server: everything that the clients of one Config share.
//
// An ApiConnection adds credentials to each request, waits for the rate limiter, sends the request
// through a Transport, and sends it again where that is safe: after Retry-After (429 and 5xx; up to
// two minutes), with new credentials after a 401, and, for requests that only read, after a broken
// connection. Permanent errors are not retried. Warnings of the server are passed on. It knows
// nothing of API objects; see RestClient for those.
//
// Performance: construction starts a thread and does nothing else. Connections to the server are
// opened as needed and shared by all calls.
//
// Thread safety: every method may be called from any thread. Destroying it ends calls under way
// with CanceledError.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "kube/base/clock.h"
#include "kube/base/internal/mutex.h"
#include "kube/base/task.h"
#include "kube/http/http.h"
#include "kube/http/transport.h"
#include "kube/http/websocket.h"
#include "kube/rest/config.h"
#include "kube/rest/credentials.h"
#include "kube/rest/internal/request_metrics.h"

namespace kube {

namespace detail {
class RequestRecord;
}

class ApiConnection {
 public:
  /// The clock must outlive the connection. Throws ConfigError.
  explicit ApiConnection(Config config, Clock& clock = realClock());
  ~ApiConnection();
  ApiConnection(const ApiConnection&) = delete;
  ApiConnection& operator=(const ApiConnection&) = delete;

  struct Call {
    /// The url holds path and query, beginning with '/'; anything else is an Error, because it
    /// could lead to another server. The timeout covers all tries, and plugins that run for them.
    HttpRequest request;
    /// Describes the call in messages: `get pods "web"`. Called only for a message.
    std::function<std::string()> doing = [] { return std::string("call"); };
    /// The same without names, for traces: `get pods`. Called only if there is a tracer.
    std::function<std::string()> operation = {};
    int maxRetries = 10;
    bool limited = true;  // by the rate limiter
    /// Called right before each try of a writing call. Returns the reason for a refusal, which is
    /// thrown as an Error, or nothing. No guard: always allowed.
    std::function<std::string()> writeGuard = {};
  };

  /// Returns the answer with any status. Throws TransportError, TimeoutError, CanceledError, or
  /// ConfigError for missing credentials.
  Task<HttpResponse> send(Call call);
  /// The same, but returns when the headers have arrived.
  Task<HttpStream> open(Call call);

  /// Opens a WebSocket: its status() is 101, or that of the answer that refuses it. It is never
  /// tried again after it may have reached the server.
  Task<WebSocket> webSocket(Call call, std::vector<std::string> protocols,
                            std::shared_ptr<WebSocketListener> listener);

  /// Returns a connection for caches: with the same credentials and limits, and a transport of its
  /// own. Tasks on its executor() are called where events arrive. They may take their time, and use
  /// locks that a program holds while it waits for a call: calls have another transport.
  std::shared_ptr<ApiConnection> forCaches();
  /// The I/O thread of the transport.
  const Executor& executor() const noexcept { return executor_; }
  const std::shared_ptr<detail::EventLoop>& loop() const noexcept { return loop_; }

  const Config& config() const noexcept { return config_; }
  const std::shared_ptr<RateLimiter>& rateLimiter() const noexcept { return limiter_; }
  /// The sum of both transports.
  TransportStats stats() const;
  /// Counts the body of an answer that was read as it arrived.
  void countAnswer(std::string_view method, std::size_t bytes) const {
    metrics_->of(method).responseSize.observe(static_cast<double>(bytes));
  }

 private:
  struct ForCaches {};
  struct Sending;
  ApiConnection(const ApiConnection& calls, ForCaches);
  std::string urlOf(const Call& call, const std::string& path) const;
  template <class Answer, class Go>
  Task<Answer> run(Call call, Go go);
  template <class Answer, class Go>
  Task<Answer> tryUntilDone(Call& call, Go& go, detail::RequestRecord& record, std::string& cause);
  template <class Answer, class Go>
  Task<Answer> throughMiddleware(Sending& sending, Go& go, HttpRequest request, int retries);
  void complete(Sending& sending, HttpRequest& request) const;
  Transport transportFor(const Credentials::Grant& grant);
  Task<void> throttle(const Call& call, Clock::TimePoint deadline, detail::RequestRecord& record);
  Task<Credentials::Grant> authorize(HttpHeaders& headers, Clock::TimePoint deadline);
  void warn(const Call& call, const HttpHeaders& headers) const;

  const Config config_;
  const std::string base_;    // https://host:port/path
  const std::string origin_;  // https://host:port
  Clock& clock_;
  const std::string host_;  // host:port
  const std::shared_ptr<const detail::RequestMetrics> metrics_;
  const std::shared_ptr<RateLimiter> limiter_;  // null: no limit

  // A plugin may return another certificate at any time; then connections have to be made anew.
  mutable detail::Mutex transportMutex_;
  // The certificate of transport_, if it is not the Config's.
  std::shared_ptr<const ClientCertificate> certificate_ KUBE_GUARDED_BY(transportMutex_);
  Transport transport_ KUBE_GUARDED_BY(transportMutex_);
  // These are of the first transport, and stay the same when another certificate needs another one.
  const Executor executor_;
  const std::shared_ptr<detail::EventLoop> loop_;  // of executor_
  std::shared_ptr<Credentials> credentials_;
  mutable detail::Mutex cachesMutex_;
  std::shared_ptr<ApiConnection> caches_ KUBE_GUARDED_BY(cachesMutex_);  // null if not asked for
};

/// Parses the Warning headers of an answer.
std::vector<Warning> parseWarnings(const HttpHeaders& headers);

}  // namespace kube
