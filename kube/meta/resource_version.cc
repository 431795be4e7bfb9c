#include "kube/meta/resource_version.h"

#include <fmt/core.h>

#include <algorithm>

#include "kube/base/error.h"

namespace kube {

bool isResourceVersion(std::string_view text) noexcept {
  return !text.empty() && text[0] != '0' &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

std::optional<std::strong_ordering> tryCompareResourceVersions(std::string_view a,
                                                               std::string_view b) noexcept {
  if (!isResourceVersion(a) || !isResourceVersion(b)) return std::nullopt;
  if (a.size() != b.size()) return a.size() <=> b.size();
  return a <=> b;
}

std::strong_ordering compareResourceVersions(std::string_view a, std::string_view b) {
  const auto order = tryCompareResourceVersions(a, b);
  if (order) return *order;
  throw Error(fmt::format("resource version \"{}\": it cannot be compared: it is not a number",
                          isResourceVersion(a) ? b : a));
}

}  // namespace kube
