// From a host's name to a connected TCP socket.
//
// Names are looked up on a thread of their own, because getaddrinfo() blocks. Addresses are tried
// as RFC 8305 describes: both families in turn, the next one after a quarter of a second, so that
// an unroutable family costs no more than that.
//
// Every socket has TCP_NODELAY, and the kernel watches it: a silently lost peer is noticed within
// 45 seconds, as by client-go's HTTP/2 pings. Keep-alive probes are sent after 15 s of silence and
// then every 5 s; TCP_USER_TIMEOUT gives up after 30 s without acknowledgement of data or probes.
// So an idle connection is given up 30 to 35 s after the last received data, and a request on a
// dead connection after 30 s, in HTTP/1.1 and HTTP/2. (HTTP/2 pings come in addition; they also
// notice a process that hangs while its kernel answers.)
//
// Thread safety: belongs to its loop's thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "kube/http/internal/event_loop.h"
#include "kube/http/transport.h"

namespace kube::detail {

class TcpConnect : public std::enable_shared_from_this<TcpConnect> {
 public:
  /// Called with the connected socket, or -1 and the reason. Called once, never within start().
  using Done = std::function<void(int fd, std::string error)>;
  /// The program's part in it: see TransportOptions.
  struct Ways {
    std::function<void(int fd)> onSocket = {};
    DialFunction dial = {};
  };

  TcpConnect(EventLoop& loop, Ways ways, Done done);
  ~TcpConnect();

  void start(const std::string& host, std::uint16_t port);
  /// Gives up: Done is not called any more.
  void cancel();

 private:
  class Attempt;
  struct Address {
    std::vector<unsigned char> bytes;  // a sockaddr
    int family;
  };
  struct Lookup {
    std::vector<Address> addresses;
    std::string error;
  };

  static Lookup lookUp(const std::string& host, std::uint16_t port, bool numeric);
  void dial(const std::string& host, std::uint16_t port);
  void resolved(Lookup lookup);
  void show(int fd);
  void tryNext();
  void finished(Attempt& attempt, int systemError);
  void finish(int fd, std::string error);

  EventLoop& loop_;
  const Ways ways_;
  std::stop_source stopDial_;
  Done done_;
  std::string host_;
  std::vector<Address> addresses_;
  std::size_t next_ = 0;
  std::vector<std::shared_ptr<Attempt>> attempts_;
  LoopTimer stagger_;
  std::string firstError_;
};

}  // namespace kube::detail
