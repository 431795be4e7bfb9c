#include "kube/meta/time.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <ostream>

#include "kube/base/error.h"
#include "kube/base/internal/text.h"

namespace kube {
namespace {

constexpr std::int64_t kDay = 86400;
constexpr std::int64_t kEra = 146097;  // days in 400 years, after which the calendar repeats
constexpr std::int64_t kMicro = 1'000'000;
constexpr std::chrono::sys_days kYearOne{std::chrono::year{1} / 1 / 1};

using detail::isDigit;

std::int64_t floorDiv(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }
std::int64_t floorMod(std::int64_t a, std::int64_t b) { return a % b + (a % b < 0 ? b : 0); }

constexpr unsigned kNoNumber = 1'000'000;

/// Reads two digits; kNoNumber if they are none.
unsigned two(const char* at) {
  const unsigned tens = static_cast<unsigned char>(at[0]) - '0';
  const unsigned ones = static_cast<unsigned char>(at[1]) - '0';
  return tens > 9 || ones > 9 ? kNoNumber : tens * 10 + ones;
}

struct Instant {
  std::int64_t seconds = 0;  // since year 1
  std::int64_t micros = 0;
  int fractionDigits = 0;
};

/// Reads the part after the seconds: a fraction, and 'Z' or an offset.
bool readRest(const char* at, const char* end, Instant& out) {
  if (end - at >= 2 && (*at == '.' || *at == ',') && isDigit(at[1])) {
    for (++at; at < end && isDigit(*at); ++at, ++out.fractionDigits) {
      if (out.fractionDigits < 6) out.micros = out.micros * 10 + (*at - '0');
    }
    for (int i = out.fractionDigits; i < 6; ++i) out.micros *= 10;
  }
  if (end - at == 1) return *at == 'Z';
  if (end - at != 6 || (*at != '+' && *at != '-') || at[3] != ':') return false;
  const unsigned hours = two(at + 1);
  const unsigned minutes = two(at + 4);
  if (hours > 24 || minutes > 60) return false;  // Go's bounds; +24:00 is in use
  const std::int64_t offset = std::int64_t{hours} * 3600 + minutes * 60;
  out.seconds += *at == '-' ? offset : -offset;
  return true;
}

bool readRfc3339(std::string_view text, Instant& out) {
  if (text.size() < std::strlen("2006-01-02T3:04:05Z")) return false;
  const char* at = text.data();
  const unsigned year = two(at) * 100 + two(at + 2);
  const unsigned month = two(at + 5);
  const unsigned day = two(at + 8);
  if (at[4] != '-' || at[7] != '-' || at[10] != 'T' || !isDigit(at[11])) return false;
  if (year > 9999 || month > 12 || day > 31) return false;
  const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(year)),
                                         std::chrono::month(month), std::chrono::day(day)};
  if (!date.ok()) return false;

  const char* end = at + text.size();
  const bool shortHour = !isDigit(at[12]);
  const unsigned hour = shortHour ? static_cast<unsigned>(at[11] - '0') : two(at + 11);
  at += shortHour ? 12 : 13;
  if (end - at < 7 || at[0] != ':' || at[3] != ':') return false;
  const unsigned minute = two(at + 1);
  const unsigned second = two(at + 4);
  if (hour > 23 || minute > 59 || second > 59) return false;
  const std::int64_t days = (std::chrono::sys_days(date) - kYearOne).count();
  out.seconds = days * kDay + hour * 3600 + minute * 60 + second;
  return readRest(at + 6, end, out);
}

char* putTwo(char* out, unsigned value) {
  out[0] = static_cast<char>('0' + value / 10);
  out[1] = static_cast<char>('0' + value % 10);
  return out + 2;
}

/// Writes "2006-01-02T15:04:05".
char* putSeconds(char* out, std::int64_t seconds) {
  const std::int64_t days = floorDiv(seconds, kDay);
  const auto clock = static_cast<unsigned>(floorMod(seconds, kDay));
  const std::int64_t era = floorDiv(days, kEra);
  const std::chrono::year_month_day date = kYearOne + std::chrono::days(floorMod(days, kEra));
  std::int64_t year = int{date.year()} + era * 400;
  if (year < 0) {
    *out++ = '-';
    year = -year;
  }
  if (year < 10000) {
    out = putTwo(out, static_cast<unsigned>(year / 100));
    out = putTwo(out, static_cast<unsigned>(year % 100));
  } else {
    out = fmt::format_to(out, "{}", year);
  }
  *out++ = '-';
  out = putTwo(out, unsigned{date.month()});
  *out++ = '-';
  out = putTwo(out, unsigned{date.day()});
  *out++ = 'T';
  out = putTwo(out, clock / 3600);
  *out++ = ':';
  out = putTwo(out, clock / 60 % 60);
  *out++ = ':';
  return putTwo(out, clock % 60);
}

