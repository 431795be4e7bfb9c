// A stream to a port of a pod, in a tunnel.
//
// Received bytes stay here until they are read. The tunnel's WebSocket limits them, together with
// those of the other streams in the tunnel: neither protocol has windows for single streams, so a
// stream that is not read holds up the others.
//
// Thread safety: one task reads and one writes, at the same time. Everything else may be called
// from any thread. A tunnel's lock may be held when a stream's is taken, and not the reverse.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "kube/base/internal/condition.h"
#include "kube/base/internal/mutex.h"
#include "kube/base/task.h"

namespace kube::detail {

class PortTunnel;

class TunnelStream {
 public:
  TunnelStream(std::shared_ptr<PortTunnel> tunnel, std::string doing, std::uint32_t id)
      : tunnel_(std::move(tunnel)), doing_(std::move(doing)), id_(id) {}

  /// Waits for bytes of the pod, which are valid until the next read(). None: the pod sends no
  /// more. Throws TransportError if the stream has failed.
  Task<std::optional<std::string_view>> read();
  /// Waits until the stream is over, in both directions. Throws TransportError if it has failed.
  Task<void> over();
  /// Waits until the tunnel has room for more. Returns false once the stream is over.
  Task<bool> waitForRoom();
  /// Sends bytes without waiting. Returns false once the stream is over.
  bool send(std::string_view bytes);
  /// Tells the pod that nothing more is sent. Returns false if the protocol cannot do that.
  bool endOutput();
  /// Ends the stream: it gives up unread bytes, and tasks that use it throw CanceledError. The
  /// stream's owner has to call it.
  void drop();

  // ---- For the tunnel.
  /// Returns the number of bytes that nobody will read.
  std::size_t arrived(std::string_view bytes);
  void podEnded();
  void podGone(const std::string& problem);
  bool isOver() const;

 private:
  void throwIfFailed() const KUBE_REQUIRES(arrivedMutex_);
  std::size_t takeHeld();

  const std::shared_ptr<PortTunnel> tunnel_;
  const std::string doing_;  // for messages; may be empty
  const std::uint32_t id_;
  std::string reading_;       // used by the reader
  bool outputEnded_ = false;  // used by the writer

  mutable Mutex arrivedMutex_;
  Condition changed_{arrivedMutex_};
  std::string arrived_ KUBE_GUARDED_BY(arrivedMutex_);
  std::size_t held_ KUBE_GUARDED_BY(arrivedMutex_) = 0;  // bytes that the reader has
  bool podEnded_ KUBE_GUARDED_BY(arrivedMutex_) = false;
  bool over_ KUBE_GUARDED_BY(arrivedMutex_) = false;
  bool dropped_ KUBE_GUARDED_BY(arrivedMutex_) = false;
  std::string problem_ KUBE_GUARDED_BY(arrivedMutex_);
};

}  // namespace kube::detail
