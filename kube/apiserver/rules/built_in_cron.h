// Whether a CronJob's schedule can be read.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kube::apiserver::rules {

/// What is wrong with a schedule such as "*/5 0 1,15 * mon-fri" or "@hourly", in the words of the
/// parser that upstream uses; nothing for a good one.
std::optional<std::string> scheduleProblem(std::string_view schedule);

}  // namespace kube::apiserver::rules
