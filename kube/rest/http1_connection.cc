// HTTP/1.1: one exchange at a time. Boost.Beast parses.
#include <fmt/core.h>

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "kube/rest/connection.h"
#include "kube/rest/host_pool.h"
#include "kube/rest/http_engine.h"
#include "kube/rest/parsed_text.h"
#include "kube/rest/proxy.h"
#include "kube/rest/proxy_handshake.h"

namespace kube::detail {
namespace {

namespace http = boost::beast::http;
using boost::beast::error_code;
using BeastView = boost::beast::string_view;

class Http1Connection;

// Collects the head, and hands on the body as it is parsed.
class ResponseParser final : public http::basic_parser<false> {
 public:
  ResponseParser(Http1Connection& connection, bool toHead, std::size_t maxHeaderBytes)
      : connection_(connection) {
    header_limit(static_cast<std::uint32_t>(
        std::min<std::size_t>(maxHeaderBytes, std::numeric_limits<std::uint32_t>::max())));
    body_limit(std::numeric_limits<std::uint64_t>::max());  // streams have none
    eager(true);
    skip(toHead);
    head_.httpVersion = 1;
  }

  int status() const { return status_; }

 private:
  void on_request_impl(http::verb, BeastView, BeastView, int, error_code&) override {}
  void on_response_impl(int code, BeastView, int, error_code&) override {
    head_.status = status_ = code;
  }
  void on_field_impl(http::field, BeastView name, BeastView value, error_code&) override {
    head_.headers.add(std::string(view(name)), std::string(view(value)));
  }
  void on_header_impl(error_code&) override;
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
  std::size_t on_body_impl(BeastView body, error_code&) override;
  void on_chunk_header_impl(std::uint64_t, BeastView, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, BeastView body, error_code& error) override {
    return on_body_impl(body, error);
  }
  void on_finish_impl(error_code&) override {}

  Http1Connection& connection_;
  HttpResponse head_;
  int status_ = 0;
};

class Http1Connection final : public Connection {
 public:
  Http1Connection(HttpEngine& engine, HostPool& pool, std::unique_ptr<Channel> channel,
                  const Proxy* proxied)
      : Connection(engine, pool, std::move(channel)), proxied_(proxied), quiet_(engine.loop()) {}

  int httpVersion() const override { return 1; }
  std::size_t freeStreams() const override { return retired() || exchange_ ? 0 : 1; }
  std::size_t streams() const override { return exchange_ == nullptr ? 0 : 1; }

  void begin(std::shared_ptr<Exchange> exchange) override {
    exchange_ = std::move(exchange);
    exchange_->attach(*this);
    expectAnswer();
    answered_ = false;
    ++exchanges_;
    write(*exchange_);
    exchange_->markSent();
    scheduleFlush();
  }

  void abandon(Exchange&) override {
    // The rest of the answer may be long in coming: a new connection is the better one.
    exchange_ = nullptr;
    abandoned_ = true;
    engine_.loop().defer([self = shared_from_this()] { self->shut("abandoned"); });
  }

  void credit(Exchange&, std::size_t) override { scheduleRead(); }

  bool switches() const { return exchange_ && exchange_->upgrades(); }

  // --- For the parser. The exchange may have been abandoned while there is more to parse.
  void head(HttpResponse head) {
    if (const auto exchange = exchange_) exchange->onHead(std::move(head));
  }
  void body(std::string_view bytes) {
    if (bytes.empty()) return;
    if (const auto exchange = exchange_) exchange->onData(bytes);
  }

 private:
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
    if (unparsed_.empty()) {
      const std::size_t used = parse(bytes);
      if (!closed() && used < bytes.size()) unparsed_.assign(bytes.substr(used));
    } else {
      unparsed_.append(bytes);
      unparsed_.erase(0, parse(unparsed_));
    }
    if (upgraded_ && !closed()) return receiveUpgraded(std::exchange(unparsed_, {}));
    if (exchange_ != nullptr || abandoned_) return;
    // Bytes after the answer would pass for the answer to the next request.
    if (!reusable_ || !unparsed_.empty()) return shut("closed after the answer");
    streamEnded();
  }

