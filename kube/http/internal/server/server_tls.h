// A server's end of TLS on a socket. A write is encrypted as a whole and sent by one call, many
// records at a time. An idle connection keeps no buffers.
//
// Thread safety: belongs to the socket's strand. One handshake, then one read and one write at a
// time.
#pragma once

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstddef>
#include <functional>
#include <string>

#include "kube/http/internal/tls_context.h"

namespace kube::detail {

/// A buffer of the calling thread, for data that does not fit into a connection's own buffer.
boost::asio::mutable_buffer sharedInput();

class ServerTlsStream {
 public:
  using Done = std::function<void(const boost::system::error_code& error, std::size_t bytes)>;

  ServerTlsStream(boost::asio::ip::tcp::socket& socket, ssl_ctx_st* context);
  ServerTlsStream(const ServerTlsStream&) = delete;
  ServerTlsStream& operator=(const ServerTlsStream&) = delete;

  ssl_st* session() const { return session_.get(); }

  // --- None of these calls `done` before it has returned.
  /// `heard` is called whenever data was received.
  void handshake(Done done, std::function<void()> heard);
  void readSome(boost::asio::mutable_buffer buffer, Done done);
  /// Reads data that was received already. Returns 0 if there is none, or at the end, which
  /// readSome() reports.
  std::size_t readNow(boost::asio::mutable_buffer buffer);
  /// Writes the whole buffer. After a failure a part may have been sent.
  void write(boost::asio::const_buffer buffer, Done done);

  /// Frees buffers, while nothing is written.
  void rest();

  /// Bytes on the way to or from the session.
  struct Bytes {
    std::string text;
    std::size_t taken = 0;  // of text
    void clear() {
      text.clear();
      taken = 0;
    }
  };

 private:
  void receive(Done done);
  void send(Done done);
  void sendRest(std::size_t sent, Done done);
  void finish(Done done, const boost::system::error_code& error, std::size_t bytes = 0);

  std::size_t decrypt(boost::asio::mutable_buffer buffer, int& result);

  boost::asio::ip::tcp::socket& socket_;
  std::array<char, 2048> small_;  // overflow goes to sharedInput()
  Bytes received_;                // read by the session
  SslSession session_;
  Bytes toSend_;  // written by the session
  Bytes sending_;
};

}  // namespace kube::detail
