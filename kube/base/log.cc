#include "kube/base/log.h"

#include <fmt/chrono.h>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <iterator>

#include "kube/base/internal/control_characters.h"
#include "kube/base/internal/finally.h"
#include "kube/base/internal/json_text.h"
#include "kube/base/internal/mutex.h"

namespace kube {
namespace {

constexpr std::array<std::string_view, 6> levelNames{"off",  "error", "warning",
                                                     "info", "debug", "trace"};

void appendEscaped(std::string& out, std::string_view text, bool quoted) {
  detail::ControlCharacter control = detail::findControl(text);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (i == control.at) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", control.code);
      i += control.length - 1;
      control = detail::findControl(text, i + 1);
    } else if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20) {  // harmless, but a record is one line
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      if (quoted && (c == '"' || c == '\\')) out += '\\';
      out += c;
    }
  }
}

void appendValue(std::string& out, std::string_view text) {
  const bool plain = !text.empty() && std::none_of(text.begin(), text.end(), [](char c) {
    return c == ' ' || c == '=' || c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20;
  });
  if (plain) {
    appendEscaped(out, text, false);
    return;
  }
  out += '"';
  appendEscaped(out, text, true);
  out += '"';
}

void writeLine(std::FILE* to, std::string line) {
  line += '\n';
  // One call: stdio's lock keeps the lines of different threads apart.
  std::fwrite(line.data(), 1, line.size(), to);
}

void appendTime(std::string& out, std::chrono::system_clock::time_point time) {
  using namespace std::chrono;
  const auto whole = floor<seconds>(time);
  const auto micros = duration_cast<microseconds>(time - whole).count();
  fmt::format_to(std::back_inserter(out), "{:%Y-%m-%dT%H:%M:%S}.{:06}Z",
                 fmt::gmtime(system_clock::to_time_t(whole)), micros);
}

// Never destroyed: threads may log until the process ends.
struct SinkSlot {
  detail::Mutex sinkMutex;
  std::shared_ptr<const LogSink> sink KUBE_GUARDED_BY(sinkMutex);  // null for the default
};

SinkSlot& sinkSlot() {
  static SinkSlot* const slot = new SinkSlot;
  return *slot;
}

std::shared_ptr<const LogSink> currentSink() {
  SinkSlot& slot = sinkSlot();
  const detail::Lock lock(slot.sinkMutex);
  return slot.sink;
}

void deliver(const LogRecord& record) {
  // Without this, a sink that logs would call itself without end.
  thread_local bool delivering = false;
  if (delivering) return;
  delivering = true;
  const detail::Finally done([] { delivering = false; });
  if (const auto sink = currentSink()) {
    (*sink)(record);
  } else {
    writeLine(stderr, formatLogLine(record));
  }
}

/// Null if $KUBEXX_LOG is not set, or empty.
const char* levelAsked() {
  const char* name = std::getenv("KUBEXX_LOG");
  return name != nullptr && *name != '\0' ? name : nullptr;
}

void tellUnknown(const char* name) {
  std::fprintf(stderr,
               "KUBEXX_LOG=%s: no such level; use off, error, warning, info, debug or trace\n",
               name);
}

// Checked at the start of the program, because many programs never log anything.
const bool toldAtStart = [] {
  const char* name = levelAsked();
  if (name == nullptr || parseLogLevel(name)) return false;
  tellUnknown(name);
  return true;
}();

}  // namespace

constinit std::atomic<signed char> detail::logLevelNow = detail::logLevelUnset;

signed char detail::initLogLevel() noexcept {
  LogLevel level = LogLevel::Warning;
  if (const char* name = levelAsked()) {
    if (const auto parsed = parseLogLevel(name)) {
      level = *parsed;
    } else if (!toldAtStart) {
      tellUnknown(name);
    }
  }
  // A level that was set in the meantime stays.
  signed char now = logLevelUnset;
  const auto wanted = static_cast<signed char>(level);
  return logLevelNow.compare_exchange_strong(now, wanted) ? wanted : now;
}

std::string_view toString(LogLevel level) noexcept {
  return levelNames[static_cast<std::size_t>(level)];
}

