// A Tracer that sends its spans to a collector, by OTLP over HTTP with JSON.
//
//   config.tracer = std::make_shared<kube::OtlpTracer>(
//       kube::OtlpOptions{.endpoint = "http://otel-collector:4318", .serviceName =
//       "website-operator"});
//
// Spans are sent in batches, by a coroutine and a transport of its own. The program never waits for
// the collector: spans that find the queue full, and batches that the collector does not take after
// a few tries, are dropped and counted. A span without a parent is sampled with sampleRatio, others
// as their parent. A span that is not sampled costs an allocation, and carries its context on.
//
// Metrics: trace_spans_sent_total, trace_spans_dropped_total.
//
// Thread safety: every method may be called from any thread. Spans may outlive their tracer; they
// are dropped then.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "kube/base/clock.h"
#include "kube/base/metrics.h"
#include "kube/base/trace.h"
#include "kube/http/http.h"
#include "kube/http/tls_config.h"

namespace kube {

namespace detail {
class SpanExporter;
}

struct OtlpOptions {
  /// The collector. Without a path, /v1/traces is added.
  std::string endpoint = "http://localhost:4318";
  HttpHeaders headers = {};  // such as an Authorization
  TlsConfig tls = {};
  std::string proxy = {};  // as TransportOptions::proxy

  std::string serviceName = {};  // service.name; empty: unknown_service:PROGRAM
  HttpHeaders resource = {};     // more attributes of the program, such as k8s.pod.name
  double sampleRatio = 1;        // from 0 to 1
  std::size_t maxQueue = 2048;   // spans that wait
  std::size_t maxBatch = 512;    // spans in a request
  int maxTries = 5;              // of a batch
  std::chrono::nanoseconds interval = std::chrono::seconds{5};  // the longest wait for a full batch
  std::chrono::nanoseconds timeout = std::chrono::seconds{10};  // of a try
  /// The longest time that the destructor waits for the collector.
  std::chrono::nanoseconds shutdownTimeout = std::chrono::seconds{5};
  Metrics* metrics = nullptr;  // null: defaultMetrics()
  Clock* clock = nullptr;      // null: the real one
};

class OtlpTracer final : public Tracer {
 public:
  /// Throws ConfigError. Sends nothing yet.
  explicit OtlpTracer(OtlpOptions options = {});
  /// Sends what is left, for at most shutdownTimeout, and drops the rest. An I/O thread of the
  /// library does not wait.
  ~OtlpTracer() override;
  OtlpTracer(const OtlpTracer&) = delete;
  OtlpTracer& operator=(const OtlpTracer&) = delete;

  std::shared_ptr<Span> start(std::string_view name, SpanKind kind, const Span* parent) override;

  /// Sends the spans that have ended. Returns when they are sent or dropped; false: a stop was
  /// requested before.
  bool flush(const std::stop_token& stop = {});
  Task<bool> flushAsync() const;

  std::uint64_t dropped() const noexcept;

 private:
  const std::shared_ptr<detail::SpanExporter> exporter_;
};

}  // namespace kube
