#include "cmd/kubexx/text_diff.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kube/base/internal/control_characters.h"

namespace kube::cmd {

namespace {

constexpr std::size_t kContext = 3;
constexpr std::size_t kMaxCells = std::size_t{1} << 26;  // of the table in compare()

struct Line {
  char sign;  // ' ', '-' or '+'
  std::string_view text;
};

std::vector<std::string_view> linesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

// Compares by the longest common subsequence of the lines between equal beginnings and ends.
std::vector<Line> compare(const std::vector<std::string_view>& a,
                          const std::vector<std::string_view>& b) {
  std::size_t start = 0;
  while (start < a.size() && start < b.size() && a[start] == b[start]) ++start;
  std::size_t end = 0;
  while (end < a.size() - start && end < b.size() - start &&
         a[a.size() - 1 - end] == b[b.size() - 1 - end]) {
    ++end;
  }
  const std::size_t n = a.size() - start - end;
  const std::size_t m = b.size() - start - end;

  std::vector<Line> lines;
  for (std::size_t i = 0; i < start; ++i) lines.push_back({' ', a[i]});
  const bool compared = (n + 1) * (m + 1) <= kMaxCells;
  std::vector<std::uint16_t> common(compared ? (n + 1) * (m + 1) : 0);
  const auto at = [&](std::size_t i, std::size_t j) -> std::uint16_t& {
    return common[i * (m + 1) + j];
  };
  if (compared) {
    for (std::size_t i = n; i-- > 0;) {
      for (std::size_t j = m; j-- > 0;) {
        at(i, j) = a[start + i] == b[start + j] ? static_cast<std::uint16_t>(at(i + 1, j + 1) + 1)
                                                : std::max(at(i + 1, j), at(i, j + 1));
      }
    }
  }
  std::size_t i = 0, j = 0;
  while (i < n || j < m) {
    if (compared && i < n && j < m && a[start + i] == b[start + j]) {
      lines.push_back({' ', a[start + i]});
      ++i, ++j;
    } else if (i < n && (j >= m || !compared || at(i + 1, j) >= at(i, j + 1))) {
      lines.push_back({'-', a[start + i++]});
    } else {
      lines.push_back({'+', b[start + j++]});
    }
  }
  for (std::size_t k = a.size() - end; k < a.size(); ++k) lines.push_back({' ', a[k]});
  return lines;
}

void print(const Line& line, bool colours, std::string& out) {
  if (!colours) {
    out += fmt::format("{}{}\n", line.sign, line.text);
    return;
  }
  const std::string text = kube::detail::withoutControls(line.text);
  if (line.sign == ' ') {
    out += fmt::format(" {}\n", text);
  } else {
    out += fmt::format("\x1b[{}m{}{}\x1b[0m\n", line.sign == '-' ? 31 : 32, line.sign, text);
  }
}

}  // namespace

std::string unifiedDiff(std::string_view before, std::string_view after,
                        std::string_view beforeName, std::string_view afterName, bool colours) {
  if (before == after) return {};
  const std::vector<Line> lines = compare(linesOf(before), linesOf(after));
  std::string out = fmt::format("--- {}\n+++ {}\n", beforeName, afterName);
  if (colours) out = kube::detail::withoutControls(out);
  std::size_t a = 0, b = 0;  // the number of lines of each text before `from`
  std::size_t from = 0;
  const auto advance = [&](std::size_t to) {
    for (; from < to; ++from) {
      a += lines[from].sign != '+' ? 1 : 0;
      b += lines[from].sign != '-' ? 1 : 0;
    }
  };
  std::size_t i = 0;
  while (i < lines.size()) {
    if (lines[i].sign == ' ') {
      ++i;
      continue;
    }
    // A hunk includes the next change if the context lines of both would touch.
    std::size_t last = i;
    for (std::size_t k = i; k < lines.size() && k <= last + 2 * kContext; ++k) {
      if (lines[k].sign != ' ') last = k;
    }
    const std::size_t begin = i < kContext ? 0 : std::max(from, i - kContext);
    const std::size_t end = std::min(lines.size(), last + kContext + 1);
    advance(begin);
    std::size_t countA = 0, countB = 0;
    for (std::size_t k = begin; k < end; ++k) {
      countA += lines[k].sign != '+' ? 1 : 0;
      countB += lines[k].sign != '-' ? 1 : 0;
    }
    out += fmt::format("@@ -{},{} +{},{} @@\n", countA == 0 ? a : a + 1, countA,
                       countB == 0 ? b : b + 1, countB);
    for (std::size_t k = begin; k < end; ++k) print(lines[k], colours, out);
    advance(end);
    i = end;
  }
  return out;
}

}  // namespace kube::cmd
