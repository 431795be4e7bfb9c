// The connections to one server, and the exchanges that wait for one.
//
// Exchanges go to the first connection that has room, so that there are as few as possible. Whether
// a server speaks HTTP/2 is not known before the first connection is made: everything waits for
// that one. From then on as many connections are being made as the waiting exchanges need, at the
// number of streams the server allows on each. A server that allows none at present is waited for,
// and no other connection is made meanwhile.
//
// Thread safety: belongs to whoever has the loop's turn.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "kube/http/internal/connection.h"
#include "kube/http/internal/dial.h"
#include "kube/http/internal/exchange.h"
#include "kube/http/url.h"

namespace kube::detail {

class HttpEngine;

class HostPool {
 public:
  HostPool(HttpEngine& engine, Url origin);
  ~HostPool();

  const Url& origin() const { return origin_; }

  void submit(std::shared_ptr<Exchange> exchange);
  /// Whether an exchange would be sent at once.
  bool hasRoom() const;
  /// An exchange ended while it was waiting.
  void forget(const Exchange& exchange);
  /// Lets no connection of now be used again.
  void retireAll();
  void shutAll(const std::string& cause);

  // --- For connections.
  void onRoom();  // one may take an exchange again
  void onClosed(Connection& connection);

 private:
  bool assign(const std::shared_ptr<Exchange>& exchange);
  void assignWaiting();
  void dialAsNeeded();
  bool isToldToWait() const;
  void failWaiting(const std::string& cause);
  void dialed(Dial& dial, std::unique_ptr<Channel> channel, std::string error);
  std::size_t streamsPerConnection() const;
  std::shared_ptr<Dial> dial(Dial::For purpose, Dial::Done done);
  void dialUpgrade(std::shared_ptr<Exchange> exchange);
  void upgradeDialed(Dial& dial, std::unique_ptr<Channel> channel, const std::string& error);

  HttpEngine& engine_;
  const Url origin_;
  const Proxy* proxy_;
  int httpVersion_;          // what the last connection spoke; 0 before the first
  std::size_t peerStreams_;  // what the last HTTP/2 connection allowed
  int unused_ = 0;           // connections lost in a row that had taken no exchange
  bool atMost_ = false;      // that there are as many connections as may be was told
  std::deque<std::shared_ptr<Exchange>> waiting_;
  std::vector<std::shared_ptr<Connection>> connections_;
  std::vector<std::shared_ptr<Dial>> dials_;
  // Exchanges that want a connection of their own, which is being made.
  struct Upgrade {
    std::shared_ptr<Exchange> exchange;
    std::shared_ptr<Dial> dial;
  };
  std::vector<Upgrade> upgrades_;
};

}  // namespace kube::detail
