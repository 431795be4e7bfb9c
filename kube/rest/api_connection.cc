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
#include "kube/rest/internal/request_record.h"
#include "kube/rest/warnings.h"

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
      .disableCompression = config.disableCompression || config.serverUrl().isLoopback(),
      .dial = config.dial};
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

constexpr std::size_t kMaxWarnings = 100;  // of one answer

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
      host_(config_.serverUrl().authority),
      metrics_(std::make_shared<const detail::RequestMetrics>(orDefault(config_.metrics), host_)),
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
      host_(calls.host_),
      metrics_(calls.metrics_),
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

Task<void> ApiConnection::throttle(const Call& call, Clock::TimePoint deadline,
                                   detail::RequestRecord& record) {
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
  record.waited(waited);
  if (waited > 1) {
    logger().info("{}: delayed {:.1f} s by the client's own rate limit of {} requests a second",
                  call.doing(), waited, limiter_->qps());
  } else {
    logger().debug("{}: delayed {:.0f} ms by the client's own rate limit", call.doing(),
                   waited * 1e3);
  }
}

void ApiConnection::warn(const Call& call, const HttpHeaders& headers) const {
  if (!headers.has("Warning")) return;
  const WarningHandler handler =
      config_.warningHandler ? config_.warningHandler : defaultWarningHandler();
  std::vector<Warning> warnings = parseWarnings(headers);
  if (warnings.size() > kMaxWarnings) warnings.resize(kMaxWarnings);
  for (Warning& warning : warnings) {
    warning.doing = call.doing();
    handler(warning);
  }
}

