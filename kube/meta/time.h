// The times of the API: Time (whole seconds), MicroTime (microseconds) and Duration (nanoseconds).
//
// Each is one int64 and a plain value. Time and MicroTime count from 0001-01-01T00:00:00Z, so that
// zeroed memory is Go's zero time, which means "absent" in the API (JSON null): test with isZero()
// or `if (time)`. They hold an instant, always print in UTC, and never remember an offset. Duration
// reads and prints as Go's time.Duration ("1h0m0s") and converts to and from std::chrono.
//
// All arithmetic saturates. Thread safety: that of an int.
#pragma once

#include <chrono>
#include <compare>
#include <concepts>
#include <cstdint>
#include <iosfwd>
#include <limits>
#include <string>
#include <string_view>

#include "kube/base/internal/text_formatter.h"

namespace kube {

class MicroTime;

namespace detail {
/// Seconds from year 1 to the Unix epoch.
inline constexpr std::int64_t kUnixEpoch = 62135596800;

constexpr std::int64_t saturatingAdd(std::int64_t a, std::int64_t b) noexcept {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b < 0 ? std::numeric_limits<std::int64_t>::min()
               : std::numeric_limits<std::int64_t>::max();
}
constexpr std::int64_t saturatingSub(std::int64_t a, std::int64_t b) noexcept {
  std::int64_t difference = 0;
  if (!__builtin_sub_overflow(a, b, &difference)) return difference;
  return b > 0 ? std::numeric_limits<std::int64_t>::min()
               : std::numeric_limits<std::int64_t>::max();
}
}  // namespace detail

/// An instant to the second, "2006-01-02T15:04:05Z" in JSON: metav1.Time.
class Time {
 public:
  /// The greatest length that print() writes.
  static constexpr std::size_t kMaxText = 32;

  constexpr Time() noexcept = default;
  template <class D>
  constexpr Time(std::chrono::sys_time<D> time) noexcept  // NOLINT: implicit by design
      : Time(fromUnix(std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count())) {}
  explicit Time(MicroTime time) noexcept;

  static Time now() { return std::chrono::system_clock::now(); }
  static constexpr Time fromUnix(std::int64_t seconds) noexcept {
    Time time;
    time.seconds_ = detail::saturatingAdd(seconds, detail::kUnixEpoch);
    return time;
  }

  /// Parses RFC 3339 as Go's time.Parse does: with 'T' and 'Z' in capitals, any offset, and any
  /// fraction of a second (dropped); also a one-digit hour and a comma before the fraction. Throws
  /// DecodeError.
  static Time parse(std::string_view text);
  static bool tryParse(std::string_view text, Time& out) noexcept;

  constexpr std::int64_t unixSeconds() const noexcept {
    return detail::saturatingSub(seconds_, detail::kUnixEpoch);
  }
  /// Times outside the range of system_clock (1677 to 2262 if it counts nanoseconds) become its
  /// bounds.
  std::chrono::system_clock::time_point timePoint() const noexcept;

  constexpr bool isZero() const noexcept { return seconds_ == 0; }
  constexpr explicit operator bool() const noexcept { return seconds_ != 0; }

  /// Writes "2006-01-02T15:04:05Z" without a terminating zero; returns the end.
  char* print(char* out) const noexcept;
  void appendTo(std::string& out) const;
  std::string str() const;

  friend constexpr auto operator<=>(Time, Time) noexcept = default;
  friend constexpr Time operator+(Time time, std::chrono::seconds by) noexcept {
    time.seconds_ = detail::saturatingAdd(time.seconds_, by.count());
    return time;
  }
  friend constexpr Time operator-(Time time, std::chrono::seconds by) noexcept {
    time.seconds_ = detail::saturatingSub(time.seconds_, by.count());
    return time;
  }
  friend constexpr std::chrono::seconds operator-(Time a, Time b) noexcept {
    return std::chrono::seconds(detail::saturatingSub(a.seconds_, b.seconds_));
  }
  friend std::ostream& operator<<(std::ostream& out, Time time);

 private:
  std::int64_t seconds_ = 0;
};

/// An instant to the microsecond, "2006-01-02T15:04:05.000000Z" in JSON: metav1.MicroTime.
class MicroTime {
 public:
  static constexpr std::size_t kMaxText = 32;

