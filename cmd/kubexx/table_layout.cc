#include "cmd/kubexx/table_layout.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "kube/base/internal/control_characters.h"

namespace kube::cmd {

namespace {

constexpr std::size_t kMinWidth = 6;
constexpr std::size_t kPadding = 3;

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string_view escapeOf(Style style) {
  switch (style) {
    case Style::Plain:
      return {};
    case Style::Header:
      return "\x1b[1m";
    case Style::Good:
      return "\x1b[32m";
    case Style::Busy:
      return "\x1b[33m";
    case Style::Bad:
      return "\x1b[31m";
    case Style::Faint:
      return "\x1b[2m";
  }
  return {};
}

}  // namespace

void TableLayout::row(std::vector<Cell> cells) {
  std::vector<Cell> split;
  for (Cell& cell : cells) {
    // Controls are replaced before widths are counted.
    if (kube::detail::findControl(cell.text).at != std::string::npos) {
      cell.text = kube::detail::withoutControls(cell.text);
    }
    std::size_t tab;
    while ((tab = cell.text.find('\t')) != std::string::npos) {
      split.push_back({cell.text.substr(0, tab), cell.style});
      cell.text.erase(0, tab + 1);
    }
    split.push_back(std::move(cell));
  }
  rows_.push_back(std::move(split));
}

std::string TableLayout::flush() {
  std::string out;
  format(0, rows_.size(), out);
  rows_.clear();
  return out;
}

// Finds blocks of adjacent rows that have the next column, and lays out each block's further
// columns in the same way. A row's last cell belongs to no column.
void TableLayout::format(std::size_t from, std::size_t to, std::string& out) {
  const std::size_t column = widths_.size();
  const auto has = [&](std::size_t i) { return column + 1 < rows_[i].size(); };
  for (std::size_t i = from; i < to; ++i) {
    if (!has(i)) continue;
    write(from, i, out);
    from = i;
    std::size_t width = kMinWidth;
    for (; i < to && has(i); ++i) {
      width = std::max(width, characters(rows_[i][column].text) + kPadding);
    }
    if (remembered_.size() <= column) {
      remembered_.push_back(width);
    } else {
      width = remembered_[column] = std::max(remembered_[column], width);
    }
    widths_.push_back(width);
    format(from, i, out);
    widths_.pop_back();
    from = i;
  }
  write(from, to, out);
}

void TableLayout::write(std::size_t from, std::size_t to, std::string& out) const {
  for (std::size_t i = from; i < to; ++i) {
    for (std::size_t j = 0; j < rows_[i].size(); ++j) {
      const Cell& cell = rows_[i][j];
      const bool styled = colours_ && cell.style != Style::Plain && !cell.text.empty();
      if (styled) out += escapeOf(cell.style);
      out += cell.text;
      if (styled) out += "\x1b[0m";
      if (j >= widths_.size()) continue;
      const std::size_t width = characters(cell.text);
      if (width < widths_[j]) out.append(widths_[j] - width, ' ');
    }
    out += '\n';
  }
}

Style styleOfStatus(std::string_view status) {
  constexpr std::array<std::string_view, 10> kGood{
      "Running",  "Active",    "Ready",     "Bound",     "True",
      "Complete", "Completed", "Succeeded", "Available", "Approved,Issued"};
  constexpr std::array<std::string_view, 6> kBusy{
      "Pending", "ContainerCreating", "Terminating", "PodInitializing", "Released", "Warning"};
  constexpr std::array<std::string_view, 8> kBad{"Error",   "Failed", "BackOff", "NotReady",
                                                 "Evicted", "Lost",   "OOM",     "ErrImage"};
  if (std::ranges::find(kGood, status) != kGood.end()) return Style::Good;
  if (std::ranges::find(kBusy, status) != kBusy.end()) return Style::Busy;
  const bool bad = std::ranges::any_of(
      kBad, [&](std::string_view word) { return status.find(word) != std::string_view::npos; });
  return bad ? Style::Bad : Style::Plain;
}

}  // namespace kube::cmd
