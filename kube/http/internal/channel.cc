#include "kube/http/internal/channel.h"

#include <fmt/core.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "kube/base/error.h"

namespace kube::detail {

namespace {

// A socket for OpenSSL. OpenSSL's socket BIO uses write(2), which raises SIGPIPE on the caller's
// thread; this one sends with MSG_NOSIGNAL. OpenSSL's BIO also either reads twice for every record,
// or moves everything that it has read ahead for every record; this one keeps a buffer for data
// read ahead.
class SocketBio {
 public:
  static BIO* make(int fd) {
    static BIO_METHOD* const method = makeMethod();
    std::unique_ptr<SocketBio> self(new SocketBio(fd));
    BIO* bio = method != nullptr ? BIO_new(method) : nullptr;
    if (bio == nullptr) return nullptr;
    BIO_set_data(bio, self.release());
    BIO_set_init(bio, 1);
    return bio;
  }

 private:
  // Unused pages of a large block take no memory: for most connections it is a few kilobytes.
  static constexpr std::size_t kAhead = 128 << 10;

  explicit SocketBio(int fd) : fd_(fd), ahead_(new char[kAhead]) {}

  static BIO_METHOD* makeMethod() {
    BIO_METHOD* method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "kubexx socket");
    if (method == nullptr) return nullptr;
    BIO_meth_set_read_ex(method, &read);
    BIO_meth_set_write_ex(method, &write);
    BIO_meth_set_ctrl(method, &control);
    BIO_meth_set_destroy(method, &destroy);
    return method;
  }
  static SocketBio& of(BIO* bio) { return *static_cast<SocketBio*>(BIO_get_data(bio)); }
  static bool mayPass(int error) {
    return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
  }

  static int read(BIO* bio, char* data, std::size_t size, std::size_t* done) {
    BIO_clear_retry_flags(bio);
    SocketBio& self = of(bio);
    if (self.unread_.empty()) {
      const ssize_t count = recv(self.fd_, self.ahead_.get(), kAhead, 0);
      if (count == 0) BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
      if (count < 0 && mayPass(errno)) BIO_set_retry_read(bio);
      if (count <= 0) return 0;
      self.unread_ = {self.ahead_.get(), static_cast<std::size_t>(count)};
    }
    *done = self.unread_.copy(data, size);
    self.unread_.remove_prefix(*done);
    return 1;
  }
  static int write(BIO* bio, const char* data, std::size_t size, std::size_t* done) {
    BIO_clear_retry_flags(bio);
    const ssize_t count = send(of(bio).fd_, data, size, MSG_NOSIGNAL);
    if (count >= 0) {
      *done = static_cast<std::size_t>(count);
      return 1;
    }
    if (mayPass(errno)) BIO_set_retry_write(bio);
    return 0;
  }
  static long control(BIO* bio, int command, long, void*) {
    if (command == BIO_CTRL_FLUSH) return 1;
    if (command == BIO_CTRL_EOF) return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0 ? 1 : 0;
    if (command == BIO_CTRL_PENDING) return static_cast<long>(of(bio).unread_.size());
    return 0;
  }
  static int destroy(BIO* bio) {
    delete &of(bio);
    return 1;
  }

  const int fd_;
  const std::unique_ptr<char[]> ahead_;
  std::string_view unread_;  // of ahead_
};

// Errors left by other code on this thread would be taken for ours. Looking is cheaper than
// clearing, and usually there are none.
void clearErrors() {
  if (ERR_peek_error() != 0) ERR_clear_error();
}

}  // namespace

Channel::~Channel() {
  // Sends close_notify if that is possible at once: peers log its absence.
  if (!tls_.empty() && SSL_is_init_finished(tls_.back().get()) != 0 && error_.empty()) {
    SSL_shutdown(tls_.back().get());
  }
  ERR_clear_error();
  while (!tls_.empty()) tls_.pop_back();  // the inner session writes through the outer
  close(fd_);
}

