// The position up to which a log with timestamps has been read. It allows to continue from there
// without losing or repeating a line.
//
// A server can be asked for lines since a second. So lines of that second are sent again, and are
// recognized by their full timestamps. Lines of the last instant are old up to the line that was
// read last, which is known by its text and the number of equal lines.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "kube/meta/time.h"

namespace kube::detail {

class LogPosition {
 public:
  /// `keepTimestamps`: lines are returned with their timestamps, otherwise without.
  explicit LogPosition(bool keepTimestamps) : keepTimestamps_(keepTimestamps) {}

  /// Returns the line, or none if it was read before the log was opened again. A line without a
  /// timestamp belongs to the line before.
  std::optional<std::string_view> accept(std::string_view line);

  /// Call this when the log was opened again, for lines since().
  void resume();
  /// The second of the last line; zero before the first line.
  Time since() const { return last_.time; }

 private:
  struct Instant {
    Time time = {};
    std::uint32_t nanos = 0;
    auto operator<=>(const Instant&) const = default;
  };
  static std::optional<Instant> parse(std::string_view text);

  bool isOld(const Instant& instant, std::size_t text);
  void seen(const Instant& instant, std::size_t text);

  const bool keepTimestamps_;
  Instant last_;
  std::unordered_map<std::size_t, std::uint32_t> counts_;  // of that instant's lines, by hash
  std::size_t lastText_ = 0;                               // the hash of the last one
  std::uint32_t skip_ = 0;  // number of lines like the last one that will be repeated
  bool resuming_ = false;   // no new line since resume()
  bool skipped_ = false;    // the previous line was old
};

}  // namespace kube::detail
