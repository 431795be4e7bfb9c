#include "kube/client/pods/log_stream.h"

#include <utility>

#include "kube/base/error.h"
#include "kube/client/pods/internal/log_reader.h"

namespace kube {

namespace {

constexpr auto kTakeLine = &detail::LogReader::takeLine;
constexpr auto kTakeBytes = &detail::LogReader::takeBytes;

Task<std::optional<std::string_view>> taken(detail::LogReader& reader, decltype(kTakeLine) take) {
  std::optional<std::string_view> piece;
  while (!(reader.*take)(piece)) co_await reader.fetch();
  co_return piece;
}

}  // namespace

AsyncLogStream::AsyncLogStream(std::unique_ptr<detail::LogReader> reader)
    : reader_(std::move(reader)) {}
AsyncLogStream::AsyncLogStream(AsyncLogStream&&) noexcept = default;
AsyncLogStream& AsyncLogStream::operator=(AsyncLogStream&&) noexcept = default;
AsyncLogStream::~AsyncLogStream() = default;

Task<std::optional<std::string_view>> AsyncLogStream::nextLine() {
  return taken(*reader_, kTakeLine);
}
Task<std::optional<std::string_view>> AsyncLogStream::read() { return taken(*reader_, kTakeBytes); }

LogStream::LogStream(AsyncLogStream log, std::stop_token stop)
    : reader_(std::move(log.reader_)), stop_(std::move(stop)) {}
LogStream::LogStream(LogStream&&) noexcept = default;
LogStream& LogStream::operator=(LogStream&&) noexcept = default;
LogStream::~LogStream() = default;

// Creates tasks only to wait: a log has many lines.
template <class Take>
std::optional<std::string_view> LogStream::taken(Take take) {
  std::optional<std::string_view> piece;
  while (!((*reader_).*take)(piece)) {
    try {
      detail::runBlocking(reader_->fetch(), stop_);
    } catch (const CanceledError&) {
      if (!stop_.stop_requested()) throw;
      reader_->end();
    }
  }
  return piece;
}

std::optional<std::string_view> LogStream::nextLine() { return taken(kTakeLine); }
std::optional<std::string_view> LogStream::read() { return taken(kTakeBytes); }

}  // namespace kube
