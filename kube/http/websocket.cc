#include "kube/http/websocket.h"

#include <fmt/core.h>
#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

#include "kube/base/error.h"
#include "kube/base/internal/base64.h"
#include "kube/base/internal/condition.h"
#include "kube/base/internal/mutex.h"
#include "kube/base/joined.h"
#include "kube/http/internal/http_engine.h"
#include "kube/http/internal/streams/websocket_frames.h"
#include "kube/http/transport.h"
#include "kube/http/url.h"

namespace kube {

namespace {

constexpr std::size_t kMaxBody = 64 << 10;  // of a refusal's body

std::string randomKey() {
  unsigned char bytes[16];
  if (RAND_bytes(bytes, sizeof bytes) != 1) throw Error("WebSocket: no random numbers");
  std::string key;
  detail::base64Encode({reinterpret_cast<const char*>(bytes), sizeof bytes}, key);
  return key;
}

}  // namespace

WebSocketListener::~WebSocketListener() = default;
void WebSocketListener::onRoom() {}

namespace detail {

using Event = WebSocketFrames::Event;
using Opcode = WebSocketOpcode;

class WebSocketReceiver final : public HttpReceiver {
 public:
  WebSocketReceiver(std::string what, std::string key, std::vector<std::string> protocols,
                    std::shared_ptr<WebSocketListener> listener)
      : what_(std::move(what)),
        key_(std::move(key)),
        protocols_(std::move(protocols)),
        listener_(std::move(listener)) {}

  // --- For the caller.
  Task<void> answer() {
    const auto ready = [this]() KUBE_REQUIRES(stateMutex_) { return answered_; };
    const bool answered = co_await changed_.wait(ready);
    if (!answered) throw CanceledError(what_ + ": canceled");
    const Lock lock(stateMutex_);
    if (refusal_) std::rethrow_exception(std::exchange(refusal_, nullptr));
  }
  const HttpResponse& head() const { return head_; }
  /// For the caller, after answer().
  HttpResponse& changeableHead() { return head_; }
  const std::string& protocol() const { return protocol_; }

  bool send(Opcode opcode, std::string_view head, std::string_view payload) {
    bool accepted = false;
    const auto append = [&](std::string& out) {
      if (saidGoodbye_) return;
      const WebSocketMask mask = nextMask();
      appendWebSocketFrame(out, opcode, head, payload, &mask);
      saidGoodbye_ = opcode == Opcode::Close;
      accepted = true;
    };
    return exchange_.write(std::ref(append)) && accepted;
  }
  std::size_t queued() const { return exchange_.queued(); }
  bool hasRoom() const { return exchange_.queued() < WebSocket::kMaxQueued; }
  static Task<bool> room(std::shared_ptr<WebSocketReceiver> self) {
    const auto ready = [&self]() KUBE_REQUIRES(self->stateMutex_) {
      return self->ended_ || self->hasRoom();
    };
    const bool there = co_await self->changed_.wait(ready);
    if (!there) throw CanceledError(self->what_ + ": canceled");
    const Lock lock(self->stateMutex_);
    co_return !self->ended_;
  }
  // Passed on rarely, because it wakes the I/O thread. The server does not wait while most of the
  // window is open.
  void consumed(std::size_t bytes) {
    const std::size_t all = consumed_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    if (all < step_) return;
    if (const std::size_t due = consumed_.exchange(0, std::memory_order_relaxed); due != 0) {
      exchange_.consumed(due);
    }
  }
  void drive(const std::function<bool()>& enough) const { exchange_.drive(enough); }
  void cut() const { exchange_.cancel(); }

  // --- For the connection.
  void onStart(const HttpExchange& exchange) override {
    exchange_ = exchange;
    if (exchange.engine_) {
      step_ = std::max<std::size_t>(exchange.engine_->options().streamBuffer / 4, 1);
    }
  }

  void onHeaders(HttpResponse head) override {
    head_ = std::move(head);
    if (head_.status != 101) return;
    checkAnswer();
    upgraded_ = true;
    setAnswer(nullptr);
  }

