// Mappings found by resource name or by kind in one look-up each, in the order of their rank: what
// DefaultRestMapper and StaticRestMapper are made of.
//
// A part of those two, not for use by itself. Any thread may read once all is added.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kube/meta/mapping/rest_mapper.h"

namespace kube::detail {

struct StringHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const noexcept {
    return std::hash<std::string_view>{}(text);
  }
};

/// By String, looked up by any text.
template <class V>
using StringMap = std::unordered_map<String, V, StringHash, std::equal_to<>>;

/// The lower, the better. Last is for what nobody prefers.
using RestRank = std::uint32_t;
inline constexpr RestRank kLastRank = std::numeric_limits<RestRank>::max();

class RestIndex {
 public:
  struct Entry {
    RestMapping mapping;
    String singular;
    RestRank rank = kLastRank;
  };

  /// A resource name or kind that is there already in that group and version becomes this one's.
  void add(RestMapping mapping, String singular, RestRank rank);

  /// Those of a partial resource by rank; each resource in its plural at most once. Throws Error if
  /// the resource has no name.
  std::vector<const Entry*> ofResource(const GroupVersionResource& partial) const;

  /// All of a kind by rank.
  std::vector<const Entry*> ofKind(const GroupKind& kind) const;
  const Entry* ofKind(const GroupKind& kind, std::string_view version) const;

  /// The singular on which all resources of this name agree. Throws Error if they do not.
  std::optional<String> singularOf(std::string_view resource) const;

 private:
  using Positions = std::vector<std::uint32_t>;  // in entries_, by rank
  /// Puts the last entry among these, in place of the one that is the `same`.
  template <class Same>
  void put(Positions& positions, Same same);

  std::vector<Entry> entries_;
  StringMap<Positions> byName_;  // plural and singular
  std::unordered_map<GroupKind, Positions> byKind_;
};

/// "__internal" is no version, and "" none in particular.
inline bool namesVersion(std::string_view version) noexcept {
  return !version.empty() && version != "__internal";
}

std::string lowerCase(std::string_view text);

}  // namespace kube::detail
