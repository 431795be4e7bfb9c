// Carries forwarded connections to the ports of a pod: a WebSocket, and the protocol over it.
//
// SPDY in a tunnel carries any number of connections over one WebSocket, each with a stream for its
// data and one for an error. Without that, a WebSocket carries one connection in two channels.
//
// Neither protocol has windows: data that one connection does not take holds up the others in its
// tunnel, and thereby limits memory.
//
// Thread safety: only for the thread of the loop, except for the listener side of the inbox.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kube/base/internal/mutex.h"
#include "kube/http/internal/event_loop.h"
#include "kube/http/websocket.h"

namespace kube::detail {

/// The local end of a connection.
class TunnelEnd {
 public:
  /// Receives bytes; the receiver calls ForwardTunnel::consumed() when it has used them.
  virtual void fromPod(std::string_view bytes) = 0;
  /// The pod sends no more; it may still receive.
  virtual void podEnded() = 0;
  /// The connection is over; `problem` is empty if it ended properly.
  virtual void podGone(const std::string& problem) = 0;
  /// The tunnel has room again.
  virtual void onRoom() = 0;

 protected:
  ~TunnelEnd() = default;
};

class ForwardTunnel;

/// Passes the data of a WebSocket to a loop.
class TunnelInbox final : public WebSocketListener,
                          public std::enable_shared_from_this<TunnelInbox> {
 public:
  explicit TunnelInbox(std::shared_ptr<Mailbox> mailbox) : mailbox_(std::move(mailbox)) {}

  struct Piece {
    bool first = false;  // of a message
    std::string bytes = {};
  };
  struct Taken {
    std::vector<Piece> pieces;
    bool ended = false;
    WebSocketEnd end;
  };

  /// From now on the loop notifies the tunnel.
  void attach(std::weak_ptr<ForwardTunnel> tunnel);
  Taken take();
  /// Notifies the tunnel when there is room.
  void waitForRoom() { waiting_ = true; }

  std::size_t onData(std::string_view piece, bool first, bool last) override;
  void onRoom() override;
  void onClosed(WebSocketEnd end) noexcept override;

 private:
  void post() KUBE_REQUIRES(takenMutex_);

  const std::shared_ptr<Mailbox> mailbox_;
  Mutex takenMutex_;
  std::weak_ptr<ForwardTunnel> tunnel_ KUBE_GUARDED_BY(takenMutex_);
  Taken taken_ KUBE_GUARDED_BY(takenMutex_);
  bool attached_ KUBE_GUARDED_BY(takenMutex_) = false;
  bool posted_ KUBE_GUARDED_BY(takenMutex_) = false;
  std::atomic<bool> waiting_{false};
};

class ForwardTunnel : public std::enable_shared_from_this<ForwardTunnel> {
 public:
  /// The subprotocols, best first.
  static const std::vector<std::string>& protocols();
  /// Makes a tunnel for the protocol that the server chose.
  static std::shared_ptr<ForwardTunnel> make(WebSocket socket, std::shared_ptr<TunnelInbox> inbox);

  virtual ~ForwardTunnel();

  /// Returns whether the tunnel carries more than one connection.
  virtual bool shared() const = 0;
  /// Adds a connection; returns 0 if the tunnel accepts no more. The end must live until drop() or
  /// podGone().
  virtual std::uint32_t connect(TunnelEnd& end, std::uint16_t port) = 0;
  virtual void toPod(std::uint32_t id, std::string_view bytes) = 0;
  /// Tells the pod that the program has sent everything. Returns false if the protocol cannot do
  /// that.
  virtual bool localEnded(std::uint32_t id) = 0;
  virtual void drop(std::uint32_t id) = 0;

  bool lost() const { return lost_; }
  /// Returns whether nothing more should be sent before TunnelEnd::onRoom().
  bool full();
  void consumed(std::size_t bytes) const { socket_.consumed(bytes); }

  /// For the inbox.
  void arrived();
  void room();

 protected:
  ForwardTunnel(WebSocket socket, std::shared_ptr<TunnelInbox> inbox);

  /// Returns the number of bytes that are consumed.
  virtual std::size_t handle(std::string_view bytes, bool first) = 0;
  /// Ends all connections, with podGone().
  virtual void endAll(const std::string& problem) = 0;
  virtual std::vector<TunnelEnd*> ends() const = 0;

  const WebSocket& socket() const { return socket_; }
  void lose(const std::string& problem);

 private:
  WebSocket socket_;
  const std::shared_ptr<TunnelInbox> inbox_;
  bool lost_ = false;
};

}  // namespace kube::detail
