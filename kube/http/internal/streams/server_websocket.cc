#include "kube/http/internal/streams/server_websocket.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "kube/base/error.h"
#include "kube/base/internal/base64.h"

namespace kube::detail {

namespace {

using Opcode = WebSocketOpcode;

}  // namespace

// --- The handshake.

bool ServerWebSocket::asked(const ServerRequest& request) {
  if (!equalIgnoringCase(request.headers.get("Upgrade"), "websocket")) return false;
  return std::ranges::any_of(
      headerElements(request.headers, "Connection"),
      [](const std::string& element) { return equalIgnoringCase(element, "upgrade"); });
}

std::optional<std::string> ServerWebSocket::choose(const ServerRequest& request,
                                                   std::span<const std::string_view> supported) {
  std::vector<std::string> wanted = headerElements(request.headers, "Sec-WebSocket-Protocol");
  if (wanted.empty()) wanted.emplace_back();
  for (std::string& protocol : wanted) {
    if (std::ranges::find(supported, std::string_view(protocol)) != supported.end()) {
      return std::move(protocol);
    }
  }
  return std::nullopt;
}

void ServerWebSocket::accept(const ServerRequest& request, const Responder& responder,
                             const std::string& protocol,
                             std::function<void(std::shared_ptr<ServerWebSocket>)> taken) {
  const std::string_view key = request.headers.get("Sec-WebSocket-Key");
  std::string nonce;
  if (request.method != "GET" || request.httpVersion != 1 ||
      request.headers.get("Sec-WebSocket-Version") != "13" || !base64Decode(key, nonce) ||
      nonce.size() != 16) {
    return responder.send({.status = 400,
                           .headers = {{"Sec-WebSocket-Version", "13"}},
                           .body = "a WebSocket begins with GET, HTTP/1.1, Sec-WebSocket-Version: "
                                   "13 and a Sec-WebSocket-Key of 16 bytes\n"});
  }
  HttpHeaders headers{{"Upgrade", "websocket"}, {"Sec-WebSocket-Accept", webSocketAcceptKey(key)}};
  if (!protocol.empty()) headers.add("Sec-WebSocket-Protocol", protocol);
  responder.upgrade(std::move(headers), [taken = std::move(taken)](RawStream raw) {
    taken(std::make_shared<ServerWebSocket>(std::move(raw)));
  });
}

// --- ServerWebSocket.

void ServerWebSocket::start(Callbacks callbacks) {
  callbacks_ = std::move(callbacks);
  raw_.read([self = shared_from_this()](std::string_view bytes) { self->received(bytes); });
}

void ServerWebSocket::received(std::string_view bytes) {
  if (bytes.empty()) return ended();
  if (over_) return;
  input_.assign(bytes);  // unmasked in place
  std::span<char> rest(input_);
  try {
    while (const auto part = frames_.next(rest)) {
      if (part->event != WebSocketFrames::Event::Data) {
        control(*part);
      } else if (callbacks_.onData) {
        callbacks_.onData(part->payload, part->first, part->last);
      }
      if (over_) return;
    }
  } catch (const DecodeError& error) {
    close(kProtocolError, error.reason());
    raw_.close();
    ended();
  }
}

void ServerWebSocket::control(const WebSocketFrames::Part& part) {
  using Event = WebSocketFrames::Event;
  if (part.event == Event::Pong) return;
  if (part.event == Event::Ping) {
    const Lock lock(closingMutex_);
    // Pings of a client that does not read need no answer.
    if (!closing_ && raw_.queued() < 2 * kMaxQueued) write(Opcode::Pong, {}, part.payload);
    return;
  }
  const auto end = WebSocketClose::parse(part.payload);
  close(end.code == end.kNoCode ? end.kNormal : end.code);
  raw_.close();
  ended();
}

void ServerWebSocket::ended() {
  if (std::exchange(over_, true)) return;
  {
    const Lock lock(closingMutex_);
    closing_ = true;
  }
  const Callbacks last = std::exchange(callbacks_, {});  // they may hold this object
  if (last.onClosed) last.onClosed();
}

void ServerWebSocket::write(Opcode opcode, std::string_view head, std::string_view payload) {
  constexpr std::size_t kMaxHeader = 10;
  std::string frame;
  frame.reserve(kMaxHeader + head.size() + payload.size());
  appendWebSocketFrame(frame, opcode, head, payload, nullptr);
  raw_.write(frame);
}

bool ServerWebSocket::send(std::string_view head, std::string_view payload,
                           const std::stop_token& stop, bool text) {
  if (!raw_.waitForRoom(kMaxQueued, stop)) return false;
  const Lock lock(closingMutex_);
  if (closing_) return false;
  write(text ? Opcode::Text : Opcode::Binary, head, payload);
  return true;
}

void ServerWebSocket::sendNow(std::string_view payload) {
  {
    const Lock lock(closingMutex_);
    if (closing_) return;
    if (raw_.queued() < 2 * kMaxQueued) return write(Opcode::Binary, {}, payload);
  }
  close(kTooBig,
        fmt::format("the client reads too slowly: more than {} bytes are queued", 2 * kMaxQueued));
  raw_.close();
}

void ServerWebSocket::close(std::uint16_t code, std::string_view reason) {
  const Lock lock(closingMutex_);
  if (std::exchange(closing_, true)) return;
  const WebSocketClose end{.code = code, .reason = std::string(reason)};
  write(Opcode::Close, {}, end.payload());
}

}  // namespace kube::detail
