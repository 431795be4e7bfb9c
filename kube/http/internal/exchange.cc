#include "kube/http/internal/exchange.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "kube/base/error.h"
#include "kube/base/internal/text.h"
#include "kube/http/internal/caller_io.h"
#include "kube/http/internal/connection.h"
#include "kube/http/internal/http_engine.h"

namespace kube::detail {
namespace {

constexpr int kMaxRedirects = 10;
constexpr int kMaxAttempts = 4;

bool isToken(std::string_view text) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return isAlphanumeric(c) || kMarks.find(c) != std::string_view::npos;
  });
}

// Not std::make_exception_ptr: it copies, and the copies share a message whose reference count the
// thread sanitizer does not see.
template <class E, class... Args>
std::exception_ptr thrownAs(Args&&... args) {
  try {
    throw E(std::forward<Args>(args)...);
  } catch (...) {
    return std::current_exception();
  }
}

// A line break in any part would let the author of that part write the rest of the request.
void check(const HttpRequest& request) {
  if (!isToken(request.method)) {
    throw ConfigError(fmt::format("request to {}: bad method", redactedUrl(request.url)));
  }
  for (const HttpHeader& header : request.headers) {
    if (!isToken(header.name)) {
      throw ConfigError(
          fmt::format("{} {}: bad header name", request.method, redactedUrl(request.url)));
    }
    if (header.value.find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos) {
      throw ConfigError(fmt::format("{} {}: the value of header \"{}\" contains a line break",
                                    request.method, redactedUrl(request.url), header.name));
    }
  }
}

}  // namespace

Exchange::Exchange(HttpRequest request, std::shared_ptr<HttpReceiver> receiver)
    : request_(std::move(request)), url_(parseUrl(request_.url)), receiver_(std::move(receiver)) {
  if (url_.scheme != "https" && url_.scheme != "http") {
    throw ConfigError(fmt::format("URL \"{}\": expected https:// or http://", redactedUrl(url_)));
  }
  check(request_);
}

std::string Exchange::describe() const {
  return fmt::format("{} {}", request_.method, redactedUrl(url_));
}

const char* Exchange::stage() const {
  if (headSeen_) return "in the middle of the answer";
  if (connection_ != nullptr) return "without an answer";
  return "before a connection was made";
}

bool Exchange::idempotent() const {
  return request_.method == "GET" || request_.method == "HEAD" || request_.method == "OPTIONS";
}

void Exchange::begin(HttpEngine& engine) {
  engine_ = &engine;
  if (canceled_) return cancel();
  limit_ = engine.options().streamBuffer;
  if (request_.timeout > std::chrono::nanoseconds::zero()) {
    timer_.emplace(engine.loop());
    timer_->set(engine.loop().now() + request_.timeout, [this] { timedOut(); });
  }
  engine.route(shared_from_this());
}

void Exchange::timedOut() {
  const auto millis = std::chrono::duration_cast<std::chrono::milliseconds>(request_.timeout);
  fail(thrownAs<TimeoutError>(
      fmt::format("{}: timed out after {} ms, {}", describe(), millis.count(), stage())));
}

void Exchange::cancel() {
  canceled_ = true;
  if (engine_ == nullptr) return;  // the loop's own thread was faster than the caller's begin()
  if (!done_) fail(thrownAs<CanceledError>(describe() + ": canceled"));
}

void Exchange::failDial(const std::string& cause, bool permanent) {
  failTransport(cause, permanent);
}

void Exchange::failShutDown() {
  fail(thrownAs<CanceledError>(describe() + ": the transport was shut down"));
}

void Exchange::routeLater() {
  // Deferred: the caller is in the middle of ending a stream or a connection.
  engine_->loop().defer([self = shared_from_this()] {
    if (!self->done_) self->engine_->route(self);
  });
}

void Exchange::attach(Connection& connection) { connection_ = &connection; }

bool Exchange::lendTo(CallerIo& caller) {
  if (done_ || connection_ == nullptr || !connection_->lend()) return false;
  caller_ = &caller;
  return true;
}

void Exchange::takeBack() {
  caller_ = nullptr;
  connection_->takeBack(std::exchange(begun_, true) ? Loan::Return::MayComeBack
                                                    : Loan::Return::Begins);
}

void Exchange::detach() {
  Connection* const connection = std::exchange(connection_, nullptr);
  if (caller_ == nullptr) return;
  std::exchange(caller_, nullptr)->wake();
  connection->takeBack(Loan::Return::Done);
}

void Exchange::onFailure(const std::string& cause, Failure failure) {
  detach();
  if (done_) return;
  if (failure == Failure::NotProcessed) {
    sent_ = lostOnce_;
  } else {
    lostOnce_ = true;
  }
  const bool again = failure == Failure::NotProcessed || (failure == Failure::Lost && idempotent());
  if (!again || headSeen_ || attempts_ >= kMaxAttempts) {
    return failTransport(cause, failure == Failure::Permanent);
  }
  ++attempts_;
  engine_->counters().retries.fetch_add(1, std::memory_order_relaxed);
  routeLater();
}

