// Helpers of the tests of reading and of writing YAML.
#pragma once

#include <string>
#include <string_view>

namespace kube {

inline std::string repeat(std::string_view text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

}  // namespace kube
