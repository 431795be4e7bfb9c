// The log of a container, while it is written.
//
//   for (std::string_view line : clients.coreV1().pods("book").logs("web", {.follow = true}, stop))
//     std::cout << line << '\n';
//
//   auto log = pods.logs("web");
//   while (auto bytes = log.read()) out.write(bytes->data(), bytes->size());
//
// The stream ends with the log, or when a stop is requested. A connection that breaks is a
// TransportError, and a timeout of the Config is a TimeoutError: complete lines are returned first,
// and an incomplete line after them is dropped.
//
// A stream of PodClient::followLogs() continues instead: it opens the log again where the
// connection broke, and neither loses nor repeats a line, as long as the server still has the lines
// in between. A failure to open the log again ends the stream.
//
// AsyncLogStream is the form for coroutines.
//
// A view is valid until the next call. Only a line that arrives in several pieces is copied: a slow
// reader makes the server wait.
//
// Thread safety: one thread at a time. Any thread may request a stop.
#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <stop_token>
#include <string_view>

#include "kube/base/task.h"

namespace kube {

namespace detail {
class LogReader;
}

/// A log for coroutines:
///
///   auto log = co_await pods.logs("web");
///   while (true) {
///     const auto line = co_await log.nextLine();
///     if (!line) break;
///     ...
///   }
///
/// On a stop, its functions throw CanceledError, and the log can be read on with another stop
/// token. It outlives the tasks that it returns.
class AsyncLogStream {
 public:
  explicit AsyncLogStream(std::unique_ptr<detail::LogReader> reader);
  AsyncLogStream(AsyncLogStream&&) noexcept;
  AsyncLogStream& operator=(AsyncLogStream&&) noexcept;
  ~AsyncLogStream();

  /// Waits for the next line, without its line break; none at the end.
  Task<std::optional<std::string_view>> nextLine();
  /// Waits for the next bytes, as they arrive; see LogStream::read().
  Task<std::optional<std::string_view>> read();

 private:
  friend class LogStream;
  std::unique_ptr<detail::LogReader> reader_;
};

class LogStream {
 public:
  /// PodClient opens logs. The stop token ends the stream.
  LogStream(AsyncLogStream log, std::stop_token stop);
  LogStream(LogStream&&) noexcept;
  LogStream& operator=(LogStream&&) noexcept;
  ~LogStream();

  /// A longer line is returned in pieces of about this size, as if it had line breaks.
  static constexpr std::size_t kMaxLineBytes = std::size_t{1} << 20;

  /// Blocks for the next line, without its line break; none at the end.
  std::optional<std::string_view> nextLine();
  /// Blocks for the next bytes, as they arrive; none at the end. After nextLine(), they begin after
  /// that line. For a log that continues after a break, they are a whole line.
  std::optional<std::string_view> read();

  /// Iterates over lines, once.
  class Iterator {
   public:
    using value_type = std::string_view;
    using difference_type = std::ptrdiff_t;

    std::string_view operator*() const { return *line_; }
    Iterator& operator++() {
      line_ = log_->nextLine();
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const { return !line_.has_value(); }

   private:
    friend class LogStream;
    explicit Iterator(LogStream& log) : log_(&log), line_(log.nextLine()) {}

    LogStream* log_;
    std::optional<std::string_view> line_;
  };
  Iterator begin() { return Iterator(*this); }
  std::default_sentinel_t end() const { return {}; }

 private:
  template <class Take>
  std::optional<std::string_view> taken(Take take);

  std::unique_ptr<detail::LogReader> reader_;
  std::stop_token stop_;
};

}  // namespace kube
