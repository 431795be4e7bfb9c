#include "kube/client/pods/internal/port_tunnel.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "kube/base/error.h"
#include "kube/http/internal/streams/spdy.h"

namespace kube::detail {

namespace {

constexpr std::string_view kTunnel = "SPDY/3.1+portforward.k8s.io";
constexpr std::size_t kMaxProblem = 64 << 10;
// The most messages that are kept until there is a tunnel. Servers send none; empty ones would take
// memory without using up the window.
constexpr std::size_t kMaxEarly = 10'000;
// The most bytes that may wait to be sent when another answer to the server is due.
constexpr std::size_t kMaxAnswers = 2 * WebSocket::kMaxQueued;

void addProblem(std::string& problem, std::string_view bytes) {
  problem += bytes.substr(0, kMaxProblem - problem.size());
}

std::string wordsOf(const WebSocketEnd& end) {
  if (!end.error) {
    return fmt::format("the server ended the connection (close code {}{}{})", end.code,
                       end.reason.empty() ? "" : ": ", end.reason);
  }
  try {
    std::rethrow_exception(end.error);
  } catch (const std::exception& error) {
    return error.what();
  }
}

class SpdyTunnel final : public PortTunnel, private SpdyConnection {
 public:
  explicit SpdyTunnel(WebSocket socket)
      : PortTunnel(std::move(socket)), SpdyConnection(Side::Client) {}

  bool shared() const override { return true; }

 private:
  struct Connection {
    std::shared_ptr<TunnelStream> stream;
    std::uint32_t errorStream = 0;
    std::string problem = {};
    bool dataEnded = false, errorEnded = false;
  };
  using Place = std::map<std::uint32_t, Connection>::iterator;

  std::uint32_t begin(std::uint16_t port) override KUBE_REQUIRES(streamsMutex_) {
    const std::string request = std::to_string(requests_);
    const auto stream = [&](const char* type) {
      return open({{"streamtype", type}, {"port", std::to_string(port)}, {"requestid", request}});
    };
    const std::uint32_t error = stream("error");
    if (error != 0) sendData(error, {}, true, {});
    const std::uint32_t data = error != 0 ? stream("data") : 0;
    ++requests_;
    if (data == 0) return 0;
    connections_[data].errorStream = error;
    dataOf_[error] = data;
    return data;
  }
  void add(std::uint32_t id, std::shared_ptr<TunnelStream> stream) override
      KUBE_REQUIRES(streamsMutex_) {
    connections_[id].stream = std::move(stream);
  }
  void write(std::uint32_t id, std::string_view bytes) override KUBE_REQUIRES(streamsMutex_) {
    if (connections_.contains(id)) sendData(id, bytes, false, {});
  }
  bool writeEnd(std::uint32_t id) override KUBE_REQUIRES(streamsMutex_) {
    if (connections_.contains(id)) sendData(id, {}, true, {});
    return true;
  }
  void forget(std::uint32_t id) override KUBE_REQUIRES(streamsMutex_) {
    const auto found = connections_.find(id);
    if (found == connections_.end()) return;
    sendReset(id, Reset::Cancel);
    if (!found->second.errorEnded) sendReset(found->second.errorStream, Reset::Cancel);
    take(found);
  }

  std::shared_ptr<TunnelStream> take(Place place) KUBE_REQUIRES(streamsMutex_) {
    const std::shared_ptr<TunnelStream> stream = std::move(place->second.stream);
    dataOf_.erase(place->second.errorStream);
    connections_.erase(place);
    streamEnded();
    return stream;
  }

  std::size_t handle(std::string_view bytes, bool) override KUBE_REQUIRES(streamsMutex_) {
    kept_ = 0;
    answers_ = false;
    received(bytes);
    // Room limits data from this side; answers are limited by what the server reads.
    if (answers_ && queued() > kMaxAnswers) {
      throw DecodeError({.format = "spdy"}, "the server requests more answers than it reads");
    }
    return bytes.size() - kept_;
  }
  using SpdyConnection::open;
  using SpdyConnection::received;

