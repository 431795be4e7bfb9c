// A server's HTTP/1.1 connection: one request at a time, in order. Boost.Beast parses.
#include <fmt/core.h>

#include <algorithm>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/status.hpp>
#include <chrono>

#include "kube/http/internal/parsed_text.h"
#include "kube/http/internal/server/http_session.h"

namespace kube::detail {
namespace {

namespace http = boost::beast::http;
using boost::beast::error_code;
using BeastView = boost::beast::string_view;

// The size of queued answers at which no further request is handled, so that a client with many
// requests at once does not delay others.
constexpr std::size_t kAnswersAhead = 1 << 10;

class RequestParser final : public http::basic_parser<true> {
 public:
  explicit RequestParser(const HttpServerOptions& options)
      : maxHeaderBytes_(options.maxHeaderBytes) {
    header_limit(static_cast<std::uint32_t>(options.maxHeaderBytes));
    body_limit(options.maxBodyBytes);
    eager(true);
    request.httpVersion = 1;
  }

  ServerRequest request;
  int version = 11;
  bool unknownEncoding = false;  // Transfer-Encoding that hides the end of the body

  /// The memory that the request takes.
  std::size_t bytes() const { return headerBytes_ + request.body.capacity(); }
  /// The minimum length of the body that is known.
  std::size_t leastBody() {
    const auto length = content_length();
    return std::max<std::size_t>(length ? *length : 0, request.body.size());
  }

 private:
  void on_request_impl(http::verb, BeastView method, BeastView target, int number,
                       error_code&) override {
    request.method = view(method);
    request.target = view(target);
    version = number;
    headerBytes_ += method.size() + target.size();
  }
  void on_response_impl(int, BeastView, int, error_code&) override {}
  void on_field_impl(http::field, BeastView name, BeastView value, error_code& error) override {
    count(name.size() + value.size() + kHeaderOverhead, error);
    // Trailers are not headers: they were not seen when the request was admitted.
    if (!error && !is_header_done()) {
      request.headers.add(std::string(view(name)), std::string(view(value)));
    }
  }
  void on_header_impl(error_code& error) override {
    std::size_t encodings = 0;
    for (const HttpHeader& header : request.headers) {
      if (!equalIgnoringCase(header.name, "Transfer-Encoding")) continue;
      unknownEncoding |=
          ++encodings > 1 || version < 11 || !equalIgnoringCase(header.value, "chunked");
    }
    if (unknownEncoding) error = http::error::bad_transfer_encoding;
  }
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
  std::size_t on_body_impl(BeastView body, error_code&) override {
    request.body.append(view(body));
    return body.size();
  }
  void on_chunk_header_impl(std::uint64_t, BeastView extensions, error_code& error) override {
    count(extensions.size(), error);
  }
  std::size_t on_chunk_body_impl(std::uint64_t, BeastView body, error_code& error) override {
    return on_body_impl(body, error);
  }
  void on_finish_impl(error_code&) override {}

  // Counts input that is neither body nor framing. Beast limits only input that arrives at once.
  void count(std::size_t bytes, error_code& error) {
    headerBytes_ += bytes;
    if (headerBytes_ > maxHeaderBytes_) error = http::error::header_limit;
  }

  const std::size_t maxHeaderBytes_;
  std::size_t headerBytes_ = 0;
};

class Http1Session final : public ServerSession {
 public:
  using ServerSession::ServerSession;

  void respond(std::int32_t id, ServerResponse response) override {
    if (!answering(id)) return;
    const bool bodyAllowed =
        response.status >= 200 && response.status != 204 && response.status != 304;
    if (bodyAllowed) response.headers.set("Content-Length", std::to_string(response.body.size()));
    writeHead(response.status, response.headers);
    if (bodyAllowed && !headOnly_) pending_.append(response.body);
    finishAnswer();
    flush();
  }

  void respondStream(std::int32_t id, int status, HttpHeaders headers,
                     std::shared_ptr<BodyQueue> body) override {
    if (!answering(id)) return body->peerGone();
    chunked_ = parser_->version >= 11;
    if (chunked_) {
      headers.set("Transfer-Encoding", "chunked");
    } else {
      keepAlive_ = false;  // the end of the connection is the end of the body
    }
    writeHead(status, headers);
    if (headOnly_) {
      body->peerGone();
      finishAnswer();
    } else {
      body_ = std::move(body);
    }
    flush();
  }

  void bodyReady(std::int32_t id) override {
    if (id == id_) flush();
  }

