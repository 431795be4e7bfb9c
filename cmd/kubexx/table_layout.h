// Rows of cells in columns that are as wide as they have to be, exactly as Go's tabwriter lays them
// out for kubectl: three spaces between columns, none behind the last, six characters at least.
//
//   TableLayout layout;
//   layout.row({{"NAME"}, {"AGE"}});
//   layout.row({{"web-1"}, {"5m"}});
//   std::string text = layout.flush();
//
// A column's width is that of the rows above and below it that have such a column. What is written
// after a flush() keeps to the widths there were.
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

  /// A tab in a text begins a new cell. Control characters are put into words.
  void row(std::vector<Cell> cells);
  /// The rows that were added since the last time.
  std::string flush();
  /// What is added from here on is another table.
  void forgetWidths() { remembered_.clear(); }

 private:
  void format(std::size_t from, std::size_t to, std::string& out);
  void write(std::size_t from, std::size_t to, std::string& out) const;

  const bool colours_;
  std::vector<std::vector<Cell>> rows_;
  std::vector<std::size_t> widths_;  // of the columns that are being laid out
  std::vector<std::size_t> remembered_;
};

/// How a word as "Running" or "CrashLoopBackOff" is shown.
Style styleOfStatus(std::string_view status);

}  // namespace kube::cmd