  // ---- Called by received(), with the lock.
  void data(std::uint32_t stream, std::string_view bytes, bool last) override
      KUBE_REQUIRES(streamsMutex_) {
    if (const auto data = dataOf_.find(stream); data != dataOf_.end()) {
      const auto connection = connections_.find(data->second);
      addProblem(connection->second.problem, bytes);
      if (last) errorEnded(connection);
      return;
    }
    const auto found = connections_.find(stream);
    if (found == connections_.end()) return;
    if (!bytes.empty()) kept_ += bytes.size() - found->second.stream->arrived(bytes);
    if (!last) return;
    found->second.dataEnded = true;
    if (found->second.errorEnded) return take(found)->podGone({});
    found->second.stream->podEnded();
  }

  void errorEnded(Place place) KUBE_REQUIRES(streamsMutex_) {
    place->second.errorEnded = true;
    const std::string problem = place->second.problem;
    if (problem.empty() && !place->second.dataEnded) return;
    if (!place->second.dataEnded) sendReset(place->first, Reset::Cancel);
    take(place)->podGone(problem);
  }

  void wasReset(std::uint32_t stream) override KUBE_REQUIRES(streamsMutex_) {
    if (const auto data = dataOf_.find(stream); data != dataOf_.end()) stream = data->second;
    const auto found = connections_.find(stream);
    if (found == connections_.end()) return;
    const std::string problem =
        found->second.problem.empty() ? "the server reset the connection" : found->second.problem;
    take(found)->podGone(problem);
  }

  void endAll(const std::string& problem) override KUBE_REQUIRES(streamsMutex_) {
    while (!connections_.empty()) take(connections_.begin())->podGone(problem);
  }

  bool write(std::string_view bytes, const std::stop_token&) override KUBE_REQUIRES(streamsMutex_) {
    queue(std::string(bytes));
    return true;
  }
  void writeNow(std::string_view bytes) override KUBE_REQUIRES(streamsMutex_) {
    answers_ = true;
    queue(std::string(bytes));
  }

  // By the stream of their data.
  std::map<std::uint32_t, Connection> connections_ KUBE_GUARDED_BY(streamsMutex_);
  // Streams of data by those of errors.
  std::map<std::uint32_t, std::uint32_t> dataOf_ KUBE_GUARDED_BY(streamsMutex_);
  std::uint64_t requests_ KUBE_GUARDED_BY(streamsMutex_) = 0;
  // Answers were written while handling received bytes.
  bool answers_ KUBE_GUARDED_BY(streamsMutex_) = false;
  // Received bytes that wait for their readers.
  std::size_t kept_ KUBE_GUARDED_BY(streamsMutex_) = 0;
};

class ChannelTunnel final : public PortTunnel {
 public:
  explicit ChannelTunnel(WebSocket socket) : PortTunnel(std::move(socket)) {}

  bool shared() const override { return false; }

 private:
  static constexpr std::size_t kError = 1;  // the channel; 0 is the data

  std::uint32_t begin(std::uint16_t) override KUBE_REQUIRES(streamsMutex_) {
    return std::exchange(begun_, true) ? 0 : 1;
  }
  void add(std::uint32_t, std::shared_ptr<TunnelStream> stream) override
      KUBE_REQUIRES(streamsMutex_) {
    stream_ = std::move(stream);
  }
  void write(std::uint32_t, std::string_view bytes) override KUBE_REQUIRES(streamsMutex_) {
    queue(std::string(1, '\0').append(bytes));
  }
  bool writeEnd(std::uint32_t) override KUBE_REQUIRES(streamsMutex_) { return false; }
  // The WebSocket is closed with the tunnel, which the stream alone holds.
  void forget(std::uint32_t) override KUBE_REQUIRES(streamsMutex_) { stream_ = nullptr; }