// The URL of a call. Input must not lead anywhere but to the Config's server, because credentials
// are sent with it.
std::string ApiConnection::urlOf(const Call& call, const std::string& path) const {
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

// The sending of a call: one attempt after the other.
struct ApiConnection::Sending {
  const Call& call;
  const Clock::TimePoint deadline;
  detail::RequestRecord& record;
  bool reads;  // no attempt has asked the server to change something
};

template <class Answer, class Go>
Task<Answer> ApiConnection::run(Call call, Go go) {
  const detail::TaskContext& context = co_await detail::CurrentContext();
  urlOf(call, call.request.url);  // refuses a path that leads away before anything else
  detail::RequestRecord record(*metrics_, clock_, base_, call.request);
  if (config_.tracer != nullptr || context.span != nullptr) {
    const std::string name = config_.tracer && call.operation ? call.operation() : "call";
    record.trace(config_.tracer.get(), context.span.get(), name, host_);
  }
  std::string cause;
  try {
    Answer answer = co_await tryUntilDone<Answer>(call, go, record, cause);
    record.finish(answer);
    co_return answer;
  } catch (const TimeoutError& error) {
    record.fail(error.what());
    if (cause.empty()) throw;
    throw TimeoutError(fmt::format("{}; the previous try: {}", error.what(), cause));
  } catch (const std::exception& error) {
    record.fail(error.what());
    throw;
  }
}

// Makes an attempt ready for the transport.
void ApiConnection::complete(Sending& sending, HttpRequest& request) const {
  const Call& call = sending.call;
  request.url = urlOf(call, request.url);
  if (sending.deadline != Clock::noDeadline) {
    request.timeout = sending.deadline - clock_.now();
    if (request.timeout.count() <= 0) {
      throw TimeoutError(fmt::format("{}: timed out", call.doing()));
    }
  }
  if (onlyReads(request)) return;
  sending.reads = false;
  if (!call.writeGuard) return;
  if (const std::string why = call.writeGuard(); !why.empty()) {
    throw Error(fmt::format("{}: not sent: {}", call.doing(), why));
  }
}

// Sends an attempt through the chain. An exception of a middleware names the call.
template <class Answer, class Go>
Task<Answer> ApiConnection::throughMiddleware(Sending& sending, Go& go, HttpRequest request,
                                              int retries) {
  std::optional<Answer> answer;
  HttpAttempt attempt{.request = std::move(request),
                      .server = base_,
                      .retries = retries,
                      .doing = sending.call.doing()};
  const auto send = [&]() -> Task<> {
    complete(sending, attempt.request);
    answer.emplace(co_await go(attempt.request));
    attempt.answer = std::move(detail::AnswerHead::of(*answer));
  };
  detail::MiddlewareChain chain{.all = config_.middleware, .attempt = attempt, .send = send};
  try {
    co_await chain.run();
    if (!answer) throw Error("it returned without an answer of next()");
  } catch (const CanceledError&) {
    throw;
  } catch (const TimeoutError&) {
    throw;
  } catch (...) {
    if (chain.failure == std::current_exception()) throw;
    std::string why = "an exception that is not a std::exception";
    try {
      throw;
    } catch (const std::exception& error) {
      why = error.what();
    } catch (...) {
    }
    throw Error(fmt::format("{}: a middleware failed: {}", sending.call.doing(), why));
  }
  detail::AnswerHead::of(*answer) = std::move(attempt.answer);
  if constexpr (std::is_same_v<Answer, HttpStream>) {
    for (auto& see : attempt.onBody) answer->onPiece(std::move(see));
  }
  co_return std::move(*answer);
}

// `cause` is the reason of the last retry: it belongs into the message of a later timeout.
template <class Answer, class Go>
Task<Answer> ApiConnection::tryUntilDone(Call& call, Go& go, detail::RequestRecord& record,
                                         std::string& cause) {
  HttpRequest& request = call.request;
  const auto timeout = request.timeout.count() > 0 ? request.timeout : config_.timeout;
  const auto deadline = timeout.count() > 0 ? clock_.deadlineAfter(timeout) : Clock::noDeadline;
  if (!request.headers.has("User-Agent")) {
    request.headers.add("User-Agent",
                        config_.userAgent.empty() ? defaultUserAgent() : config_.userAgent);
  }
  Sending sending{
      .call = call, .deadline = deadline, .record = record, .reads = onlyReads(request)};
  bool refreshed = false;
  for (int attempt = 0;; ++attempt) {
    if (limiter_ != nullptr && call.limited) {
      if (limiter_->tryAccept()) {
        record.waited(0);
      } else {
        co_await throttle(call, deadline, record);
      }
    }
    HttpRequest copy = request;
    const Credentials::Grant grant = co_await authorize(copy.headers, deadline);
    std::optional<std::chrono::seconds> wait;
    bool asked = false;  // the server asked for the retry
    try {
      const Transport transport = transportFor(grant);
      const auto sendBy = [&](HttpRequest& ready) {
        record.begin(ready);
        return go(transport, std::move(ready));
      };
      std::optional<Answer> sent;
      if (config_.middleware.empty()) {
        complete(sending, copy);
        sent.emplace(co_await sendBy(copy));
      } else {
        sent.emplace(co_await throughMiddleware<Answer>(sending, sendBy, std::move(copy), attempt));
      }
      Answer& answer = *sent;
      const int status = detail::statusOf(answer);
      record.answered(status, detail::headersOf(answer));
      warn(call, detail::headersOf(answer));
      if (status == 401 && !refreshed) {
        auto refresh = [credentials = credentials_, grant, deadline](const std::stop_token& stop) {
          return credentials->refresh(grant, stop, deadline);
        };
        refreshed = co_await detail::onThread(std::move(refresh));
        if (refreshed) {
          record.retry();
          continue;
        }
      }
      wait = retryAfter(status, detail::headersOf(answer));
      if (!wait || *wait > kLongestWait || attempt >= call.maxRetries) {
        co_return std::move(answer);
      }
      asked = true;
      cause = fmt::format("the server answered {} and asked to wait {} s", status, wait->count());
    } catch (const TransportError& error) {
      record.broke(error.what());
      if (attempt >= call.maxRetries || !sending.reads || !error.requestSent() ||
          error.permanent()) {
        throw;
      }
      wait = std::chrono::seconds(1);
      cause = error.what();
      logger().debug("{}: {}; trying again", call.doing(), error.what());
    } catch (const std::exception& error) {
      record.broke(error.what());
      throw;
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
    record.retry();
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
