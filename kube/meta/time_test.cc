#include "kube/meta/time.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <random>
#include <sstream>
#include <string>

#include "kube/base/error.h"

namespace kube {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

template <class T>
bool parses(std::string_view text) {
  T out;
  return T::tryParse(text, out);
}

template <class T>
void expectZeroedMemoryIsDefault() {
  static_assert(sizeof(T) == 8 && std::is_trivially_copyable_v<T> && std::is_standard_layout_v<T>);
  const T value;
  const char zeros[sizeof value] = {};
  EXPECT_EQ(std::memcmp(&value, zeros, sizeof value), 0);
}

TEST(TimeTest, ZeroedMemoryIsAbsentAndGosZeroTime) {
  expectZeroedMemoryIsDefault<Time>();
  EXPECT_TRUE(Time().isZero());
  EXPECT_FALSE(Time());
  EXPECT_EQ(Time().str(), "0001-01-01T00:00:00Z");
  EXPECT_TRUE(Time::parse("0001-01-01T00:00:00Z").isZero());
  EXPECT_EQ(Time().unixSeconds(), -62135596800);
  EXPECT_TRUE(Time::fromUnix(0)) << "the epoch is a time like any other";
}

TEST(TimeTest, ReadsAndPrintsRfc3339InUtc) {
  struct Case {
    const char* in;
    const char* out;
    std::int64_t unixSeconds;
  };
  for (const auto& [in, out, seconds] : {
           Case{"1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z", 0},
           Case{"1998-05-05T01:05:05-04:00", "1998-05-05T05:05:05Z", 894344705},
           Case{"2006-01-02T15:04:05+05:30", "2006-01-02T09:34:05Z", 1136194445},
           Case{"1998-05-05T05:05:05.123456789Z", "1998-05-05T05:05:05Z", 894344705},
           Case{"1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59Z", -1},
           Case{"2024-02-29T23:59:59Z", "2024-02-29T23:59:59Z", 1709251199},
           Case{"2000-02-29T00:00:00Z", "2000-02-29T00:00:00Z", 951782400},
           Case{"9999-12-31T23:59:59Z", "9999-12-31T23:59:59Z", 253402300799},
           Case{"0000-01-01T00:00:00Z", "0000-01-01T00:00:00Z", -62167219200},
           Case{"0000-01-01T00:00:00+01:00", "-0001-12-31T23:00:00Z", -62167222800},
           // Not valid in RFC 3339, but accepted by Go:
           Case{"2006-01-02T3:04:05Z", "2006-01-02T03:04:05Z", 1136171045},
           Case{"2006-01-02T15:04:05,5Z", "2006-01-02T15:04:05Z", 1136214245},
           Case{"2006-01-02T15:04:05+24:00", "2006-01-01T15:04:05Z", 1136127845},
       }) {
    const Time time = Time::parse(in);
    EXPECT_EQ(time.str(), out) << in;
    EXPECT_EQ(time.unixSeconds(), seconds) << in;
  }
}

TEST(TimeTest, RejectsTextsThatAreNotTimes) {
  for (const char* text : {"",
                           "hello",
                           "2006-01-02",
                           "2006-13-02T15:04:05Z",
                           "2006-00-02T15:04:05Z",
                           "2006-02-30T15:04:05Z",
                           "2023-02-29T15:04:05Z",
                           "1900-02-29T15:04:05Z",
                           "2006-01-32T15:04:05Z",
                           "2006-01-00T15:04:05Z",
                           "2006-01-02T24:04:05Z",
                           "2006-01-02T25:04:05Z",
                           "2006-01-02T15:60:05Z",
                           "2006-01-02T15:04:60Z",
                           "2006-01-02t15:04:05Z",
                           "2006-01-02T15:04:05z",
                           "2006-01-02 15:04:05Z",
                           "2006-01-02T15:04:05",
                           "2006-01-02T15:04:05.Z",
                           "2006-01-02T15:04:05.5",
                           "2006-01-02T15:04:05+0530",
                           "2006-01-02T15:04:05+25:00",
                           "2006-01-02T15:04:05+00:61",
                           "2006-01-02T15:04:05ZZ",
                           "2006-1-02T15:04:05ZZ",
                           "20x6-01-02T15:04:05Z",
                           "200x-01-02T15:04:05Z",
                           "+006-01-02T15:04:05Z",
                           "2006-01-02T15:4:05ZZ",
                           "2006-01-02T15-04:05Z",
                           " 2006-01-02T15:04:05Z",
                           "2006-01-02T15:04:05Z "}) {
    EXPECT_FALSE(parses<Time>(text)) << text;
    EXPECT_THROW(Time::parse(text), DecodeError) << text;
  }
  Time time = Time::fromUnix(7);
  EXPECT_FALSE(Time::tryParse("2006-01-02T15:04:05x", time));
  EXPECT_EQ(time.unixSeconds(), 7) << "a failed parse must not touch its result";
}

TEST(TimeTest, EverySecondPrintsAndParsesBack) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    const auto seconds = static_cast<std::int64_t>(random() % 315537897600) - 62135596800;
    const Time time = Time::fromUnix(seconds);
    const std::string text = time.str();
    ASSERT_EQ(Time::parse(text), time) << text;
    ASSERT_EQ(text.size(), 20U);
  }
}