  // Each of the two channels begins with its port.
  std::size_t handle(std::string_view bytes, bool first) override KUBE_REQUIRES(streamsMutex_) {
    const std::size_t size = bytes.size();
    if (first) channel_.reset();
    if (!channel_) {
      if (bytes.empty()) return 0;
      channel_ = static_cast<std::uint8_t>(bytes[0]);
      bytes.remove_prefix(1);
    }
    if (*channel_ > kError) return size;
    std::size_t& begun = portBytes_[*channel_];
    const std::size_t port = std::min(2 - begun, bytes.size());
    begun += port;
    bytes.remove_prefix(port);
    if (bytes.empty() || stream_ == nullptr) return size;
    if (*channel_ == kError) {
      addProblem(problem_, bytes);
      return size;
    }
    return size - bytes.size() + stream_->arrived(bytes);
  }

  void endAll(const std::string& problem) override KUBE_REQUIRES(streamsMutex_) {
    if (stream_ == nullptr) return;
    std::exchange(stream_, nullptr)->podGone(problem_.empty() ? problem : problem_);
    streamEnded();
  }

  bool begun_ KUBE_GUARDED_BY(streamsMutex_) = false;
  std::shared_ptr<TunnelStream> stream_ KUBE_GUARDED_BY(streamsMutex_);
  // The channel of the current message.
  std::optional<std::uint8_t> channel_ KUBE_GUARDED_BY(streamsMutex_);
  std::array<std::size_t, 2> portBytes_ KUBE_GUARDED_BY(streamsMutex_){};
  std::string problem_ KUBE_GUARDED_BY(streamsMutex_);
};

}  // namespace

// The listener of the WebSocket. It keeps what arrives until there is a tunnel.
class TunnelInbox final : public WebSocketListener {
 public:
  void attach(const std::shared_ptr<PortTunnel>& tunnel, const WebSocket& socket);

  std::size_t onData(std::string_view piece, bool first, bool last) override;
  void onRoom() override;
  void onClosed(WebSocketEnd end) noexcept override;

 private:
  struct Piece {
    std::string bytes;
    bool first = false;  // of a message
  };
  std::shared_ptr<PortTunnel> tunnel() {
    const Lock lock(earlyMutex_);
    return attached_ ? tunnel_.lock() : nullptr;
  }

