// A span of the library: it ends with its block, and a tracer that throws disturbs nothing.
//
// Thread safety: belongs to one thread at a time.
#pragma once

#include <exception>
#include <memory>
#include <string_view>
#include <utility>

#include "kube/base/internal/guarded.h"
#include "kube/base/trace.h"

namespace kube::detail {

class RunningSpan {
 public:
  /// No span.
  RunningSpan() = default;
  /// No span if there is no tracer.
  RunningSpan(Tracer* tracer, std::string_view name, SpanKind kind, const Span* parent) {
    if (tracer == nullptr) return;
    guarded("trace", "Tracer::start", [&] { span_ = tracer->start(name, kind, parent); });
  }
  ~RunningSpan() { end(); }
  RunningSpan(RunningSpan&&) noexcept = default;
  RunningSpan& operator=(RunningSpan&& other) noexcept {
    end();
    span_ = std::move(other.span_);
    return *this;
  }

  explicit operator bool() const noexcept { return span_ != nullptr; }
  const std::shared_ptr<Span>& span() const noexcept { return span_; }

  void set(const LogField& attribute) noexcept {
    if (span_) guarded("trace", "Span::set", [&] { span_->set(attribute); });
  }
  void fail(std::string_view why) noexcept {
    if (span_) guarded("trace", "Span::fail", [&] { span_->fail(why); });
  }
  void end() noexcept {
    if (const auto span = std::exchange(span_, nullptr)) {
      guarded("trace", "Span::end", [&] { span->end(); });
    }
  }

 private:
  std::shared_ptr<Span> span_;
};

}  // namespace kube::detail
