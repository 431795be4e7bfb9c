#include "kube/http/internal/host_pool.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/core.h>

#include "kube/base/log.h"
#include "kube/http/internal/http_engine.h"

namespace kube::detail {
namespace {

constexpr std::size_t kAssumedStreams = 100;
// The number of connections in a row that a server may end before their first request; then the
// waiting exchanges fail.
constexpr int kMaxUnused = 4;

}  // namespace

HostPool::HostPool(HttpEngine& engine, Url origin)
    : engine_(engine),
      origin_(std::move(origin)),
      proxy_(engine.proxies().proxyFor(origin_)),
      httpVersion_(origin_.scheme == "http" || engine.options().disableHttp2 ? 1 : 0),
      peerStreams_(kAssumedStreams) {}

HostPool::~HostPool() = default;

void HostPool::submit(std::shared_ptr<Exchange> exchange) {
  if (exchange->upgrades()) return dialUpgrade(std::move(exchange));
  if (waiting_.empty() && assign(exchange)) return;
  waiting_.push_back(std::move(exchange));
  dialAsNeeded();
}

bool HostPool::hasRoom() const {
  return waiting_.empty() && std::ranges::any_of(connections_, [](const auto& connection) {
           return connection->freeStreams() > 0;
         });
}

bool HostPool::assign(const std::shared_ptr<Exchange>& exchange) {
  const auto it =
      std::find_if(connections_.begin(), connections_.end(),
                   [](const auto& connection) { return connection->freeStreams() > 0; });
  if (it == connections_.end()) return false;
  const auto connection = *it;  // a copy: it may leave the list meanwhile
  unused_ = 0;
  connection->setUsed();
  connection->begin(exchange);
  return true;
}

void HostPool::assignWaiting() {
  while (!waiting_.empty()) {
    const auto exchange = waiting_.front();
    if (!assign(exchange)) break;
    waiting_.pop_front();
  }
  dialAsNeeded();
}

void HostPool::forget(const Exchange& exchange) {
  const auto it = std::find_if(waiting_.begin(), waiting_.end(),
                               [&](const auto& other) { return other.get() == &exchange; });
  if (it != waiting_.end()) waiting_.erase(it);
  std::erase_if(upgrades_, [&](Upgrade& upgrade) {
    if (upgrade.exchange.get() != &exchange) return false;
    engine_.loop().bury(std::move(upgrade.dial));
    return true;
  });
}

std::shared_ptr<Dial> HostPool::dial(Dial::For purpose, Dial::Done done) {
  return std::make_shared<Dial>(
      engine_.loop(), engine_.tls(), proxy_, origin_, purpose,
      TcpConnect::Ways{.onSocket = engine_.options().onSocket, .dial = engine_.options().dial},
      std::move(done));
}

void HostPool::dialUpgrade(std::shared_ptr<Exchange> exchange) {
  upgrades_.push_back({std::move(exchange),
                       dial(Dial::For::Upgrade, [this](Dial& dial, std::unique_ptr<Channel> channel,
                                                       const std::string& error) {
                         upgradeDialed(dial, std::move(channel), error);
                       })});
  upgrades_.back().dial->start(engine_.options().connectTimeout);
}

void HostPool::upgradeDialed(Dial& dial, std::unique_ptr<Channel> channel,
                             const std::string& error) {
  const auto it = std::find_if(upgrades_.begin(), upgrades_.end(),
                               [&](const Upgrade& other) { return other.dial.get() == &dial; });
  const auto exchange = std::move(it->exchange);
  const bool permanent = dial.permanent();
  engine_.loop().bury(std::move(it->dial));
  upgrades_.erase(it);
  if (channel == nullptr) return exchange->failDial(error, permanent);
  const auto connection = http1Connection(engine_, *this, std::move(channel), nullptr);
  connections_.push_back(connection);
  connection->setUsed();
  connection->begin(exchange);
  connection->retire();  // closes after that exchange, however it ends
  connection->open();
}

std::size_t HostPool::streamsPerConnection() const {
  if (httpVersion_ == 0) return std::numeric_limits<std::size_t>::max();
  if (httpVersion_ == 1) return 1;
  // If the server allowed none, another connection shows how many it allows now.
  return peerStreams_ == 0 ? std::numeric_limits<std::size_t>::max() : peerStreams_;
}

// Another connection to a server whose settings allow no streams at present would get the same
// settings.
bool HostPool::isToldToWait() const {
  return std::ranges::any_of(connections_, [](const auto& connection) {
    return !connection->retired() && connection->allowedStreams() == 0;
  });
}

void HostPool::dialAsNeeded() {
  if (waiting_.empty()) {
    atMost_ = false;
    return;
  }
  if (isToldToWait()) return;
  const std::size_t needed = (waiting_.size() - 1) / streamsPerConnection() + 1;
  const std::size_t most = engine_.options().maxConnectionsPerHost;
  while (dials_.size() < needed) {
    if (most != 0 && connections_.size() + dials_.size() >= most) {
      if (std::exchange(atMost_, true)) return;
      Logger("transport")
          .info(
              "{} calls to {} wait: there are {} connections, as many as "
              "TransportOptions::maxConnectionsPerHost allows",
              waiting_.size(), origin_.authority(), connections_.size() + dials_.size());
      return;
    }
    dials_.push_back(dial(Dial::For::Http,
                          [this](Dial& dial, std::unique_ptr<Channel> channel, std::string error) {
                            dialed(dial, std::move(channel), std::move(error));
                          }));
    dials_.back()->start(engine_.options().connectTimeout);
  }
}

void HostPool::dialed(Dial& dial, std::unique_ptr<Channel> channel, std::string error) {
  const auto it = std::find_if(dials_.begin(), dials_.end(),
                               [&](const auto& other) { return other.get() == &dial; });
  const bool permanent = dial.permanent();
  engine_.loop().bury(std::move(*it));
  dials_.erase(it);

  if (channel == nullptr) {
    // Fails the exchanges that the remaining dials will not serve. The first in line fail, because
    // they waited for this dial.
    const std::size_t per = streamsPerConnection();
    while (!waiting_.empty() &&
           (dials_.empty() || (waiting_.size() - 1) / per + 1 > dials_.size())) {
      const auto exchange = waiting_.front();
      waiting_.pop_front();
      exchange->failDial(error, permanent);
    }
    return;
  }

  const bool http2 = channel->protocol() == "h2";
  const bool plainProxy =
      proxy_ != nullptr && origin_.scheme == "http" && proxy_->kind != Proxy::Kind::Socks5;
  const auto connection =
      http2 ? http2Connection(engine_, *this, std::move(channel), peerStreams_)
            : http1Connection(engine_, *this, std::move(channel), plainProxy ? proxy_ : nullptr);
  httpVersion_ = connection->httpVersion();
  connections_.push_back(connection);
  connection->open();
}

void HostPool::onRoom() {
  for (const auto& connection : connections_) {
    if (connection->httpVersion() == 2) peerStreams_ = connection->allowedStreams();
  }
  assignWaiting();
}

void HostPool::onClosed(Connection& connection) {
  const auto it = std::find_if(connections_.begin(), connections_.end(),
                               [&](const auto& other) { return other.get() == &connection; });
  if (it == connections_.end()) return;
  const bool used = connection.used();
  engine_.loop().bury(std::move(*it));
  connections_.erase(it);
  if (!used && !waiting_.empty() && ++unused_ >= kMaxUnused) {
    unused_ = 0;
    return failWaiting(fmt::format(
        "the server takes no requests: it ended {} connections in a row before it took one",
        kMaxUnused));
  }
  dialAsNeeded();
}

void HostPool::failWaiting(const std::string& cause) {
  const auto waiting = std::exchange(waiting_, {});
  for (const auto& exchange : waiting) exchange->failDial(cause);
}

void HostPool::retireAll() {
  // Connections that are being made have the old certificate too.
  for (auto& dial : dials_) engine_.loop().bury(std::move(dial));
  dials_.clear();
  for (Upgrade& upgrade : std::exchange(upgrades_, {})) {
    engine_.loop().bury(std::move(upgrade.dial));
    dialUpgrade(std::move(upgrade.exchange));
  }
  const auto connections = connections_;
  for (const auto& connection : connections) connection->retire();
  dialAsNeeded();
}

void HostPool::shutAll(const std::string& cause) {
  dials_.clear();
  upgrades_.clear();
  const auto connections = connections_;
  for (const auto& connection : connections) connection->shut(cause);
}

}  // namespace kube::detail
