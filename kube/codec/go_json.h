// JSON to the letter as Go's encoder writes it, and so kubectl: careful about HTML, with names for
// two more control characters. It says the same as toJson().
#pragma once

#include <string>

#include "kube/meta/value.h"

namespace kube {

std::string toGoJson(const Value& value, int indent = 0);

}  // namespace kube
