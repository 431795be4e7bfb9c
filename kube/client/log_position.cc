#include "kube/client/log_position.h"

#include <algorithm>
#include <utility>

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
      if (c < '0' || c > '9' || digits == kFraction) break;
      instant.nanos = instant.nanos * 10 + static_cast<std::uint32_t>(c - '0');
      ++digits;
    }
  }
  for (; digits < kFraction; ++digits) instant.nanos *= 10;
  return instant;
}

bool LogPosition::isOld(const Instant& instant) {
  if (!resuming_) return false;
  if (instant < last_) return true;
  if (instant == last_ && skip_ > 0) {
    --skip_;
    return true;
  }
  resuming_ = false;
  return false;
}

std::optional<std::string_view> LogPosition::accept(std::string_view line) {
  const std::size_t space = std::min(line.find(' '), line.size());
  const auto instant = parse(line.substr(0, space));
  if (!instant) {
    if (resuming_ && skipped_) return std::nullopt;
    return line;
  }
  skipped_ = isOld(*instant);
  if (skipped_) return std::nullopt;
  seen_ = *instant == last_ ? seen_ + 1 : 1;
  last_ = *instant;
  if (!keepTimestamps_) line.remove_prefix(std::min(space + 1, line.size()));
  return line;
}

void LogPosition::resume() {
  resuming_ = true;
  skipped_ = false;
  skip_ = seen_;
}

}  // namespace kube::detail
