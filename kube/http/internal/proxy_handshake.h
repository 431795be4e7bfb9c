// The handshake with a proxy that opens a tunnel to the target: HTTP's CONNECT or SOCKS 5.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "kube/http/internal/channel.h"
#include "kube/http/proxy.h"

namespace kube::detail {

class ProxyHandshake {
 public:
  virtual ~ProxyHandshake() = default;

  /// Continues as far as the channel allows. Ok: the channel leads to the target. Failed: see
  /// error().
  Channel::Status advance(Channel& channel);
  const std::string& error() const { return error_; }

 protected:
  /// Processes the received data. Returns Ok, WantRead for more data (possibly with new data in
  /// outgoing_), or Failed.
  virtual Channel::Status receive(std::string& incoming) = 0;
  Channel::Status failed(std::string error);

  std::string outgoing_;

 private:
  std::string incoming_;
  std::string error_;
};

std::unique_ptr<ProxyHandshake> proxyHandshake(const Proxy& proxy, const std::string& host,
                                               std::uint16_t port);

/// The value of Proxy-Authorization; empty if the proxy needs none.
std::string proxyAuthorization(const Proxy& proxy);

}  // namespace kube::detail
