#include "kube/client/pods/internal/local_listener.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "kube/base/error.h"

namespace kube::detail {

namespace {

struct Address {
  sockaddr_storage bytes{};
  socklen_t size = 0;

  static Address parse(const std::string& text, std::uint16_t port) {
    Address address;
    auto& v4 = reinterpret_cast<sockaddr_in&>(address.bytes);
    auto& v6 = reinterpret_cast<sockaddr_in6&>(address.bytes);
    if (inet_pton(AF_INET, text.c_str(), &v4.sin_addr) == 1) {
      v4.sin_family = AF_INET;
      v4.sin_port = htons(port);
      address.size = sizeof v4;
    } else if (inet_pton(AF_INET6, text.c_str(), &v6.sin6_addr) == 1) {
      v6.sin6_family = AF_INET6;
      v6.sin6_port = htons(port);
      address.size = sizeof v6;
    } else {
      throw Error(fmt::format("port-forward: \"{}\" is neither an IP address nor localhost", text));
    }
    return address;
  }
};

}  // namespace

int listenOn(const std::string& text, std::uint16_t& port) {
  const Address address = Address::parse(text, port);
  const int fd = socket(address.bytes.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  Descriptor guard(fd);
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (address.bytes.ss_family == AF_INET6) {
    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  }
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  if (bind(fd, reinterpret_cast<const sockaddr*>(&address.bytes), address.size) != 0 ||
      listen(fd, SOMAXCONN) != 0 ||
      getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &size) != 0) {
    throw Error(fmt::format("port-forward: cannot listen on {} port {}: {}", text, port,
                            std::strerror(errno)));
  }
  port = ntohs(bound.ss_family == AF_INET ? reinterpret_cast<sockaddr_in&>(bound).sin_port
                                          : reinterpret_cast<sockaddr_in6&>(bound).sin6_port);
  return guard.release();
}

}  // namespace kube::detail
