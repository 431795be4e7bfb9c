#include "kube/apiserver/pods/pod_log.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "kube/meta/time.h"

namespace kube::apiserver {

namespace {

constexpr std::size_t kLogPiece = 64 << 10;

// 2024-01-01T00:00:00.000000000Z
void addTimestamp(Clock::WallTime time, std::string& out) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  Time(seconds).appendTo(out);
  out.pop_back();
  fmt::format_to(std::back_inserter(out), ".{:09}Z ", (time - seconds).count());
}

}  // namespace

// --- PodLog.

void PodLog::append(std::string_view text, testing::Containers::Stream stream,
                    Clock::WallTime time) {
  {
    const detail::Lock lock(piecesMutex_);
    if (ended_) return;
    while (!text.empty()) {
      const std::string_view line = text.substr(0, text.find('\n'));
      const std::size_t size = std::min(line.size() + 1, text.size());
      const bool starts = pieces_.empty() || pieces_.back().text.view().ends_with('\n');
      pieces_.push_back({time, stream, starts, text.substr(0, size)});
      text.remove_prefix(size);
    }
  }
  changed();
}

void PodLog::end() {
  {
    const detail::Lock lock(piecesMutex_);
    ended_ = true;
  }
  changed();
}

void PodLog::changed() {
  std::map<std::uint64_t, std::function<void()>> listeners;
  {
    const detail::Lock lock(piecesMutex_);
    changed_.notify_all();
    listeners = listeners_;
  }
  for (const auto& [id, function] : listeners) function();
}

std::size_t PodLog::size() const {
  const detail::Lock lock(piecesMutex_);
  return pieces_.size();
}

bool PodLog::ended() const {
  const detail::Lock lock(piecesMutex_);
  return ended_;
}

std::vector<PodLog::Piece> PodLog::pieces(std::size_t from, std::size_t bytes) const {
  const detail::Lock lock(piecesMutex_);
  std::vector<Piece> found;
  std::size_t size = 0;
  for (std::size_t i = from; i < pieces_.size() && size < bytes; ++i) {
    size += pieces_[i].text.size();
    found.push_back(pieces_[i]);
  }
  return found;
}

std::size_t PodLog::tail(std::int64_t lines) const {
  const detail::Lock lock(piecesMutex_);
  std::size_t at = pieces_.size();
  while (at > 0 && lines > 0) {
    if (pieces_[--at].startsLine) --lines;
  }
  return at;
}

void PodLog::wait(std::size_t from, const std::stop_token& stop) const {
  detail::Lock lock(piecesMutex_);
  changed_.wait(lock, stop,
                [&]() KUBE_REQUIRES(piecesMutex_) { return pieces_.size() > from || ended_; });
}

std::uint64_t PodLog::listen(std::function<void()> function) {
  const detail::Lock lock(piecesMutex_);
  listeners_.emplace(nextId_, std::move(function));
  return nextId_++;
}

void PodLog::unlisten(std::uint64_t id) {
  const detail::Lock lock(piecesMutex_);
  listeners_.erase(id);
}

// --- PodLogReader.

PodLogReader::PodLogReader(std::shared_ptr<PodLog> log, const corev1::PodLogOptions& options,
                           Clock::WallTime now)
    : log_(std::move(log)),
      follow_(options.follow),
      timestamps_(options.timestamps),
      left_(options.limitBytes ? static_cast<std::uint64_t>(*options.limitBytes)
                               : std::numeric_limits<std::uint64_t>::max()) {
  if (options.stream == "Stdout") stream_ = testing::Containers::Stream::Stdout;
  if (options.stream == "Stderr") stream_ = testing::Containers::Stream::Stderr;
  if (options.sinceTime) since_ = options.sinceTime.timePoint();
  if (options.sinceSeconds) {
    // More than a century means all of the log.
    since_ = now - std::chrono::seconds(std::min<std::int64_t>(*options.sinceSeconds, 1LL << 32));
  }
  if (options.tailLines) at_ = log_->tail(*options.tailLines);
}

PodLogReader::State PodLogReader::read(std::string& out) {
  // Lines that are skipped are skipped at once: More means that there are bytes.
  const std::size_t begin = out.size();
  State state = State::More;
  while (state == State::More && out.size() == begin) state = readBatch(out);
  return state;
}

PodLogReader::State PodLogReader::readBatch(std::string& out) {
  const bool ended = log_->ended();  // read before the pieces: nothing comes after the end
  const std::vector<PodLog::Piece> pieces = log_->pieces(at_, kLogPiece);
  at_ += pieces.size();
  for (const PodLog::Piece& piece : pieces) {
    if ((stream_ && piece.stream != *stream_) || piece.time < since_) continue;
    const std::size_t before = out.size();
    if (timestamps_ && piece.startsLine) addTimestamp(piece.time, out);
    out.append(piece.text);
    const std::uint64_t added = out.size() - before;
    if (added >= left_) {
      out.resize(before + left_);
      return State::End;
    }
    left_ -= added;
  }
  if (!pieces.empty()) return State::More;
  return follow_ && !ended ? State::Wait : State::End;
}

}  // namespace kube::apiserver