TEST(TimeTest, ExtremesNeitherOverflowNorOverrunTheBuffer) {
  for (const std::int64_t seconds : {kMin, kMin + 1, kMax, kMax - 1}) {
    const Time time = Time::fromUnix(seconds);
    EXPECT_LE(time.str().size(), Time::kMaxText) << time;
    time.timePoint();
    EXPECT_LE(MicroTime::fromUnix(seconds, 999999999).str().size(), MicroTime::kMaxText);
    MicroTime(time).timePoint();
  }
  EXPECT_EQ(Time::fromUnix(253402300800).str(), "10000-01-01T00:00:00Z");
  EXPECT_EQ(Time::fromUnix(kMax) + 1s, Time::fromUnix(kMax));
  EXPECT_EQ(Time().timePoint(), std::chrono::system_clock::time_point::min());
}

TEST(TimeTest, InteroperatesWithChrono) {
  const auto now = std::chrono::system_clock::now();
  const Time time = now;
  EXPECT_EQ(time.timePoint(), std::chrono::floor<std::chrono::seconds>(now));
  EXPECT_EQ(Time(std::chrono::sys_days(std::chrono::year(2024) / 2 / 29)).str(),
            "2024-02-29T00:00:00Z");
  EXPECT_EQ((time + 90s) - time, 90s);
  EXPECT_EQ(time - 1h, time + -3600s);
  EXPECT_LT(time, time + 1s);
  EXPECT_EQ(Time(std::chrono::sys_time<std::chrono::milliseconds>(-1ms)).unixSeconds(), -1);
}

TEST(TimeTest, StreamsFormatsAndAppends) {
  const Time time = Time::fromUnix(0);
  std::ostringstream out;
  out << time << ' ' << MicroTime(time) << ' ' << Duration(90min);
  EXPECT_EQ(out.str(), "1970-01-01T00:00:00Z 1970-01-01T00:00:00.000000Z 1h30m0s");
  EXPECT_EQ(fmt::format("{} {} {:>6}", time, MicroTime(time), Duration(2s)),
            "1970-01-01T00:00:00Z 1970-01-01T00:00:00.000000Z     2s");
  std::string text = "at ";
  time.appendTo(text);
  EXPECT_EQ(text, "at 1970-01-01T00:00:00Z");
}

TEST(MicroTimeTest, AlwaysHasSixDecimals) {
  expectZeroedMemoryIsDefault<MicroTime>();
  EXPECT_TRUE(MicroTime().isZero());
  for (const char* text : {"2010-01-01T01:01:01.000010Z", "1998-05-05T05:05:05.000000Z",
                           "1969-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z"}) {
    EXPECT_EQ(MicroTime::parse(text).str(), text);
  }
  EXPECT_EQ(MicroTime::parse("1998-05-05T01:05:05.000001-04:00").str(),
            "1998-05-05T05:05:05.000001Z");
  for (const char* text :
       {"1998-05-05T05:05:05Z", "1998-05-05T05:05:05.1Z", "1998-05-05T05:05:05.1234567Z",
        "1998-05-05T05:05:05.12345Z", "hello", ""}) {
    EXPECT_FALSE(parses<MicroTime>(text)) << text;
    EXPECT_THROW(MicroTime::parse(text), DecodeError);
  }
}

TEST(MicroTimeTest, KeepsTheProtobufPartsToTheMicrosecond) {
  const MicroTime time = MicroTime::fromUnix(-2, 999'999'999);
  EXPECT_EQ(time.unixSeconds(), -2);
  EXPECT_EQ(time.nanos(), 999'999'000);
  EXPECT_EQ(time.str(), "1969-12-31T23:59:58.999999Z");
  EXPECT_EQ(Time(time).unixSeconds(), -2);
  EXPECT_EQ(MicroTime(Time::fromUnix(5)), MicroTime::fromUnix(5));
  const auto now = std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
  EXPECT_EQ(MicroTime(now).timePoint(), now);
  EXPECT_EQ((time + 5us) - time, 5us);
  EXPECT_LT(time - 1us, time);
}

