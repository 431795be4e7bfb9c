#include "kube/http/internal/proxy_handshake.h"

#include <arpa/inet.h>
#include <fmt/core.h>

#include <string_view>
#include <utility>

#include "kube/base/internal/base64.h"
#include "kube/http/internal/header_text.h"

namespace kube::detail {
namespace {

using Status = Channel::Status;

constexpr std::size_t kMaxAnswerBytes = 64 << 10;

std::string bracketed(const std::string& host, std::uint16_t port) {
  const bool bracket = host.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{}", bracket ? "[" : "", host, bracket ? "]" : "", port);
}

class ConnectHandshake final : public ProxyHandshake {
 public:
  ConnectHandshake(const Proxy& proxy, const std::string& host, std::uint16_t port) {
    const std::string target = bracketed(host, port);
    outgoing_ = fmt::format("CONNECT {0} HTTP/1.1\r\nHost: {0}\r\n", target);
    if (const std::string authorization = proxyAuthorization(proxy); !authorization.empty()) {
      outgoing_ += "Proxy-Authorization: " + authorization + "\r\n";
    }
    outgoing_ += "\r\n";
  }

 private:
  Status receive(std::string& incoming) override {
    const std::size_t end = incoming.find("\r\n\r\n");
    if (end == std::string::npos) return Status::WantRead;
    const std::string_view line = std::string_view(incoming).substr(0, incoming.find("\r\n"));
    if (!line.starts_with("HTTP/1.") || line.size() < 12)
      return failed("malformed answer to CONNECT");
    // "HTTP/1.1 407 Proxy Authentication Required"
    if (line[9] != '2') return failed("answered " + withoutControls(line.substr(9, 200)));
    // The target speaks TLS, so the client speaks first.
    if (incoming.size() > end + 4) return failed("sent more than its answer to CONNECT");
    return Status::Ok;
  }
};

// SOCKS 5: RFC 1928 and, for user and password, RFC 1929. The proxy looks up names.
class SocksHandshake final : public ProxyHandshake {
 public:
  SocksHandshake(const Proxy& proxy, const std::string& host, std::uint16_t port) {
    const bool login = !proxy.user.empty() || !proxy.password.empty();
    outgoing_ = login ? std::string("\x05\x02\x00\x02", 4) : std::string("\x05\x01\x00", 3);
    if (login) {
      login_ = std::string("\x01").append(counted(proxy.user)).append(counted(proxy.password));
    }
    connect_ = std::string("\x05\x01\x00", 3);
    unsigned char address[16];
    if (inet_pton(AF_INET, host.c_str(), address) == 1) {
      connect_.append("\x01").append(reinterpret_cast<char*>(address), 4);
    } else if (inet_pton(AF_INET6, host.c_str(), address) == 1) {
      connect_.append("\x04").append(reinterpret_cast<char*>(address), 16);
    } else {
      tooLong_ = host.size() > 255;
      connect_.append("\x03").append(counted(host.substr(0, 255)));
    }
    connect_ += static_cast<char>(port >> 8);
    connect_ += static_cast<char>(port & 0xff);
  }

 private:
  enum class Step { Method, Login, Connect };

  static std::string counted(const std::string& text) {
    return std::string(1, static_cast<char>(text.size())) + text;
  }

  Status receive(std::string& incoming) override {
    if (tooLong_) return failed("the host's name is too long for SOCKS");
    if (incoming.size() < 2) return Status::WantRead;
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(incoming[i]); };
    switch (step_) {
      case Step::Method:
        if (byte(0) != 5) return failed("does not speak SOCKS 5");
        if (byte(1) == 2 && !login_.empty()) {
          return next(Step::Login, login_, incoming, 2);
        }
        if (byte(1) != 0) return failed("requires a way to log in that is not supported");
        return next(Step::Connect, connect_, incoming, 2);
      case Step::Login:
        if (byte(1) != 0) return failed("refuses user and password");
        return next(Step::Connect, connect_, incoming, 2);
      case Step::Connect:
        break;
    }
    if (byte(0) != 5) return failed("malformed SOCKS answer");
    if (byte(1) != 0) return failed(refusal(byte(1)));
    if (incoming.size() < 5) return Status::WantRead;
    const std::size_t addressBytes = byte(3) == 1   ? 4
                                     : byte(3) == 4 ? 16
                                     : byte(3) == 3 ? 1 + byte(4)
                                                    : 0;
    if (addressBytes == 0) return failed("malformed SOCKS answer");
    const std::size_t whole = 4 + addressBytes + 2;
    if (incoming.size() < whole) return Status::WantRead;
    return incoming.size() == whole ? Status::Ok : failed("sent more than its SOCKS answer");
  }

  Status next(Step step, const std::string& message, std::string& incoming, std::size_t used) {
    step_ = step;
    outgoing_ += message;
    incoming.erase(0, used);
    return Status::WantRead;
  }

  static std::string refusal(unsigned code) {
    static constexpr std::string_view kReasons[] = {
        "",
        "general failure",
        "connection not allowed by its rules",
        "network unreachable",
        "host unreachable",
        "connection refused",
        "time to live expired",
        "command not supported",
        "kind of address not supported",
    };
    return fmt::format("cannot connect: {}",
                       code < std::size(kReasons) ? kReasons[code] : "unknown reason");
  }

  Step step_ = Step::Method;
  std::string login_, connect_;
  bool tooLong_ = false;
};

}  // namespace

Channel::Status ProxyHandshake::failed(std::string error) {
  error_ = std::move(error);
  return Status::Failed;
}

Channel::Status ProxyHandshake::advance(Channel& channel) {
  for (;;) {
    while (!outgoing_.empty()) {
      const Channel::Result written = channel.write(outgoing_);
      if (written.status == Status::Failed) return failed(channel.error());
      if (written.status != Status::Ok) return written.status;
      outgoing_.erase(0, written.bytes);
    }
    char buffer[1024];
    const Channel::Result got = channel.read(buffer, sizeof buffer);
    if (got.status == Status::End) return failed("closed the connection");
    if (got.status == Status::Failed) return failed(channel.error());
    if (got.status != Status::Ok) return got.status;
    incoming_.append(buffer, got.bytes);
    if (incoming_.size() > kMaxAnswerBytes) return failed("answers without end");
    if (const Status status = receive(incoming_); status != Status::WantRead) return status;
  }
}

std::unique_ptr<ProxyHandshake> proxyHandshake(const Proxy& proxy, const std::string& host,
                                               std::uint16_t port) {
  if (proxy.kind == Proxy::Kind::Socks5) return std::make_unique<SocksHandshake>(proxy, host, port);
  return std::make_unique<ConnectHandshake>(proxy, host, port);
}

std::string proxyAuthorization(const Proxy& proxy) {
  if (proxy.user.empty() && proxy.password.empty()) return {};
  std::string value = "Basic ";
  base64Encode(proxy.user + ":" + proxy.password, value);
  return value;
}

}  // namespace kube::detail