bool Exchange::followRedirect(const HttpResponse& head) {
  switch (head.status) {
    case 301:
    case 302:
    case 303:
    case 307:
    case 308:
      break;
    default:
      return false;
  }
  const std::string_view location = head.headers.get("location");
  if (location.empty() || (request_.method != "GET" && request_.method != "HEAD")) return false;

  if (++redirects_ > kMaxRedirects) {
    failTransport(fmt::format("gave up after {} redirects", kMaxRedirects), true);
    return true;
  }
  Url next;
  try {
    next = resolveUrl(url_, location);
  } catch (const ConfigError& error) {
    failTransport(fmt::format("redirected to a malformed URL: {}", error.what()), true);
    return true;
  }
  if (!next.sameOrigin(url_)) {
    failTransport(fmt::format("redirected to another host, {}: not followed, since the request may "
                              "carry credentials",
                              redactedUrl(next)),
                  true);
    return true;
  }
  Connection* const connection = connection_;
  detach();
  connection->abandon(*this);
  url_ = std::move(next);
  routeLater();
  return true;
}

void Exchange::onHead(HttpResponse head) {
  if (done_ || followRedirect(head)) return;
  headSeen_ = true;
  const bool switched = head.status == 101;
  if (switched) timer_.reset();
  if (!switched && !engine_->options().disableCompression && request_.method != "HEAD") {
    coding_ = head.headers.get("content-encoding");
    if (!coding_.empty()) {  // the receiver sees neither the coding nor the compressed length
      head.headers.erase("content-encoding");
      head.headers.erase("content-length");
    }
  }
  std::exception_ptr error;
  try {
    receiver_->onHeaders(std::move(head));
  } catch (...) {
    error = std::current_exception();
  }
  if (error) fail(std::move(error));
}

void Exchange::onData(std::string_view wire) {
  if (done_) return;
  wireBytes_.store(wireBytes() + wire.size(), std::memory_order_relaxed);
  if (accepting()) {
    deliver(wire);
  } else {
    held_.append(wire);
  }
  if (!done_) pump();
}

void Exchange::onEnd() {
  detach();
  if (done_) return;
  ended_ = true;
  pump();
}

void Exchange::consumed(std::size_t bytes) {
  if (done_) return;
  outstanding_ -= std::min(bytes, outstanding_);
  pump();
}

void Exchange::deliver(std::string_view wire) {
  const auto hand = [this](std::string_view chunk) {
    const std::size_t used = receiver_->onBody(chunk);
    outstanding_ += chunk.size() - std::min(used, chunk.size());
    // Another thread may have read this while the caller waits for the socket.
    if (caller_ != nullptr) caller_->wake();
  };
  std::string damage;
  bool permanent = false;
  std::exception_ptr error;
  try {
    if (!coding_.empty() && !decoder_) decoder_ = ContentDecoder::forCoding(coding_);
    if (!decoder_) {
      coding_.clear();
      owed_ += wire.size();
      hand(wire);
      return;
    }
    decoderDry_ = false;
    while (!decoderDry_ && outstanding_ < limit_) {
      const std::size_t before = wire.size();
      const std::string_view chunk = decoder_->decode(wire);
      owed_ += before - wire.size();
      decoderDry_ = chunk.empty();
      if (!chunk.empty()) hand(chunk);
    }
    held_.assign(wire);
  } catch (const TransportError& thrown) {
    damage = thrown.what();
    permanent = thrown.permanent();
  } catch (...) {
    error = std::current_exception();
  }
  if (!damage.empty()) return failTransport(damage, permanent);
  if (error) fail(std::move(error));
}

void Exchange::pump() {
  if (outstanding_ < limit_ && !drained()) {
    deliver(std::exchange(held_, {}));
    if (done_) return;
  }
  if (outstanding_ < limit_ && connection_ != nullptr && owed_ != 0) {
    connection_->credit(*this, std::exchange(owed_, 0));
  }
  if (!ended_ || !drained()) return;
  if (decoder_ && !decoder_->complete()) return failTransport("the compressed body breaks off");
  finish(nullptr);
}

void Exchange::failTransport(std::string_view cause, bool permanent) {
  fail(thrownAs<TransportError>(fmt::format("{}: {}", describe(), cause), sent_, permanent));
}

void Exchange::fail(std::exception_ptr error) {
  if (done_) return;
  if (Connection* const connection = connection_; connection != nullptr) {
    detach();
    connection->abandon(*this);
  } else {
    engine_->forget(*this);
  }
  finish(std::move(error));
}

Exchange::Written Exchange::write(const std::function<void(std::string& out)>& append) {
  const Lock lock(writtenMutex_);
  if (writtenEnded_) return Written::Ended;
  const bool first = written_.empty();
  append(written_);
  return first && !written_.empty() ? Written::First : Written::Behind;
}

std::size_t Exchange::queued() const {
  const Lock lock(writtenMutex_);
  return written_.size();
}

void Exchange::sendWritten() {
  if (connection_ != nullptr) connection_->wantsToSend();
}

void Exchange::takeWritten(std::string& out) {
  {
    const Lock lock(writtenMutex_);
    if (written_.empty()) return;
    if (out.empty()) {
      out.swap(written_);
    } else {
      out.append(written_);
      written_.clear();
    }
  }
  if (!done_) receiver_->onRoom();
}

void Exchange::onQuiet() {
  if (!done_) receiver_->onQuiet();
}

void Exchange::finish(std::exception_ptr error) {
  const auto self = shared_from_this();
  done_ = true;
  {
    const Lock lock(writtenMutex_);
    writtenEnded_ = true;
    written_ = {};
  }
  timer_.reset();
  engine_->ended(*this);
  // The receiver may hold a handle of the transport: release it now, not with the last
  // HttpExchange.
  std::exchange(receiver_, nullptr)->onDone(std::move(error));
}

}  // namespace kube::detail
