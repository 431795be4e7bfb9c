// A client for tests of pods: it speaks WebSocket over a plain socket and sends exactly the bytes
// it is given, valid or not.
#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <openssl/evp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "kube/api/core/v1.h"
#include "kube/client/clientset.h"
#include "kube/client/core/v1.h"
#include "kube/codec/json.h"
#include "kube/testing/api_server.h"

namespace kube::apiserver {

inline std::string sha256(std::string_view bytes) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  EVP_Digest(bytes.data(), bytes.size(), digest, &size, EVP_sha256(), nullptr);
  return {reinterpret_cast<const char*>(digest), size};
}

/// Bytes without repeated parts.
inline std::string someBytes(std::size_t size) {
  std::string bytes(size, '\0');
  std::uint64_t state = 88172645463325252ULL;
  for (std::size_t i = 0; i < size; ++i) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    bytes[i] = static_cast<char>(state);
  }
  return bytes;
}

class PodSocket {
 public:
  enum Opcode : std::uint8_t { kContinuation, kText, kBinary, kClose = 8, kPing, kPong };
  struct Frame {
    std::uint8_t opcode = 0;
    std::string payload = {};
    bool operator==(const Frame&) const = default;
  };

  /// Requests the upgrade; status() returns the code of the answer.
  PodSocket(const testing::ApiServer& server, const std::string& path, const std::string& protocol,
            const std::string& headers = "Upgrade: websocket\r\nConnection: Upgrade\r\n",
            const std::string& early = {})
      : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(server.port());
    EXPECT_EQ(connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    say("GET /api/v1/namespaces/default/pods/" + path + " HTTP/1.1\r\nHost: a\r\n" +
        "Authorization: Bearer " + server.adminToken() + "\r\n" + headers +
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n" +
        (protocol.empty() ? "" : "Sec-WebSocket-Protocol: " + protocol + "\r\n") + "\r\n" + early);
    while (heard_.find("\r\n\r\n") == std::string::npos && hear()) {
    }
    const std::size_t end = std::min(heard_.find("\r\n\r\n"), heard_.size() - 4) + 4;
    head_ = heard_.substr(0, end);
    heard_.erase(0, end);
  }
  ~PodSocket() { close(fd_); }
  PodSocket(const PodSocket&) = delete;
  PodSocket& operator=(const PodSocket&) = delete;

  int status() const { return head_.size() > 12 ? std::stoi(head_.substr(9, 3)) : 0; }
  const std::string& head() const { return head_; }
  int fd() const { return fd_; }
  /// The message of the Status that was the answer instead of an upgrade.
  std::string refusal() {
    const std::size_t at = head_.find("Content-Length: ");
    const std::size_t size = std::stoul(head_.substr(at + 16));
    while (heard_.size() < size && hear()) {
    }
    return parseJson(heard_)["message"].asString().str();
  }

  bool say(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t count = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
  }

  static std::string frame(std::uint8_t opcode, std::string_view payload, bool last = true,
                           bool masked = true) {
    std::string out;
    out += static_cast<char>((last ? 0x80 : 0) | opcode);
    const int mask = masked ? 0x80 : 0;
    if (payload.size() < 126) {
      out += static_cast<char>(mask | static_cast<int>(payload.size()));
    } else {
      const int bytes = payload.size() >> 16 == 0 ? 2 : 8;
      out += static_cast<char>(mask | (bytes == 2 ? 126 : 127));
      for (int i = bytes - 1; i >= 0; --i) out += static_cast<char>(payload.size() >> (8 * i));
    }
    constexpr std::array<char, 4> kMask = {0x12, 0x34, 0x56, 0x78};
    if (masked) out.append(kMask.data(), kMask.size());
    for (std::size_t i = 0; i < payload.size(); ++i) {
      out += masked ? static_cast<char>(payload[i] ^ kMask[i % 4]) : payload[i];
    }
    return out;
  }
  bool send(char channel, std::string_view bytes) const {
    return say(frame(kBinary, std::string(1, channel).append(bytes)));
  }
  /// For the fifth version of the protocol.
  bool closeChannel(char channel) const { return send('\xff', std::string(1, channel)); }

