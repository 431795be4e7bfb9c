#include "kube/meta/internal/human_duration.h"

#include <fmt/core.h>

namespace kube::detail {

namespace {

// "5m30s", or "5m" if the second part is zero.
std::string twoParts(std::int64_t large, char largeUnit, std::int64_t small, char smallUnit) {
  if (small == 0) return fmt::format("{}{}", large, largeUnit);
  return fmt::format("{}{}{}{}", large, largeUnit, small, smallUnit);
}

}  // namespace

std::string humanDuration(std::chrono::microseconds duration) {
  const std::int64_t seconds = std::chrono::duration_cast<std::chrono::seconds>(duration).count();
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 2 * 60) return fmt::format("{}s", seconds);
  const std::int64_t minutes = seconds / 60;
  if (minutes < 10) return twoParts(minutes, 'm', seconds % 60, 's');
  if (minutes < 3 * 60) return fmt::format("{}m", minutes);
  const std::int64_t hours = minutes / 60;
  if (hours < 8) return twoParts(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return fmt::format("{}h", hours);
  const std::int64_t days = hours / 24;
  if (days < 8) return twoParts(days, 'd', hours % 24, 'h');
  if (days < 2 * 365) return fmt::format("{}d", days);
  const std::int64_t years = days / 365;
  if (years < 8) return twoParts(years, 'y', days % 365, 'd');
  return fmt::format("{}y", years);
}

std::string humanAge(Time since, Clock::WallTime now) { return humanAge(MicroTime(since), now); }

std::string humanAge(MicroTime since, Clock::WallTime now) {
  if (!since) return "<unknown>";
  return humanDuration(MicroTime(now) - since);
}

}  // namespace kube::detail
