#include "kube/base/log.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace kube {
namespace {
struct Costly {
  int* formatted;
};
}  // namespace
}  // namespace kube

template <>
struct fmt::formatter<kube::Costly> : fmt::formatter<int> {
  template <class Context>
  auto format(const kube::Costly& c, Context& context) const {
    return fmt::formatter<int>::format(++*c.formatted, context);
  }
};

namespace kube {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Collects lines without their time, and restores level and sink.
class LogTest : public testing::Test {
 protected:
  LogTest() {
    before_ = setLogSink([this](const LogRecord& record) {
      std::lock_guard lock(linesMutex_);
      std::string line = formatLogLine(record);
      lines_.push_back(line.substr(line.find(' ') + 1));
    });
    setLogLevel(LogLevel::Info);
  }
  ~LogTest() override {
    setLogSink(std::move(before_));
    setLogLevel(level_);
  }

  std::vector<std::string> lines_;
  std::mutex linesMutex_;

 private:
  LogLevel level_ = logLevel();
  LogSink before_;
};

TEST_F(LogTest, MessagesAreFormattedAndCarryTheLoggersName) {
  Logger("reflector").info("synced {} {}", 3, "pods");
  Logger().error("plain");
  EXPECT_THAT(lines_, ElementsAre("info reflector: synced 3 pods", "error plain"));
}

TEST_F(LogTest, FieldsOfTheLoggerComeBeforeTheMessages) {
  const std::string ns = "book";
  Logger log = Logger("r").with("resource", std::string("pods")).with("n", 2);
  log.info({{"namespace", ns}, {"attempt", 3u}, {"ok", true}, {"rate", 0.5}}, "done");
  log.warning("again");
  EXPECT_THAT(lines_, ElementsAre("info r: done resource=pods n=2 namespace=book attempt=3 ok=true "
                                  "rate=0.5",
                                  "warning r: again resource=pods n=2"));
}

TEST_F(LogTest, WithLeavesTheOriginalAlone) {
  const Logger log("r");
  log.with("a", 1).with("b", 2).info("two");
  log.info("none");
  EXPECT_THAT(lines_, ElementsAre("info r: two a=1 b=2", "info r: none"));
}

TEST_F(LogTest, OnlyEnabledLevelsReachTheSink) {
  Logger log;
  setLogLevel(LogLevel::Warning);
  log.error("e"), log.warning("w"), log.info("i"), log.debug("d"), log.trace("t");
  EXPECT_THAT(lines_, ElementsAre("error e", "warning w"));
  lines_.clear();
  setLogLevel(LogLevel::Off);
  log.error("e");
  EXPECT_THAT(lines_, IsEmpty());
  setLogLevel(LogLevel::Trace);
  log.trace("t");
  EXPECT_THAT(lines_, ElementsAre("trace t"));
}

TEST_F(LogTest, DisabledMessagesAreNotFormatted) {
  int formatted = 0;
  Logger().debug("{}", Costly{&formatted});
  EXPECT_EQ(formatted, 0);
  Logger().info("{}", Costly{&formatted});
  EXPECT_EQ(formatted, 1);
}

TEST_F(LogTest, ValuesThatAreNotPlainAreQuotedAndRecordsStayOneLine) {
  Logger log;
  log.info({{"a", "x y"}, {"b", ""}, {"c", "say \"hi\""}, {"d", "1\n2"}}, "first\nsecond\x1b[0m");
  EXPECT_THAT(lines_, ElementsAre("info first\\nsecond\\x1b[0m a=\"x y\" b=\"\" "
                                  "c=\"say \\\"hi\\\"\" d=\"1\\n2\""));
}

TEST_F(LogTest, EightBitControlsAreEscapedToo) {
  Logger().info({{"a", "\xc2\x9b"}}, "ä\xc2\x9b/\x9b/\x7f/\r\n→");
  EXPECT_THAT(lines_, ElementsAre("info ä\\x9b/\\x9b/\\x7f/\\x0d\\n→ a=\\x9b"));
}

TEST_F(LogTest, RecordsAreObjectsOfJsonWithTypedFields) {
  std::string line;
  const LogSink before = setLogSink([&](const LogRecord& record) { line = formatLogJson(record); });
  Logger("r")
      .with("resource", "pods")
      .info({{"n", -3}, {"ok", true}, {"rate", 0.5}, {"msg", "x"}, {"nan", std::nan("")}},
            "say \"{}\"", "hi\n\x1b\xff");
  setLogSink(before);
  const std::string start = R"({"level":"info","ts":"20)";
  EXPECT_EQ(line.substr(0, start.size()), start);
  EXPECT_EQ(
      line.substr(line.find("Z\",") + 3),
      "\"logger\":\"r\",\"msg\":\"say \\\"hi\\n\\u001b\xEF\xBF\xBD\\\"\",\"resource\":\"pods\","
      "\"n\":-3,\"ok\":true,\"rate\":0.5,\"msg_\":\"x\",\"nan\":\"nan\"}");
}

