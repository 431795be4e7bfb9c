// A connected socket as a stream of bytes, plain or under one or two layers of TLS (the second for
// TLS through a proxy that is itself spoken to by TLS). Never blocks.
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
    WantRead,   // again when the socket is readable
    WantWrite,  // again when it is writable
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

  /// Puts TLS on top of what is there. Nothing else may be done until handshake() is Ok.
  void startTls(SslSession session);
  Status handshake();
  /// What was agreed on by ALPN: "h2", "http/1.1" or "".
  std::string_view protocol() const;

  Result read(char* data, std::size_t size);
  Result write(std::string_view data);
  /// Bytes have been taken from the socket and not been read yet: its readiness says nothing.
  bool pending() const;

  /// What failed, in words.
  const std::string& error() const { return error_; }
  /// Whether it was the peer's certificate, so that it would fail again.
  bool certificateRefused() const { return certificateRefused_; }

 private:
  Status tlsStatus(int result);
  Status failed(std::string_view what, int systemError);

  const int fd_;
  std::vector<SslSession> tls_;  // the last one is ours to speak through
  std::string error_;
  bool certificateRefused_ = false;
};

}  // namespace kube::detail
