// A container's log, and how a request reads it.
//
// Thread safety: every method of PodLog may be called from any thread; a PodLogReader belongs to
// one at a time.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "kube/api/core/v1.h"
#include "kube/base/clock.h"
#include "kube/base/string.h"
#include "kube/testing/scripted_container.h"

namespace kube::apiserver {

class PodLog {
 public:
  /// A line, or a part of one.
  struct Piece {
    Clock::WallTime time;
    testing::Containers::Stream stream = testing::Containers::Stream::Stdout;
    bool startsLine = true;
    String text = {};  // with the line's end, where it has come
  };

  void append(std::string_view text, testing::Containers::Stream stream, Clock::WallTime time);
  void end();

  std::size_t size() const;
  bool ended() const;
  /// From that one on, about as many as make so many bytes.
  std::vector<Piece> pieces(std::size_t from, std::size_t bytes) const;
  /// The index at which the last so many lines begin.
  std::size_t tail(std::int64_t lines) const;

  /// Waits until there are more, or the log has ended.
  void wait(std::size_t from, const std::stop_token& stop) const;
  /// Calls a function whenever something has happened; perhaps once more after unlisten().
  std::uint64_t listen(std::function<void()> function);
  void unlisten(std::uint64_t id);

 private:
  void changed();

  mutable std::mutex mutex_;
  mutable std::condition_variable_any changed_;
  std::vector<Piece> pieces_;
  bool ended_ = false;
  std::map<std::uint64_t, std::function<void()>> listeners_;
  std::uint64_t nextId_ = 1;
};

/// Reads a log as a request's options want it.
class PodLogReader {
 public:
  PodLogReader(std::shared_ptr<PodLog> log, const corev1::PodLogOptions& options,
               Clock::WallTime now);

  enum class State { More, Wait, End };
  State read(std::string& out);

 private:
  State readBatch(std::string& out);

  const std::shared_ptr<PodLog> log_;
  const bool follow_, timestamps_;
  std::optional<testing::Containers::Stream> stream_;
  Clock::WallTime since_ = Clock::WallTime::min();
  std::uint64_t left_;  // bytes that may be given
  std::size_t at_ = 0;
};

}  // namespace kube::apiserver
