// Bodies that are made to waste time or memory: both stay in proportion to the body.
#include <gtest/gtest.h>
#include <time.h>

#include <chrono>
#include <fstream>
#include <string>
#include <string_view>

#include "kube/base/error.h"
#include "kube/base/internal/error_of_testing.h"
#include "kube/base/internal/sanitizer.h"
#include "kube/codec/internal/every_kind_testing.h"
#include "kube/codec/stream.h"

namespace kube {
namespace {

using everykind::Widget;

// Each of these took a minute or more when time grew with the square of the size. Now each takes a
// few hundredths of a second; the limit is for slow machines and sanitizers.
constexpr double kSeconds = 10;

double processorSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// Feeds in chunks of this size. Stops and fails if that takes too long.
template <class Stream>
::testing::AssertionResult inTime(Stream& stream, std::string_view body, std::size_t chunk) {
  const double begun = processorSeconds();
  for (std::size_t at = 0; at < body.size(); at += chunk) {
    stream.feed(body.substr(at, chunk));
    if (processorSeconds() - begun < kSeconds) continue;
    return ::testing::AssertionFailure() << "after " << at << " of " << body.size() << " bytes";
  }
  return ::testing::AssertionSuccess();
}

std::string repeatedTo(std::string_view text, std::size_t bytes) {
  std::string out;
  out.reserve(bytes + text.size());
  while (out.size() < bytes) out.append(text);
  return out;
}

constexpr std::string_view kListHead = R"({"kind":"WidgetList","items":[)";

std::size_t residentBytes() {
  std::ifstream status("/proc/self/statm");
  std::size_t all = 0, resident = 0;
  status >> all >> resident;
  return resident * 4096;
}

TEST(HostileStreamTest, WhiteSpaceIsPassedOverAndNotKept) {
  for (const std::string_view before : {"", "{}", "{},", "null", "{},null", "\n,"}) {
    const bool good = before != "\n,";
    std::size_t items = 0;
    ListDecoder<Widget> stream([&](Widget&&) { ++items; }, {.maxItemBytes = 1 << 20});
    stream.feed(kListHead);
    if (!good) {
      EXPECT_THROW(
          {
            stream.feed(before);
            stream.finish();
          },
          DecodeError);
      continue;
    }
    stream.feed(before);
    const std::string blanks = repeatedTo(" \t\r\n", 1 << 20);
    const std::size_t resident = residentBytes();
    for (int i = 0; i < 64; ++i) ASSERT_TRUE(inTime(stream, blanks, 10'000));
    if (!detail::kSanitized) {
      EXPECT_LT(residentBytes(), resident + (16 << 20)) << before;
    }
    stream.feed(before.ends_with(',') ? "{}]" : "]");
    stream.feed(blanks);
    stream.feed("}");
    stream.finish();
    EXPECT_EQ(items, before.empty() ? 0u : before.find(',') == before.npos ? 1u : 2u) << before;
  }
}

TEST(HostileStreamTest, WhiteSpaceCountsForPlacesInErrors) {
  ListDecoder<Widget> stream([](Widget&&) {});
  stream.feed("{\"items\":[");
  for (int i = 0; i < 100'000; ++i) stream.feed(i % 10 == 0 ? "\n" : "  ");
  EXPECT_EQ(errorOf([&] {
              stream.feed("{},x]}");
              stream.finish();
            }),
            "json: line 10001, column 22 (offset 190013): items[1]: expected an object, found "
            "something else");
}

// A frame with text at the end of every chunk that looks like the frame's end.
TEST(HostileStreamTest, FramesWithManyLineEndsTakeLinearTime) {
  const std::string line = R"(,{"name":")" + std::string(1000 - 13, 'x') + "\"}\n";
  std::string frame = R"({"type":"ADDED","object":{"spec":{"listMessage":[{})";
  frame.insert(1, std::string(1000 - frame.size(), ' '));
  for (int i = 0; i < 8000; ++i) frame += line;
  std::size_t events = 0;
  WatchDecoder<Widget> stream([&](WatchEvent<Widget>&&) { ++events; });
  ASSERT_TRUE(inTime(stream, frame + "]}}}\n", line.size()));
  stream.finish();
  EXPECT_EQ(events, 1u);
}

TEST(HostileStreamTest, ManyFramesOnALineTakeLinearTime) {
  const std::string_view frame = R"({"type":"ADDED","object":{}})";
  for (const std::string_view end : {"\n", " \n", "x"}) {
    std::size_t events = 0;
    WatchDecoder<Widget> stream([&](WatchEvent<Widget>&&) { ++events; });
    const std::string body = repeatedTo(frame, 8 << 20);
    ASSERT_TRUE(inTime(stream, body, 8 << 20));
    if (end == "x") continue;
    stream.feed(end);
    stream.finish();
    EXPECT_EQ(events, body.size() / frame.size());
  }
}

// Every place where the splitter may cut this body is in a string; many small items precede it.
std::string itemsThatCannotBeGuessed(std::size_t small, std::size_t longOne) {
  std::string body(kListHead);
  for (std::size_t i = 0; i < small; ++i) body += "{},";
  return body + R"({"x":")" + std::string(longOne, 'x') + "\"}";
}

TEST(HostileStreamTest, SmallItemsBeforeALongOneAreTakenAtOnce) {
  constexpr std::size_t kMost = 4 << 20;
  const std::size_t small = detail::testAmount(20'000);
  const std::string body = itemsThatCannotBeGuessed(small, kMost - 100) + "]}";
  for (const std::size_t chunk : {std::size_t{64} << 10, std::size_t{16}, body.size()}) {
    std::size_t items = 0;
    ListDecoder<Widget> stream([&](Widget&&) { ++items; }, {.maxItemBytes = kMost});
    ASSERT_TRUE(inTime(stream, body, chunk)) << chunk;
    stream.finish();
    EXPECT_EQ(items, small + 1);
  }
}

TEST(HostileStreamTest, OversizedItemsAreRefusedSoon) {
  constexpr std::size_t kMost = 1 << 20;
  for (const std::string& head :
       {std::string(kListHead) + R"({"x":")",
        itemsThatCannotBeGuessed(1000, 1 << 19) + R"(,{"x":")", std::string(kListHead) + "] , \"",
        std::string(kListHead) + "1"}) {
    ListDecoder<Widget> stream([](Widget&&) {}, {.maxItemBytes = kMost});
    const std::string chunk(10'000, head.back() == '1' ? '1' : 'x');
    std::size_t fed = 0;
    EXPECT_THROW(
        {
          stream.feed(head);
          for (; fed < 100 << 20; fed += chunk.size()) stream.feed(chunk);
        },
        DecodeError)
        << head.substr(0, 50);
    EXPECT_LT(fed, 2 * kMost) << head.substr(0, 50);
  }
}

TEST(HostileStreamTest, ABudgetIsForTheWholeList) {
  class Budget final : public ListBudget {
   public:
    explicit Budget(std::uint64_t limit) : ListBudget(limit) {}
    void exceeded() override { throw Error("too much"); }
  };
  const std::string body = std::string(kListHead) + repeatedTo("{},", 3000) + "{}]}";
  const std::size_t all = body.size() + 1001 * sizeof(Widget);
  for (const std::size_t chunk : {std::size_t{1}, body.size()}) {
    std::size_t items = 0;
    const auto run = [&](std::uint64_t limit) {
      Budget budget(limit);
      ListDecoder<Widget> stream([&](Widget&&) { ++items; }, {.budget = &budget});
      for (std::size_t at = 0; at < body.size(); at += chunk) stream.feed(body.substr(at, chunk));
      stream.finish();
      EXPECT_EQ(budget.spent(), all);
    };
    run(all);
    EXPECT_EQ(items, 1001u);
    items = 0;
    EXPECT_THROW(run(all - 1), Error);
    EXPECT_LE(items, 1000u);
  }
}

}  // namespace
}  // namespace kube
