// The inside of a Transport: the event loop, the pools of connections, and all exchanges.
//
// Thread safety: the functions under "For any thread" may be called from any thread. Everything
// else belongs to the holder of the loop's turn: the thread in run(), or a thread that has taken
// the turn by a LoopTurn.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "kube/http/internal/event_loop.h"
#include "kube/http/internal/exchange.h"
#include "kube/http/internal/host_pool.h"
#include "kube/http/internal/tls_context.h"
#include "kube/http/proxy.h"
#include "kube/http/transport.h"

namespace kube::detail {

class HttpEngine : public std::enable_shared_from_this<HttpEngine> {
 public:
  struct Counters {
    std::atomic<std::uint64_t> connectionsMade{0}, connectionsOpen{0}, requests{0}, retries{0},
        bytesSent{0}, bytesReceived{0};
  };

  explicit HttpEngine(TransportOptions options);
  ~HttpEngine();

  void run();

  // --- For any thread.
  enum class Submitted : unsigned char {
    Refused,  // the engine has stopped
    Accepted,
    Lent,  // accepted, and the caller has to drive() it
  };
  /// Begins an exchange. With `here` it begins on this thread if that is possible at once, for
  /// callers that have to wait anyway. With `drives` the connection may be lent to the caller,
  /// which then has to call drive().
  Submitted submit(std::shared_ptr<Exchange> exchange, bool here, bool drives = false);
  /// Does the I/O of a submitted exchange, while it is lent to this thread. Returns when the
  /// exchange has ended, another thread does its I/O, or enough() is true.
  void drive(Exchange& exchange, bool lent, const std::function<bool()>& enough = {});
  /// Returns whether this thread is inside the engine, in a callback.
  bool isInside() const { return loop_.isMine(); }
  void cancel(std::shared_ptr<Exchange> exchange);
  void consumed(std::shared_ptr<Exchange> exchange, std::size_t bytes);
  bool write(const std::shared_ptr<Exchange>& exchange,
             const std::function<void(std::string& out)>& append);
  /// Runs work on the loop's thread.
  void post(Job work);
  void stop() { mailbox_->stop(); }
  TransportStats stats() const;

  // --- For exchanges, pools and connections.
  EventLoop& loop() { return loop_; }
  const TransportOptions& options() const { return options_; }
  const TlsContext& tls() const { return tls_; }
  const ProxyRules& proxies() const { return proxies_; }
  Counters& counters() { return counters_; }
  /// A buffer for reads, shared by all connections. Its content is used before the next read.
  std::string& readBuffer() { return readBuffer_; }
  /// Passes an exchange to its host's pool.
  void route(const std::shared_ptr<Exchange>& exchange);
  /// Removes an exchange from the queue of waiting exchanges.
  void forget(const Exchange& exchange);
  /// Removes a finished exchange from the list of all exchanges.
  void ended(Exchange& exchange);

 private:
  HostPool& poolFor(const Url& url);
  void begin(const std::shared_ptr<Exchange>& exchange);

  const TransportOptions options_;
  const ProxyRules proxies_;
  EventLoop loop_;
  const std::shared_ptr<Mailbox> mailbox_;
  TlsContext tls_;
  Counters counters_;
  std::string readBuffer_;
  std::list<std::shared_ptr<Exchange>> exchanges_;
  std::vector<std::unique_ptr<HostPool>> pools_;  // few, usually one
};

}  // namespace kube::detail
