#include "kube/apiserver/pods/pod_port_forward.h"

#include <fmt/core.h>

#include <atomic>
#include <map>
#include <utility>

#include "kube/base/error.h"
#include "kube/base/internal/mutex.h"
#include "kube/base/internal/text.h"
#include "kube/http/internal/streams/server_websocket.h"
#include "kube/http/internal/streams/spdy.h"

namespace kube::apiserver {

namespace {

using kube::detail::SpdyConnection;
using kube::detail::SpdyHeaderList;

constexpr std::size_t kForwardPiece = 32 << 10;
constexpr std::size_t kMaxStreams = 200;  // for a client that speaks SPDY
constexpr std::size_t kMaxPorts = 100;    // for a client that speaks channels

constexpr std::string_view kTunnel = "SPDY/3.1+portforward.k8s.io";
constexpr std::string_view kForwardProtocols[] = {"", "v4.channel.k8s.io", "portforward.k8s.io",
                                                  kTunnel};

void echo(testing::PortConnection& client) {
  while (const auto piece = client.read()) {
    if (!client.write(*piece)) return;
  }
}

// Answers one HTTP request.
void hello(testing::PortConnection& client) {
  std::string head;
  while (head.find("\r\n\r\n") == std::string::npos) {
    const auto piece = client.read();
    if (!piece || head.size() > 64 << 10) return;
    head += *piece;
  }
  client.write(
      "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 6\r\nConnection: close\r\n"
      "\r\nhello\n");
}

testing::PortService refusal(std::string pod, std::uint16_t port) {
  return [pod = std::move(pod), port](testing::PortConnection&) {
    throw Error(fmt::format(
        "failed to execute portforward in network namespace \"{0}\": failed to connect to "
        "localhost:{1} inside namespace \"{0}\", IPv4: dial tcp4 127.0.0.1:{1}: connect: "
        "connection refused IPv6 dial tcp6 [::1]:{1}: connect: connection refused ",
        pod, port));
  };
}

}  // namespace

testing::PortService serviceOf(ContainerState& containers, const std::string& pod,
                               std::uint16_t port) {
  if (testing::PortService said = containers.port(pod, port)) return said;
  if (port == 7) return echo;
  if (port == 80) return hello;
  return refusal(pod, port);
}

// --- ForwardedPort.

bool ForwardedPort::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, kForwardPiece);
    if (stop_.stop_requested() || !deliver(piece)) return false;
    bytes.remove_prefix(piece.size());
  }
  return !stop_.stop_requested();
}

void ForwardedPort::clientGone() {
  stop_.request_stop();  // before the input ends, so that its reader sees the reason
  input_.finish();
}

bool ForwardedPort::start(ContainerState& containers, const std::string& pod) {
  testing::PortService service = serviceOf(containers, pod, port_);
  return containers.start([self = shared_from_this(), service = std::move(service), pod] {
    std::string problem;
    const auto tell = [&](std::string_view what) {
      problem = fmt::format("error forwarding port {} to pod {}, uid : {}", self->port_, pod, what);
    };
    try {
      service(*self);
    } catch (const std::exception& error) {
      tell(error.what());
    } catch (...) {
      tell("unknown error");
    }
    self->input_.abandon();
    self->finish(problem);
  });
}

std::span<const std::string_view> forwardProtocols() noexcept { return kForwardProtocols; }

// --- Channels.

namespace {

class ChannelPort final : public ForwardedPort {
 public:
  ChannelPort(std::uint16_t port, std::shared_ptr<detail::ServerWebSocket> socket,
              std::uint8_t channel, std::shared_ptr<std::atomic<std::size_t>> left)
      : ForwardedPort(port, [socket] { socket->resume(); }),
        socket_(std::move(socket)),
        channel_(channel),
        left_(std::move(left)) {}

  // Both channels begin with the number of the port.
  void announce() {
    for (int i = 0; i < 2; ++i) {
      const char bytes[] = {static_cast<char>(channel_ + i), static_cast<char>(port()),
                            static_cast<char>(port() >> 8)};
      socket_->sendNow({bytes, sizeof bytes});
    }
  }

  void finish(const std::string& error) override {
    if (!error.empty()) send(1, error);
    if (--*left_ == 0) socket_->close(detail::ServerWebSocket::kNormal);
  }

