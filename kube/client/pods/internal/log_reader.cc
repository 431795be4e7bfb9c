#include "kube/client/pods/internal/log_reader.h"

#include <chrono>
#include <utility>

#include "kube/base/error.h"
#include "kube/client/pods/log_stream.h"

namespace kube::detail {

bool LogReader::takeLine(std::optional<std::string_view>& line) {
  while (takeRaw(line)) {
    if (!line || !resume_) return true;
    resume_->idle = false;
    line = resume_->position.accept(*line);
    if (line) return true;
  }
  return false;
}

bool LogReader::takeRaw(std::optional<std::string_view>& line) {
  if (std::exchange(lineTaken_, false)) line_.clear();
  const std::size_t room = LogStream::kMaxLineBytes - line_.size();
  const std::size_t end = rest_.substr(0, room + 1).find('\n');
  const bool whole = end != std::string_view::npos;
  if (whole || rest_.size() > room) {
    const std::string_view part = rest_.substr(0, whole ? end : room);
    rest_.remove_prefix(part.size() + (whole ? 1 : 0));
    if (line_.empty()) {
      line = part;
      return true;
    }
    line_ += part;
  } else {
    line_ += rest_;
    rest_ = {};
    if (!over_) return false;
    if (line_.empty()) {
      line.reset();
      return true;
    }
  }
  lineTaken_ = true;
  line = line_;
  return true;
}

bool LogReader::takeBytes(std::optional<std::string_view>& bytes) {
  if (resume_) {
    if (!takeLine(bytes)) return false;
    if (bytes) bytes = resume_->whole.assign(*bytes) += '\n';
    return true;
  }
  if (std::exchange(lineTaken_, false)) line_.clear();
  if (!line_.empty()) {  // of a line whose reading was stopped
    lineTaken_ = true;
    bytes = line_;
    return true;
  }
  if (rest_.empty() && !over_) return false;
  bytes.reset();
  if (!rest_.empty()) bytes = std::exchange(rest_, {});
  return true;
}

Task<void> LogReader::fetch() {
  if (resume_ && resume_->broken) co_return co_await reopen();
  try {
    const auto piece = co_await stream_.readAsync();
    if (piece) {
      rest_ = *piece;
    } else {
      over_ = true;
    }
  } catch (const TransportError&) {
    line_.clear();
    lineTaken_ = false;
    if (!resume_) throw;
    resume_->broken = true;
  }
}

Task<void> LogReader::reopen() {
  constexpr auto kPause = std::chrono::seconds{1};
  if (std::exchange(resume_->idle, true)) {
    const bool slept = co_await sleepFor(kPause);
    if (!slept) throw CanceledError("log: canceled");
  }
  stream_ = co_await resume_->reopen(resume_->position.since());
  resume_->position.resume();
  resume_->broken = false;
}

void LogReader::end() noexcept {
  over_ = true;
  rest_ = {};
  line_.clear();
}

}  // namespace kube::detail
