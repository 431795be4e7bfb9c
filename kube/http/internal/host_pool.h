// The connections to one server, and the exchanges that wait for a connection.
//
// An exchange goes to the first connection with room, which keeps the number of connections small.
// Before the first connection it is unknown whether a server speaks HTTP/2, and all exchanges wait
// for that connection. Afterwards the waiting exchanges determine how many connections are made, by
// the number of streams that the server allows on each. If a server allows no streams at present,
// the pool waits and makes no other connection meanwhile.
//
// Thread safety: belongs to the holder of the loop's turn.
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
  /// Returns whether an exchange would be sent at once.
  bool hasRoom() const;
  /// Removes an exchange that ended while it was waiting.
  void forget(const Exchange& exchange);
  /// Retires all current connections.
  void retireAll();
  void shutAll(const std::string& cause);

  // --- For connections.
  void onRoom();  // a connection takes exchanges again
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
  int httpVersion_;          // of the last connection; 0 before the first
  std::size_t peerStreams_;  // streams that the last HTTP/2 connection allowed
  int unused_ = 0;           // connections in a row that were lost before their first exchange
  bool atMost_ = false;      // the limit of connections has been logged
  std::deque<std::shared_ptr<Exchange>> waiting_;
  std::vector<std::shared_ptr<Connection>> connections_;
  std::vector<std::shared_ptr<Dial>> dials_;
  // Exchanges that need a connection of their own, which is being made.
  struct Upgrade {
    std::shared_ptr<Exchange> exchange;
    std::shared_ptr<Dial> dial;
  };
  std::vector<Upgrade> upgrades_;
};

}  // namespace kube::detail
