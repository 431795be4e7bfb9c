// Lays out rows of cells in columns, exactly as Go's tabwriter does for kubectl: a column is as
// wide as its longest cell and at least six characters, with three spaces between columns and none
// after the last.
//
//   TableLayout layout;
//   layout.row({{"NAME"}, {"AGE"}});
//   layout.row({{"web-1"}, {"5m"}});
//   std::string text = layout.flush();
//
// Adjacent rows that have a column share its width; a row without it ends the column. Rows after a
// flush() keep at least the widths of earlier rows.
//
// Thread safety: one thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kube::cmd {

enum class Style : std::uint8_t { Plain, Header, Good, Busy, Bad, Faint };

struct Cell {
  std::string text = {};
  Style style = Style::Plain;
};

class TableLayout {
 public:
  explicit TableLayout(bool colours = false) : colours_(colours) {}

  /// Adds a row. A tab in a text begins a new cell. Control characters are written as words.
  void row(std::vector<Cell> cells);
  /// Returns the rows that were added since the last call.
  std::string flush();
  /// Begins another table, with widths of its own.
  void forgetWidths() { remembered_.clear(); }

 private:
  void format(std::size_t from, std::size_t to, std::string& out);
  void write(std::size_t from, std::size_t to, std::string& out) const;

  const bool colours_;
  std::vector<std::vector<Cell>> rows_;
  std::vector<std::size_t> widths_;      // of the columns that format() is in
  std::vector<std::size_t> remembered_;  // of all columns so far
};

/// The style of a status such as "Running" or "CrashLoopBackOff".
Style styleOfStatus(std::string_view status);

}  // namespace kube::cmd
