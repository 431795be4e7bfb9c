// A tracer that keeps its spans, for tests.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/base/trace.h"

namespace kube::testing {

/// The trace of spans without a parent.
inline constexpr const char* kRecordedTrace =
    "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

// Keeps a line for each span that has ended.
class RecordingTracer final : public Tracer {
 public:
  std::shared_ptr<Span> start(std::string_view name, SpanKind, const Span* parent) override {
    if (throws) throw std::runtime_error("the tracer is broken");
    SpanContext context = *SpanContext::parse(kRecordedTrace);
    if (parent != nullptr) context = parent->context();
    const std::lock_guard lock(linesMutex_);
    context.spanId[7] = ++last_;
    return std::make_shared<Line>(*this, context, std::string(name),
                                  parent != nullptr ? parent->context().traceparent() : "root");
  }
  std::vector<std::string> lines() const {
    const std::lock_guard lock(linesMutex_);
    return lines_;
  }

  bool throws = false;

 private:
  class Line final : public Span {
   public:
    Line(RecordingTracer& owner, const SpanContext& context, std::string name,
         const std::string& parent)
        : owner_(owner), context_(context), text_(std::move(name) + " parent=" + parent) {}
    ~Line() override { end(); }
    const SpanContext& context() const noexcept override { return context_; }
    void set(const LogField& attribute) override {
      if (owner_.throws) throw std::runtime_error("the span is broken");
      text_ += " " + std::string(attribute.key()) + "=" + attribute.text();
    }
    void fail(std::string_view why) override { text_ += " failed: " + std::string(why); }
    void end() override {
      if (std::exchange(ended_, true)) return;
      const std::lock_guard lock(owner_.linesMutex_);
      owner_.lines_.push_back(text_);
    }

   private:
    RecordingTracer& owner_;
    const SpanContext context_;
    std::string text_;
    bool ended_ = false;
  };

  mutable std::mutex linesMutex_;
  std::vector<std::string> lines_;
  std::uint8_t last_ = 0;
};

}  // namespace kube::testing
