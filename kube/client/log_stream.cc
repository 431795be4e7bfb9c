#include "kube/client/log_stream.h"

#include <algorithm>
#include <utility>

#include "kube/base/error.h"

namespace kube {

LogStream::LogStream(HttpStream stream, std::stop_token stop)
    : stream_(std::move(stream)), stop_(std::move(stop)) {}

// Has more bytes in rest_, unless the log is over.
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
  if (std::exchange(lineTaken_, false)) line_.clear();
  if (rest_.empty() && !fetch()) return std::nullopt;
  return std::exchange(rest_, {});
}

}  // namespace kube