TEST_F(LogTest, AJsonSinkWritesALineForEachRecord) {
  std::FILE* const file = std::tmpfile();
  const LogSink before = setLogSink(jsonLogSink(file));
  Logger("a").error("one\ntwo");
  Logger("b").error("three");
  setLogSink(before);
  std::rewind(file);
  char text[1000] = {};
  const std::string all(text, std::fread(text, 1, sizeof text, file));
  std::fclose(file);
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 2);
  EXPECT_THAT(all, testing::HasSubstr(R"("msg":"one\ntwo"})"));
}

TEST_F(LogTest, ASinkThatThrowsOrLogsDoesNoHarm) {
  int calls = 0;
  LogSink mine = setLogSink([&](const LogRecord&) {
    ++calls;
    Logger().error("from the sink");
    throw std::runtime_error("broken sink");
  });
  Logger().info("x");
  Logger().info("y");
  EXPECT_EQ(calls, 2);
  setLogSink(std::move(mine));
  Logger().info("z");
  EXPECT_THAT(lines_, ElementsAre("info z"));
}

TEST_F(LogTest, TheDefaultSinkWritesOneLineToStderr) {
  LogSink mine = setLogSink({});
  testing::internal::CaptureStderr();
  Logger("r").info({{"a", 1}}, "hello");
  const std::string text = testing::internal::GetCapturedStderr();
  setLogSink(std::move(mine));
  EXPECT_THAT(text, testing::MatchesRegex("....-..-..T..:..:..\\.......Z info r: hello a=1\n"));
}

TEST_F(LogTest, ThreadsMayLogWhileTheSinkIsReplaced) {
  std::atomic<int> delivered = 0;
  auto count = [&](const LogRecord&) { ++delivered; };
  LogSink mine = setLogSink(count);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([log = Logger("t").with("thread", t)] {
        for (int i = 0; i < 100; ++i) log.info("message {}", i);
      });
    }
    for (int i = 0; i < 100; ++i) setLogSink(count);
  }
  setLogSink(std::move(mine));
  EXPECT_EQ(delivered, 400);
}

TEST(LogLevelTest, NamesRoundTrip) {
  for (auto level : {LogLevel::Off, LogLevel::Error, LogLevel::Warning, LogLevel::Info,
                     LogLevel::Debug, LogLevel::Trace}) {
    EXPECT_EQ(parseLogLevel(toString(level)), level);
  }
  EXPECT_EQ(parseLogLevel("verbose"), std::nullopt);
}

// The level is read once, on first use. This makes the next use the first one.
LogLevel levelFor(const char* value) {
  const LogLevel before = logLevel();
  setenv("KUBEXX_LOG", value, 1);
  detail::logLevelNow = detail::logLevelUnset;
  const LogLevel level = logLevel();
  unsetenv("KUBEXX_LOG");
  setLogLevel(before);
  return level;
}

TEST(LogLevelTest, ComesFromTheEnvironment) {
  EXPECT_EQ(levelFor("trace"), LogLevel::Trace);
  EXPECT_EQ(levelFor("off"), LogLevel::Off);
  EXPECT_EQ(levelFor(""), LogLevel::Warning);
}

TEST(LogLevelTest, AnUnknownNameInTheEnvironmentIsReported) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(levelFor("loud"), LogLevel::Warning);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("KUBEXX_LOG=loud"));
}

// Runs a program that logs nothing, and returns its stderr.
std::string saidWith(const std::string& level) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  FILE* pipe = popen(("KUBEXX_LOG=" + level + " '" + self +
                      "' --gtest_list_tests --gtest_filter=none 2>&1 >/dev/null")
                         .c_str(),
                     "r");
  std::string said;
  char buffer[1000];
  for (std::size_t n; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) said.append(buffer, n);
  pclose(pipe);
  return said;
}

TEST(LogLevelTest, AnUnknownNameIsReportedEvenIfNothingIsLogged) {
  EXPECT_EQ(saidWith("bogus"),
            "KUBEXX_LOG=bogus: no such level; use off, error, warning, info, debug or trace\n");
  EXPECT_EQ(saidWith("debug"), "");
}

}  // namespace
}  // namespace kube