  void upgrade(std::int32_t id, HttpHeaders headers,
               std::function<void(std::shared_ptr<RawSocket>)> taken) override {
    if (!answering(id)) return;
    headers.set("Connection", "Upgrade");
    std::string head = "HTTP/1.1 101 Switching Protocols\r\n";
    for (const HttpHeader& header : headers) {
      head.append(header.name).append(": ").append(header.value).append("\r\n");
    }
    head.append("\r\n");
    const auto raw = std::make_shared<RawSocket>(server().shared_from_this(), releaseSocket(),
                                                 std::move(unparsed_));
    server().add(raw);
    raw->write(head);
    taken(raw);
  }

  // Closes after the next answer: closing now could lose a request in transit.
  void drain() override { draining_ = true; }
  void shutDown() override { close(); }

 private:
  bool answering(std::int32_t id) {
    if (!busy_ || id != id_ || answered_ || isClosed()) return false;
    answered_ = true;
    return true;
  }

  void writeHead(int status, const HttpHeaders& headers) {
    const auto reason = http::obsolete_reason(static_cast<http::status>(status));
    fmt::format_to(std::back_inserter(pending_), "HTTP/1.1 {} {}\r\n", status, view(reason));
    if (draining_) keepAlive_ = false;
    if (!keepAlive_) pending_.append("Connection: close\r\n");
    for (const HttpHeader& header : headers) {
      pending_.append(header.name).append(": ").append(header.value).append("\r\n");
    }
    pending_.append("\r\n");
  }

  void finishAnswer() {
    busy_ = false;
    body_ = nullptr;
    parser_.reset();
    if (!keepAlive_) last_ = true;
    begun_ = now();  // of the next request, or of the wait for it
  }

  void received(std::string_view bytes) override {
    if (last_) return;
    if (unparsed_.empty() && !parser_ && !busy_) begun_ = now();
    unparsed_.append(bytes);
    // Further requests wait, up to a limit.
    if (busy_ && unparsed_.size() > server().options().maxHeaderBytes) return close();
    parse();
    if (isClosed() || hold(heldBytes())) return;
    if (busy_) return close();
    refuse({.status = 503,
            .headers = {{"Retry-After", "1"}},
            .body = "too many unfinished requests\n"});
  }

  std::size_t heldBytes() const {
    return unparsed_.capacity() + (parser_ && !busy_ ? parser_->bytes() : 0);
  }

  // Answers to requests that arrived together are sent together, but not much faster than the
  // client reads.
  bool wantsInput() const override { return !ahead(); }
  bool ahead() const { return !busy_ && (isSending() || pending_.size() >= kAnswersAhead); }

  void parse() {
    while (!busy_ && !last_ && !unparsed_.empty() && !isClosed() && !ahead()) {
      if (!parser_) {
        parser_.emplace(server().options());
        continued_ = screened_ = false;
      }
      // Beast assumes that a last chunk is complete as soon as it has begun, and a last chunk
      // always follows.
      constexpr std::size_t kLastChunk = std::string_view("0\r\n\r\n").size();
      if (parser_->is_header_done() && parser_->chunked() && unparsed_.size() < kLastChunk) return;
      const bool hadHead = parser_->is_header_done();
      error_code error;
      const std::size_t used = parser_->put(asio::buffer(unparsed_), error);
      used == unparsed_.size() ? drop(unparsed_) : void(unparsed_.erase(0, used));
      if (error && error != http::error::need_more) return refuse(error);
      if (parser_->is_header_done() && !hadHead) bodyBegun_ = now();
      if (!letIn()) return;
      if (parser_->is_header_done() && !parser_->is_done() && !std::exchange(continued_, true) &&
          equalIgnoringCase(parser_->request.headers.get("Expect"), "100-continue")) {
        pending_.append("HTTP/1.1 100 Continue\r\n\r\n");
      }
      if (parser_->is_done()) {
        begin();
      } else if (error == http::error::need_more || used == 0) {
        // The beginning of a chunk, or trailers: Beast needs them complete.
        if (unparsed_.size() > server().options().maxHeaderBytes) {
          refuse(http::error::header_limit);
        }
        return;
      }
    }
  }

  // Keeps little memory in an empty text.
  static void drop(std::string& text) {
    constexpr std::size_t kKept = 1 << 10;
    text.capacity() > kKept ? void(text = std::string()) : text.clear();
  }

  // Returns false if the request was refused.
  bool letIn() {
    if (screened_ || !parser_->is_header_done() || parser_->leastBody() <= kUnscreenedBody) {
      return true;
    }
    screened_ = true;
    auto refusal = screen(parser_->request);
    if (!refusal) return true;
    refuse(*std::move(refusal));
    return false;
  }

