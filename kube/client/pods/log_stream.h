// What a container writes, as it comes.
//
//   for (std::string_view line : clients.coreV1().pods("book").logs("web", {.follow = true}, stop))
//     std::cout << line << '\n';
//
//   auto log = pods.logs("web");
//   while (auto bytes = log.read()) out.write(bytes->data(), bytes->size());
//
// It ends with the log, or when a stop is requested. A connection that breaks is a TransportError,
// and a timeout of the Config a TimeoutError: lines that were complete before come first, and the
// piece of a line after them is given up.
//
// A stream of PodClient::followLogs() goes on instead: it opens the log again where the connection
// broke, and neither loses nor repeats a line, as long as the server still has what came meanwhile.
// What cannot be opened again is what ends it.
//
// A view is good until the next call. Nothing but a line that comes in several pieces is copied or
// kept: a reader that is slow makes the server wait.
//
// Thread safety: one thread at a time. A stop may be requested by any.
#pragma once

#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "kube/http/transport.h"
#include "kube/meta/time.h"

namespace kube {

class LogStream {
 public:
  LogStream(HttpStream stream, std::stop_token stop);

  /// Opens a log again, with timestamps, from a time on, or from the beginning where that is zero.
  using Reopen = std::function<HttpStream(Time since)>;
  /// One that goes on after a connection that breaks.
  LogStream(Reopen reopen, bool keepTimestamps, std::stop_token stop);
  LogStream(LogStream&&) noexcept;
  LogStream& operator=(LogStream&&) noexcept;
  ~LogStream();

  /// A line longer than this comes in pieces of about this size, as if there were line breaks.
  static constexpr std::size_t kMaxLineBytes = std::size_t{1} << 20;

  /// Blocks for the next line, without its line break; none at the end.
  std::optional<std::string_view> nextLine();
  /// Blocks for the next bytes, as they come; none at the end. After nextLine(), they go on behind
  /// that line. Of a log that goes on after a break, they are a whole line.
  std::optional<std::string_view> read();

  /// Over lines, for one pass.
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
  bool fetch();
  std::optional<std::string_view> rawLine();
  std::optional<std::string_view> resumingLine();

  struct Resume;  // what it takes to go on
  std::unique_ptr<Resume> resume_;
  HttpStream stream_;
  std::stop_token stop_;
  std::string_view rest_;  // of the piece that was read last
  std::string line_;       // begun in pieces before that
  bool lineTaken_ = false;
  bool over_ = false;
};

}  // namespace kube