std::chrono::system_clock::time_point timePointOf(std::int64_t unixSeconds, std::int64_t nanos) {
  using Clock = std::chrono::system_clock;
  constexpr auto kMost = std::chrono::floor<std::chrono::seconds>(Clock::duration::max()).count();
  if (unixSeconds >= kMost) return Clock::time_point::max();
  if (unixSeconds <= -kMost) return Clock::time_point::min();
  return Clock::time_point(std::chrono::duration_cast<Clock::duration>(
      std::chrono::seconds(unixSeconds) + std::chrono::nanoseconds(nanos)));
}

template <class T>
void append(std::string& out, const T& time) {
  char text[T::kMaxText];
  out.append(text, time.print(text));
}

[[noreturn]] void throwBadTime(std::string_view text, std::string_view form) {
  throw DecodeError({.format = "time"}, fmt::format("\"{}\" is not of the form {}", text, form));
}

std::uint64_t unitNanos(std::string_view unit) {
  if (unit == "s") return 1'000'000'000;
  if (unit == "m") return 60'000'000'000;
  if (unit == "h") return 3'600'000'000'000;
  if (unit == "ms") return 1'000'000;
  if (unit == "ns") return 1;
  // The micro sign and the Greek letter are both in use.
  if (unit == "us" || unit == "\xC2\xB5s" || unit == "\xCE\xBCs") return 1'000;
  return 0;
}

constexpr char kUnknownUnit[] = "unknown unit";
constexpr std::uint64_t kDurationLimit = std::uint64_t{1} << 63;

/// Removes one term such as "1.5h" from the front of `text` and adds it to `sum`. Returns nullptr
/// on success, else the message; for kUnknownUnit, `unit` is that unit.
const char* readTerm(std::string_view& text, std::uint64_t& sum, std::string_view& unit) {
  constexpr const char* kInvalid = "invalid duration";
  std::size_t at = 0;
  std::uint64_t whole = 0;
  for (; at < text.size() && isDigit(text[at]); ++at) {
    if (whole > kDurationLimit / 10) return kInvalid;
    whole = whole * 10 + static_cast<std::uint64_t>(text[at] - '0');
    if (whole > kDurationLimit) return kInvalid;
  }
  bool digits = at > 0;
  std::uint64_t fraction = 0;
  double scale = 1;
  if (at < text.size() && text[at] == '.') {
    bool full = false;  // further digits are finer than any unit
    for (++at; at < text.size() && isDigit(text[at]); ++at) {
      digits = true;
      const std::uint64_t next = fraction * 10 + static_cast<std::uint64_t>(text[at] - '0');
      full = full || fraction > (kDurationLimit - 1) / 10 || next > kDurationLimit;
      if (full) continue;
      fraction = next;
      scale *= 10;
    }
  }
  if (!digits) return kInvalid;

  std::size_t end = at;
  while (end < text.size() && text[end] != '.' && !isDigit(text[end])) ++end;
  if (end == at) return "missing unit in duration";
  unit = text.substr(at, end - at);
  text.remove_prefix(end);
  const std::uint64_t factor = unitNanos(unit);
  if (factor == 0) return kUnknownUnit;
  if (whole > kDurationLimit / factor) return kInvalid;
  whole *= factor;
  // Floating point gives the same last digit as Go.
  if (fraction > 0) {
    whole += static_cast<std::uint64_t>(static_cast<double>(fraction) *
                                        (static_cast<double>(factor) / scale));
  }
  if (whole > kDurationLimit) return kInvalid;
  sum += whole;
  return sum > kDurationLimit ? kInvalid : nullptr;
}

const char* readDuration(std::string_view text, std::int64_t& out, std::string_view& unit) {
  bool negative = false;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  if (text.empty()) return "invalid duration";
  std::uint64_t sum = 0;
  if (text != "0") {
    while (!text.empty()) {
      if (const char* why = readTerm(text, sum, unit)) return why;
    }
  }
  if (!negative && sum == kDurationLimit) return "invalid duration";
  out = static_cast<std::int64_t>(negative ? 0 - sum : sum);
  return nullptr;
}

/// Writes value / 10^places without trailing zeros.
char* putDecimal(char* out, std::uint64_t value, int places) {
  std::uint64_t power = 1;
  for (int i = 0; i < places; ++i) power *= 10;
  out = fmt::format_to(out, "{}", value / power);
  value %= power;
  if (value == 0) return out;
  *out++ = '.';
  for (power /= 10; value != 0; power /= 10) {
    *out++ = static_cast<char>('0' + value / power);
    value %= power;
  }
  return out;
}

}  // namespace

Time::Time(MicroTime time) noexcept : Time(fromUnix(time.unixSeconds())) {}

bool Time::tryParse(std::string_view text, Time& out) noexcept {
  Instant instant;
  if (!readRfc3339(text, instant)) return false;
  out.seconds_ = instant.seconds;
  return true;
}

Time Time::parse(std::string_view text) {
  Time time;
  if (!tryParse(text, time)) throwBadTime(text, "2006-01-02T15:04:05Z (RFC 3339)");
  return time;
}