  Mutex earlyMutex_;
  std::weak_ptr<PortTunnel> tunnel_ KUBE_GUARDED_BY(earlyMutex_);
  bool attached_ KUBE_GUARDED_BY(earlyMutex_) = false;
  std::vector<Piece> early_ KUBE_GUARDED_BY(earlyMutex_);
  std::optional<WebSocketEnd> earlyEnd_ KUBE_GUARDED_BY(earlyMutex_);
};

void TunnelInbox::attach(const std::shared_ptr<PortTunnel>& tunnel, const WebSocket& socket) {
  for (;;) {
    std::vector<Piece> pieces;
    {
      const Lock lock(earlyMutex_);
      pieces.swap(early_);
      if (pieces.empty()) {
        tunnel_ = tunnel;
        attached_ = true;
        break;
      }
    }
    for (const Piece& piece : pieces) socket.consumed(tunnel->received(piece.bytes, piece.first));
  }
  std::optional<WebSocketEnd> end;
  {
    const Lock lock(earlyMutex_);
    end.swap(earlyEnd_);
  }
  if (end) tunnel->closed(*end);
}

std::size_t TunnelInbox::onData(std::string_view piece, bool first, bool) {
  if (const auto there = tunnel()) return there->received(piece, first);
  const Lock lock(earlyMutex_);
  if (attached_ || earlyEnd_) return piece.size();
  if (early_.size() == kMaxEarly) {
    earlyEnd_ = WebSocketEnd{.code = 1002, .reason = "too many messages before the first stream"};
    return piece.size();
  }
  early_.push_back({std::string(piece), first});
  return 0;
}

void TunnelInbox::onRoom() {
  if (const auto there = tunnel()) there->room();
}

void TunnelInbox::onClosed(WebSocketEnd end) noexcept {
  if (const auto there = tunnel()) return there->closed(end);
  const Lock lock(earlyMutex_);
  if (!earlyEnd_) earlyEnd_ = std::move(end);
}

// --- PortTunnel.

Task<std::shared_ptr<PortTunnel>> PortTunnel::open(Connect connect, std::uint16_t port) {
  const auto inbox = std::make_shared<TunnelInbox>();
  std::vector<std::string> protocols{std::string(kTunnel), "v4.channel.k8s.io",
                                     "portforward.k8s.io"};
  WebSocket socket = co_await connect(std::move(protocols), port, inbox);
  std::shared_ptr<PortTunnel> tunnel;
  if (socket.protocol() == kTunnel) {
    tunnel = std::make_shared<SpdyTunnel>(std::move(socket));
  } else {
    tunnel = std::make_shared<ChannelTunnel>(std::move(socket));
  }
  inbox->attach(tunnel, tunnel->socket_);
  co_return tunnel;
}

PortTunnel::~PortTunnel() = default;

bool PortTunnel::lost() const {
  const Lock lock(streamsMutex_);
  return lost_;
}

std::shared_ptr<TunnelStream> PortTunnel::connect(std::uint16_t port, std::string doing) {
  std::shared_ptr<TunnelStream> stream;
  {
    const Lock lock(streamsMutex_);
    const std::uint32_t id = lost_ ? 0 : begin(port);
    if (id == 0) return nullptr;
    stream = std::make_shared<TunnelStream>(shared_from_this(), std::move(doing), id);
    add(id, stream);
  }
  flush();
  return stream;
}

void PortTunnel::consumed(std::size_t bytes) const {
  if (bytes > 0) socket_.consumed(bytes);
}

Task<bool> PortTunnel::waitForRoom(const TunnelStream& stream) {
  return room_.wait([this, &stream]() KUBE_REQUIRES(streamsMutex_) {
    return lost_ || stream.isOver() || queued() < WebSocket::kMaxQueued;
  });
}

void PortTunnel::send(std::uint32_t id, std::string_view bytes) {
  {
    const Lock lock(streamsMutex_);
    if (!lost_) write(id, bytes);
  }
  flush();
}

bool PortTunnel::endOutput(std::uint32_t id) {
  bool said = false;
  {
    const Lock lock(streamsMutex_);
    said = writeEnd(id);
  }
  flush();
  return said;
}

void PortTunnel::drop(std::uint32_t id) {
  {
    const Lock lock(streamsMutex_);
    forget(id);
    streamEnded();
  }
  flush();
}

void PortTunnel::queue(std::string message) {
  unsentBytes_ += message.size();
  unsent_.push_back(std::move(message));
}

void PortTunnel::flush() {
  Lock lock(streamsMutex_);
  if (std::exchange(sending_, true)) return;
  while (!unsent_.empty()) {
    const auto messages = std::exchange(unsent_, {});
    unsentBytes_ = 0;
    lock.unlock();
    for (const std::string& message : messages) socket_.send(message);
    lock.lock();
  }
  sending_ = false;
}

std::size_t PortTunnel::received(std::string_view bytes, bool first) {
  std::size_t used = bytes.size();
  std::string problem;
  {
    const Lock lock(streamsMutex_);
    if (lost_) return used;
    try {
      used = handle(bytes, first);
    } catch (const DecodeError& error) {
      problem = fmt::format("the server violates the protocol: {}", error.what());
    }
  }
  flush();
  if (!problem.empty()) lose(problem);
  return used;
}

void PortTunnel::room() {
  const Lock lock(streamsMutex_);
  room_.notifyAll();
}

void PortTunnel::closed(const WebSocketEnd& end) {
  // The WebSocket of a single stream ends with it.
  const bool ordinary = !shared() && !end.error && end.code == 1000;
  lose(ordinary ? std::string() : "lost connection to pod: " + wordsOf(end));
}

void PortTunnel::lose(const std::string& problem) {
  {
    const Lock lock(streamsMutex_);
    if (std::exchange(lost_, true)) return;
    endAll(problem);
  }
  socket_.close();
  socket_.cut();
}

}  // namespace kube::detail
