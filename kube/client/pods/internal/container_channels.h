// Messages from a container over a WebSocket, by the protocols v4.channel.k8s.io and
// v5.channel.k8s.io. The first byte of a message is its channel.
//
// Thread safety: onData() and onClosed() are for the connection; the other methods for one reader.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "kube/base/internal/condition.h"
#include "kube/base/internal/mutex.h"
#include "kube/http/websocket.h"

namespace kube::detail {

class ContainerChannels final : public WebSocketListener {
 public:
  static constexpr std::uint8_t kStdin = 0, kStdout = 1, kStderr = 2, kStatus = 3, kResize = 4,
                                kClose = 255;
  /// The limit for a Status; the rest is dropped.
  static constexpr std::size_t kMaxStatus = std::size_t{64} << 10;

  struct Block {
    std::uint8_t channel = 0;
    std::string bytes = {};
  };

  bool hasSomething() const;
  /// Waits until hasSomething(). Returns false if a stop was requested before.
  Task<bool> waitForSomething();
  /// Exchanges a block that was read for the next one of stdout or stderr. Returns false at the
  /// end. There has to be something.
  bool take(Block& block);
  /// Once take() is false: the content of the status channel, and the end of the connection.
  const std::string& status() const { return status_; }
  const WebSocketEnd& end() const { return end_; }

  std::size_t onData(std::string_view piece, bool first, bool last) override;
  void onClosed(WebSocketEnd end) noexcept override;

 private:
  static constexpr std::size_t kBlock = std::size_t{64} << 10;

  void add(std::string_view piece);

  std::optional<std::uint8_t> channel_;  // of the current message

  mutable Mutex blocksMutex_;
  Condition changed_{blocksMutex_};
  std::deque<Block> blocks_ KUBE_GUARDED_BY(blocksMutex_);
  std::string spare_ KUBE_GUARDED_BY(blocksMutex_);  // memory of a block that was read
  bool ended_ KUBE_GUARDED_BY(blocksMutex_) = false;
  // Written by the connection with the lock, and never after `ended_` is set.
  std::string status_;
  WebSocketEnd end_;
};

}  // namespace kube::detail