  void begin() {
    busy_ = answeredOne_ = true;
    answered_ = false;
    keepAlive_ = parser_->keep_alive() || parser_->upgrade();
    headOnly_ = parser_->request.method == "HEAD";
    working_ = now();
    handle(++id_, std::move(parser_->request));
  }

  void refuse(const error_code& error) {
    int status = 400;
    if (error == http::error::body_limit) status = 413;
    if (error == http::error::header_limit) status = 431;
    if (parser_->unknownEncoding) status = 501;
    refuse({.status = status, .body = error.message() + "\n"});
  }

  // Refuses a request whose end is unknown, so the connection closes.
  void refuse(ServerResponse response) {
    busy_ = refused_ = true;
    answered_ = keepAlive_ = headOnly_ = false;
    drop(unparsed_);
    respond(++id_, std::move(response));
  }

  void appraise() override {
    const HttpServerOptions& options = server().options();
    hold(heldBytes());
    if (body_) return standing().set(Stage::Streaming, working_, ServerTime::max());
    if (busy_ && !answered_) return standing().set(Stage::Working, working_, ServerTime::max());
    if (isSending()) {
      return standing().set(Stage::Sending, lastSent(), lastSent() + options.sendTime);
    }
    if (parser_ && parser_->is_header_done()) {
      const std::chrono::seconds grown(parser_->request.body.size() >> 10);
      return wait(begun_, bodyBegun_ + options.bodyTime + grown);
    }
    const bool nothing = !parser_ && unparsed_.empty() && answeredOne_;
    wait(begun_, begun_ + (nothing ? options.idleTime : options.headTime));
  }
  void wait(ServerTime since, ServerTime deadline) {
    const bool silent = !hasTls() && !parser_ && unparsed_.empty();
    const Stage first = silent ? Stage::Silent : Stage::Fresh;
    if (answeredOne_) return standing().set(Stage::Idle, since, deadline);
    standing().set(first, cameAt(), deadline);
  }

  void tookTooLong(ServerTime) override {
    server().countTimeout();
    const bool half = !isSending() && (parser_ || !unparsed_.empty());
    if (!half) return close();
    refuse({.status = 408, .body = "the request took too long to arrive\n"});
  }

  std::size_t unproduced() const override { return pending_.size(); }

  void produce(std::string& out) override {
    for (;;) {
      out.append(std::exchange(pending_, {}));
      if (body_) produceBody(out);
      if (busy_ || isClosed()) return;
      if (last_) return closeAfterFlush(refused_);
      if (out.size() >= kAnswersAhead || unparsed_.empty()) return;
      parse();  // the next request may have been received already
      if (pending_.empty() && !body_) return;
    }
  }

  void produceBody(std::string& out) {
    const BodyQueue::Offer offer = body_->offer(kOutputPiece);
    if (offer.state == BodyQueue::State::Aborted) return close();
    if (offer.bytes != 0) {
      if (chunked_) fmt::format_to(std::back_inserter(out), "{:x}\r\n", offer.bytes);
      body_->take(offer.bytes, out);
      if (chunked_) out.append("\r\n");
    }
    if (offer.state == BodyQueue::State::Ended) {
      if (chunked_) out.append("0\r\n\r\n");
      finishAnswer();
    }
  }

  void lost() override {
    if (const auto body = std::exchange(body_, nullptr)) body->peerGone();
  }

  std::optional<RequestParser> parser_;
  std::string unparsed_, pending_;
  std::shared_ptr<BodyQueue> body_;
  std::int32_t id_ = 0;
  bool busy_ = false;       // from the end of a request to the end of its answer
  bool answered_ = false;   // the answer has begun
  bool continued_ = false;  // checked for Expect: 100-continue
  bool keepAlive_ = true, headOnly_ = false, chunked_ = false;
  bool last_ = false;         // no request follows
  bool refused_ = false;      // it was not read completely
  bool screened_ = false;     // admitted with a long body
  bool answeredOne_ = false;  // a whole request was received once
  ServerTime begun_ = now();  // of the current request, or of the wait for it
  ServerTime bodyBegun_ = begun_, working_ = begun_;
  bool draining_ = false;
};

}  // namespace

std::shared_ptr<ServerSession> http1Session(std::shared_ptr<ServerState> server,
                                            std::unique_ptr<ServerSocket> socket,
                                            std::optional<PeerIdentity> peer) {
  return std::make_shared<Http1Session>(std::move(server), std::move(socket), std::move(peer));
}

}  // namespace kube::detail