 private:
  bool send(int which, std::string_view bytes) {
    const char head = static_cast<char>(channel_ + which);
    return socket_->send({&head, 1}, bytes, stop());
  }
  bool deliver(std::string_view bytes) override { return send(0, bytes); }

  const std::shared_ptr<detail::ServerWebSocket> socket_;
  const std::uint8_t channel_;
  const std::shared_ptr<std::atomic<std::size_t>> left_;
};

// The client's side of all ports of a connection.
struct ChannelForward {
  std::shared_ptr<detail::ServerWebSocket> socket;
  std::vector<std::shared_ptr<ChannelPort>> ports;
  std::optional<std::uint8_t> channel = {};  // of the current message

  void data(std::string_view piece, bool first) {
    if (first) channel.reset();
    if (!channel) {
      if (piece.empty()) return;
      channel = static_cast<std::uint8_t>(piece[0]);
      piece.remove_prefix(1);
    }
    if (*channel % 2 != 0 || *channel / 2u >= ports.size()) return;
    if (ports[*channel / 2]->received(piece)) socket->pause();
  }
};

void serveChannels(const std::shared_ptr<detail::ServerWebSocket>& socket, const std::string& pod,
                   const std::vector<std::uint16_t>& ports, ContainerState& containers) {
  const auto forward = std::make_shared<ChannelForward>();
  forward->socket = socket;
  const auto left = std::make_shared<std::atomic<std::size_t>>(ports.size());
  for (std::size_t i = 0; i < ports.size(); ++i) {
    forward->ports.push_back(
        std::make_shared<ChannelPort>(ports[i], socket, static_cast<std::uint8_t>(2 * i), left));
    forward->ports.back()->announce();
  }
  socket->start({.onData = [forward](std::string_view piece, bool first,
                                     bool) { forward->data(piece, first); },
                 .onClosed =
                     [forward] {
                       for (const auto& port : forward->ports) port->clientGone();
                     }});
  for (const auto& port : forward->ports) {
    if (!port->start(containers, pod)) port->finish("too many connections");
  }
}

// --- SPDY.

class SpdyForward;

class SpdyPort final : public ForwardedPort {
 public:
  SpdyPort(std::uint16_t port, std::shared_ptr<SpdyForward> session, std::uint32_t data,
           std::uint32_t error);

  const std::uint32_t dataStream, errorStream;

 private:
  bool deliver(std::string_view bytes) override;
  void finish(const std::string& error) override;

  const std::shared_ptr<SpdyForward> session_;
};

class SpdyForward final : public SpdyConnection, public std::enable_shared_from_this<SpdyForward> {
 public:
  SpdyForward(std::shared_ptr<detail::ServerWebSocket> socket, std::string pod,
              ContainerState& containers)
      : SpdyConnection(Side::Server),
        socket_(std::move(socket)),
        pod_(std::move(pod)),
        containers_(containers) {}

  void listen() {
    const auto self = shared_from_this();
    socket_->start(
        {.onData = [self](std::string_view piece, bool, bool) { self->tunnelled(piece); },
         .onClosed = [self] { self->lost(); }});
  }

  void resume() { socket_->resume(); }
  void forget(const SpdyPort& port) {
    const detail::Lock lock(portsMutex_);
    ports_.erase(port.dataStream);
  }

 private:
  // A connection is a pair of streams with the same request id.
  struct Half {
    std::uint32_t stream = 0;
    bool isError = false;
    bool ended = false;
    std::uint16_t port = 0;
  };

  void tunnelled(std::string_view piece) {
    if (broken_) return;
    try {
      received(piece);
    } catch (const DecodeError& error) {
      broken_ = true;
      goAway();
      socket_->close(detail::ServerWebSocket::kProtocolError, error.reason());
      lost();
    }
  }

