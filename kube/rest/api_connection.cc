#include "kube/rest/api_connection.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "kube/base/error.h"
#include "kube/base/internal/text.h"
#include "kube/base/log.h"
#include "kube/http/url.h"

namespace kube {

namespace {

const Logger& logger() {
  static const Logger log("rest");
  return log;
}

TransportOptions transportOptions(const Config& config, const ClientCertificate* certificate) {
  // On one machine, compressing and decompressing takes longer than sending.
  TransportOptions options{
      .tls = config.tls,
      .proxy = config.proxy,
      .disableCompression = config.disableCompression || config.serverUrl().isLoopback()};
  if (certificate != nullptr) {
    options.tls.certFile.clear();
    options.tls.keyFile.clear();
    options.tls.certData = certificate->certData;
    options.tls.keyData = certificate->keyData;
  }
  if (config.tweakTransport) config.tweakTransport(options);
  return options;
}

// A WebSocket begins with GET, even if it writes.
bool onlyReads(const HttpRequest& request) {
  return (request.method == "GET" || request.method == "HEAD") && request.upgrade.empty();
}

// A longer Retry-After is returned to the caller instead of waiting.
constexpr std::chrono::seconds kLongestWait = std::chrono::minutes(2);

// Returns the time that an answer asks to wait before the same request is sent again.
std::optional<std::chrono::seconds> retryAfter(int status, const HttpHeaders& headers) {
  if (status != 429 && status < 500) return std::nullopt;
  const auto seconds = detail::parseNumber<unsigned>(headers.get("Retry-After"));
  if (!seconds) return std::nullopt;
  return std::chrono::seconds(*seconds);
}

HttpFetch fetchWith(const Config& config) {
  return [proxy = config.proxy](HttpRequest request, const TlsConfig& tls, std::stop_token stop) {
    return Transport({.tls = tls, .proxy = proxy}).send(std::move(request), std::move(stop));
  };
}

}  // namespace

ApiConnection::ApiConnection(Config config, Clock& clock)
    : config_(std::move(config)),
      base_(config_.serverUrl().str()),
      origin_(config_.serverUrl().origin()),
      clock_(clock),
      limiter_(config_.makeRateLimiter(clock)),
      transport_(transportOptions(config_, nullptr)),
      executor_(transport_.executor()),
      loop_(transport_.loop()),
      credentials_(makeCredentials(config_, {.clock = &clock, .fetch = fetchWith(config_)})) {}

ApiConnection::ApiConnection(const ApiConnection& calls, ForCaches)
    : config_(calls.config_),
      base_(calls.base_),
      origin_(calls.origin_),
      clock_(calls.clock_),
      limiter_(calls.limiter_),
      transport_(transportOptions(config_, nullptr)),
      executor_(transport_.executor()),
      loop_(transport_.loop()),
      credentials_(calls.credentials_) {}

ApiConnection::~ApiConnection() = default;

std::shared_ptr<ApiConnection> ApiConnection::forCaches() {
  const detail::Lock lock(cachesMutex_);
  if (caches_ == nullptr) caches_.reset(new ApiConnection(*this, ForCaches()));
  return caches_;
}

TransportStats ApiConnection::stats() const {
  TransportStats sum;
  {
    const detail::Lock lock(transportMutex_);
    sum = transport_.stats();
  }
  const detail::Lock lock(cachesMutex_);
  if (caches_ != nullptr) {
    const TransportStats more = caches_->stats();
    sum.connectionsMade += more.connectionsMade;
    sum.connectionsOpen += more.connectionsOpen;
    sum.requests += more.requests;
    sum.retries += more.retries;
    sum.bytesSent += more.bytesSent;
    sum.bytesReceived += more.bytesReceived;
  }
  return sum;
}

Transport ApiConnection::transportFor(const Credentials::Grant& grant) {
  const detail::Lock lock(transportMutex_);
  if (grant.certificate != certificate_) {
    transport_ = Transport(transportOptions(config_, grant.certificate.get()));
    certificate_ = grant.certificate;
  }
  return transport_;
}

Task<void> ApiConnection::throttle(const Call& call, Clock::TimePoint deadline) {
  const auto start = clock_.now();
  const bool accepted = co_await limiter_->acceptAsync(deadline);
  if (!accepted) {
    const std::stop_token stop = co_await taskStop();
    if (stop.stop_requested()) throw CanceledError(fmt::format("{}: canceled", call.doing()));
    throw TimeoutError(
        fmt::format("{}: the client's own rate limit would delay it beyond its deadline (raise "
                    "Config::qps and burst)",
                    call.doing()));
  }
  const auto waited = std::chrono::duration<double>(clock_.now() - start).count();
  if (waited > 1) {
    logger().info("{}: delayed {:.1f} s by the client's own rate limit of {} requests a second",
                  call.doing(), waited, limiter_->qps());
  } else {
    logger().debug("{}: delayed {:.0f} ms by the client's own rate limit", call.doing(),
                   waited * 1e3);
  }
}

void ApiConnection::warn(const HttpHeaders& headers) const {
  if (!headers.has("Warning")) return;
  for (const Warning& warning : parseWarnings(headers)) {
    if (config_.warningHandler) {
      config_.warningHandler(warning);
    } else {
      logger().warning("the server warns: {}", warning.text);
    }
  }
}

// The URL of a call. Input must not lead anywhere but to the Config's server, because credentials
// are sent with it.
std::string ApiConnection::urlOf(const Call& call) const {
  const std::string& path = call.request.url;
  if (path.starts_with('/')) {
    std::string url = base_ + path;
    if (hasOrigin(url, origin_)) return url;
  }
  throw Error(fmt::format(
      "{}: the path has to begin with '/'; another one could lead away from the configured server",
      call.doing()));
}

// Adds credentials. Only plugins and identity providers take time.
Task<Credentials::Grant> ApiConnection::authorize(HttpHeaders& headers, Clock::TimePoint deadline) {
  if (const auto grant = credentials_->applyNow(headers)) co_return *grant;
  auto apply = [credentials = credentials_, headers,
                deadline](const std::stop_token& stop) mutable {
    const Credentials::Grant grant = credentials->apply(headers, stop, deadline);
    return std::pair(grant, std::move(headers));
  };
  auto applied = co_await detail::onThread(std::move(apply));
  headers = std::move(applied.second);
  co_return applied.first;
}

template <class Answer, class Go>
Task<Answer> ApiConnection::run(Call call, Go go) {
  std::string cause;
  try {
    co_return co_await tryUntilDone<Answer>(call, go, cause);
  } catch (const TimeoutError& error) {
    if (cause.empty()) throw;
    throw TimeoutError(fmt::format("{}; the previous try: {}", error.what(), cause));
  }
}

// `cause` is the reason of the last retry: it belongs into the message of a later timeout.
template <class Answer, class Go>
Task<Answer> ApiConnection::tryUntilDone(Call& call, Go& go, std::string& cause) {
  HttpRequest& request = call.request;
  request.url = urlOf(call);
  const auto timeout = request.timeout.count() > 0 ? request.timeout : config_.timeout;
  const auto deadline = timeout.count() > 0 ? clock_.deadlineAfter(timeout) : Clock::noDeadline;
  if (!request.headers.has("User-Agent")) {
    request.headers.add("User-Agent",
                        config_.userAgent.empty() ? defaultUserAgent() : config_.userAgent);
  }
  bool refreshed = false;
  for (int attempt = 0;; ++attempt) {
    if (limiter_ != nullptr && call.limited && !limiter_->tryAccept()) {
      co_await throttle(call, deadline);
    }
    HttpRequest copy = request;
    const Credentials::Grant grant = co_await authorize(copy.headers, deadline);
    if (deadline != Clock::noDeadline) {
      copy.timeout = deadline - clock_.now();
      if (copy.timeout.count() <= 0) throw TimeoutError(fmt::format("{}: timed out", call.doing()));
    }

    if (call.writeGuard && !onlyReads(request)) {
      if (const std::string why = call.writeGuard(); !why.empty()) {
        throw Error(fmt::format("{}: not sent: {}", call.doing(), why));
      }
    }
    std::optional<std::chrono::seconds> wait;
    bool asked = false;  // the server asked for the retry
    try {
      const Transport transport = transportFor(grant);
      Answer answer = co_await go(transport, std::move(copy));
      const int status = detail::statusOf(answer);
      warn(detail::headersOf(answer));
      if (status == 401 && !refreshed) {
        auto refresh = [credentials = credentials_, grant, deadline](const std::stop_token& stop) {
          return credentials->refresh(grant, stop, deadline);
        };
        refreshed = co_await detail::onThread(std::move(refresh));
        if (refreshed) continue;
      }
      wait = retryAfter(status, detail::headersOf(answer));
      if (!wait || *wait > kLongestWait || attempt >= call.maxRetries) co_return answer;
      asked = true;
      cause = fmt::format("the server answered {} and asked to wait {} s", status, wait->count());
    } catch (const TransportError& error) {
      if (attempt >= call.maxRetries || !onlyReads(request) || !error.requestSent() ||
          error.permanent()) {
        throw;
      }
      wait = std::chrono::seconds(1);
      cause = error.what();
      logger().debug("{}: {}; trying again", call.doing(), error.what());
    }
    logger().debug("{}: waiting {} s before retry {}", call.doing(), wait->count(), attempt + 1);
    if (clock_.now() + *wait >= deadline) {
      throw TimeoutError(fmt::format(
          "{}: {}", call.doing(),
          asked ? "the server asks to wait beyond the deadline" : "there is no time to try again"));
    }
    const bool waited = co_await sleepFor(*wait, clock_);
    if (!waited) {
      throw CanceledError(fmt::format("{}: canceled", call.doing()));
    }
  }
}

Task<HttpResponse> ApiConnection::send(Call call) {
  return run<HttpResponse>(std::move(call), [](Transport transport, HttpRequest request) {
    return transport.sendAsync(std::move(request));
  });
}

Task<HttpStream> ApiConnection::open(Call call) {
  return run<HttpStream>(std::move(call), [](Transport transport, HttpRequest request) {
    return transport.openAsync(std::move(request));
  });
}

Task<WebSocket> ApiConnection::webSocket(Call call, std::vector<std::string> protocols,
                                         std::shared_ptr<WebSocketListener> listener) {
  call.request.upgrade = "websocket";
  return run<WebSocket>(
      std::move(call), [protocols = std::move(protocols), listener = std::move(listener)](
                           Transport transport, HttpRequest request) {
        return WebSocket::openAsync(std::move(transport), std::move(request), protocols, listener);
      });
}

// Format: 299 - "text" "date"; one header may hold several, separated by commas.
std::vector<Warning> parseWarnings(const HttpHeaders& headers) {
  std::vector<Warning> warnings;
  for (const HttpHeader& header : headers) {
    if (!equalIgnoringCase(header.name, "Warning")) continue;
    std::string_view text = header.value;
    const auto skip = [&](std::string_view what) {
      text.remove_prefix(std::min(text.find_first_not_of(what), text.size()));
    };
    for (skip(" ,"); !text.empty(); skip(" ,")) {
      Warning warning;
      const auto code = std::from_chars(text.data(), text.data() + text.size(), warning.code);
      if (code.ec != std::errc()) break;
      text.remove_prefix(static_cast<std::size_t>(code.ptr - text.data()));
      skip(" ");
      const std::size_t agent = std::min(text.find(' '), text.size());
      warning.agent = text.substr(0, agent);
      text.remove_prefix(agent);
      skip(" ");
      const auto quoted = [&](std::string& into) {
        if (text.empty() || text.front() != '"') return false;
        std::size_t i = 1;
        for (; i < text.size() && text[i] != '"'; ++i) {
          if (text[i] == '\\' && i + 1 < text.size()) ++i;
          into += text[i];
        }
        text.remove_prefix(std::min(i + 1, text.size()));
        return true;
      };
      if (!quoted(warning.text)) break;
      skip(" ");
      std::string date;
      quoted(date);
      warnings.push_back(std::move(warning));
    }
  }
  return warnings;
}

}  // namespace kube
