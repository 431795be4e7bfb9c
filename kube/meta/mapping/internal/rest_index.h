// An index of mappings by resource name and by kind, with one hash lookup each, in order of rank.
// DefaultRestMapper and StaticRestMapper are built on it.
//
// For these two only. Any thread may read once everything is added.
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

/// A map by String that is looked up by any text.
template <class V>
using StringMap = std::unordered_map<String, V, StringHash, std::equal_to<>>;

/// Lower ranks are better. kLastRank is for versions that are not preferred.
using RestRank = std::uint32_t;
inline constexpr RestRank kLastRank = std::numeric_limits<RestRank>::max();

class RestIndex {
 public:
  struct Entry {
    RestMapping mapping;
    String singular;
    RestRank rank = kLastRank;
  };

  /// Replaces an entry with the same resource name or kind in that group and version.
  void add(RestMapping mapping, String singular, RestRank rank);

  /// The entries for a partial resource, by rank; each plural at most once. Throws Error if the
  /// resource has no name.
  std::vector<const Entry*> ofResource(const GroupVersionResource& partial) const;

  /// All entries of a kind, by rank.
  std::vector<const Entry*> ofKind(const GroupKind& kind) const;
  const Entry* ofKind(const GroupKind& kind, std::string_view version) const;

  /// The singular on which all resources of this name agree. Throws Error if they do not.
  std::optional<String> singularOf(std::string_view resource) const;

 private:
  using Positions = std::vector<std::uint32_t>;  // in entries_, by rank
  /// Inserts the last entry, and removes the entries for which `same` holds.
  template <class Same>
  void put(Positions& positions, Same same);

  std::vector<Entry> entries_;
  StringMap<Positions> byName_;  // plural and singular
  std::unordered_map<GroupKind, Positions> byKind_;
};

/// "__internal" is not a version, and "" means any.
inline bool namesVersion(std::string_view version) noexcept {
  return !version.empty() && version != "__internal";
}

}  // namespace kube::detail
