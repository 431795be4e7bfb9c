// A connected socket as a stream of bytes: plain, or under one or two layers of TLS (two for TLS
// through a proxy that is reached by TLS). Never blocks.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "kube/http/internal/tls_context.h"

namespace kube::detail {

class Channel {
 public:
  enum class Status : unsigned char {
    Ok,
    WantRead,   // call again when the socket is readable
    WantWrite,  // call again when it is writable
    End,        // the peer has closed
    Failed,     // see error()
  };
  struct Result {
    Status status;
    std::size_t bytes = 0;
  };

  explicit Channel(int fd) : fd_(fd) {}  // takes the descriptor
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  int fd() const { return fd_; }

  /// Adds a layer of TLS. Nothing else may be called until handshake() returns Ok.
  void startTls(SslSession session);
  Status handshake();
  /// The protocol selected by ALPN: "h2", "http/1.1" or "".
  std::string_view protocol() const;

  Result read(char* data, std::size_t size);
  Result write(std::string_view data);
  /// True if bytes were taken from the socket and not read yet: then the socket's readiness does
  /// not tell whether read() has data.
  bool pending() const;

  /// The cause of a failure.
  const std::string& error() const { return error_; }
  /// Returns whether the peer's certificate was refused, so that another try would fail too.
  bool certificateRefused() const { return certificateRefused_; }

 private:
  Status tlsStatus(int result);
  Status failed(std::string_view what, int systemError);

  const int fd_;
  std::vector<SslSession> tls_;  // the last one carries the data
  std::string error_;
  bool certificateRefused_ = false;
};

}  // namespace kube::detail
