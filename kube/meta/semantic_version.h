// Versions of programs: "v1.30.2", "1.37.0-rc.1+abc".
//
//   const auto server = SemanticVersion::parse(discovery.serverVersion().gitVersion);
//   if (server >= SemanticVersion{1, 33}) ...
//
// Parsing takes a leading v, and a missing patch number. Comparing follows semver.org: a
// pre-release comes before its release, and build metadata do not count.
//
// Thread safety: as any C++ value.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kube {

struct SemanticVersion {
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
  std::uint32_t patch = 0;
  std::string preRelease = {};  // "rc.1"
  std::string build = {};       // "abc"

  /// Throws Error.
  static SemanticVersion parse(std::string_view text);
  static std::optional<SemanticVersion> tryParse(std::string_view text);

  /// "1.37.0-rc.1+abc"
  std::string str() const;

  friend std::weak_ordering operator<=>(const SemanticVersion& a, const SemanticVersion& b);
  friend bool operator==(const SemanticVersion& a, const SemanticVersion& b) {
    return (a <=> b) == 0;
  }
};

}  // namespace kube
