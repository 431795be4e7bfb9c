// The log of a container, and its readers.
//
// Thread safety: every method of PodLog may be called from any thread. A PodLogReader is for one
// thread at a time.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "kube/api/core/v1.h"
#include "kube/base/clock.h"
#include "kube/base/internal/mutex.h"
#include "kube/base/string.h"
#include "kube/testing/scripted_container.h"

namespace kube::apiserver {

class PodLog {
 public:
  /// A line, or part of one.
  struct Piece {
    Clock::WallTime time;
    testing::Containers::Stream stream = testing::Containers::Stream::Stdout;
    bool startsLine = true;
    String text = {};  // with the end of the line, if it is complete
  };

  void append(std::string_view text, testing::Containers::Stream stream, Clock::WallTime time);
  void end();

  std::size_t size() const;
  bool ended() const;
  /// The pieces from an index on, about as many as make up `bytes`.
  std::vector<Piece> pieces(std::size_t from, std::size_t bytes) const;
  /// The index at which the last `lines` lines begin.
  std::size_t tail(std::int64_t lines) const;

  /// Waits until there are more pieces, or the log has ended.
  void wait(std::size_t from, const std::stop_token& stop) const;
  /// Calls a function after every change; possibly once more after unlisten().
  std::uint64_t listen(std::function<void()> function);
  void unlisten(std::uint64_t id);

 private:
  void changed();

  mutable detail::Mutex piecesMutex_;
  mutable std::condition_variable_any changed_;
  std::vector<Piece> pieces_ KUBE_GUARDED_BY(piecesMutex_);
  bool ended_ KUBE_GUARDED_BY(piecesMutex_) = false;
  std::map<std::uint64_t, std::function<void()>> listeners_ KUBE_GUARDED_BY(piecesMutex_);
  std::uint64_t nextId_ KUBE_GUARDED_BY(piecesMutex_) = 1;
};

/// Reads a log as the options of a request say.
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
  std::uint64_t left_;  // the number of bytes that may still be returned
  std::size_t at_ = 0;
};

}  // namespace kube::apiserver