std::chrono::system_clock::time_point Time::timePoint() const noexcept {
  return timePointOf(unixSeconds(), 0);
}

char* Time::print(char* out) const noexcept {
  out = putSeconds(out, seconds_);
  *out++ = 'Z';
  return out;
}

void Time::appendTo(std::string& out) const { append(out, *this); }

std::string Time::str() const {
  std::string text;
  appendTo(text);
  return text;
}

std::ostream& operator<<(std::ostream& out, Time time) {
  char text[Time::kMaxText];
  return out << std::string_view(text, static_cast<std::size_t>(time.print(text) - text));
}

MicroTime MicroTime::fromUnix(std::int64_t seconds, std::int32_t nanos) noexcept {
  MicroTime time;
  const std::int64_t fromYearOne = detail::saturatingAdd(seconds, detail::kUnixEpoch);
  if (__builtin_mul_overflow(fromYearOne, kMicro, &time.micros_)) {
    time.micros_ = fromYearOne < 0 ? std::numeric_limits<std::int64_t>::min()
                                   : std::numeric_limits<std::int64_t>::max();
  }
  time.micros_ = detail::saturatingAdd(time.micros_, nanos / 1000);
  return time;
}

bool MicroTime::tryParse(std::string_view text, MicroTime& out) noexcept {
  Instant instant;
  if (!readRfc3339(text, instant) || instant.fractionDigits != 6) return false;
  out.micros_ = instant.seconds * kMicro + instant.micros;
  return true;
}

MicroTime MicroTime::parse(std::string_view text) {
  MicroTime time;
  if (!tryParse(text, time)) throwBadTime(text, "2006-01-02T15:04:05.000000Z");
  return time;
}

std::int64_t MicroTime::unixSeconds() const noexcept {
  return floorDiv(micros_, kMicro) - detail::kUnixEpoch;
}

std::int32_t MicroTime::nanos() const noexcept {
  return static_cast<std::int32_t>(floorMod(micros_, kMicro) * 1000);
}

std::chrono::system_clock::time_point MicroTime::timePoint() const noexcept {
  return timePointOf(unixSeconds(), nanos());
}

char* MicroTime::print(char* out) const noexcept {
  out = putSeconds(out, floorDiv(micros_, kMicro));
  *out++ = '.';
  const auto micros = static_cast<unsigned>(nanos() / 1000);
  out = putTwo(out, micros / 10000);
  out = putTwo(out, micros / 100 % 100);
  out = putTwo(out, micros % 100);
  *out++ = 'Z';
  return out;
}

void MicroTime::appendTo(std::string& out) const { append(out, *this); }

std::string MicroTime::str() const {
  std::string text;
  appendTo(text);
  return text;
}

std::ostream& operator<<(std::ostream& out, MicroTime time) {
  char text[MicroTime::kMaxText];
  return out << std::string_view(text, static_cast<std::size_t>(time.print(text) - text));
}

bool Duration::tryParse(std::string_view text, Duration& out) noexcept {
  std::string_view unit;
  return readDuration(text, out.nanos_, unit) == nullptr;
}

Duration Duration::parse(std::string_view text) {
  Duration duration;
  std::string_view unit;
  const char* why = readDuration(text, duration.nanos_, unit);
  if (why == nullptr) return duration;
  const std::string what =
      why == kUnknownUnit ? fmt::format("{} \"{}\" in duration", why, unit) : std::string(why);
  throw DecodeError({.format = "duration"}, fmt::format("{} \"{}\"", what, text));
}

char* Duration::print(char* out) const noexcept {
  std::uint64_t rest = static_cast<std::uint64_t>(nanos_);
  if (nanos_ < 0) {
    *out++ = '-';
    rest = 0 - rest;
  }
  if (rest == 0) {
    *out++ = '0';
  } else if (rest < 1'000) {
    out = putDecimal(out, rest, 0);
    *out++ = 'n';
  } else if (rest < 1'000'000) {
    out = putDecimal(out, rest, 3);
    *out++ = '\xC2';  // the micro sign
    *out++ = '\xB5';
  } else if (rest < 1'000'000'000) {
    out = putDecimal(out, rest, 6);
    *out++ = 'm';
  } else {
    const std::uint64_t minutes = rest / 60'000'000'000;
    if (minutes >= 60) {
      out = putDecimal(out, minutes / 60, 0);
      *out++ = 'h';
    }
    if (minutes > 0) {
      out = putDecimal(out, minutes % 60, 0);
      *out++ = 'm';
    }
    out = putDecimal(out, rest % 60'000'000'000, 9);
  }
  *out++ = 's';
  return out;
}

void Duration::appendTo(std::string& out) const { append(out, *this); }

std::string Duration::str() const {
  std::string text;
  appendTo(text);
  return text;
}

std::ostream& operator<<(std::ostream& out, Duration duration) {
  char text[Duration::kMaxText];
  return out << std::string_view(text, static_cast<std::size_t>(duration.print(text) - text));
}

}  // namespace kube
