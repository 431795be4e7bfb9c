// Carries streams to ports of a pod: a WebSocket, and the protocol over it.
//
// SPDY in a tunnel carries any number of streams over one WebSocket; each has a SPDY stream for its
// data and one for an error. Without that, a WebSocket carries one stream in two channels.
//
// Thread safety: every method may be called from any thread. The WebSocket's listener needs the
// lock, and may be called while data is sent; so messages are sent without the lock, by one thread
// at a time.
//
// Lifetime: streams hold their tunnel, and the tunnel its streams until they are dropped or over.
// The WebSocket is closed with the tunnel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kube/base/internal/condition.h"
#include "kube/base/internal/mutex.h"
#include "kube/base/task.h"
#include "kube/client/pods/internal/tunnel_stream.h"
#include "kube/http/websocket.h"

namespace kube::detail {

class TunnelInbox;

class PortTunnel : public std::enable_shared_from_this<PortTunnel> {
 public:
  /// Opens a WebSocket to a port of a pod.
  using Connect =
      std::function<Task<WebSocket>(std::vector<std::string> protocols, std::uint16_t port,
                                    std::shared_ptr<WebSocketListener> listener)>;

  /// Makes a tunnel of the protocol that the server chooses.
  static Task<std::shared_ptr<PortTunnel>> open(Connect connect, std::uint16_t port);

  virtual ~PortTunnel();

  /// Returns whether the tunnel carries more than one stream.
  virtual bool shared() const = 0;
  bool lost() const;
  /// Opens a stream; its messages begin with `doing`. Returns null if the tunnel accepts no more.
  std::shared_ptr<TunnelStream> connect(std::uint16_t port, std::string doing = {});

  // ---- For streams.
  void consumed(std::size_t bytes) const;
  /// Returns false if a stop was requested before there is room, or the stream is over.
  Task<bool> waitForRoom(const TunnelStream& stream);
  void send(std::uint32_t id, std::string_view bytes);
  bool endOutput(std::uint32_t id);
  void drop(std::uint32_t id);

  // ---- For the inbox.
  /// Returns the number of bytes that are consumed.
  std::size_t received(std::string_view bytes, bool first);
  void room();
  void closed(const WebSocketEnd& end);

 protected:
  explicit PortTunnel(WebSocket socket) : socket_(std::move(socket)) {}

  /// Begins a stream. Returns its id; 0 if the tunnel accepts no more.
  virtual std::uint32_t begin(std::uint16_t port) KUBE_REQUIRES(streamsMutex_) = 0;
  virtual void add(std::uint32_t id, std::shared_ptr<TunnelStream> stream)
      KUBE_REQUIRES(streamsMutex_) = 0;
  virtual void write(std::uint32_t id, std::string_view bytes) KUBE_REQUIRES(streamsMutex_) = 0;
  virtual bool writeEnd(std::uint32_t id) KUBE_REQUIRES(streamsMutex_) = 0;
  virtual void forget(std::uint32_t id) KUBE_REQUIRES(streamsMutex_) = 0;
  /// Returns the number of bytes that are consumed. Throws DecodeError.
  virtual std::size_t handle(std::string_view bytes, bool first) KUBE_REQUIRES(streamsMutex_) = 0;
  /// Ends all streams.
  virtual void endAll(const std::string& problem) KUBE_REQUIRES(streamsMutex_) = 0;

  /// Lets the tasks of ended streams go on.
  void streamEnded() KUBE_REQUIRES(streamsMutex_) { room_.notifyAll(); }
  void queue(std::string message) KUBE_REQUIRES(streamsMutex_);
  std::size_t queued() const KUBE_REQUIRES(streamsMutex_) {
    return socket_.queued() + unsentBytes_;
  }

  mutable Mutex streamsMutex_;

 private:
  void lose(const std::string& problem) KUBE_EXCLUDES(streamsMutex_);
  /// Sends the queued messages, unless another thread does. Without the lock.
  void flush() KUBE_EXCLUDES(streamsMutex_);

  WebSocket socket_;
  Condition room_{streamsMutex_};
  std::vector<std::string> unsent_ KUBE_GUARDED_BY(streamsMutex_);
  std::size_t unsentBytes_ KUBE_GUARDED_BY(streamsMutex_) = 0;
  bool sending_ KUBE_GUARDED_BY(streamsMutex_) = false;
  bool lost_ KUBE_GUARDED_BY(streamsMutex_) = false;
};

}  // namespace kube::detail
