// Checks the schedule of a CronJob.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kube::apiserver::rules {

/// The error in a schedule such as "*/5 0 1,15 * mon-fri" or "@hourly", in the words of upstream's
/// parser; empty for a valid schedule.
std::optional<std::string> scheduleProblem(std::string_view schedule);

}  // namespace kube::apiserver::rules
