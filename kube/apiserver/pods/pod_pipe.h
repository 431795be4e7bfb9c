// Bytes on their way from a connection's strand, which must not wait, to a program's thread, which
// does.
//
// A pipe never refuses bytes, but says when it has had enough: the connection then brings no more
// until `onRoom`. What a pipe holds is thereby bounded by its limit and one read of the connection.
//
// Thread safety: every method may be called from any thread. `onRoom` is called without a lock.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace kube::apiserver {

class PodPipe {
 public:
  static constexpr std::size_t kLimit = 256 << 10;

  explicit PodPipe(std::function<void()> onRoom) : onRoom_(std::move(onRoom)) {}

  /// True: this has filled it, and onRoom will be called, once.
  [[nodiscard]] bool push(std::string_view bytes);
  /// Nothing comes after what has come.
  void finish();
  /// Nobody reads any more: what comes is dropped.
  void abandon();

  /// Waits; nothing at the end.
  std::optional<std::string> read();

 private:
  const std::function<void()> onRoom_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string bytes_;
  bool full_ = false, finished_ = false, abandoned_ = false;
};

}  // namespace kube::apiserver
