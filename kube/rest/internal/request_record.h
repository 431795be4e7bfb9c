// One call to the server, as metrics, log and trace show it.
//
// Thread safety: belongs to the coroutine of the call.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "kube/base/clock.h"
#include "kube/base/internal/running_span.h"
#include "kube/http/http.h"
#include "kube/http/transport.h"
#include "kube/http/websocket.h"
#include "kube/rest/internal/request_metrics.h"

namespace kube::detail {

class RequestRecord {
 public:
  /// `server` is its address, and `request` the call's, with path and query as URL. The arguments
  /// outlive the record. `watch` and upgrades have no duration: they last as long as they are
  /// wanted.
  RequestRecord(const RequestMetrics& metrics, Clock& clock, const std::string& server,
                const HttpRequest& request);
  /// The call is over.
  ~RequestRecord();
  RequestRecord(const RequestRecord&) = delete;
  RequestRecord& operator=(const RequestRecord&) = delete;

  /// Starts a span, if there is a tracer.
  void trace(Tracer* tracer, const Span* parent, std::string_view name, std::string_view host);
  bool traced() const noexcept { return static_cast<bool>(span_); }

  /// The limiter has delayed an attempt.
  void waited(double seconds) noexcept { series_.limiterWait.observe(seconds); }
  /// An attempt begins. Adds the headers of the trace.
  void begin(HttpRequest& attempt);
  /// It ended with an answer, or without.
  void answered(int status, const HttpHeaders& headers);
  void broke(std::string_view why);
  /// Another attempt follows.
  void retry();
  /// The call fails with this error.
  void fail(std::string_view why) noexcept { span_.fail(why); }

  /// The call has an answer. The span of a stream ends with the stream.
  void finish(HttpResponse& answer);
  void finish(HttpStream& answer);
  void finish(WebSocket& answer);

 private:
  void finishSpan();
  void log(int status, std::string_view auditId, std::string_view error) const;

  const RequestMetrics& metrics_;
  RequestMetrics::Series& series_;
  Clock& clock_;
  const std::string& server_;
  const HttpRequest& request_;
  const bool timed_;
  const Clock::TimePoint start_;
  Clock::TimePoint attemptStart_;
  int attempt_ = 0;     // from 1
  bool begun_ = false;  // the attempt was passed to the transport
  int lastStatus_ = 0;  // of the attempt; 0: no answer
  RunningSpan span_;
  const Span* current_ = nullptr;  // the span, or else its parent
};

}  // namespace kube::detail
