// How far a log with timestamps has been read, so that it can be read on from there without losing
// or repeating a line.
//
// A server can be asked for what came since a second; lines of that second that were seen before
// come again, and are told by their full timestamps, and those of one instant by their number.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

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

  bool isOld(const Instant& instant);

  const bool keepTimestamps_;
  Instant last_;
  std::uint64_t seen_ = 0;  // lines of that instant
  std::uint64_t skip_ = 0;  // of them, to come again
  bool resuming_ = false;   // nothing new has come since
  bool skipped_ = false;    // the line before was old
};

}  // namespace kube::detail
