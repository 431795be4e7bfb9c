#include "kube/http/otlp_tracer.h"

#include <fmt/core.h>

#include <array>
#include <cmath>
#include <cstring>
#include <iterator>
#include <random>
#include <utility>
#include <variant>

#include "kube/base/internal/guarded.h"
#include "kube/base/internal/json_text.h"
#include "kube/base/internal/mutex.h"
#include "kube/http/internal/span_exporter.h"

namespace kube {
namespace {

constexpr std::size_t kMaxAttributes = 16 << 10;  // bytes of a span
constexpr std::size_t kMaxText = 2 << 10;         // of one value

std::uint64_t randomBits() {
  thread_local std::mt19937_64 generator = [] {
    std::random_device device;
    std::seed_seq seed{device(), device(), device(), device(), device(), device()};
    return std::mt19937_64(seed);
  }();
  return generator();
}

// Zero is not an id.
void randomize(auto& bytes) {
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint64_t)) {
    const std::uint64_t bits = randomBits() | 1;
    std::memcpy(bytes.data() + at, &bits, sizeof bits);
  }
}

SpanContext contextFor(const Span* parent, double sampleRatio) {
  SpanContext context;
  if (parent != nullptr && parent->context().valid()) {
    context = parent->context();
  } else {
    randomize(context.traceId);
    // Exact for 0 and 1.
    const double drawn = static_cast<double>(randomBits() >> 11) * 0x1p-53;
    context.sampled = drawn < sampleRatio;
  }
  randomize(context.spanId);
  return context;
}

void appendValue(std::string& out, const LogField::Value& value) {
  std::visit(
      [&]<class T>(const T& plain) {
        if constexpr (std::same_as<T, bool>) {
          out += plain ? R"({"boolValue":true})" : R"({"boolValue":false})";
        } else if constexpr (std::integral<T>) {
          fmt::format_to(std::back_inserter(out), R"({{"intValue":"{}"}})", plain);
        } else if constexpr (std::same_as<T, double>) {
          out += R"({"doubleValue":)";
          detail::appendJsonValue(out, plain);
          out += '}';
        } else {
          out += R"({"stringValue":)";
          detail::appendJsonString(out, plain.substr(0, kMaxText));
          out += '}';
        }
      },
      value);
}

std::string hexOf(const SpanContext& context, bool span) {
  // The parts of "00-<trace id>-<span id>-01".
  const std::string text = context.traceparent();
  return span ? text.substr(36, 16) : text.substr(3, 32);
}

std::int64_t nanosOf(Clock::WallTime time) { return time.time_since_epoch().count(); }

class OtlpSpan final : public Span {
 public:
  OtlpSpan(std::shared_ptr<detail::SpanExporter> exporter, const SpanContext& context,
           std::string_view name, SpanKind kind, const Span* parent)
      : context_(context),
        exporter_(std::move(exporter)),
        name_(name.substr(0, kMaxText)),
        kind_(kind),
        parentId_(parent != nullptr && parent->context().valid() ? hexOf(parent->context(), true)
                                                                 : std::string()),
        start_(exporter_->clock().wallNow()),
        begun_(exporter_->clock().now()) {}
  ~OtlpSpan() override {
    detail::guarded("trace", "the end of a span", [this] { end(); });
  }

  const SpanContext& context() const noexcept override { return context_; }

  void set(const LogField& attribute) override {
    const detail::Lock lock(partsMutex_);
    if (ended_ || attributes_.size() >= kMaxAttributes) return;
    if (!attributes_.empty()) attributes_ += ',';
    attributes_ += R"({"key":)";
    detail::appendJsonString(attributes_, attribute.key());
    attributes_ += R"(,"value":)";
    appendValue(attributes_, attribute.value());
    attributes_ += '}';
  }

  void fail(std::string_view why) override {
    const detail::Lock lock(partsMutex_);
    failed_ = true;
    why_ = why.substr(0, kMaxText);
  }

  void end() override {
    std::string text;
    {
      const detail::Lock lock(partsMutex_);
      if (std::exchange(ended_, true)) return;
      text = json();
    }
    exporter_->add(std::move(text));
  }

 private:
  std::string json() const KUBE_REQUIRES(partsMutex_) {
    const auto lasted = exporter_->clock().now() - begun_;
    std::string text = fmt::format(R"({{"traceId":"{}","spanId":"{}",)", hexOf(context_, false),
                                   hexOf(context_, true));
    if (!parentId_.empty()) text += fmt::format(R"("parentSpanId":"{}",)", parentId_);
    text += R"("name":)";
    detail::appendJsonString(text, name_);
    fmt::format_to(std::back_inserter(text),
                   R"(,"kind":{},"startTimeUnixNano":"{}","endTimeUnixNano":"{}","attributes":[)",
                   kind_ == SpanKind::Client ? 3 : 1, nanosOf(start_), nanosOf(start_ + lasted));
    text += attributes_;
    text += R"(],"status":{)";
    if (failed_) {
      text += R"("code":2,"message":)";
      detail::appendJsonString(text, why_);
    }
    return text + "}}";
  }

  const SpanContext context_;
  const std::shared_ptr<detail::SpanExporter> exporter_;
  const std::string name_;
  const SpanKind kind_;
  const std::string parentId_;
  const Clock::WallTime start_;
  const Clock::TimePoint begun_;
  detail::Mutex partsMutex_;
  std::string attributes_ KUBE_GUARDED_BY(partsMutex_);
  std::string why_ KUBE_GUARDED_BY(partsMutex_);
  bool failed_ KUBE_GUARDED_BY(partsMutex_) = false;
  bool ended_ KUBE_GUARDED_BY(partsMutex_) = false;
};

}  // namespace

OtlpTracer::OtlpTracer(OtlpOptions options)
    : exporter_(std::make_shared<detail::SpanExporter>(std::move(options))) {}
OtlpTracer::~OtlpTracer() { detail::SpanExporter::close(exporter_); }

std::shared_ptr<Span> OtlpTracer::start(std::string_view name, SpanKind kind, const Span* parent) {
  const SpanContext context = contextFor(parent, exporter_->options().sampleRatio);
  if (!context.sampled) return remoteSpan(context.traceparent());
  return std::make_shared<OtlpSpan>(exporter_, context, name, kind, parent);
}

bool OtlpTracer::flush(const std::stop_token& stop) {
  return detail::runBlocking(flushAsync(), stop);
}
Task<bool> OtlpTracer::flushAsync() const { return detail::SpanExporter::flush(exporter_); }
std::uint64_t OtlpTracer::dropped() const noexcept { return exporter_->dropped(); }

}  // namespace kube