  void opened(std::uint32_t stream, const SpdyHeaderList& headers, bool last) override {
    Half half{.stream = stream, .ended = last};
    std::string type, request;
    for (const auto& [name, value] : headers) {
      if (name == "streamtype") type = value;
      if (name == "requestid") request = value;
      if (name == "port") {
        half.port = kube::detail::parseNumber<std::uint16_t>(value).value_or(0);
      }
    }
    half.isError = type == "error";
    if (half.port == 0 || (!half.isError && type != "data") || halves_.size() >= kMaxStreams ||
        portCount() >= kMaxStreams) {
      return sendReset(stream, Reset::Refused);
    }
    // Old clients send no request id, and open the two streams one after the other.
    const std::string key =
        request.empty() ? fmt::format("#{}", half.isError ? stream : stream - 2) : request;
    const auto other = halves_.find(key);
    if (other != halves_.end() && other->second.isError == half.isError) {
      return sendReset(stream, Reset::Protocol);
    }
    accept(stream);
    if (other == halves_.end()) {
      halves_.emplace(key, half);
      return;
    }
    const Half first = other->second;
    halves_.erase(other);
    connect(half.isError ? first : half, half.isError ? half : first);
  }

  void connect(const Half& data, const Half& error) {
    const auto port =
        std::make_shared<SpdyPort>(data.port, shared_from_this(), data.stream, error.stream);
    {
      const detail::Lock lock(portsMutex_);
      ports_[data.stream] = port;
    }
    if (data.ended) port->inputEnded();
    if (port->start(containers_, pod_)) return;
    forget(*port);
    sendReset(data.stream, Reset::Refused);
    sendReset(error.stream, Reset::Refused);
  }

  std::shared_ptr<SpdyPort> find(std::uint32_t stream) {
    const detail::Lock lock(portsMutex_);
    const auto found = ports_.find(stream);
    return found == ports_.end() ? nullptr : found->second;
  }
  std::size_t portCount() {
    const detail::Lock lock(portsMutex_);
    return ports_.size();
  }

  void data(std::uint32_t stream, std::string_view bytes, bool last) override {
    const auto port = find(stream);
    if (!port)
      return;  // the error stream, which carries no data from clients, or a stream that has ended
    if (port->received(bytes)) socket_->pause();
    if (last) port->inputEnded();
  }

  void wasReset(std::uint32_t stream) override {
    if (const auto port = find(stream)) port->clientGone();
    std::erase_if(halves_, [&](const auto& entry) { return entry.second.stream == stream; });
  }

  void lost() {
    std::map<std::uint32_t, std::shared_ptr<SpdyPort>> ports;
    {
      const detail::Lock lock(portsMutex_);
      ports = ports_;
    }
    for (const auto& [stream, port] : ports) port->clientGone();
  }

  bool write(std::string_view bytes, const std::stop_token& stop) override {
    return socket_->send({}, bytes, stop);
  }
  void writeNow(std::string_view bytes) override { socket_->sendNow(bytes); }

  const std::shared_ptr<detail::ServerWebSocket> socket_;
  const std::string pod_;
  ContainerState& containers_;
  std::map<std::string, Half> halves_;  // streams that wait for their partner
  detail::Mutex portsMutex_;
  std::map<std::uint32_t, std::shared_ptr<SpdyPort>> ports_
      KUBE_GUARDED_BY(portsMutex_);  // by the id of the data stream
  bool broken_ = false;
};

SpdyPort::SpdyPort(std::uint16_t port, std::shared_ptr<SpdyForward> session, std::uint32_t data,
                   std::uint32_t error)
    : ForwardedPort(port, [session] { session->resume(); }),
      dataStream(data),
      errorStream(error),
      session_(std::move(session)) {}

bool SpdyPort::deliver(std::string_view bytes) {
  return session_->sendData(dataStream, bytes, false, stop());
}

void SpdyPort::finish(const std::string& error) {
  session_->sendData(errorStream, error, true, stop());
  session_->sendData(dataStream, {}, true, stop());
  session_->forget(*this);
}

}  // namespace

void forwardPorts(const ServerRequest& request, const Responder& responder,
                  const std::string& protocol, const std::string& pod,
                  const std::vector<std::uint16_t>& ports, ContainerState& containers) {
  if (ports.size() > kMaxPorts) {
    return responder.send({.status = 400, .body = "too many ports\n"});
  }
  detail::ServerWebSocket::accept(
      request, responder, protocol,
      [protocol, pod, ports, &containers](const std::shared_ptr<detail::ServerWebSocket>& socket) {
        if (protocol != kTunnel) return serveChannels(socket, pod, ports, containers);
        std::make_shared<SpdyForward>(socket, pod, containers)->listen();
      });
}

}  // namespace kube::apiserver
