#include "cmd/kubexx/suggestion.h"

#include <algorithm>
#include <vector>

namespace kube::cmd {

namespace {

// The number of letters that were added, left out, replaced or swapped with their neighbour.
std::size_t distance(std::string_view a, std::string_view b) {
  const std::size_t width = b.size() + 1;
  std::vector<std::size_t> cells((a.size() + 1) * width);
  const auto at = [&](std::size_t i, std::size_t j) -> std::size_t& {
    return cells[i * width + j];
  };
  for (std::size_t i = 0; i <= a.size(); ++i) at(i, 0) = i;
  for (std::size_t j = 0; j <= b.size(); ++j) at(0, j) = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      at(i, j) = std::min(
          {at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        at(i, j) = std::min(at(i, j), at(i - 2, j - 2) + 1);
      }
    }
  }
  return cells.back();
}

}  // namespace

std::string nearest(std::string_view word, std::span<const std::string> known) {
  constexpr std::size_t kLongest = 32;
  if (word.empty() || word.size() > kLongest) return {};
  std::string best;
  // At most a third of the letters may differ, and always one.
  std::size_t least = std::max<std::size_t>(word.size() / 3, 1) + 1;
  for (const std::string& each : known) {
    // The word may be an abbreviation.
    if (word.size() > 1 && each.starts_with(word)) return each;
    const std::size_t far = distance(word, each);
    if (far < least && far < each.size()) {
      least = far;
      best = each;
    }
  }
  return best;
}

}  // namespace kube::cmd
