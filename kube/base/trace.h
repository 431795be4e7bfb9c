// Traces: spans around requests, watches and reconciles, and the context that joins them.
//
//   Config config = Config::load();
//   config.tracer = std::make_shared<OtlpTracer>(OtlpOptions{.serviceName = "website-operator"});
//   ...
//   std::shared_ptr<Span> span = config.tracer->start("sweep", SpanKind::Internal, nullptr);
//   {
//     const SpanScope scope(span);       // requests of this thread are children of the span
//     clients.coreV1().pods("book").list();
//   }
//   span->end();
//
// A Tracer makes spans. The library has OtlpTracer (kube/http/otlp_tracer.h); a program that uses
// another SDK implements Tracer and Span with a few lines.
//
// The current span travels with the work. A coroutine may go on another thread, so the current span
// of a tree of tasks belongs to the tree: withSpan() sets it for a task and all that it awaits, and
// whenAll() and its like pass it on. Blocking code has the current span of its thread, which
// SpanScope sets; a blocking call and blockOn() begin with it. A TaskScope begins without a span.
//
// Thread safety: tracers and spans may be used by any thread. A SpanScope belongs to its thread and
// to one block of blocking code: in a coroutine, no co_await may come before its end.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "kube/base/log.h"
#include "kube/base/task.h"

namespace kube {

/// The identity of a span, as W3C Trace Context defines it.
struct SpanContext {
  std::array<std::uint8_t, 16> traceId = {};
  std::array<std::uint8_t, 8> spanId = {};
  bool sampled = false;

  /// Returns whether neither id is zero.
  bool valid() const noexcept;
  /// The header: "00-<trace id>-<span id>-01".
  std::string traceparent() const;
  /// None for text that is not a traceparent.
  static std::optional<SpanContext> parse(std::string_view traceparent) noexcept;

  bool operator==(const SpanContext&) const = default;
};

enum class SpanKind : unsigned char { Internal, Client };

/// A part of a program's work, from its start to end(). The functions must not block.
class Span {
 public:
  Span() = default;
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;
  virtual ~Span();  // implementations end the span, unless it has ended

  virtual const SpanContext& context() const noexcept = 0;
  /// Sets an attribute.
  virtual void set(const LogField& attribute) = 0;
  /// Marks the work as failed.
  virtual void fail(std::string_view why) = 0;
  /// Attributes that are set later are dropped.
  virtual void end() = 0;
};

class Tracer {
 public:
  virtual ~Tracer();
  /// Starts a span. `parent` may be null. Null: nothing is recorded.
  virtual std::shared_ptr<Span> start(std::string_view name, SpanKind kind, const Span* parent) = 0;
};

/// The caller's span in another process, as parent of spans here. It records nothing.
///   withSpan(answer(request), remoteSpan(request.headers.get("traceparent")));
/// Null for text that is not a traceparent.
std::shared_ptr<Span> remoteSpan(std::string_view traceparent);

/// The current span of the thread's blocking code; null if there is none.
inline const std::shared_ptr<Span>& threadSpan() noexcept { return detail::spanOfThread(); }

/// Makes a span the thread's current one, until the end of a block. The span may be null.
class [[nodiscard]] SpanScope {
 public:
  explicit SpanScope(std::shared_ptr<Span> span);
  ~SpanScope();
  SpanScope(const SpanScope&) = delete;
  SpanScope& operator=(const SpanScope&) = delete;

 private:
  std::shared_ptr<Span> before_;
};

/// `co_await kube::taskSpan()` is the current span of the coroutine; null if there is none.
inline Task<std::shared_ptr<Span>> taskSpan() {
  const detail::TaskContext& context = co_await detail::CurrentContext();
  co_return context.span;
}

/// The task, with another current span.
template <class T>
Task<T> withSpan(Task<T> task, std::shared_ptr<Span> span) {
  const detail::TaskContext& outer = co_await detail::CurrentContext();
  detail::TaskContext inner = outer;
  inner.span = std::move(span);
  co_return co_await detail::TaskAccess::inContext(task, inner);
}

}  // namespace kube
