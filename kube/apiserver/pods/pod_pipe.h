// A queue of bytes from a connection's strand, which must not block, to a program's thread, which
// may.
//
// A pipe never refuses bytes, but reports when it is full: the connection then stops reading until
// `onRoom`. So a pipe holds at most its limit and one read of the connection.
//
// Thread safety: every method may be called from any thread. `onRoom` is called without a lock.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "kube/base/internal/mutex.h"

namespace kube::apiserver {

class PodPipe {
 public:
  static constexpr std::size_t kLimit = 256 << 10;

  explicit PodPipe(std::function<void()> onRoom) : onRoom_(std::move(onRoom)) {}

  /// Returns true if the pipe is full now; onRoom is called once when there is room again.
  [[nodiscard]] bool push(std::string_view bytes);
  /// Marks the end of the bytes.
  void finish();
  /// Drops all bytes, present and future: the reader is gone.
  void abandon();

  /// Waits for bytes; nullopt at the end.
  std::optional<std::string> read();

 private:
  const std::function<void()> onRoom_;
  detail::Mutex bytesMutex_;
  std::condition_variable changed_;
  std::string bytes_ KUBE_GUARDED_BY(bytesMutex_);
  bool full_ KUBE_GUARDED_BY(bytesMutex_) = false;
  bool finished_ KUBE_GUARDED_BY(bytesMutex_) = false;
  bool abandoned_ KUBE_GUARDED_BY(bytesMutex_) = false;
};

}  // namespace kube::apiserver
