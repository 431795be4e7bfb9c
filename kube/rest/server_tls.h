// A server's end of TLS on a socket. What is written is encrypted as a whole and sent by one call,
// many records at a time.
//
// Thread safety: belongs to the socket's strand. One handshake, then one read and one write at a
// time.
#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstddef>
#include <functional>
#include <string>

#include "kube/rest/tls_context.h"

struct bio_st;

namespace kube::detail {

class ServerTlsStream {
 public:
  using Done = std::function<void(const boost::system::error_code& error, std::size_t bytes)>;

  ServerTlsStream(boost::asio::ip::tcp::socket& socket, ssl_ctx_st* context);
  ServerTlsStream(const ServerTlsStream&) = delete;
  ServerTlsStream& operator=(const ServerTlsStream&) = delete;

  ssl_st* session() const { return session_.get(); }

  // --- None of these calls back before it has returned.
  void handshake(Done done);
  void readSome(boost::asio::mutable_buffer buffer, Done done);
  /// All of it, though not necessarily to its end when it fails.
  void write(boost::asio::const_buffer buffer, Done done);

 private:
  void receive(Done done);
  void send(Done done);
  void sendRest(std::size_t sent, Done done);
  void finish(Done done, const boost::system::error_code& error, std::size_t bytes = 0);

  boost::asio::ip::tcp::socket& socket_;
  SslSession session_;
  bio_st* const in_;  // of the session: what has come
  std::string received_;
  std::string toSend_;  // where the session writes
  std::string sending_;
};

}  // namespace kube::detail