  std::size_t onBody(std::string_view chunk) override {
    if (!upgraded_) {
      head_.body += chunk.substr(0, kMaxBody - head_.body.size());
      return chunk.size();
    }
    const std::size_t size = chunk.size();
    std::size_t kept = 0;
    try {
      while (!over_) {
        const auto part = frames_.next(chunk);
        if (!part) break;
        if (part->event == Event::Data) {
          const std::size_t used = listener_->onData(part->payload, part->first, part->last);
          kept += part->payload.size() - std::min(used, part->payload.size());
        } else {
          control(*part);
        }
      }
    } catch (const DecodeError& error) {
      send(Opcode::Close, {},
           WebSocketClose{.code = WebSocketClose::kProtocolError, .reason = error.reason()}
               .payload());
      fail(fmt::format("{}: the server violates the protocol: {}", what_, error.reason()));
    }
    return size - kept;
  }

  void onRoom() override {
    {
      const Lock lock(stateMutex_);
      changed_.notifyAll();
    }
    if (upgraded_ && !over_) listener_->onRoom();
  }

  void onQuiet() override { send(Opcode::Ping, {}, {}); }

  void onDone(std::exception_ptr error) noexcept override {
    if (!upgraded_) return setAnswer(std::move(error));
    if (error) return end({.error = std::move(error)});
    fail(fmt::format("{}: the connection was closed in the middle of the stream", what_));
  }

 private:
  void checkAnswer() {
    const auto refuse = [this](const std::string& why) {
      throw TransportError(
          fmt::format("{}: the server's answer does not open a WebSocket: {}", what_, why));
    };
    if (!equalIgnoringCase(head_.headers.get("Upgrade"), "websocket")) {
      refuse(fmt::format("it switches to \"{}\"", head_.headers.get("Upgrade")));
    }
    if (head_.headers.get("Sec-WebSocket-Accept") != webSocketAcceptKey(key_)) {
      refuse("Sec-WebSocket-Accept does not fit the key");
    }
    if (head_.headers.has("Sec-WebSocket-Extensions"))
      refuse("it uses extensions that were not offered");
    protocol_ = head_.headers.get("Sec-WebSocket-Protocol");
    if (std::ranges::find(protocols_, protocol_) == protocols_.end()) {
      refuse(fmt::format("it chose the protocol \"{}\"; expected {}", protocol_,
                         joined(protocols_, " or ")));
    }
  }

  void setAnswer(std::exception_ptr refusal) {
    const Lock lock(stateMutex_);
    if (std::exchange(answered_, true)) return;
    refusal_ = std::move(refusal);
    changed_.notifyAll();
  }

  void control(const WebSocketFrames::Part& part) {
    if (part.event == Event::Pong) return;
    if (part.event == Event::Ping) {
      // Pings of a peer that does not read need no answer.
      if (exchange_.queued() < 2 * WebSocket::kMaxQueued) send(Opcode::Pong, {}, part.payload);
      return;
    }
    WebSocketClose close = WebSocketClose::parse(part.payload);
    send(Opcode::Close, {}, WebSocketClose{.code = close.code}.payload());
    end({.code = close.code, .reason = std::move(close.reason)});
    exchange_.cancel();
  }

  void fail(const std::string& message) {
    try {
      throw TransportError(message);
    } catch (...) {
      end({.error = std::current_exception()});
    }
    exchange_.cancel();
  }

  void end(WebSocketEnd how) {
    if (std::exchange(over_, true)) return;
    {
      const Lock lock(stateMutex_);
      ended_ = true;
      changed_.notifyAll();
    }
    std::exchange(listener_, nullptr)->onClosed(std::move(how));
  }

  // Draws random numbers in batches.
  WebSocketMask nextMask() {
    if (masksLeft_ == 0) {
      masksLeft_ = masks_.size();
      RAND_bytes(reinterpret_cast<unsigned char*>(masks_.data()), sizeof masks_);
    }
    return masks_[--masksLeft_];
  }

  const std::string what_;
  const std::string key_;
  const std::vector<std::string> protocols_;
  HttpExchange exchange_;  // set before data arrives
  std::size_t step_ = 1;
  std::atomic<std::size_t> consumed_{0};  // not passed on yet

  // --- Used in calls of HttpExchange::write(), under its lock.
  std::array<WebSocketMask, 64> masks_{};
  std::size_t masksLeft_ = 0;
  bool saidGoodbye_ = false;

  // --- Owned by the connection's thread; head_ is also read by the caller once answered_.
  std::shared_ptr<WebSocketListener> listener_;
  HttpResponse head_;
  std::string protocol_;
  WebSocketFrames frames_{WebSocketFrames::From::Server};
  bool upgraded_ = false;
  bool over_ = false;

