// From a host's name to a connected TCP socket.
//
// Names are looked up on a thread of their own, since getaddrinfo() blocks; addresses are tried as
// RFC 8305 has it, both families in turn and the next one after a quarter of a second, so that a
// family that is not routed costs no more than that.
//
// Every socket has TCP_NODELAY, and has the kernel watch over it: a peer that is gone without a
// word is noticed within 45 seconds, as client-go's HTTP/2 pings do. Keep-alive probes go out after
// 15 s of silence and every 5 s; TCP_USER_TIMEOUT gives up on anything unacknowledged, data or
// probe, after 30 s. So an idle connection is given up 30 to 35 s after its last sign of life, and
// a request that is sent on a dead one after 30 s, in HTTP/1.1 as in HTTP/2. (HTTP/2 pings come on
// top; they also notice a process that hangs behind a kernel that answers.)
//
// Thread safety: belongs to its loop's thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kube/http/internal/event_loop.h"

namespace kube::detail {

class TcpConnect : public std::enable_shared_from_this<TcpConnect> {
 public:
  /// The connected socket, or -1 and why not. Called once, never from within start().
  using Done = std::function<void(int fd, std::string error)>;
  /// Sees each socket before it connects.
  using OnSocket = std::function<void(int fd)>;

  TcpConnect(EventLoop& loop, OnSocket onSocket, Done done);
  ~TcpConnect();

  void start(const std::string& host, std::uint16_t port);
  /// Nobody wants to hear of it any more.
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
  void resolved(Lookup lookup);
  void show(int fd);
  void tryNext();
  void finished(Attempt& attempt, int systemError);
  void finish(int fd, std::string error);

  EventLoop& loop_;
  OnSocket onSocket_;
  Done done_;
  std::string host_;
  std::vector<Address> addresses_;
  std::size_t next_ = 0;
  std::vector<std::shared_ptr<Attempt>> attempts_;
  LoopTimer stagger_;
  std::string firstError_;
};

}  // namespace kube::detail