  /// The next frame; nullopt at the end of the connection.
  std::optional<Frame> next() {
    if (!have(2)) return std::nullopt;
    const auto byte = [&](std::size_t at) { return static_cast<std::uint8_t>(heard_[at]); };
    EXPECT_EQ(byte(1) & 0x80, 0) << "a server's frames are not masked";
    std::size_t size = byte(1) & 0x7f, head = 2;
    if (size >= 126) {
      const std::size_t bytes = size == 126 ? 2 : 8;
      head += bytes;
      if (!have(head)) return std::nullopt;
      size = 0;
      for (std::size_t i = 0; i < bytes; ++i) size = size << 8 | byte(2 + i);
    }
    if (!have(head + size)) return std::nullopt;
    Frame frame{static_cast<std::uint8_t>(byte(0) & 0x0f), heard_.substr(head, size)};
    heard_.erase(0, head + size);
    return frame;
  }

  /// Reads until the server closes the connection, and answers its close frame.
  struct Ended {
    std::string out, err, status;
    int code = 0;
    std::string reason;

    Value result() const { return parseJson(status); }
    int exitCode() const {
      const Value value = result();
      if (value["status"].asString() == "Success") return 0;
      return std::stoi(value["details"]["causes"].asArray()[0]["message"].asString().str());
    }
  };
  Ended finish() {
    Ended ended;
    while (const auto frame = next()) {
      if (frame->opcode == kClose) {
        ended.code = static_cast<std::uint8_t>(frame->payload[0]) << 8 |
                     static_cast<std::uint8_t>(frame->payload[1]);
        ended.reason = frame->payload.substr(2);
        say(PodSocket::frame(kClose, frame->payload));
        continue;
      }
      if (frame->payload.empty()) continue;
      std::string* const to[] = {nullptr, &ended.out, &ended.err, &ended.status};
      const auto channel = static_cast<std::uint8_t>(frame->payload[0]);
      if (channel >= 1 && channel <= 3) to[channel]->append(frame->payload, 1);
    }
    return ended;
  }

 private:
  bool hear() {
    char buffer[64 << 10];
    const ssize_t count = recv(fd_, buffer, sizeof buffer, 0);
    if (count <= 0) return false;
    heard_.append(buffer, static_cast<std::size_t>(count));
    return true;
  }
  bool have(std::size_t size) {
    while (heard_.size() < size) {
      if (!hear()) return false;
    }
    return true;
  }

  const int fd_;
  std::string head_, heard_;
};

/// A server with two pods: "web", which has a node and a container "app", and "pending", which has
/// no node.
class PodStreamsTest : public ::testing::Test {
 protected:
  PodStreamsTest() {
    create("web", {"app"}, "node-1");
    create("pending", {"app"}, "");
  }

  void create(const char* name, const std::vector<const char*>& containers, const char* node) {
    corev1::Pod pod;
    pod.metadata.name = name;
    pod.spec->nodeName = node;
    for (const char* container : containers) {
      pod.spec->containers.push_back({.name = container, .image = "scratch"});
    }
    clients.coreV1().pods("default").create(pod);
  }

  static std::string execPath(const std::string& command, const std::string& more = {}) {
    std::string path = "web/exec?stdout=true&stderr=true&stdin=true" + more;
    for (std::size_t begin = 0; begin <= command.size();) {
      const std::size_t end = std::min(command.find(' ', begin), command.size());
      path += "&command=" + command.substr(begin, end - begin);
      begin = end + 1;
    }
    return path;
  }

  FakeClock clock;
  testing::ApiServer server{{.tls = false, .clock = &clock}};
  Clientset clients{server.config()};
};

}  // namespace kube::apiserver
