// What runs on a transport's I/O thread: the loop, the pools of connections, all exchanges.
//
// Thread safety: submit(), cancel(), consumed(), stop() and stats() for any thread; the rest
// belongs to the thread in run().
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
    Lent,  // the caller has to drive() it
  };
  /// `here`: on this thread if that is possible at once, for callers that have to wait anyway. Who
  /// `drives` it from then on may be lent the connection right away.
  Submitted submit(std::shared_ptr<Exchange> exchange, bool here, bool drives = false);
  /// Does the I/O of an exchange that was submitted, as long as it is this thread's to do. Returns
  /// when the exchange has ended, others see to it, or there is enough for now.
  void drive(Exchange& exchange, bool lent, const std::function<bool()>& enough = {});
  /// Whether this thread is in the middle of the engine: in a callback.
  bool isInside() const { return loop_.isMine(); }
  void cancel(std::shared_ptr<Exchange> exchange);
  void consumed(std::shared_ptr<Exchange> exchange, std::size_t bytes);
  bool write(const std::shared_ptr<Exchange>& exchange,
             const std::function<void(std::string& out)>& append);
  void stop() { mailbox_->stop(); }
  TransportStats stats() const;

  // --- For exchanges, pools and connections.
  EventLoop& loop() { return loop_; }
  const TransportOptions& options() const { return options_; }
  const TlsContext& tls() const { return tls_; }
  const ProxyRules& proxies() const { return proxies_; }
  Counters& counters() { return counters_; }
  /// Room to read into, shared by all connections: what is in it is used before the next read.
  std::string& readBuffer() { return readBuffer_; }
  /// Sends an exchange to its host's pool.
  void route(const std::shared_ptr<Exchange>& exchange);
  /// Takes an exchange out of the line of those that wait.
  void forget(const Exchange& exchange);
  /// Takes an exchange that is done out of the books.
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
  std::vector<std::unique_ptr<HostPool>> pools_;  // few: mostly one
};

}  // namespace kube::detail