void Channel::startTls(SslSession session) {
  if (tls_.empty()) {
    BIO* socket = SocketBio::make(fd_);
    if (socket == nullptr) throw Error("TLS: cannot use the socket");
    SSL_set_bio(session.get(), socket, socket);
  } else {
    BIO* outer = BIO_new(BIO_f_ssl());
    if (outer == nullptr) throw Error("TLS: out of memory");
    BIO_set_ssl(outer, tls_.back().get(), BIO_NOCLOSE);
    SSL_set_bio(session.get(), outer, outer);
  }
  tls_.push_back(std::move(session));
}

Channel::Status Channel::failed(std::string_view what, int systemError) {
  error_ =
      systemError != 0 ? fmt::format("{}{}", what, std::strerror(systemError)) : std::string(what);
  return Status::Failed;
}

Channel::Status Channel::tlsStatus(int result) {
  const int systemError = errno;
  SSL* session = tls_.back().get();
  switch (SSL_get_error(session, result)) {
    case SSL_ERROR_WANT_READ:
      return Status::WantRead;
    case SSL_ERROR_WANT_WRITE:
      return Status::WantWrite;
    case SSL_ERROR_ZERO_RETURN:
      return Status::End;
    case SSL_ERROR_SYSCALL:
      ERR_clear_error();
      return failed(systemError != 0 ? "" : "connection closed", systemError);
    default:
      break;
  }
  const unsigned long error = ERR_get_error();
  ERR_clear_error();
  const char* reason = error != 0 ? ERR_reason_error_string(error) : nullptr;
  std::string text = fmt::format("TLS: {}", reason != nullptr ? reason : "unknown error");
  if (const long verified = SSL_get_verify_result(session);
      verified != X509_V_OK && SSL_get_verify_mode(session) != SSL_VERIFY_NONE) {
    certificateRefused_ = true;
    fmt::format_to(std::back_inserter(text), ": {}", X509_verify_cert_error_string(verified));
  }
  return failed(text, 0);
}

Channel::Status Channel::handshake() {
  clearErrors();
  errno = 0;
  const int result = SSL_do_handshake(tls_.back().get());
  if (result == 1) return Status::Ok;
  const Status status = tlsStatus(result);
  return status == Status::End ? failed("TLS: closed during the handshake", 0) : status;
}

std::string_view Channel::protocol() const {
  if (tls_.empty()) return {};
  const unsigned char* name = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(tls_.back().get(), &name, &size);
  return {reinterpret_cast<const char*>(name), size};
}

Channel::Result Channel::read(char* data, std::size_t size) {
  if (tls_.empty()) {
    const ssize_t count = recv(fd_, data, size, 0);
    if (count > 0) return {Status::Ok, static_cast<std::size_t>(count)};
    if (count == 0) return {Status::End};
    if (errno == EAGAIN || errno == EINTR) return {Status::WantRead};
    return {failed("", errno)};
  }
  clearErrors();
  errno = 0;
  std::size_t count = 0;
  const int result = SSL_read_ex(tls_.back().get(), data, size, &count);
  if (result == 1) return {Status::Ok, count};
  return {tlsStatus(result)};
}

Channel::Result Channel::write(std::string_view data) {
  if (tls_.empty()) {
    const ssize_t count = send(fd_, data.data(), data.size(), MSG_NOSIGNAL);
    if (count >= 0) return {Status::Ok, static_cast<std::size_t>(count)};
    if (errno == EAGAIN || errno == EINTR) return {Status::WantWrite};
    return {failed("", errno)};
  }
  clearErrors();
  errno = 0;
  std::size_t count = 0;
  const int result = SSL_write_ex(tls_.back().get(), data.data(), data.size(), &count);
  if (result == 1) return {Status::Ok, count};
  const Status status = tlsStatus(result);
  return {status == Status::End ? failed("connection closed", 0) : status};
}

bool Channel::pending() const {
  return std::any_of(tls_.begin(), tls_.end(), [](const SslSession& session) {
    return SSL_has_pending(session.get()) != 0 || BIO_pending(SSL_get_rbio(session.get())) > 0;
  });
}

}  // namespace kube::detail
