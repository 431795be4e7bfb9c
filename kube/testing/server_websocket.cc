#include "kube/testing/server_websocket.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "kube/base/error.h"
#include "kube/codec/base64.h"

namespace kube::testing {

namespace {

enum Opcode : std::uint8_t {
  kContinuation = 0,
  kText = 1,
  kBinary = 2,
  kClose = 8,
  kPing = 9,
  kPong = 10
};

constexpr std::size_t kMaxControl = 125;

[[noreturn]] void broken(std::string_view what) {
  throw DecodeError({.format = "websocket"}, std::string(what));
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

// The elements of all headers of a name.
std::vector<std::string> elements(const HttpHeaders& headers, std::string_view name) {
  std::vector<std::string> found;
  for (const HttpHeader& header : headers) {
    if (!equalIgnoringCase(header.name, name)) continue;
    std::string_view rest = header.value;
    while (!rest.empty()) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      if (const auto one = trimmed(rest.substr(0, comma)); !one.empty()) found.emplace_back(one);
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
  }
  return found;
}

std::string acceptKey(std::string_view key) {
  const std::string text = std::string(key) + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  EVP_Digest(text.data(), text.size(), digest, &size, EVP_sha1(), nullptr);
  std::string out;
  kube::detail::base64Encode({reinterpret_cast<const char*>(digest), size}, out);
  return out;
}

}  // namespace

// --- WebSocketFrames.

std::string_view WebSocketFrames::unmask(std::span<char> bytes) {
  // Eight at a time: the mask repeats every four.
  char mask[8];
  for (std::size_t i = 0; i < 8; ++i) mask[i] = mask_[(maskAt_ + i) % 4];
  std::uint64_t wide = 0;
  std::memcpy(&wide, mask, sizeof wide);
  std::size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    word ^= wide;
    std::memcpy(bytes.data() + at, &word, sizeof word);
  }
  for (; at < bytes.size(); ++at) bytes[at] = static_cast<char>(bytes[at] ^ mask[at % 8]);
  maskAt_ = (maskAt_ + bytes.size()) % 4;
  return {bytes.data(), bytes.size()};
}

// A header is 2 bytes, perhaps a longer length, and the mask.
bool WebSocketFrames::readHeader(std::span<char>& input) {
  const auto need = [&](std::size_t size) {
    const std::size_t taken = std::min(size - std::min(size, header_.size()), input.size());
    header_.append(input.data(), taken);
    input = input.subspan(taken);
    return header_.size() >= size;
  };
  const auto byte = [&](std::size_t at) { return static_cast<std::uint8_t>(header_[at]); };
  if (!need(2)) return false;
  if ((byte(0) & 0x70) != 0) broken("a reserved bit is set, and no extension was agreed on");
  if ((byte(1) & 0x80) == 0) broken("a client's frame has to be masked");
  const std::uint8_t shortLength = byte(1) & 0x7f;
  const std::size_t more = shortLength == 127 ? 8 : shortLength == 126 ? 2 : 0;
  if (!need(2 + more + 4)) return false;
  std::uint64_t length = more == 0 ? shortLength : 0;
  for (std::size_t i = 0; i < more; ++i) length = length << 8 | byte(2 + i);
  if ((more == 2 && length < 126) || (more == 8 && (length >> 16 == 0 || length >> 63 != 0))) {
    broken("a length is not in its shortest form");
  }
  opcode_ = byte(0) & 0x0f;
  final_ = (byte(0) & 0x80) != 0;
  switch (opcode_) {
    case kContinuation:
      if (!inMessage_) broken("a continuation of nothing");
      break;
    case kText:
    case kBinary:
      if (inMessage_) broken("a message begins within another");
      fresh_ = true;
      break;
    case kClose:
    case kPing:
    case kPong:
      if (!final_ || length > kMaxControl) broken("a control frame has to be short and whole");
      break;
    default:
      broken(fmt::format("opcode {} is not known", opcode_));
  }
  if (opcode_ <= kBinary) inMessage_ = !final_;
  std::memcpy(mask_, header_.data() + 2 + more, 4);
  maskAt_ = 0;
  left_ = length;
  header_.clear();
  control_.clear();
  inFrame_ = true;
  return true;
}

std::optional<WebSocketFrames::Part> WebSocketFrames::next(std::span<char>& input) {
  if (!inFrame_ && !readHeader(input)) return std::nullopt;
  const std::size_t size = static_cast<std::size_t>(std::min<std::uint64_t>(left_, input.size()));
  const std::string_view payload = unmask(input.first(size));
  input = input.subspan(size);
  left_ -= size;
  if (left_ == 0) inFrame_ = false;
  if (opcode_ <= kBinary) {
    if (size == 0 && left_ != 0) return std::nullopt;
    return Part{Event::Data, payload, std::exchange(fresh_, false), left_ == 0 && final_};
  }
  control_.append(payload);
  if (left_ != 0) return std::nullopt;
  const Event event = opcode_ == kClose  ? Event::Close
                      : opcode_ == kPing ? Event::Ping
                                         : Event::Pong;
  return Part{event, control_, true, true};
}

// --- The handshake.

bool ServerWebSocket::asked(const ServerRequest& request) {
  if (!equalIgnoringCase(request.headers.get("Upgrade"), "websocket")) return false;
  return std::ranges::any_of(elements(request.headers, "Connection"), [](const std::string& one) {
    return equalIgnoringCase(one, "upgrade");
  });
}

std::optional<std::string> ServerWebSocket::choose(const ServerRequest& request,
                                                   std::span<const std::string_view> supported) {
  std::vector<std::string> wanted = elements(request.headers, "Sec-WebSocket-Protocol");
  if (wanted.empty()) wanted.emplace_back();
  for (std::string& one : wanted) {
    if (std::ranges::find(supported, std::string_view(one)) != supported.end()) {
      return std::move(one);
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
      request.headers.get("Sec-WebSocket-Version") != "13" ||
      !kube::detail::base64Decode(key, nonce) || nonce.size() != 16) {
    return responder.send({.status = 400,
                           .headers = {{"Sec-WebSocket-Version", "13"}},
                           .body = "a WebSocket begins with GET, HTTP/1.1, Sec-WebSocket-Version: "
                                   "13 and a Sec-WebSocket-Key of 16 bytes\n"});
  }
  HttpHeaders headers{{"Upgrade", "websocket"}, {"Sec-WebSocket-Accept", acceptKey(key)}};
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
  input_.assign(bytes);  // to be unmasked in place
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
    std::lock_guard lock(closingMutex_);
    // Who does not listen does not have to be answered.
    if (!closing_ && raw_.queued() < 2 * kMaxQueued) write(kPong, {}, part.payload);
    return;
  }
  if (part.payload.size() == 1) broken("a close code has two bytes");
  std::uint16_t code = kNormal;
  if (part.payload.size() >= 2) {
    code = static_cast<std::uint16_t>(static_cast<std::uint8_t>(part.payload[0]) << 8 |
                                      static_cast<std::uint8_t>(part.payload[1]));
  }
  close(code);
  raw_.close();
  ended();
}

void ServerWebSocket::ended() {
  if (std::exchange(over_, true)) return;
  {
    std::lock_guard lock(closingMutex_);
    closing_ = true;
  }
  const Callbacks last = std::exchange(callbacks_, {});  // they may hold this
  if (last.onClosed) last.onClosed();
}

void ServerWebSocket::write(std::uint8_t opcode, std::string_view head, std::string_view payload) {
  const std::size_t size = head.size() + payload.size();
  std::string frame;
  frame.reserve(10 + size);
  frame += static_cast<char>(0x80 | opcode);
  if (size < 126) {
    frame += static_cast<char>(size);
  } else {
    const int bytes = size >> 16 == 0 ? 2 : 8;
    frame += static_cast<char>(bytes == 2 ? 126 : 127);
    for (int i = bytes - 1; i >= 0; --i) {
      frame += static_cast<char>(static_cast<std::uint64_t>(size) >> (8 * i));
    }
  }
  frame.append(head).append(payload);
  raw_.write(frame);
}

bool ServerWebSocket::send(std::string_view head, std::string_view payload,
                           const std::stop_token& stop, bool text) {
  if (!raw_.waitForRoom(kMaxQueued, stop)) return false;
  std::lock_guard lock(closingMutex_);
  if (closing_) return false;
  write(text ? kText : kBinary, head, payload);
  return true;
}

void ServerWebSocket::sendNow(std::string_view payload) {
  {
    std::lock_guard lock(closingMutex_);
    if (closing_) return;
    if (raw_.queued() < 2 * kMaxQueued) return write(kBinary, {}, payload);
  }
  close(kTooBig, "too much is to be said to who does not listen");
  raw_.close();
}

void ServerWebSocket::close(std::uint16_t code, std::string_view reason) {
  std::lock_guard lock(closingMutex_);
  if (std::exchange(closing_, true)) return;
  const char head[2] = {static_cast<char>(code >> 8), static_cast<char>(code)};
  write(kClose, {head, 2}, reason.substr(0, kMaxControl - 2));
}

}  // namespace kube::testing
