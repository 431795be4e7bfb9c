// A server that sends and receives exactly the bytes of a test's script.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace kube {

inline void blockPipeSignal() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

// One connection, as its server sees it. Blocks.
class RawConnection {
 public:
  explicit RawConnection(int fd) : fd_(fd) {}
  ~RawConnection() {
    if (tls_ != nullptr) SSL_free(tls_);
    ::close(fd_);
  }
  RawConnection(const RawConnection&) = delete;
  RawConnection& operator=(const RawConnection&) = delete;

  int fd() const { return fd_; }

  // The server's side of TLS, choosing `protocol` ("h2") if the client offers it.
  bool acceptTls(const std::string& certPem, const std::string& keyPem,
                 const std::string& protocol) {
    SSL_CTX* context = SSL_CTX_new(TLS_server_method());
    BIO* cert = BIO_new_mem_buf(certPem.data(), static_cast<int>(certPem.size()));
    BIO* key = BIO_new_mem_buf(keyPem.data(), static_cast<int>(keyPem.size()));
    X509* certificate = PEM_read_bio_X509(cert, nullptr, nullptr, nullptr);
    EVP_PKEY* privateKey = PEM_read_bio_PrivateKey(key, nullptr, nullptr, nullptr);
    SSL_CTX_use_certificate(context, certificate);
    SSL_CTX_use_PrivateKey(context, privateKey);
    protocol_ = std::string(1, static_cast<char>(protocol.size())) + protocol;
    SSL_CTX_set_alpn_select_cb(
        context,
        [](SSL*, const unsigned char** out, unsigned char* size, const unsigned char* in,
           unsigned inSize, void* self) {
          const std::string& wanted = static_cast<RawConnection*>(self)->protocol_;
          return SSL_select_next_proto(const_cast<unsigned char**>(out), size,
                                       reinterpret_cast<const unsigned char*>(wanted.data()),
                                       static_cast<unsigned>(wanted.size()), in,
                                       inSize) == OPENSSL_NPN_NEGOTIATED
                     ? SSL_TLSEXT_ERR_OK
                     : SSL_TLSEXT_ERR_NOACK;
        },
        this);
    tls_ = SSL_new(context);
    SSL_set_fd(tls_, fd_);
    const bool shaken = SSL_accept(tls_) == 1;
    X509_free(certificate);
    EVP_PKEY_free(privateKey);
    BIO_free(cert);
    BIO_free(key);
    SSL_CTX_free(context);
    return shaken;
  }

  // Reads some bytes; "" at the end.
  std::string readSome() {
    char buffer[16384];
    const long count = tls_ != nullptr ? SSL_read(tls_, buffer, sizeof buffer)
                                       : ::recv(fd_, buffer, sizeof buffer, 0);
    return count > 0 ? std::string(buffer, static_cast<std::size_t>(count)) : "";
  }
  // Reads up to and including `end`, or until the connection closes.
  std::string readUntil(std::string_view end) {
    std::string text = std::exchange(rest_, {});
    for (;;) {
      if (const std::size_t at = text.find(end); at != std::string::npos) {
        rest_ = text.substr(at + end.size());
        text.resize(at + end.size());
        return text;
      }
      const std::string more = readSome();
      if (more.empty()) return text;
      text += more;
    }
  }
  std::string readHead() { return readUntil("\r\n\r\n"); }
  std::string readExactly(std::size_t count) {
    std::string text = std::exchange(rest_, {});
    while (text.size() < count) {
      const std::string more = readSome();
      if (more.empty()) return text;
      text += more;
    }
    rest_ = text.substr(count);
    text.resize(count);
    return text;
  }
  void waitForClose() {
    while (!readSome().empty()) {
    }
  }
  // Returns whether all of the text could be written.
  bool write(std::string_view text) {
    while (!text.empty()) {
      const long count = tls_ != nullptr
                             ? SSL_write(tls_, text.data(), static_cast<int>(text.size()))
                             : ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL);
      if (count <= 0) return false;
      text.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
  }

 private:
  const int fd_;
  SSL* tls_ = nullptr;
  std::string protocol_;
  std::string rest_;
};

// Runs a script for each connection, on a thread of its own, until it is destroyed.
class RawServer {
 public:
  // `number` counts the connections from 0.
  using Script = std::function<void(RawConnection& connection, int number)>;

  explicit RawServer(Script script) : script_(std::move(script)) {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
        listen(listener_, 100) != 0 ||
        getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
      throw std::runtime_error("cannot listen");
    }
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { accept(); });
  }
  ~RawServer() {
    stopping_ = true;
    shutdown(listener_, SHUT_RDWR);
    thread_.join();
    {
      std::lock_guard lock(mutex_);
      for (const auto& connection : connections_) shutdown(connection->fd(), SHUT_RDWR);
    }
    for (std::thread& thread : threads_) thread.join();
    close(listener_);
  }

  int port() const { return port_; }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  std::string url() const { return "http://" + address(); }
  int accepted() const { return accepted_; }

 private:
  void accept() {
    while (!stopping_) {
      const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) continue;
      auto connection = std::make_shared<RawConnection>(fd);
      const int number = accepted_++;
      {
        std::lock_guard lock(mutex_);
        connections_.push_back(connection);
      }
      threads_.emplace_back([this, connection, number]() mutable {
        blockPipeSignal();
        script_(*connection, number);
        {
          std::lock_guard lock(mutex_);
          std::erase(connections_, connection);
        }
        connection.reset();
      });
    }
  }

  const Script script_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<bool> stopping_{false};
  std::atomic<int> accepted_{0};
  std::mutex mutex_;
  std::vector<std::shared_ptr<RawConnection>> connections_;
  std::vector<std::thread> threads_;
  std::thread thread_;
};

// A value that a server's thread writes and the test reads.
template <class T>
class Guarded {
 public:
  Guarded() = default;
  explicit Guarded(T value) : value_(std::move(value)) {}
  void operator=(T value) {
    std::lock_guard lock(mutex_);
    value_ = std::move(value);
  }
  T get() const {
    std::lock_guard lock(mutex_);
    return value_;
  }

 private:
  mutable std::mutex mutex_;
  T value_{};
};

// The message of the E that a call throws; "" if it throws none.
template <class E, class Call>
std::string thrown(Call call) {
  try {
    call();
  } catch (const E& error) {
    return error.what();
  }
  return "";
}

}  // namespace kube
