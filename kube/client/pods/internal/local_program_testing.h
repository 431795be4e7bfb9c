// A program on this machine, for tests of forwarded ports.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "kube/http/internal/descriptor.h"

namespace kube {

/// Connects to a port.
class LocalProgram {
 public:
  explicit LocalProgram(std::uint16_t port)
      : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const timeval patience{.tv_sec = 30, .tv_usec = 0};
    setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }

  bool connected() const { return connected_; }
  bool say(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t count = send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
  }
  void endInput() const { shutdown(socket_.get(), SHUT_WR); }
  /// Resets the connection when the program is destroyed.
  void resetAtEnd() const {
    const linger now{.l_onoff = 1, .l_linger = 0};
    setsockopt(socket_.get(), SOL_SOCKET, SO_LINGER, &now, sizeof now);
  }
  std::string hear(std::size_t size) const {
    std::string all;
    while (all.size() < size) {
      const std::string piece = some(size - all.size());
      if (piece.empty()) break;
      all += piece;
    }
    return all;
  }
  std::string rest() const { return hear(std::string::npos); }

 private:
  std::string some(std::size_t most) const {
    std::string buffer(std::min<std::size_t>(most, 64 << 10), '\0');
    const ssize_t count = recv(socket_.get(), buffer.data(), buffer.size(), 0);
    buffer.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    return buffer;
  }

  detail::Descriptor socket_;
  bool connected_ = false;
};

}  // namespace kube
