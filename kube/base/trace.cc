#include "kube/base/trace.h"

#include <algorithm>

namespace kube {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

void appendHex(std::string& out, const auto& bytes) {
  for (const std::uint8_t byte : bytes) {
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
}

// Upper case is not allowed.
bool readHex(std::string_view text, auto& bytes) noexcept {
  if (text.size() != 2 * bytes.size()) return false;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const std::size_t high = kDigits.find(text[2 * i]);
    const std::size_t low = kDigits.find(text[2 * i + 1]);
    if (high == kDigits.npos || low == kDigits.npos) return false;
    bytes[i] = static_cast<std::uint8_t>(high << 4 | low);
  }
  return true;
}

bool isZero(const auto& bytes) noexcept {
  return std::ranges::all_of(bytes, [](std::uint8_t byte) { return byte == 0; });
}

class RemoteSpan final : public Span {
 public:
  explicit RemoteSpan(const SpanContext& context) : context_(context) {}

  const SpanContext& context() const noexcept override { return context_; }
  void set(const LogField&) override {}
  void fail(std::string_view) override {}
  void end() override {}

 private:
  const SpanContext context_;
};

std::shared_ptr<Span>& ofThread() noexcept {
  thread_local std::shared_ptr<Span> span;
  return span;
}

}  // namespace

bool SpanContext::valid() const noexcept { return !isZero(traceId) && !isZero(spanId); }

std::string SpanContext::traceparent() const {
  std::string text = "00-";
  text.reserve(55);
  appendHex(text, traceId);
  text += '-';
  appendHex(text, spanId);
  text += sampled ? "-01" : "-00";
  return text;
}

// Format: version-traceid-spanid-flags. A later version may have more at the end.
std::optional<SpanContext> SpanContext::parse(std::string_view text) noexcept {
  constexpr std::size_t kLength = 55;
  if (text.size() < kLength || text[2] != '-' || text[35] != '-' || text[52] != '-') {
    return std::nullopt;
  }
  std::array<std::uint8_t, 1> version{};
  std::array<std::uint8_t, 1> flags{};
  SpanContext context;
  if (!readHex(text.substr(0, 2), version) || !readHex(text.substr(3, 32), context.traceId) ||
      !readHex(text.substr(36, 16), context.spanId) || !readHex(text.substr(53, 2), flags)) {
    return std::nullopt;
  }
  const bool more = text.size() > kLength;
  if (version[0] == 0xff || (more && (version[0] == 0 || text[kLength] != '-'))) {
    return std::nullopt;
  }
  context.sampled = (flags[0] & 1) != 0;
  if (!context.valid()) return std::nullopt;
  return context;
}

Span::~Span() = default;
Tracer::~Tracer() = default;

std::shared_ptr<Span> remoteSpan(std::string_view traceparent) {
  const auto context = SpanContext::parse(traceparent);
  return context ? std::make_shared<RemoteSpan>(*context) : nullptr;
}

const std::shared_ptr<Span>& detail::spanOfThread() noexcept { return ofThread(); }

SpanScope::SpanScope(std::shared_ptr<Span> span)
    : before_(std::exchange(ofThread(), std::move(span))) {}
SpanScope::~SpanScope() { ofThread() = std::move(before_); }

}  // namespace kube
