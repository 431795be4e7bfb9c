#include "kube/client/pods/log_stream.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "kube/base/clock.h"
#include "kube/base/error.h"
#include "kube/client/pods/internal/log_position.h"

namespace kube {

struct LogStream::Resume {
  Reopen reopen;
  detail::LogPosition position;
  bool idle = false;       // no line since the log was opened again
  std::string whole = {};  // the line that read() returned
};

LogStream::LogStream(LogStream&&) noexcept = default;
LogStream& LogStream::operator=(LogStream&&) noexcept = default;
LogStream::~LogStream() = default;

LogStream::LogStream(HttpStream stream, std::stop_token stop)
    : stream_(std::move(stream)), stop_(std::move(stop)) {}

LogStream::LogStream(Reopen reopen, bool keepTimestamps, std::stop_token stop)
    : resume_(std::make_unique<Resume>(
          Resume{.reopen = reopen, .position = detail::LogPosition(keepTimestamps)})),
      stream_(reopen({})),
      stop_(std::move(stop)) {}

// Reads more bytes into rest_. Returns false if the log is over.
bool LogStream::fetch() {
  if (over_) return false;
  try {
    if (const auto piece = stream_.read()) {
      rest_ = *piece;
      return true;
    }
  } catch (const CanceledError&) {
    if (!stop_.stop_requested()) throw;
    line_.clear();
  }
  over_ = true;
  return false;
}

std::optional<std::string_view> LogStream::nextLine() {
  return resume_ ? resumingLine() : rawLine();
}

std::optional<std::string_view> LogStream::resumingLine() {
  constexpr auto kPause = std::chrono::seconds{1};
  for (;;) {
    try {
      while (const auto line = rawLine()) {
        resume_->idle = false;
        if (const auto fresh = resume_->position.accept(*line)) return fresh;
      }
      return std::nullopt;
    } catch (const TransportError&) {
      line_.clear();
      lineTaken_ = false;
      rest_ = {};
    }
    try {
      if (std::exchange(resume_->idle, true) && !realClock().sleepFor(kPause, stop_)) {
        over_ = true;
        return std::nullopt;
      }
      stream_ = resume_->reopen(resume_->position.since());
      resume_->position.resume();
    } catch (const CanceledError&) {
      if (!stop_.stop_requested()) throw;
      over_ = true;
      return std::nullopt;
    }
  }
}

std::optional<std::string_view> LogStream::rawLine() {
  if (std::exchange(lineTaken_, false)) line_.clear();
  for (;;) {
    const std::size_t room = kMaxLineBytes - line_.size();
    const std::size_t end = rest_.substr(0, room + 1).find('\n');
    const bool whole = end != std::string_view::npos;
    if (whole || rest_.size() > room) {
      const std::string_view part = rest_.substr(0, whole ? end : room);
      rest_.remove_prefix(part.size() + (whole ? 1 : 0));
      if (line_.empty()) return part;
      line_ += part;
      lineTaken_ = true;
      return line_;
    }
    line_ += rest_;
    rest_ = {};
    if (fetch()) continue;
    if (line_.empty()) return std::nullopt;
    lineTaken_ = true;
    return line_;
  }
}

std::optional<std::string_view> LogStream::read() {
  if (resume_) {
    const auto line = resumingLine();
    if (!line) return std::nullopt;
    resume_->whole.assign(*line) += '\n';
    return resume_->whole;
  }
  if (std::exchange(lineTaken_, false)) line_.clear();
  if (rest_.empty() && !fetch()) return std::nullopt;
  return std::exchange(rest_, {});
}

}  // namespace kube
