// A connection that was made to a forwarded port: the socket, and its place in a tunnel.
//
// Thread safety: belongs to its loop's thread.
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
  /// Hears once how it ended: with a problem, unless that is empty. May destroy it after this turn
  /// of the loop.
  using Done = std::function<void(ForwardConnection& connection, const std::string& problem)>;

  /// Takes the socket.
  ForwardConnection(EventLoop& loop, int fd, Done done);
  ~ForwardConnection();

  /// Begins to forward. False where the tunnel takes no more.
  bool start(std::shared_ptr<ForwardTunnel> tunnel, std::uint16_t port);
  /// Closes it.
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
  std::uint32_t id_ = 0;  // in the tunnel; 0: not there
  std::optional<FdWatch> watch_;
  LoopTimer patience_;
  std::string pending_;  // from the pod, not taken by the socket yet
  bool localEnded_ = false;
  bool podEnded_ = false;
  bool podGone_ = false;
  std::string problem_;
};

}  // namespace kube::detail
