// A client's HTTP/1.1 connection: one exchange at a time.
#include <fmt/core.h>

#include <utility>

#include "kube/http/internal/connection.h"
#include "kube/http/internal/host_pool.h"
#include "kube/http/internal/http1_answer.h"
#include "kube/http/internal/http_engine.h"
#include "kube/http/internal/proxy_handshake.h"
#include "kube/http/proxy.h"

namespace kube::detail {
namespace {

class Http1Connection final : public Connection, private Http1Answer::Sink {
 public:
  Http1Connection(HttpEngine& engine, HostPool& pool, std::unique_ptr<Channel> channel,
                  const Proxy* proxied)
      : Connection(engine, pool, std::move(channel)),
        proxied_(proxied),
        answer_(*this, engine.options().maxHeaderBytes),
        quiet_(engine.loop()) {}

  int httpVersion() const override { return 1; }
  std::size_t freeStreams() const override {
    return retired() || abandoned_ || exchange_ != nullptr ? 0 : 1;
  }
  std::size_t streams() const override { return exchange_ == nullptr ? 0 : 1; }

  void begin(std::shared_ptr<Exchange> exchange) override {
    exchange_ = std::move(exchange);
    exchange_->attach(*this);
    answer_.expect(
        {.toHead = exchange_->request().method == "HEAD", .mayUpgrade = exchange_->upgrades()});
    answered_ = false;
    ++exchanges_;
    write(*exchange_);
    exchange_->markSent();
    scheduleFlush();
  }

  void abandon(Exchange&) override {
    // The rest of the answer may take long: a new connection is better.
    exchange_ = nullptr;
    abandoned_ = true;
    engine_.loop().defer([self = shared_from_this()] { self->shut("abandoned"); });
  }

  void credit(Exchange&, std::size_t) override { scheduleRead(); }

 private:
  // --- Parts of the answer. The exchange may have been abandoned while there is more to parse.
  void head(HttpResponse head) override {
    if (const auto exchange = exchange_) exchange->onHead(std::move(head));
  }
  void body(std::string_view bytes) override {
    if (bytes.empty()) return;
    if (const auto exchange = exchange_) exchange->onData(bytes);
  }
  bool abandoned() const override { return exchange_ == nullptr; }

  bool wantsRead() const override { return !abandoned_ && (!exchange_ || exchange_->accepting()); }

  void write(const Exchange& exchange) {
    const HttpRequest& request = exchange.request();
    const Url& url = exchange.url();
    std::string& out = output();
    const std::string authority = url.authority();
    out.append(request.method).append(" ");
    if (proxied_ != nullptr) out.append(url.scheme).append("://").append(authority);
    out.append(url.target).append(" HTTP/1.1\r\nHost: ").append(authority).append("\r\n");
    if (exchange.upgrades()) {
      out.append("Connection: Upgrade\r\nUpgrade: ").append(request.upgrade).append("\r\n");
    }
    if (proxied_ != nullptr) {
      if (const std::string value = proxyAuthorization(*proxied_); !value.empty()) {
        out.append("Proxy-Authorization: ").append(value).append("\r\n");
      }
    }
    const bool compress = !engine_.options().disableCompression;
    if (compress) out.append("Accept-Encoding: gzip, deflate\r\n");
    for (const HttpHeader& header : request.headers) {
      if (isConnectionHeader(header.name)) continue;
      if (compress && equalIgnoringCase(header.name, "accept-encoding")) continue;
      out.append(header.name).append(": ").append(header.value).append("\r\n");
    }
    const bool usuallyHasBody =
        request.method == "POST" || request.method == "PUT" || request.method == "PATCH";
    if (!request.body.empty() || usuallyHasBody) {
      fmt::format_to(std::back_inserter(out), "Content-Length: {}\r\n", request.body.size());
    }
    out.append("\r\n").append(request.body);
  }

