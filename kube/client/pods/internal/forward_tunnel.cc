#include "kube/client/pods/internal/forward_tunnel.h"

#include <fmt/core.h>

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

class SpdyTunnel final : public ForwardTunnel, public SpdyConnection {
 public:
  SpdyTunnel(WebSocket socket, std::shared_ptr<TunnelInbox> inbox)
      : ForwardTunnel(std::move(socket), std::move(inbox)), SpdyConnection(Side::Client) {}

  bool shared() const override { return true; }

  std::uint32_t connect(TunnelEnd& end, std::uint16_t port) override {
    const auto stream = [&](const char* type) {
      return open({{"streamtype", type},
                   {"port", std::to_string(port)},
                   {"requestid", std::to_string(requests_)}});
    };
    const std::uint32_t error = stream("error");
    if (error != 0) sendData(error, {}, true, {});
    const std::uint32_t data = error != 0 ? stream("data") : 0;
    ++requests_;
    if (data == 0) return 0;
    connections_[data] = {.end = &end, .errorStream = error};
    dataOf_[error] = data;
    return data;
  }

  void toPod(std::uint32_t id, std::string_view bytes) override { sendData(id, bytes, false, {}); }
  bool localEnded(std::uint32_t id) override {
    sendData(id, {}, true, {});
    return true;
  }
  void drop(std::uint32_t id) override {
    const auto found = connections_.find(id);
    if (found == connections_.end()) return;
    sendReset(id, Reset::Cancel);
    if (!found->second.errorEnded) sendReset(found->second.errorStream, Reset::Cancel);
    forget(found);
  }

 private:
  struct Connection {
    TunnelEnd* end = nullptr;
    std::uint32_t errorStream = 0;
    std::string problem = {};
    bool dataEnded = false, errorEnded = false;
  };
  using Place = std::map<std::uint32_t, Connection>::iterator;

  TunnelEnd& forget(Place place) {
    TunnelEnd& end = *place->second.end;
    dataOf_.erase(place->second.errorStream);
    connections_.erase(place);
    return end;
  }

  std::size_t handle(std::string_view bytes, bool) override {
    kept_ = 0;
    answers_ = false;
    received(bytes);
    // full() limits data from this side; answers are limited by what the server reads.
    if (answers_ && socket().queued() > kMaxAnswers) {
      throw DecodeError({.format = "spdy"}, "the server requests more answers than it reads");
    }
    return bytes.size() - kept_;
  }

  void data(std::uint32_t stream, std::string_view bytes, bool last) override {
    if (const auto data = dataOf_.find(stream); data != dataOf_.end()) {
      const auto connection = connections_.find(data->second);
      addProblem(connection->second.problem, bytes);
      if (last) errorEnded(connection);
      return;
    }
    const auto found = connections_.find(stream);
    if (found == connections_.end()) return;
    if (!bytes.empty()) {
      kept_ += bytes.size();
      found->second.end->fromPod(bytes);
    }
    // fromPod() may have dropped the connection.
    const auto again = connections_.find(stream);
    if (!last || again == connections_.end()) return;
    again->second.dataEnded = true;
    if (again->second.errorEnded) return forget(again).podGone({});
    again->second.end->podEnded();
  }

  void errorEnded(Place place) {
    place->second.errorEnded = true;
    const std::string problem = place->second.problem;
    if (problem.empty() && !place->second.dataEnded) return;
    if (!place->second.dataEnded) sendReset(place->first, Reset::Cancel);
    forget(place).podGone(problem);
  }

  void wasReset(std::uint32_t stream) override {
    if (const auto data = dataOf_.find(stream); data != dataOf_.end()) stream = data->second;
    const auto found = connections_.find(stream);
    if (found == connections_.end()) return;
    const std::string problem =
        found->second.problem.empty() ? "the server reset the connection" : found->second.problem;
    forget(found).podGone(problem);
  }

  void endAll(const std::string& problem) override {
    while (!connections_.empty()) forget(connections_.begin()).podGone(problem);
  }
  std::vector<TunnelEnd*> ends() const override {
    std::vector<TunnelEnd*> all;
    for (const auto& [stream, connection] : connections_) all.push_back(connection.end);
    return all;
  }

  bool write(std::string_view bytes, const std::stop_token&) override {
    return socket().send(bytes);
  }
  void writeNow(std::string_view bytes) override {
    answers_ = true;
    socket().send(bytes);
  }

  std::map<std::uint32_t, Connection> connections_;  // by the stream of their data
  std::map<std::uint32_t, std::uint32_t> dataOf_;    // streams of data by those of errors
  std::uint64_t requests_ = 0;
  bool answers_ = false;  // answers were written while handling received bytes
  std::size_t kept_ = 0;  // received bytes that connections consume themselves
};

class ChannelTunnel final : public ForwardTunnel {
 public:
  ChannelTunnel(WebSocket socket, std::shared_ptr<TunnelInbox> inbox)
      : ForwardTunnel(std::move(socket), std::move(inbox)) {}

  bool shared() const override { return false; }

