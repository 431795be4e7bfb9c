// A connection to a forwarded port: the socket, and its place in a tunnel.
//
// Thread safety: only for the thread of the loop.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "kube/client/pods/internal/forward_tunnel.h"
#include "kube/http/internal/descriptor.h"
#include "kube/http/internal/event_loop.h"

namespace kube::detail {

class ForwardConnection final : public EventHandler, public TunnelEnd {
 public:
  /// Called once at the end of the connection; `problem` is empty if it ended properly. May destroy
  /// the connection after this turn of the loop.
  using Done = std::function<void(ForwardConnection& connection, const std::string& problem)>;

  /// Takes ownership of the socket.
  ForwardConnection(EventLoop& loop, int fd, Done done);
  ~ForwardConnection();

  /// Begins to forward. Returns false if the tunnel accepts no more connections.
  bool start(std::shared_ptr<ForwardTunnel> tunnel, std::uint16_t port);
  /// Closes the connection and reports a problem.
  void fail(const std::string& problem) { finish(problem); }

 private:
  void onEvents(std::uint32_t events) override;
  void fromPod(std::string_view bytes) override;
  void podEnded() override;
  void podGone(const std::string& problem) override;
  void onRoom() override { updateEvents(); }

  void readSome();
  void flush();
  void waitForTheRest();
  void updateEvents();
  void leave();
  void finish(const std::string& problem);

  EventLoop& loop_;
  const Descriptor socket_;
  Done done_;
  std::shared_ptr<ForwardTunnel> tunnel_;
  std::uint32_t id_ = 0;  // in the tunnel; 0: not connected
  std::optional<FdWatch> watch_;
  LoopTimer patience_;
  std::string pending_;  // bytes from the pod that the socket has not taken yet
  bool localEnded_ = false;
  bool podEnded_ = false;
  bool podGone_ = false;
  std::string problem_;
};

}  // namespace kube::detail
