#include "kube/http/internal/http_engine.h"

#include <algorithm>
#include <utility>

#include "kube/http/internal/caller_io.h"

namespace kube::detail {
namespace {

ProxyRules proxyRules(const std::string& proxy) {
  if (proxy == "direct") return {};
  return proxy.empty() ? ProxyRules::fromEnvironment() : ProxyRules::always(proxy);
}

}  // namespace

HttpEngine::HttpEngine(TransportOptions options)
    : options_(std::move(options)),
      proxies_(proxyRules(options_.proxy)),
      mailbox_(loop_.mailbox()),
      tls_(options_.tls, !options_.disableHttp2, options_.tlsCheckInterval),
      readBuffer_(64 << 10, '\0') {}

HttpEngine::~HttpEngine() = default;

void HttpEngine::run() {
  loop_.run([this] {
    // The mailbox refuses everything now, so no exchange is added.
    while (!exchanges_.empty()) {
      const auto exchange = exchanges_.front();
      exchange->failShutDown();
    }
    for (const auto& pool : pools_) pool->shutAll("shut down");
    loop_.discardDeferred();
    pools_.clear();
  });
}

void HttpEngine::begin(const std::shared_ptr<Exchange>& exchange) {
  counters_.requests.fetch_add(1, std::memory_order_relaxed);
  exchanges_.push_front(exchange);
  exchange->place_ = exchanges_.begin();
  exchange->begin(*this);
}

HttpEngine::Submitted HttpEngine::submit(std::shared_ptr<Exchange> exchange, bool here,
                                         bool drives) {
  if (here && !exchange->upgrades()) {
    CallerIo* const caller = drives ? CallerIo::ofThisThread() : nullptr;
    const LoopTurn turn(loop_, false);
    // The loop's own thread makes connections.
    if (turn.taken() && !turn.tooLate() && poolFor(exchange->url()).hasRoom()) {
      begin(exchange);
      // The request is written at the end of this turn. The connection is lent before that, so the
      // loop need not change its events before the answer arrives.
      const bool lent = caller != nullptr && exchange->lendTo(*caller);
      return lent ? Submitted::Lent : Submitted::Accepted;
    }
  }
  if (loop_.isRunner()) {
    // Not at once: the caller may be in the middle of receiving.
    loop_.defer([this, exchange = std::move(exchange)] { begin(exchange); });
    return Submitted::Accepted;
  }
  const bool posted = mailbox_->post([this, exchange = std::move(exchange)] { begin(exchange); });
  return posted ? Submitted::Accepted : Submitted::Refused;
}

// Passing a request to another thread and being woken by it costs more than all of its I/O.
void HttpEngine::drive(Exchange& exchange, bool lent, const std::function<bool()>& enough) {
  CallerIo* const caller = CallerIo::ofThisThread();
  if (caller == nullptr) return;
  // Blocks for the turn: while a connection is reserved for this caller, the loop does not poll it.
  // If data arrived meanwhile, `enough` says so and we return.
  LoopTurn turn(loop_);
  if (!lent && (turn.tooLate() || (enough && enough()) || !exchange.lendTo(*caller))) return;
  while (exchange.lentTo(*caller)) {
    const bool more = exchange.connection().hasMore();
    const int fd = exchange.connection().fd();
    caller->beforePolling();
    turn.giveBack();
    if (!more) caller->poll(fd);
    turn.takeAgain();
    caller->afterPolling();
    if (!exchange.lentTo(*caller)) return;
    exchange.connection().onReadable();
    if (exchange.lentTo(*caller) && enough && enough()) exchange.takeBack();
  }
}

void HttpEngine::post(Job work) {
  if (loop_.isRunner()) return loop_.defer(std::move(work));
  mailbox_->post(std::move(work));
}

void HttpEngine::cancel(std::shared_ptr<Exchange> exchange) {
  post([exchange = std::move(exchange)] { exchange->cancel(); });
}

void HttpEngine::consumed(std::shared_ptr<Exchange> exchange, std::size_t bytes) {
  if (!loop_.isMine()) {
    const LoopTurn turn(loop_, false);
    if (turn.taken() && !turn.tooLate()) return exchange->consumed(bytes);
  }
  post([exchange = std::move(exchange), bytes] { exchange->consumed(bytes); });
}

bool HttpEngine::write(const std::shared_ptr<Exchange>& exchange,
                       const std::function<void(std::string& out)>& append) {
  const Exchange::Written written = exchange->write(append);
  if (written != Exchange::Written::First) return written != Exchange::Written::Ended;
  if (loop_.isMine()) {
    exchange->sendWritten();
    return true;
  }
  {
    const LoopTurn turn(loop_, false);
    if (turn.taken() && !turn.tooLate()) {
      exchange->sendWritten();
      return true;
    }
  }
  return mailbox_->post([exchange] { exchange->sendWritten(); });
}

TransportStats HttpEngine::stats() const {
  constexpr auto kRelaxed = std::memory_order_relaxed;
  return {.connectionsMade = counters_.connectionsMade.load(kRelaxed),
          .connectionsOpen = counters_.connectionsOpen.load(kRelaxed),
          .requests = counters_.requests.load(kRelaxed),
          .retries = counters_.retries.load(kRelaxed),
          .bytesSent = counters_.bytesSent.load(kRelaxed),
          .bytesReceived = counters_.bytesReceived.load(kRelaxed)};
}

HostPool& HttpEngine::poolFor(const Url& url) {
  const auto it = std::find_if(pools_.begin(), pools_.end(),
                               [&](const auto& pool) { return pool->origin().sameOrigin(url); });
  if (it != pools_.end()) return **it;
  pools_.push_back(std::make_unique<HostPool>(*this, url));
  return *pools_.back();
}

void HttpEngine::route(const std::shared_ptr<Exchange>& exchange) {
  if (tls_.refresh(loop_.now())) {
    for (const auto& pool : pools_) pool->retireAll();
  }
  poolFor(exchange->url()).submit(exchange);
}

void HttpEngine::forget(const Exchange& exchange) { poolFor(exchange.url()).forget(exchange); }

void HttpEngine::ended(Exchange& exchange) { exchanges_.erase(exchange.place_); }

}  // namespace kube::detail
