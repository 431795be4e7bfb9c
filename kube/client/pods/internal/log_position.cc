#include "kube/client/pods/internal/log_position.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "kube/base/internal/text.h"

namespace kube::detail {

// 2006-01-02T15:04:05.999999999Z
std::optional<LogPosition::Instant> LogPosition::parse(std::string_view text) {
  constexpr std::size_t kFraction = 9;
  Instant instant;
  if (!Time::tryParse(text, instant.time)) return std::nullopt;
  const std::size_t dot = text.find_first_of(".,");
  std::size_t digits = 0;
  if (dot != std::string_view::npos) {
    for (const char c : text.substr(dot + 1)) {
      if (!isDigit(c) || digits == kFraction) break;
      instant.nanos = instant.nanos * 10 + static_cast<std::uint32_t>(c - '0');
      ++digits;
    }
  }
  for (; digits < kFraction; ++digits) instant.nanos *= 10;
  return instant;
}

bool LogPosition::isOld(const Instant& instant, std::size_t text) {
  if (!resuming_) return false;
  if (instant < last_) return true;
  if (instant == last_ && skip_ > 0) {
    if (text == lastText_) --skip_;
    return true;
  }
  resuming_ = false;
  return false;
}

void LogPosition::seen(const Instant& instant, std::size_t text) {
  constexpr std::size_t kMaxCounts = 1 << 16;
  if (instant != last_ || counts_.size() >= kMaxCounts) counts_.clear();
  last_ = instant;
  lastText_ = text;
  ++counts_[text];
}

std::optional<std::string_view> LogPosition::accept(std::string_view line) {
  const std::size_t space = std::min(line.find(' '), line.size());
  const auto instant = parse(line.substr(0, space));
  if (!instant) {
    if (resuming_ && skipped_) return std::nullopt;
    return line;
  }
  const std::size_t text = std::hash<std::string_view>{}(line.substr(space));
  skipped_ = isOld(*instant, text);
  if (skipped_) return std::nullopt;
  seen(*instant, text);
  if (!keepTimestamps_) line.remove_prefix(std::min(space + 1, line.size()));
  return line;
}

void LogPosition::resume() {
  resuming_ = true;
  skipped_ = false;
  skip_ = counts_.empty() ? 0 : counts_[lastText_];
}

}  // namespace kube::detail
