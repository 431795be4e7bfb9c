// A client that sends exactly the bytes that a test gives it.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "kube/http/http_server.h"

namespace kube {

class RawClient {
 public:
  /// `from`: the last number of the address it comes from, 127.0.0.<from>.
  explicit RawClient(const HttpServer& server, int from = 1)
      : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl((INADDR_LOOPBACK & ~0xffu) | static_cast<unsigned>(from));
    if (bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
      ADD_FAILURE() << "bind";
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(server.port());
    if (connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
      ADD_FAILURE() << "connect";
  }
  RawClient(RawClient&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)), heard_(std::move(other.heard_)) {}
  RawClient& operator=(RawClient&&) = delete;
  ~RawClient() {
    if (fd_ >= 0) close(fd_);
  }

  RawClient& say(std::string_view text) {
    while (!text.empty()) {
      const ssize_t count = send(fd_, text.data(), text.size(), MSG_NOSIGNAL);
      if (count <= 0) break;
      text.remove_prefix(static_cast<std::size_t>(count));
    }
    return *this;
  }
  // Sends the text repeatedly until the server closes the connection or stops reading, or `most`
  // bytes were sent. Returns the number of bytes sent.
  std::size_t repeat(std::string_view text, std::size_t most, int patienceMillis = 500) const {
    timeval patience{.tv_sec = patienceMillis / 1000, .tv_usec = patienceMillis % 1000 * 1000};
    setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    std::size_t said = 0;
    while (said < most) {
      const ssize_t count = send(fd_, text.data(), text.size(), MSG_NOSIGNAL);
      if (count > 0) said += static_cast<std::size_t>(count);
      if (count < static_cast<ssize_t>(text.size())) break;
    }
    return said;
  }
  // Returns the bytes up to and with `end`, or until the server closes.
  std::string hear(std::string_view end) {
    for (;;) {
      if (const std::size_t at = heard_.find(end); at != std::string::npos) {
        std::string text = heard_.substr(0, at + end.size());
        heard_.erase(0, at + end.size());
        return text;
      }
      char buffer[4096];
      const ssize_t count = recv(fd_, buffer, sizeof buffer, 0);
      if (count <= 0) return std::exchange(heard_, {});
      heard_.append(buffer, static_cast<std::size_t>(count));
    }
  }
  std::string hearAll() { return hear("\1 never said \1"); }
  int fd() const { return fd_; }

 private:
  int fd_;
  std::string heard_;
};

}  // namespace kube
