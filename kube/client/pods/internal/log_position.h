// How far a log with timestamps has been read, so that it can be read on from there without losing
// or repeating a line.
//
// A server can be asked for what came since a second. So lines of that second come again, and are
// told by their full timestamps; those of the last instant are old up to the line that was seen
// last, which is known by its text and by how many like it there were.
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
  /// `keepTimestamps`: lines come out as they are, otherwise without.
  explicit LogPosition(bool keepTimestamps) : keepTimestamps_(keepTimestamps) {}

  /// The line, or none if it was seen before the log was opened again. A line without a timestamp
  /// belongs to the one before.
  std::optional<std::string_view> accept(std::string_view line);

  /// The log was opened again, for what came since().
  void resume();
  /// Zero before the first line.
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
  std::unordered_map<std::size_t, std::uint32_t> counts_;  // of that instant's lines, by their hash
  std::size_t lastText_ = 0;                               // the hash of the last one
  std::uint32_t skip_ = 0;  // so many like the last one are to come again
  bool resuming_ = false;   // nothing new has come since
  bool skipped_ = false;    // the line before was old
};

}  // namespace kube::detail