std::optional<LogLevel> parseLogLevel(std::string_view name) noexcept {
  const auto found = std::find(levelNames.begin(), levelNames.end(), name);
  if (found == levelNames.end()) return std::nullopt;
  return static_cast<LogLevel>(found - levelNames.begin());
}

LogLevel logLevel() noexcept {
  const signed char now = detail::logLevelNow.load(std::memory_order_relaxed);
  return static_cast<LogLevel>(now == detail::logLevelUnset ? detail::initLogLevel() : now);
}

void setLogLevel(LogLevel level) noexcept {
  detail::logLevelNow.store(static_cast<signed char>(level), std::memory_order_relaxed);
}

LogSink setLogSink(LogSink sink) {
  auto next = sink ? std::make_shared<const LogSink>(std::move(sink)) : nullptr;
  SinkSlot& slot = sinkSlot();
  {
    const detail::Lock lock(slot.sinkMutex);
    slot.sink.swap(next);
  }
  return next ? *next : LogSink();
}

std::string LogField::text() const {
  return std::visit([](const auto& value) { return fmt::format("{}", value); }, value_);
}

std::string formatLogLine(const LogRecord& record) {
  std::string line;
  appendTime(line, record.time);
  line.append(" ").append(toString(record.level)).append(" ");
  if (!record.logger.empty()) {
    appendEscaped(line, record.logger, false);
    line += ": ";
  }
  appendEscaped(line, record.message, false);
  for (const LogField& field : record.fields) {
    line += ' ';
    appendEscaped(line, field.key(), false);
    line += '=';
    appendValue(line, field.text());
  }
  return line;
}

std::string formatLogJson(const LogRecord& record) {
  constexpr std::array<std::string_view, 4> kOwn = {"level", "ts", "logger", "msg"};
  std::string line = "{";
  const auto add = [&](std::string_view key, const LogField::Value& value) {
    if (line.size() > 1) line += ',';
    detail::appendJsonString(line, key);
    line += ':';
    detail::appendJsonValue(line, value);
  };
  std::string time;
  appendTime(time, record.time);
  add("level", toString(record.level));
  add("ts", time);
  if (!record.logger.empty()) add("logger", record.logger);
  add("msg", record.message);
  for (const LogField& field : record.fields) {
    const bool taken = std::find(kOwn.begin(), kOwn.end(), field.key()) != kOwn.end();
    add(taken ? std::string(field.key()) + '_' : std::string(field.key()), field.value());
  }
  return line + '}';
}

LogSink jsonLogSink(std::FILE* to) {
  return [to](const LogRecord& record) { writeLine(to, formatLogJson(record)); };
}

Logger::Logger(std::string name)
    : facts_(std::make_shared<const Facts>(Facts{std::move(name), {}})) {}

Logger Logger::with(LogField field) const {
  auto facts = std::make_shared<Facts>(*facts_);
  OwnField own{std::string(field.key()), field.value(), {}};
  if (const auto* text = std::get_if<std::string_view>(&field.value())) own.text = *text;
  facts->fields.push_back(std::move(own));
  Logger result = *this;
  result.facts_ = std::move(facts);
  return result;
}

void Logger::write(LogLevel level, LogFields fields, fmt::string_view message,
                   fmt::format_args args) const noexcept {
  try {
    std::vector<LogField> all;
    all.reserve(facts_->fields.size() + fields.size());
    for (const OwnField& own : facts_->fields) {
      std::visit(
          [&]<class T>(const T& value) {
            if constexpr (std::same_as<T, std::string_view>) {
              all.emplace_back(own.key, own.text);
            } else {
              all.emplace_back(own.key, value);
            }
          },
          own.value);
    }
    all.insert(all.end(), fields.begin(), fields.end());
    const std::string text = fmt::vformat(message, args);
    deliver({.level = level,
             .time = std::chrono::system_clock::now(),
             .logger = facts_->name,
             .message = text,
             .fields = all});
  } catch (...) {
    // Logging must not break a program: the record is lost.
  }
}

}  // namespace kube
