#include "kube/apiserver/rules/built_in_cron.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <vector>

#include "kube/base/error.h"
#include "kube/base/internal/text.h"
#include "kube/base/joined.h"
#include "kube/meta/time.h"

namespace kube::apiserver::rules {

namespace {

using Problem = std::optional<std::string>;

constexpr std::array<std::string_view, 12> kMonths = {"jan", "feb", "mar", "apr", "may", "jun",
                                                      "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr std::array<std::string_view, 7> kDays = {"sun", "mon", "tue", "wed", "thu", "fri", "sat"};

/// The values of a field of the schedule; the first of the names is the least value.
struct Bounds {
  unsigned min;
  unsigned max;
  std::span<const std::string_view> names = {};
};

constexpr std::array<Bounds, 5> kFields = {
    {{0, 59}, {0, 23}, {1, 31}, {1, 12, kMonths}, {0, 6, kDays}}};

std::vector<std::string_view> split(std::string_view text, std::string_view separators,
                                    bool dropEmpty) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find_first_of(separators);
    const std::string_view part = text.substr(0, end);
    if (!part.empty() || !dropEmpty) parts.push_back(part);
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

Problem readNumber(std::string_view text, unsigned& number) {
  std::int64_t value = 0;
  const std::string_view digits = text.starts_with('+') ? text.substr(1) : text;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc::result_out_of_range) {
    return fmt::format(
        "failed to parse int from {}: strconv.Atoi: parsing \"{}\": value out of range", text,
        text);
  }
  if (error != std::errc() || end != digits.data() + digits.size()) {
    return fmt::format("failed to parse int from {}: strconv.Atoi: parsing \"{}\": invalid syntax",
                       text, text);
  }
  if (value < 0) return fmt::format("negative number ({}) not allowed: {}", value, text);
  number = static_cast<unsigned>(std::min<std::int64_t>(value, 1'000'000));
  return std::nullopt;
}

Problem readNumberOrName(std::string_view text, const Bounds& bounds, unsigned& number) {
  for (std::size_t i = 0; i < bounds.names.size(); ++i) {
    if (!detail::equalIgnoringCase(bounds.names[i], text)) continue;
    number = bounds.min + static_cast<unsigned>(i);
    return std::nullopt;
  }
  return readNumber(text, number);
}

/// Checks one part of a field: "*", "5", "1-5", "*/10", "mon-fri/2".
Problem rangeProblem(std::string_view range, const Bounds& bounds) {
  const auto steps = split(range, "/", false);
  const auto ends = split(steps[0], "-", false);
  unsigned start = bounds.min;
  unsigned end = bounds.max;
  if (ends[0] != "*" && ends[0] != "?") {
    if (Problem problem = readNumberOrName(ends[0], bounds, start)) return problem;
    end = start;
    if (ends.size() > 2) return fmt::format("too many hyphens: {}", range);
    if (ends.size() == 2) {
      if (Problem problem = readNumberOrName(ends[1], bounds, end)) return problem;
    }
  }
  unsigned step = 1;
  if (steps.size() > 2) return fmt::format("too many slashes: {}", range);
  if (steps.size() == 2) {
    if (Problem problem = readNumber(steps[1], step)) return problem;
    if (ends.size() == 1) end = bounds.max;  // "5/10" goes on to the end
  }
  if (start < bounds.min) {
    return fmt::format("beginning of range ({}) below minimum ({}): {}", start, bounds.min, range);
  }
  if (end > bounds.max) {
    return fmt::format("end of range ({}) above maximum ({}): {}", end, bounds.max, range);
  }
  if (start > end) {
    return fmt::format("beginning of range ({}) beyond end of range ({}): {}", start, end, range);
  }
  if (step == 0) return fmt::format("step of range should be a positive number: {}", range);
  return std::nullopt;
}

Problem descriptorProblem(std::string_view text) {
  constexpr std::array<std::string_view, 7> kDescriptors = {
      "@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"};
  if (std::find(kDescriptors.begin(), kDescriptors.end(), text) != kDescriptors.end()) {
    return std::nullopt;
  }
  constexpr std::string_view kEvery = "@every ";
  if (!text.starts_with(kEvery)) return fmt::format("unrecognized descriptor: {}", text);
  try {
    Duration::parse(text.substr(kEvery.size()));
  } catch (const Error&) {
    return fmt::format("failed to parse duration {}: time: invalid duration \"{}\"", text,
                       text.substr(kEvery.size()));
  }
  return std::nullopt;
}

}  // namespace

Problem scheduleProblem(std::string_view schedule) {
  constexpr std::string_view kSpace = " \t\n\v\f\r";
  if (schedule.empty()) return "empty spec string";
  if (schedule.starts_with("TZ=") || schedule.starts_with("CRON_TZ=")) {
    // The time zone itself is not checked: a CronJob must not have one here.
    const std::size_t space = schedule.find(' ');
    if (space == std::string_view::npos) {
      return "invalid schedule format: runtime error: slice bounds out of range [:-1]";
    }
    schedule.remove_prefix(space);
    schedule.remove_prefix(std::min(schedule.find_first_not_of(kSpace), schedule.size()));
  }
  if (schedule.starts_with('@')) return descriptorProblem(schedule);
  const auto fields = split(schedule, kSpace, true);
  if (fields.size() != kFields.size()) {
    return fmt::format("expected exactly 5 fields, found {}: [{}]", fields.size(),
                       joined(fields, " "));
  }
  for (std::size_t i = 0; i < fields.size(); ++i) {
    for (std::string_view range : split(fields[i], ",", true)) {
      if (Problem problem = rangeProblem(range, kFields[i])) return problem;
    }
  }
  return std::nullopt;
}

}  // namespace kube::apiserver::rules
