#include "kube/http/internal/server/server_tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <memory>
#include <new>
#include <string>
#include <utility>

namespace kube::detail {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

using Bytes = ServerTlsStream::Bytes;

constexpr std::size_t kReadBytes = 64 << 10;
constexpr std::size_t kKeptBytes = 4 << 10;  // capacity of an empty buffer that is kept

// A BIO on a byte queue: writes append, reads take from the front. (OpenSSL's memory BIO copies
// once more, and keeps its memory.) An empty queue is not an end, but asks for more data.
BIO* onBytes(Bytes& bytes) {
  static BIO_METHOD* const method = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "kubexx string");
    if (made == nullptr) throw std::bad_alloc();
    BIO_meth_set_write_ex(made,
                          [](BIO* bio, const char* data, std::size_t size, std::size_t* done) {
                            static_cast<Bytes*>(BIO_get_data(bio))->text.append(data, size);
                            *done = size;
                            return 1;
                          });
    BIO_meth_set_read_ex(made, [](BIO* bio, char* data, std::size_t size, std::size_t* done) {
      auto& [text, taken] = *static_cast<Bytes*>(BIO_get_data(bio));
      BIO_clear_retry_flags(bio);
      *done = std::min(size, text.size() - taken);
      if (*done == 0) {
        BIO_set_retry_read(bio);
        return 0;
      }
      text.copy(data, *done, taken);
      taken += *done;
      if (taken == text.size()) static_cast<Bytes*>(BIO_get_data(bio))->clear();
      return 1;
    });
    BIO_meth_set_ctrl(made, [](BIO*, int command, long, void*) -> long {
      return command == BIO_CTRL_FLUSH ? 1 : 0;
    });
    return made;
  }();
  BIO* bio = BIO_new(method);
  if (bio == nullptr) throw std::bad_alloc();
  BIO_set_data(bio, &bytes);
  BIO_set_init(bio, 1);
  return bio;
}

error_code protocolError() {
  ERR_clear_error();
  return make_error_code(boost::system::errc::protocol_error);
}

}  // namespace

asio::mutable_buffer sharedInput() {
  static thread_local const std::unique_ptr<char[]> bytes(new char[kReadBytes]);
  return {bytes.get(), kReadBytes};
}

ServerTlsStream::ServerTlsStream(asio::ip::tcp::socket& socket, ssl_ctx_st* context)
    : socket_(socket), session_(SSL_new(context)) {
  if (!session_) throw std::bad_alloc();
  BIO* in = onBytes(received_);
  SSL_set_bio(session_.get(), in, onBytes(toSend_));
  SSL_set_accept_state(session_.get());
  SSL_set_mode(session_.get(), SSL_MODE_RELEASE_BUFFERS);
  error_code ignored;
  socket_.non_blocking(true, ignored);
}

void ServerTlsStream::finish(Done done, const error_code& error, std::size_t bytes) {
  asio::post(socket_.get_executor(),
             [done = std::move(done), error, bytes] { done(error, bytes); });
}

// Passes received data to the session.
void ServerTlsStream::receive(Done done) {
  socket_.async_read_some(asio::buffer(small_), [this, done = std::move(done)](
                                                    const error_code& error, std::size_t bytes) {
    received_.text.append(small_.data(), bytes);
    if (bytes == small_.size()) {
      const asio::mutable_buffer buffer = sharedInput();
      error_code later;  // reported by the next read
      const std::size_t more = socket_.read_some(buffer, later);
      received_.text.append(static_cast<const char*>(buffer.data()), more);
    }
    done(error, bytes);
  });
}

// Sends everything that the session wants to send.
void ServerTlsStream::send(Done done) {
  std::swap(sending_, toSend_);
  toSend_.clear();
  sendRest(0, std::move(done));
}

// Asio's async_write would send 64 KB at a time.
void ServerTlsStream::sendRest(std::size_t sent, Done done) {
  const auto rest = asio::buffer(sending_.text.data() + sent, sending_.text.size() - sent);
  socket_.async_write_some(rest, [this, sent, done = std::move(done)](const error_code& error,
                                                                      std::size_t bytes) mutable {
    if (error || sent + bytes == sending_.text.size()) return done(error, sent + bytes);
    sendRest(sent + bytes, std::move(done));
  });
}

void ServerTlsStream::handshake(Done done, std::function<void()> heard) {
  ERR_clear_error();
  const int result = SSL_do_handshake(session_.get());
  const bool over = result == 1 || SSL_get_error(session_.get(), result) != SSL_ERROR_WANT_READ;
  const error_code outcome = over && result != 1 ? protocolError() : error_code();
  const auto next = [this, over, outcome, done = std::move(done), heard = std::move(heard)](
                        const error_code& error, std::size_t) mutable {
    if (error || over) return done(error ? error : outcome, 0);
    receive([this, done = std::move(done), heard = std::move(heard)](const error_code& failed,
                                                                     std::size_t) mutable {
      if (failed) return done(failed, 0);
      heard();
      handshake(std::move(done), std::move(heard));
    });
  };
  // Sent even after a failure: an alert with the reason.
  toSend_.text.empty() ? finish(next, {}) : send(next);
}

void ServerTlsStream::rest() {
  for (Bytes* bytes : {&received_, &sending_, &toSend_}) {
    const bool inUse = bytes != &sending_ && !bytes->text.empty();
    if (!inUse && bytes->text.capacity() > kKeptBytes) *bytes = {};
  }
}

std::size_t ServerTlsStream::decrypt(asio::mutable_buffer buffer, int& result) {
  ERR_clear_error();
  std::size_t bytes = 0;
  result = 1;
  while (bytes < buffer.size()) {
    std::size_t count = 0;
    result = SSL_read_ex(session_.get(), static_cast<char*>(buffer.data()) + bytes,
                         buffer.size() - bytes, &count);
    if (result != 1) break;
    bytes += count;
  }
  return bytes;
}

std::size_t ServerTlsStream::readNow(asio::mutable_buffer buffer) {
  int result = 1;
  const std::size_t bytes = decrypt(buffer, result);
  ERR_clear_error();
  return bytes;
}

void ServerTlsStream::readSome(asio::mutable_buffer buffer, Done done) {
  int result = 1;
  const std::size_t bytes = decrypt(buffer, result);
  if (bytes > 0) return finish(std::move(done), {}, bytes);
  switch (SSL_get_error(session_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      break;
    case SSL_ERROR_ZERO_RETURN:
      return finish(std::move(done), asio::error::eof);
    default:
      return finish(std::move(done), protocolError());
  }
  receive([this, buffer, done = std::move(done)](const error_code& error, std::size_t) mutable {
    error ? done(error, 0) : readSome(buffer, std::move(done));
  });
}

void ServerTlsStream::write(asio::const_buffer buffer, Done done) {
  ERR_clear_error();
  std::size_t bytes = 0;
  if (SSL_write_ex(session_.get(), buffer.data(), buffer.size(), &bytes) != 1) {
    return finish(std::move(done), protocolError());
  }
  send([done = std::move(done), bytes](const error_code& error, std::size_t) {
    done(error, error ? 0 : bytes);
  });
}

}  // namespace kube::detail
