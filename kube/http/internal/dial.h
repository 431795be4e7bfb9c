// Makes a connection to a server: look-up, TCP, a proxy's handshake if there is one, TLS.
//
// Thread safety: belongs to its loop's thread.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "kube/http/internal/channel.h"
#include "kube/http/internal/event_loop.h"
#include "kube/http/internal/proxy_handshake.h"
#include "kube/http/internal/tcp_connect.h"
#include "kube/http/url.h"

namespace kube::detail {

class Dial final : public EventHandler, public std::enable_shared_from_this<Dial> {
 public:
  /// Called with a channel that is ready for HTTP, or null and the reason. Called once, never
  /// within start().
  using Done = std::function<void(Dial& dial, std::unique_ptr<Channel> channel, std::string error)>;

  /// The purpose of the channel: HTTP in any version, or another protocol that is reached through
  /// HTTP/1.1. The latter uses a tunnel through any proxy.
  enum class For : unsigned char { Http, Upgrade };

  /// `proxy` may be null; it and `tls` outlive the dial.
  Dial(EventLoop& loop, const TlsContext& tls, const Proxy* proxy, Url url, For purpose,
       TcpConnect::Ways ways, Done done);
  ~Dial();

  void start(std::chrono::nanoseconds timeout);
  /// Returns, after a failure, whether another try would fail too, as TransportError::permanent()
  /// does.
  bool permanent() const { return permanent_; }

 private:
  enum class Step : unsigned char { Tcp, ProxyTls, ProxyHello, Tls };

  void connected(int fd, std::string error);
  void onEvents(std::uint32_t events) override;
  void advance();
  bool enterNextStep();
  void fail(std::string error);
  void finish(std::string error);

  EventLoop& loop_;
  const TlsContext& tls_;
  const Proxy* const proxy_;
  const Url url_;
  const For purpose_;
  Done done_;
  const std::shared_ptr<TcpConnect> tcp_;
  std::unique_ptr<ProxyHandshake> hello_;
  LoopTimer timer_;
  Step step_ = Step::Tcp;
  bool permanent_ = false;
  std::unique_ptr<Channel> channel_;
  std::optional<FdWatch> watch_;
};

}  // namespace kube::detail
