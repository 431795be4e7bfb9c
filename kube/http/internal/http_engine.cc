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
  loop_.run();
  const LoopTurn turn(loop_);
  // From here on the mailbox refuses everything: these are all there will be.
  while (!exchanges_.empty()) {
    const auto exchange = exchanges_.front();
    exchange->failShutDown();
  }
  for (const auto& pool : pools_) pool->shutAll("shut down");
  loop_.discardDeferred();
  pools_.clear();
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
    // Connections are made by the loop's own thread.
    if (turn.taken() && !turn.tooLate() && poolFor(exchange->url()).hasRoom()) {
      begin(exchange);
      // The request is written at the end of this turn: that the loop does not watch the
      // connection, as it may not do just now, need not change before the answer comes.
      const bool lent = caller != nullptr && exchange->lendTo(*caller);
      return lent ? Submitted::Lent : Submitted::Accepted;
    }
  }
  const bool posted = mailbox_->post([this, exchange = std::move(exchange)] { begin(exchange); });
  return posted ? Submitted::Accepted : Submitted::Refused;
}

namespace {

// What is larger than that is no stream of small events, and better read without delay.
constexpr std::size_t kManyBytes = 64 << 10;

}  // namespace

// Handing a request to another thread and being woken by it costs more than all of its I/O. Waking
// up for an event costs as much as all that is done with it: where they come thick and fast, it is
// cheaper to sleep for a while, and then take what there is.
void HttpEngine::drive(Exchange& exchange, bool lent, const std::function<bool()>& enough) {
  CallerIo* const caller = CallerIo::ofThisThread();
  if (caller == nullptr) return;
  // Waits for the turn: a connection that rests until its borrower comes back is looked after by
  // nobody else. What the loop has received until then is not waited for.
  LoopTurn turn(loop_);
  if (!lent && (turn.tooLate() || (enough && enough()) || !exchange.lendTo(*caller))) return;
  while (exchange.lentTo(*caller)) {
    const auto rest = exchange.gathers() ? options_.gatherTime : std::chrono::milliseconds(0);
    const bool more = exchange.connection().hasMore();
    const bool rests = rest.count() > 0 && !more && exchange.connection().gathers();
    const int fd = exchange.connection().fd();
    if (rests) exchange.connection().setResting(caller);
    caller->beforePolling();
    turn.giveBack();
    const auto begun = rest.count() > 0 ? EventLoop::Clock::now() : EventLoop::TimePoint();
    if (!more) rests ? caller->rest(rest) : caller->poll(fd);
    const bool soon = rest.count() > 0 && EventLoop::Clock::now() - begun < rest;
    turn.takeAgain();
    caller->afterPolling();
    if (!exchange.lentTo(*caller)) return;
    exchange.connection().setResting(nullptr);
    const std::size_t bytes = exchange.connection().onReadable();
    if (!exchange.lentTo(*caller)) return;
    exchange.connection().noteSoon(bytes > 0 && bytes < kManyBytes && (rests || soon));
    if (enough && enough()) exchange.takeBack();
  }
}

void HttpEngine::cancel(std::shared_ptr<Exchange> exchange) {
  mailbox_->post([exchange = std::move(exchange)] { exchange->cancel(); });
}

void HttpEngine::consumed(std::shared_ptr<Exchange> exchange, std::size_t bytes) {
  if (!loop_.isMine()) {
    const LoopTurn turn(loop_, false);
    if (turn.taken() && !turn.tooLate()) return exchange->consumed(bytes);
  }
  mailbox_->post([exchange = std::move(exchange), bytes] { exchange->consumed(bytes); });
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
  constexpr auto relaxed = std::memory_order_relaxed;
  return {.connectionsMade = counters_.connectionsMade.load(relaxed),
          .connectionsOpen = counters_.connectionsOpen.load(relaxed),
          .requests = counters_.requests.load(relaxed),
          .retries = counters_.retries.load(relaxed),
          .bytesSent = counters_.bytesSent.load(relaxed),
          .bytesReceived = counters_.bytesReceived.load(relaxed)};
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
