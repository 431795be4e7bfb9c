#include "kube/rest/internal/request_record.h"

#include <utility>

#include "kube/base/log.h"
#include "kube/rest/internal/request_text.h"

namespace kube::detail {
namespace {

bool isWatch(const HttpRequest& request) noexcept {
  return request.url.find("watch=true") != std::string::npos ||
         request.url.find("watch=1") != std::string::npos;
}

}  // namespace

RequestRecord::RequestRecord(const RequestMetrics& metrics, Clock& clock, const std::string& server,
                             const HttpRequest& request)
    : metrics_(metrics),
      series_(metrics.of(request.method)),
      clock_(clock),
      server_(server),
      request_(request),
      timed_(request.upgrade.empty() && !isWatch(request)),
      start_(clock.now()),
      attemptStart_(start_) {}

RequestRecord::~RequestRecord() {
  if (!timed_) return;
  series_.duration.observe(std::chrono::duration<double>(clock_.now() - start_).count());
}

void RequestRecord::trace(Tracer* tracer, const Span* parent, std::string_view name,
                          std::string_view host) {
  current_ = parent;
  span_ = RunningSpan(tracer, name, SpanKind::Client, parent);
  if (!span_) return;
  current_ = span_.span().get();
  span_.set({"http.request.method", request_.method});
  span_.set({"server.address", host});
  span_.set({"url.path", std::string_view(request_.url).substr(0, request_.url.find('?'))});
}

void RequestRecord::begin(HttpRequest& attempt) {
  begun_ = true;
  if (attempt_++ > 0 || logEnabled(LogLevel::Debug)) attemptStart_ = clock_.now();
  series_.requestSize.observe(static_cast<double>(attempt.body.size()));
  if (current_ != nullptr && current_->context().valid()) {
    attempt.headers.set("traceparent", current_->context().traceparent());
  }
}

void RequestRecord::answered(int status, const HttpHeaders& headers) {
  begun_ = false;
  lastStatus_ = status;
  metrics_.answered(request_.method, series_, status);
  if (logEnabled(LogLevel::Debug)) log(status, auditIdOf(headers), {});
  if (!span_) return;
  span_.set({"http.response.status_code", status});
  if (attempt_ > 1) span_.set({"http.request.resend_count", attempt_ - 1});
  if (const std::string_view id = auditIdOf(headers); !id.empty()) {
    span_.set({"kubernetes.audit_id", id});
  }
}

void RequestRecord::broke(std::string_view why) {
  lastStatus_ = 0;
  if (!std::exchange(begun_, false)) return;
  metrics_.answered(request_.method, series_, 0);
  if (logEnabled(LogLevel::Debug)) log(0, {}, why);
}

void RequestRecord::retry() { metrics_.retried(request_.method, lastStatus_); }

void RequestRecord::finishSpan() {
  if (span_ && lastStatus_ >= 400) {
    span_.fail("the server answered " + std::to_string(lastStatus_));
  }
}

void RequestRecord::finish(HttpResponse& answer) {
  series_.responseSize.observe(static_cast<double>(answer.body.size()));
  finishSpan();
}

void RequestRecord::finish(WebSocket&) { finishSpan(); }

void RequestRecord::finish(HttpStream& answer) {
  finishSpan();
  if (!span_) return;
  answer.onPiece([span = std::make_shared<RunningSpan>(std::move(span_))](std::string_view) {});
}

void RequestRecord::log(int status, std::string_view auditId, std::string_view error) const {
  static const Logger plain("rest");
  const Logger logger = !error.empty()     ? plain.with("error", error)
                        : !auditId.empty() ? plain.with("audit-id", auditId)
                                           : plain;
  const std::string url = loggedUrl(server_ + request_.url);
  const std::string code = status == 0 ? "<error>" : std::to_string(status);
  const auto millis =
      std::chrono::duration_cast<std::chrono::milliseconds>(clock_.now() - attemptStart_).count();
  logger.debug({{"verb", request_.method},
                {"url", url},
                {"status", code},
                {"milliseconds", millis},
                {"attempt", attempt_}},
               "Response");
}

}  // namespace kube::detail
