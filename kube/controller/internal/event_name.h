// Names for events.
#pragma once

#include <string>
#include <string_view>

#include "kube/base/clock.h"

namespace kube {

/// Returns the object's name followed by the time in hexadecimal nanoseconds, or a random name
/// where that would not be a valid name. No two names of a process are equal.
std::string eventName(std::string_view objectName, const Clock& clock);

}  // namespace kube
