// Joins texts. fmt::join would do the same, but takes seconds to compile.
#pragma once

#include <string>
#include <string_view>

namespace kube {

/// The parts with a separator between them; `part` converts an item to a string.
template <class Range, class Part>
std::string joined(const Range& range, std::string_view separator, Part part) {
  std::string out;
  bool first = true;
  for (const auto& item : range) {
    if (!first) out += separator;
    first = false;
    out += std::string_view(part(item));
  }
  return out;
}

template <class Range>
std::string joined(const Range& range, std::string_view separator) {
  return joined(range, separator, [](const auto& item) -> std::string_view { return item; });
}

}  // namespace kube
