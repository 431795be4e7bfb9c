// A server's end of TLS on a socket. What is written is encrypted as a whole and sent by one call,
// many records at a time. A connection on which nothing happens keeps no buffers.
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

/// For what comes and does not fit into a connection's own buffer: this thread's, for the moment.
boost::asio::mutable_buffer sharedInput();

class ServerTlsStream {
 public:
  using Done = std::function<void(const boost::system::error_code& error, std::size_t bytes)>;

  ServerTlsStream(boost::asio::ip::tcp::socket& socket, ssl_ctx_st* context);
  ServerTlsStream(const ServerTlsStream&) = delete;
  ServerTlsStream& operator=(const ServerTlsStream&) = delete;

  ssl_st* session() const { return session_.get(); }

  // --- None of these calls back before it has returned.
  /// `heard` is called whenever something has come.
  void handshake(Done done, std::function<void()> heard);
  void readSome(boost::asio::mutable_buffer buffer, Done done);
  /// What has come already; 0 where that is nothing, or an end, of which readSome() tells.
  std::size_t readNow(boost::asio::mutable_buffer buffer);
  /// All of it, though not necessarily to its end when it fails.
  void write(boost::asio::const_buffer buffer, Done done);

  /// Gives memory back, while nothing is written.
  void rest();

  /// On their way to or from the session.
  struct Bytes {
    std::string text;
    std::size_t taken = 0;  // of it
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
  std::array<char, 2048> small_;  // where more comes, it goes to a buffer that all share
  Bytes received_;                // where the session reads
  SslSession session_;
  Bytes toSend_;  // where the session writes
  Bytes sending_;
};

}  // namespace kube::detail