  Mutex stateMutex_;
  Condition changed_{stateMutex_};
  bool answered_ KUBE_GUARDED_BY(stateMutex_) = false;
  bool ended_ KUBE_GUARDED_BY(stateMutex_) = false;
  std::exception_ptr refusal_ KUBE_GUARDED_BY(stateMutex_);
};

}  // namespace detail

using detail::Opcode;
using detail::WebSocketReceiver;

class WebSocket::CutOnStop {
 public:
  CutOnStop(const std::stop_token& stop, std::shared_ptr<WebSocketReceiver> receiver)
      : callback_(stop, Cut{std::move(receiver)}) {}

 private:
  struct Cut {
    std::shared_ptr<WebSocketReceiver> receiver;
    void operator()() const { receiver->cut(); }
  };
  std::stop_callback<Cut> callback_;
};

WebSocket::WebSocket(std::shared_ptr<WebSocketReceiver> receiver)
    : receiver_(std::move(receiver)) {}
WebSocket::WebSocket() = default;
WebSocket::WebSocket(WebSocket&&) noexcept = default;

WebSocket& WebSocket::operator=(WebSocket&& other) noexcept {
  WebSocket moved(std::move(other));
  std::swap(receiver_, moved.receiver_);
  std::swap(stop_, moved.stop_);
  return *this;
}

WebSocket::~WebSocket() {
  if (!receiver_) return;
  stop_.reset();
  close(detail::WebSocketClose::kGoingAway);
  receiver_->cut();
}

WebSocket WebSocket::open(const Transport& transport, HttpRequest request,
                          const std::vector<std::string>& protocols,
                          std::shared_ptr<WebSocketListener> listener, std::stop_token stop) {
  return detail::runBlocking(
      openAsync(transport, std::move(request), protocols, std::move(listener)), stop);
}

Task<WebSocket> WebSocket::openAsync(Transport transport, HttpRequest request,
                                     std::vector<std::string> protocols,
                                     std::shared_ptr<WebSocketListener> listener) {
  const detail::TaskContext& context = co_await detail::CurrentContext();
  const std::string what = fmt::format("WebSocket {}", redactedUrl(request.url));
  if (context.stop.stop_requested()) throw CanceledError(what + ": canceled");
  const std::string key = randomKey();
  request.method = "GET";
  request.upgrade = "websocket";
  request.headers.set("Sec-WebSocket-Version", "13");
  request.headers.set("Sec-WebSocket-Key", key);
  if (!protocols.empty()) {
    request.headers.set("Sec-WebSocket-Protocol", joined(protocols, ", "));
  }
  const auto receiver =
      std::make_shared<WebSocketReceiver>(what, key, protocols, std::move(listener));
  transport.start(std::move(request), receiver);
  WebSocket socket(receiver);
  co_await receiver->answer();
  // An awaitable WebSocket may outlive the tree that has opened it; there, each wait sees the stop
  // of its own tree.
  if (context.mayBlock && context.stop.stop_possible()) {
    socket.stop_ = std::make_unique<CutOnStop>(context.stop, receiver);
  }
  co_return socket;
}

HttpResponse& WebSocket::head() { return receiver_->changeableHead(); }
int WebSocket::status() const { return receiver_->head().status; }
const HttpHeaders& WebSocket::headers() const { return receiver_->head().headers; }
const std::string& WebSocket::body() const { return receiver_->head().body; }
const std::string& WebSocket::protocol() const { return receiver_->protocol(); }

bool WebSocket::send(std::string_view head, std::string_view payload) const {
  return receiver_->send(Opcode::Binary, head, payload);
}
std::size_t WebSocket::queued() const { return receiver_->queued(); }
bool WebSocket::waitForRoom() const {
  return receiver_->hasRoom() || detail::runBlocking(waitForRoomAsync(), {});
}
Task<bool> WebSocket::waitForRoomAsync() const { return WebSocketReceiver::room(receiver_); }
void WebSocket::consumed(std::size_t bytes) const { receiver_->consumed(bytes); }
void WebSocket::drive(const std::function<bool()>& enough) const { receiver_->drive(enough); }

void WebSocket::close(std::uint16_t code, std::string_view reason) const {
  const detail::WebSocketClose close{.code = code, .reason = std::string(reason)};
  receiver_->send(Opcode::Close, {}, close.payload());
}
void WebSocket::cut() const { receiver_->cut(); }

}  // namespace kube