  constexpr MicroTime() noexcept = default;
  template <class D>
  constexpr MicroTime(std::chrono::sys_time<D> time) noexcept  // NOLINT: implicit by design
      : micros_(detail::saturatingAdd(
            std::chrono::floor<std::chrono::microseconds>(time).time_since_epoch().count(),
            detail::kUnixEpoch * 1'000'000)) {}
  explicit MicroTime(Time time) noexcept : MicroTime(fromUnix(time.unixSeconds())) {}

  static MicroTime now() { return std::chrono::system_clock::now(); }
  /// `nanos` counts forward from `seconds`, as in a protobuf Timestamp; fractions of a microsecond
  /// are dropped.
  static MicroTime fromUnix(std::int64_t seconds, std::int32_t nanos = 0) noexcept;

  /// As Time::parse, but with exactly six digits after the point: other forms are an error, as in
  /// every API server. Throws DecodeError.
  static MicroTime parse(std::string_view text);
  static bool tryParse(std::string_view text, MicroTime& out) noexcept;

  std::int64_t unixSeconds() const noexcept;
  /// The part below a second, 0 to 999,999,000.
  std::int32_t nanos() const noexcept;
  /// Times outside the range of system_clock become its bounds.
  std::chrono::system_clock::time_point timePoint() const noexcept;

  constexpr bool isZero() const noexcept { return micros_ == 0; }
  constexpr explicit operator bool() const noexcept { return micros_ != 0; }

  char* print(char* out) const noexcept;
  void appendTo(std::string& out) const;
  std::string str() const;

  friend constexpr auto operator<=>(MicroTime, MicroTime) noexcept = default;
  friend constexpr MicroTime operator+(MicroTime time, std::chrono::microseconds by) noexcept {
    time.micros_ = detail::saturatingAdd(time.micros_, by.count());
    return time;
  }
  friend constexpr MicroTime operator-(MicroTime time, std::chrono::microseconds by) noexcept {
    time.micros_ = detail::saturatingSub(time.micros_, by.count());
    return time;
  }
  friend constexpr std::chrono::microseconds operator-(MicroTime a, MicroTime b) noexcept {
    return std::chrono::microseconds(detail::saturatingSub(a.micros_, b.micros_));
  }
  friend std::ostream& operator<<(std::ostream& out, MicroTime time);

 private:
  std::int64_t micros_ = 0;
};

/// A length of time in nanoseconds, "1h0m0s" in JSON: metav1.Duration.
class Duration {
 public:
  static constexpr std::size_t kMaxText = 32;

  constexpr Duration() noexcept = default;
  template <class R, class P>
  requires std::convertible_to<std::chrono::duration<R, P>, std::chrono::nanoseconds>
  constexpr Duration(std::chrono::duration<R, P> length) noexcept  // NOLINT: implicit by design
      : nanos_(std::chrono::nanoseconds(length).count()) {}
  constexpr operator std::chrono::nanoseconds() const noexcept {  // NOLINT: implicit by design
    return std::chrono::nanoseconds(nanos_);
  }
  static constexpr Duration ofNanos(std::int64_t nanos) noexcept {
    return std::chrono::nanoseconds(nanos);
  }

  /// Parses "300ms", "-1.5h", "2h45m" or "0" as Go's time.ParseDuration does, with its messages.
  /// Throws DecodeError.
  static Duration parse(std::string_view text);
  static bool tryParse(std::string_view text, Duration& out) noexcept;

  constexpr std::int64_t nanos() const noexcept { return nanos_; }
  constexpr std::chrono::nanoseconds chrono() const noexcept { return *this; }

  char* print(char* out) const noexcept;
  void appendTo(std::string& out) const;
  std::string str() const;

  friend constexpr auto operator<=>(Duration, Duration) noexcept = default;
  friend std::ostream& operator<<(std::ostream& out, Duration duration);

 private:
  std::int64_t nanos_ = 0;
};

}  // namespace kube

template <class T>
requires(std::same_as<T, kube::Time> || std::same_as<T, kube::MicroTime> ||
         std::same_as<T, kube::Duration>) struct fmt::formatter<T> : kube::detail::TextFormatter {
  auto format(const T& time, fmt::format_context& context) const {
    char buffer[T::kMaxText];
    const char* end = time.print(buffer);
    return this->text(std::string_view(buffer, static_cast<std::size_t>(end - buffer)), context);
  }
};