TEST(DurationTest, PrintsAsGoDoes) {
  expectZeroedMemoryIsDefault<Duration>();
  struct Case {
    std::int64_t nanos;
    const char* text;
  };
  for (const auto& [nanos, text] : {
           Case{0, "0s"},
           Case{1, "1ns"},
           Case{1100, "1.1\xC2\xB5s"},
           Case{1000, "1\xC2\xB5s"},
           Case{300'000'000, "300ms"},
           Case{2'200'000, "2.2ms"},
           Case{1'500'000'000, "1.5s"},
           Case{3'300'000'000, "3.3s"},
           Case{60'000'000'000, "1m0s"},
           Case{245'000'000'000, "4m5s"},
           Case{245'001'000'000, "4m5.001s"},
           Case{3'600'000'000'000, "1h0m0s"},
           Case{18'367'001'000'000, "5h6m7.001s"},
           Case{480'000'000'001, "8m0.000000001s"},
           Case{kMax, "2562047h47m16.854775807s"},
           Case{kMin, "-2562047h47m16.854775808s"},
           Case{-1'500'000, "-1.5ms"},
       }) {
    EXPECT_EQ(Duration::ofNanos(nanos).str(), text);
    EXPECT_EQ(Duration::parse(text).nanos(), nanos) << text;
  }
}

TEST(DurationTest, ParsesAsGoDoes) {
  EXPECT_EQ(Duration::parse("0").nanos(), 0);
  EXPECT_EQ(Duration::parse("-0").nanos(), 0);
  EXPECT_EQ(Duration::parse("+5s").nanos(), 5'000'000'000);
  EXPECT_EQ(Duration::parse("5.s").nanos(), 5'000'000'000);
  EXPECT_EQ(Duration::parse(".5s").nanos(), 500'000'000);
  EXPECT_EQ(Duration::parse("12us").nanos(), 12'000);
  EXPECT_EQ(Duration::parse("12\xCE\xBCs").nanos(), 12'000);
  EXPECT_EQ(Duration::parse("10.5s4m").nanos(), 250'500'000'000);
  EXPECT_EQ(Duration::parse("52763797000ms").nanos(), 52'763'797'000'000'000);
  EXPECT_EQ(Duration::parse("0.3333333333333333333h").nanos(), 1'200'000'000'000);
  EXPECT_EQ(Duration::parse("0.9223372036854775807h").nanos(), 3'320'413'933'267);
  EXPECT_EQ(Duration::parse("0.100000000000000000000h").nanos(), 360'000'000'000);
  EXPECT_EQ(Duration::parse("0.92233720368547758099999h").nanos(), 3'320'413'933'267);
  EXPECT_EQ(Duration::parse("0.3333333333333333333333333333h").nanos(), 1'200'000'000'000);
  EXPECT_EQ(Duration::parse("9007199254740993ns").nanos(), 9'007'199'254'740'993);
}

TEST(DurationTest, RejectsWithGosMessages) {
  const auto why = [](const char* text) -> std::string {
    EXPECT_FALSE(parses<Duration>(text)) << text;
    try {
      Duration::parse(text);
    } catch (const DecodeError& error) {
      return error.reason();
    }
    return "parsed";
  };
  for (const char* text :
       {"", "-", "s", ".", "-.", ".s", "+.s", "9223372036854775808ns", "-9223372036854775809ns",
        "9223372036854775807.1s", "3000000h", "9999999999999999999999h", "1h2562047h"}) {
    EXPECT_EQ(why(text), "invalid duration \"" + std::string(text) + "\"");
  }
  EXPECT_EQ(why("3"), "missing unit in duration \"3\"");
  EXPECT_EQ(why("1d"), "unknown unit \"d\" in duration \"1d\"");
  EXPECT_EQ(why("1h 5m"), "unknown unit \"h \" in duration \"1h 5m\"");
}

TEST(DurationTest, InteroperatesWithChrono) {
  const Duration duration = 90s;
  const std::chrono::nanoseconds nanos = duration;
  EXPECT_EQ(nanos, 90s);
  EXPECT_EQ(duration.chrono(), 90s);
  EXPECT_LT(duration, Duration(2min));
}

}  // namespace
}  // namespace kube
