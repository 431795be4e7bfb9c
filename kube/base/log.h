// Leveled, structured logging.
//
//   const Logger log = Logger("reflector").with("resource", "pods");
//   log.warning("watch ended: {}", error.what());
//   log.debug({{"namespace", ns}, {"attempt", 3}}, "listing {} items", count);
//
// A message is in fmt's style, checked at compile time. Fields are keys with values: first the
// fields of the logger, then those of the message. A disabled message costs one relaxed load and a
// branch. Neither message nor fields are formatted then, but their arguments are evaluated, so keep
// those cheap.
//
// Level and sink belong to the process. The level is $KUBEXX_LOG (off, error, warning, info, debug
// or trace) until setLogLevel() is called, and `warning` if neither is given. The default sink
// writes one line per record to stderr.
//
// Thread safety: everything may be called from any thread. Logging never throws.
#pragma once

#include <fmt/core.h>

#include <atomic>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace kube {

enum class LogLevel : signed char { Off, Error, Warning, Info, Debug, Trace };

std::string_view toString(LogLevel level) noexcept;
std::optional<LogLevel> parseLogLevel(std::string_view name) noexcept;

/// A key and a value. If the value is a string, the field refers to it: a field lives as long as
/// the expression that it appears in.
class LogField {
 public:
  using Value = std::variant<std::string_view, bool, std::int64_t, std::uint64_t, double>;

  template <class T>
  requires std::convertible_to<const T&, std::string_view> || std::is_arithmetic_v<T> LogField(
      std::string_view key, const T& value)
      : key_(key), value_(wrap(value)) {}

  std::string_view key() const noexcept { return key_; }
  const Value& value() const noexcept { return value_; }
  std::string text() const;

 private:
  template <class T>
  static Value wrap(const T& value) {
    if constexpr (std::same_as<T, bool>) {
      return value;
    } else if constexpr (std::signed_integral<T>) {
      return std::int64_t{value};
    } else if constexpr (std::unsigned_integral<T>) {
      return std::uint64_t{value};
    } else if constexpr (std::floating_point<T>) {
      return static_cast<double>(value);
    } else {
      return std::string_view(value);
    }
  }

  std::string_view key_;
  Value value_;
};

using LogFields = std::initializer_list<LogField>;

/// The argument of a sink. Valid during the call only.
struct LogRecord {
  LogLevel level;
  std::chrono::system_clock::time_point time;
  std::string_view logger;  // "reflector"; may be empty
  std::string_view message;
  std::span<const LogField> fields;
};

/// Called for each enabled record, by any thread and by several threads at a time. Exceptions that
/// it throws are dropped, and so are messages that it logs itself.
using LogSink = std::function<void(const LogRecord&)>;

/// Replaces the sink and returns the previous one; an empty function stands for the default sink.
/// Calls of the previous sink on other threads may still be running afterwards.
LogSink setLogSink(LogSink sink);

LogLevel logLevel() noexcept;
void setLogLevel(LogLevel level) noexcept;

/// The line that the default sink writes, without the newline:
///   2024-01-01T00:00:00.000000Z warning reflector: watch ended: EOF resource=pods attempt=3
/// Control characters are escaped, so that a record is always one line.
std::string formatLogLine(const LogRecord& record);

/// The record as a JSON object in one line, without the newline:
///   {"level":"warning","ts":"2024-01-01T00:00:00.000000Z","logger":"reflector",
///    "msg":"watch ended: EOF","resource":"pods","attempt":3}
/// A field whose key is one of the first four gets an underscore: "msg_". Bytes that are not UTF-8
/// become U+FFFD.
std::string formatLogJson(const LogRecord& record);

/// A sink that writes each record as one line of JSON: setLogSink(jsonLogSink()).
LogSink jsonLogSink(std::FILE* to = stderr);

namespace detail {
inline constexpr signed char logLevelUnset = -1;
extern std::atomic<signed char> logLevelNow;
signed char initLogLevel() noexcept;
}  // namespace detail

inline bool logEnabled(LogLevel level) noexcept {
  signed char now = detail::logLevelNow.load(std::memory_order_relaxed);
  if (now == detail::logLevelUnset) [[unlikely]]
    now = detail::initLogLevel();
  return static_cast<signed char>(level) <= now;
}

/// A cheap, copyable handle: a name, usually that of the component, and fields for all its
/// messages.
class Logger {
 public:
  explicit Logger(std::string name = {});

  /// The same logger with one more field.
  Logger with(LogField field) const;
  template <class T>
  Logger with(std::string_view key, const T& value) const {
    return with(LogField(key, value));
  }

  template <class... Args>
  void error(fmt::format_string<Args...> message, Args&&... args) const noexcept {
    log(LogLevel::Error, {}, message, args...);
  }
  template <class... Args>
  void error(LogFields fields, fmt::format_string<Args...> message, Args&&... args) const noexcept {
    log(LogLevel::Error, fields, message, args...);
  }
  template <class... Args>
  void warning(fmt::format_string<Args...> message, Args&&... args) const noexcept {
    log(LogLevel::Warning, {}, message, args...);
  }
  template <class... Args>
  void warning(LogFields fields, fmt::format_string<Args...> message,
               Args&&... args) const noexcept {
    log(LogLevel::Warning, fields, message, args...);
  }
  template <class... Args>
  void info(fmt::format_string<Args...> message, Args&&... args) const noexcept {
    log(LogLevel::Info, {}, message, args...);
  }
  template <class... Args>
  void info(LogFields fields, fmt::format_string<Args...> message, Args&&... args) const noexcept {
    log(LogLevel::Info, fields, message, args...);
  }
  template <class... Args>
  void debug(fmt::format_string<Args...> message, Args&&... args) const noexcept {
    log(LogLevel::Debug, {}, message, args...);
  }
  template <class... Args>
  void debug(LogFields fields, fmt::format_string<Args...> message, Args&&... args) const noexcept {
    log(LogLevel::Debug, fields, message, args...);
  }
  template <class... Args>
  void trace(fmt::format_string<Args...> message, Args&&... args) const noexcept {
    log(LogLevel::Trace, {}, message, args...);
  }
  template <class... Args>
  void trace(LogFields fields, fmt::format_string<Args...> message, Args&&... args) const noexcept {
    log(LogLevel::Trace, fields, message, args...);
  }

 private:
  struct OwnField {
    std::string key;
    LogField::Value value;
    std::string text;  // the value refers to this if it is a string
  };
  struct Facts {
    std::string name;
    std::vector<OwnField> fields;
  };

  // `args` are lvalues here, as fmt::make_format_args requires.
  template <class... Args>
  void log(LogLevel level, LogFields fields, fmt::string_view message,
           Args&... args) const noexcept {
    if (logEnabled(level)) write(level, fields, message, fmt::make_format_args(args...));
  }
  void write(LogLevel level, LogFields fields, fmt::string_view message,
             fmt::format_args args) const noexcept;

  std::shared_ptr<const Facts> facts_;
};

}  // namespace kube
