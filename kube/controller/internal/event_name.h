// Names for events.
#pragma once

#include <string>
#include <string_view>

#include "kube/base/clock.h"

namespace kube {

/// That of the object with the time behind it, in hexadecimal nanoseconds; something random where
/// that would be no name. No two names of a process are the same.
std::string eventName(std::string_view objectName, const Clock& clock);

}  // namespace kube