  // Says how many bytes are done with; the others have to come again, with more behind them.
  std::size_t parse(std::string_view bytes) {
    std::size_t used = 0;
    while (exchange_ != nullptr && !upgraded_ && used < bytes.size()) {
      // Beast counts on the whole of a last chunk when it has seen the beginning of one, and one is
      // always to come.
      constexpr std::size_t kLastChunk = std::string_view("0\r\n\r\n").size();
      const bool chunks = parser_->is_header_done() && parser_->chunked();
      if (chunks && bytes.size() - used < kLastChunk) break;
      error_code error;
      const std::size_t step =
          parser_->put(boost::asio::buffer(bytes.data() + used, bytes.size() - used), error);
      used += step;
      if (error == http::error::need_more) break;
      if (error) {
        fail(error == http::error::header_limit
                 ? fmt::format("the answer's header is longer than {} bytes",
                               engine_.options().maxHeaderBytes)
                 : fmt::format("malformed HTTP/1.1 answer: {}", error.message()));
        break;
      }
      if (exchange_ != nullptr && parser_->is_done()) {
        complete();
      } else if (step == 0) {
        break;
      }
    }
    return used;
  }

  void complete() {
    if (parser_->status() < 200) {  // 100 Continue, 103 Early Hints: the answer is yet to come
      if (parser_->status() == 101 && switches()) return upgraded();
      if (parser_->status() == 101) return fail("the server switches protocols, unasked");
      expectAnswer();
      return;
    }
    reusable_ = parser_->keep_alive();
    std::exchange(exchange_, nullptr)->onEnd();
  }

  void expectAnswer() {
    parser_.emplace(*this, exchange_->request().method == "HEAD", engine_.options().maxHeaderBytes);
  }

  void fail(const std::string& cause) {
    if (const auto exchange = std::exchange(exchange_, nullptr)) {
      exchange->onFailure(cause, Failure::Final);
    }
    abandoned_ = true;
    engine_.loop().defer([self = shared_from_this(), cause] { self->shut(cause); });
  }

  // --- After an upgrade: bytes, and somebody has to be there.
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
    // Who does not look has nothing to complain about.
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
    if (exchange_ != nullptr && parser_->got_some()) {
      error_code error;
      parser_->put_eof(error);
      if (!error && parser_->is_done() && exchange_ != nullptr) complete();
    }
    shut(answered_ ? "connection closed in the middle of the answer"
                   : "connection closed without an answer");
  }

  void lost(const std::string& cause) override {
    const auto exchange = std::exchange(exchange_, nullptr);
    if (!exchange) return;
    // On the first exchange of a connection, its loss is the server's doing, not that of age.
    const bool stale = exchanges_ > 1 && !answered_;
    exchange->onFailure(cause, stale ? Failure::Lost : Failure::Final);
  }

  const Proxy* const proxied_;
  std::shared_ptr<Exchange> exchange_;
  std::optional<ResponseParser> parser_;
  std::string unparsed_;  // the beginning of a line whose end is yet to come
  std::size_t exchanges_ = 0;
  bool answered_ = false;  // the first byte of the answer has come
  bool abandoned_ = false;
  bool reusable_ = false;  // the last answer left it so

  bool upgraded_ = false;
  LoopTimer quiet_;
  EventLoop::TimePoint heard_{};
  bool pinging_ = false;
};

void ResponseParser::on_header_impl(error_code&) {
  if (status_ >= 200 || (status_ == 101 && connection_.switches()))
    connection_.head(std::move(head_));
}

std::size_t ResponseParser::on_body_impl(BeastView body, error_code&) {
  connection_.body(view(body));
  return body.size();
}

}  // namespace

std::shared_ptr<Connection> http1Connection(HttpEngine& engine, HostPool& pool,
                                            std::unique_ptr<Channel> channel,
                                            const Proxy* proxied) {
  return std::make_shared<Http1Connection>(engine, pool, std::move(channel), proxied);
}

}  // namespace kube::detail
