// Comparison of resource versions: tells which of two states of a resource's objects is newer.
//
//   if (compareResourceVersions(pod.metadata.resourceVersion, written) >= 0) ...   // new enough
//
// The server increases the version with every change, so versions of the same resource can be
// compared, also those of different objects and of lists. Versions of different resources cannot.
// A version is a decimal number of any length, without leading zeros. Others, such as "" and "0",
// which requests use with a meaning of their own, have no order.
//
// Thread safety: functions of their arguments.
#pragma once

#include <compare>
#include <optional>
#include <string_view>

namespace kube {

/// Returns whether the text is a version that can be compared.
bool isResourceVersion(std::string_view text) noexcept;

/// Throws Error if one of the two is not a version.
std::strong_ordering compareResourceVersions(std::string_view a, std::string_view b);
/// Returns none if one of the two is not a version.
std::optional<std::strong_ordering> tryCompareResourceVersions(std::string_view a,
                                                               std::string_view b) noexcept;

}  // namespace kube