  void receive(std::string_view bytes) override {
    if (exchange_ == nullptr) {
      if (!abandoned_) shut("unexpected bytes on an idle connection");
      return;
    }
    if (upgraded_) return receiveUpgraded(bytes);
    answered_ = true;
    switch (answer_.feed(bytes)) {
      case Http1Answer::State::Reading:
        return;
      case Http1Answer::State::Failed:
        return fail(answer_.problem());
      case Http1Answer::State::Upgraded:
        upgraded();
        return receiveUpgraded(answer_.takeRest());
      case Http1Answer::State::Complete:
        complete();
    }
    if (exchange_ != nullptr || abandoned_) return;
    // Bytes after the answer would be taken for the answer to the next request.
    if (!reusable_ || answer_.hasRest()) return shut("closed after the answer");
    streamEnded();
  }

  void complete() {
    reusable_ = answer_.keepsAlive();
    std::exchange(exchange_, nullptr)->onEnd();
  }

  void fail(const std::string& cause) {
    if (const auto exchange = std::exchange(exchange_, nullptr)) {
      exchange->onFailure(cause, Failure::Permanent);
    }
    abandoned_ = true;
    engine_.loop().defer([self = shared_from_this(), cause] { self->shut(cause); });
  }

  // --- After an upgrade: bytes in both directions, and pings.
  void upgraded() {
    upgraded_ = true;
    heard_ = engine_.loop().now();
    lookAgain(heard_ + engine_.options().pingAfter);
  }

  void receiveUpgraded(std::string_view bytes) {
    heard_ = engine_.loop().now();
    if (std::exchange(pinging_, false)) lookAgain(heard_ + engine_.options().pingAfter);
    body(bytes);
  }

  void lookAgain(EventLoop::TimePoint when) {
    if (engine_.options().pingAfter.count() > 0) quiet_.set(when, [this] { checkLiveness(); });
  }

  void checkLiveness() {
    if (!upgraded_ || !exchange_) return;
    const TransportOptions& options = engine_.options();
    const auto now = engine_.loop().now();
    // While reading is paused, missing data says nothing about the peer.
    if (!wantsRead()) heard_ = now, pinging_ = false;
    if (pinging_) {
      return shut(fmt::format("connection lost: no answer to a ping within {} ms",
                              options.pingTimeout.count()));
    }
    if (now - heard_ < options.pingAfter) return lookAgain(heard_ + options.pingAfter);
    pinging_ = true;
    lookAgain(now + options.pingTimeout);
    exchange_->onQuiet();
  }

  void produce() override {
    if (upgraded_ && exchange_) exchange_->takeWritten(output());
  }

  void receiveEnd() override {
    if (upgraded_) {
      if (const auto exchange = std::exchange(exchange_, nullptr)) exchange->onEnd();
      return shut("closed");
    }
    if (exchange_ != nullptr && answer_.end() == Http1Answer::State::Complete) complete();
    shut(answered_ ? "connection closed in the middle of the answer"
                   : "connection closed without an answer");
  }

  void lost(const std::string& cause) override {
    const auto exchange = std::exchange(exchange_, nullptr);
    if (!exchange) return;
    // A loss during the first exchange is the server's doing; later the connection may have been
    // stale.
    const bool stale = exchanges_ > 1 && !answered_;
    exchange->onFailure(cause, stale ? Failure::Lost : Failure::Final);
  }

  const Proxy* const proxied_;
  std::shared_ptr<Exchange> exchange_;
  Http1Answer answer_;
  std::size_t exchanges_ = 0;
  bool answered_ = false;  // the first byte of the answer has arrived
  bool abandoned_ = false;
  bool reusable_ = false;  // after the last answer

  bool upgraded_ = false;
  LoopTimer quiet_;
  EventLoop::TimePoint heard_{};
  bool pinging_ = false;
};

}  // namespace

std::shared_ptr<Connection> http1Connection(HttpEngine& engine, HostPool& pool,
                                            std::unique_ptr<Channel> channel,
                                            const Proxy* proxied) {
  return std::make_shared<Http1Connection>(engine, pool, std::move(channel), proxied);
}

}  // namespace kube::detail
