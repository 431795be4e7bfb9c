// The lines of a log, from the pieces in which it arrives; both forms of a log are fronts of it.
//
//   std::optional<std::string_view> line;
//   while (!reader.takeLine(line)) co_await reader.fetch();
//
// A task of fetch() that is stopped or destroyed loses nothing: the log can be read on. Views are
// valid until the next call.
//
// Thread safety: one thread at a time. The reader outlives its tasks.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "kube/base/task.h"
#include "kube/client/pods/internal/log_position.h"
#include "kube/http/transport.h"
#include "kube/meta/time.h"

namespace kube::detail {

class LogReader {
 public:
  /// Opens a log, with timestamps, from a time on; a zero time means from the beginning.
  using Reopen = std::function<Task<HttpStream>(Time since)>;

  explicit LogReader(HttpStream stream) : stream_(std::move(stream)) {}
  /// For a log that is opened again after its connection breaks.
  LogReader(HttpStream stream, Reopen reopen, bool keepTimestamps)
      : resume_(Resume{.reopen = std::move(reopen), .position = LogPosition(keepTimestamps)}),
        stream_(std::move(stream)) {}

  /// Takes the next line, or none at the end. Returns false if fetch() has to be called first.
  bool takeLine(std::optional<std::string_view>& line);
  /// The same for the next bytes.
  bool takeBytes(std::optional<std::string_view>& bytes);
  /// Waits for more bytes, or for the log to be opened again.
  Task<void> fetch();
  /// Ends the log, without its incomplete line.
  void end() noexcept;

 private:
  struct Resume {
    Reopen reopen;
    LogPosition position;
    bool broken = false;     // the log has to be opened again
    bool idle = false;       // no line since the log was opened again
    std::string whole = {};  // the line that takeBytes() returned
  };
  bool takeRaw(std::optional<std::string_view>& line);
  Task<void> reopen();

  std::optional<Resume> resume_;
  HttpStream stream_;
  std::string_view rest_;  // the unread part of the last piece
  std::string line_;       // the beginning of a line, from earlier pieces
  bool lineTaken_ = false;
  bool over_ = false;
};

}  // namespace kube::detail
