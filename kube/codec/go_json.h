// JSON exactly as Go's encoder writes it, and therefore kubectl: it escapes characters that HTML
// reserves, and has short escapes for two more control characters. The text means the same as
// toJson()'s.
#pragma once

#include <string>

#include "kube/meta/value.h"

namespace kube {

std::string toGoJson(const Value& value, int indent = 0);

}  // namespace kube