  std::uint32_t connect(TunnelEnd& end, std::uint16_t) override {
    if (end_ != nullptr) return 0;
    end_ = &end;
    return 1;
  }
  void toPod(std::uint32_t, std::string_view bytes) override {
    constexpr char kHead = 0;
    socket().send({&kHead, 1}, bytes);
  }
  bool localEnded(std::uint32_t) override { return false; }
  void drop(std::uint32_t) override {
    end_ = nullptr;
    socket().close();
    socket().cut();
  }

 private:
  static constexpr std::size_t kError = 1;  // the channel; 0 is the data

  // Each of the two channels begins with its port.
  std::size_t handle(std::string_view bytes, bool first) override {
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
    if (bytes.empty() || end_ == nullptr) return size;
    if (*channel_ == kError) {
      addProblem(problem_, bytes);
      return size;
    }
    end_->fromPod(bytes);
    return size - bytes.size();
  }

  void endAll(const std::string& problem) override {
    if (end_ == nullptr) return;
    std::exchange(end_, nullptr)->podGone(problem_.empty() ? problem : problem_);
  }
  std::vector<TunnelEnd*> ends() const override {
    return end_ != nullptr ? std::vector<TunnelEnd*>{end_} : std::vector<TunnelEnd*>{};
  }

  TunnelEnd* end_ = nullptr;
  std::optional<std::uint8_t> channel_;  // of the current message
  std::array<std::size_t, 2> portBytes_{};
  std::string problem_;
};

}  // namespace

// --- TunnelInbox.

void TunnelInbox::attach(std::weak_ptr<ForwardTunnel> tunnel) {
  const Lock lock(takenMutex_);
  tunnel_ = std::move(tunnel);
  attached_ = true;
  if (!taken_.pieces.empty() || taken_.ended) post();
}

void TunnelInbox::post() {
  if (!attached_ || std::exchange(posted_, true)) return;
  mailbox_->post([tunnel = tunnel_] {
    if (const auto there = tunnel.lock()) there->arrived();
  });
}

TunnelInbox::Taken TunnelInbox::take() {
  const Lock lock(takenMutex_);
  posted_ = false;
  return std::exchange(taken_, {});
}

std::size_t TunnelInbox::onData(std::string_view piece, bool first, bool) {
  const Lock lock(takenMutex_);
  if (first || taken_.pieces.empty()) taken_.pieces.push_back({.first = first});
  taken_.pieces.back().bytes += piece;
  post();
  return 0;
}

void TunnelInbox::onRoom() {
  if (!waiting_.exchange(false)) return;
  const Lock lock(takenMutex_);
  mailbox_->post([tunnel = tunnel_] {
    if (const auto there = tunnel.lock()) there->room();
  });
}

void TunnelInbox::onClosed(WebSocketEnd end) noexcept {
  const Lock lock(takenMutex_);
  taken_.ended = true;
  taken_.end = std::move(end);
  post();
}

// --- ForwardTunnel.

const std::vector<std::string>& ForwardTunnel::protocols() {
  static const std::vector<std::string> all = {std::string(kTunnel), "v4.channel.k8s.io",
                                               "portforward.k8s.io"};
  return all;
}

std::shared_ptr<ForwardTunnel> ForwardTunnel::make(WebSocket socket,
                                                   std::shared_ptr<TunnelInbox> inbox) {
  std::shared_ptr<ForwardTunnel> tunnel;
  if (socket.protocol() == kTunnel) {
    tunnel = std::make_shared<SpdyTunnel>(std::move(socket), std::move(inbox));
  } else {
    tunnel = std::make_shared<ChannelTunnel>(std::move(socket), std::move(inbox));
  }
  tunnel->inbox_->attach(tunnel);
  return tunnel;
}

ForwardTunnel::ForwardTunnel(WebSocket socket, std::shared_ptr<TunnelInbox> inbox)
    : socket_(std::move(socket)), inbox_(std::move(inbox)) {}
ForwardTunnel::~ForwardTunnel() = default;

bool ForwardTunnel::full() {
  if (socket_.queued() < WebSocket::kMaxQueued) return false;
  inbox_->waitForRoom();
  // Room may have appeared in between, and then onRoom() is not called.
  return socket_.queued() >= WebSocket::kMaxQueued;
}

void ForwardTunnel::arrived() {
  const auto self = shared_from_this();
  const TunnelInbox::Taken taken = inbox_->take();
  try {
    for (const TunnelInbox::Piece& piece : taken.pieces) {
      if (lost_) return;
      consumed(handle(piece.bytes, piece.first));
    }
  } catch (const DecodeError& error) {
    return lose(fmt::format("the server violates the protocol: {}", error.what()));
  }
  if (!taken.ended) return;
  // The WebSocket of a single connection ends with it.
  const bool ordinary = !shared() && !taken.end.error && taken.end.code == 1000;
  lose(ordinary ? std::string() : "lost connection to pod: " + wordsOf(taken.end));
}

void ForwardTunnel::room() {
  const auto self = shared_from_this();
  for (TunnelEnd* const end : ends()) end->onRoom();
}

void ForwardTunnel::lose(const std::string& problem) {
  if (std::exchange(lost_, true)) return;
  socket_.close();
  socket_.cut();
  endAll(problem);
}

}  // namespace kube::detail
