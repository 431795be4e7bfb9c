#include "kube/http/internal/streams/websocket_frames.h"

#include <fmt/core.h>
#include <openssl/evp.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "kube/base/error.h"
#include "kube/base/internal/base64.h"
#include "kube/base/internal/text.h"

namespace kube::detail {

namespace {

[[noreturn]] void brokenWebSocket(std::string_view what) {
  throw DecodeError({.format = "websocket"}, std::string(what));
}

}  // namespace

void maskWebSocketBytes(std::span<char> bytes, const WebSocketMask& mask, std::size_t at) {
  // Eight bytes at a time: the mask repeats every four.
  char turned[8];
  for (std::size_t i = 0; i < 8; ++i) turned[i] = mask[(at + i) % 4];
  std::uint64_t wide = 0;
  std::memcpy(&wide, turned, sizeof wide);
  std::size_t done = 0;
  for (; done + 8 <= bytes.size(); done += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + done, sizeof word);
    word ^= wide;
    std::memcpy(bytes.data() + done, &word, sizeof word);
  }
  for (; done < bytes.size(); ++done) {
    bytes[done] = static_cast<char>(bytes[done] ^ turned[done % 8]);
  }
}

void appendWebSocketFrame(std::string& out, WebSocketOpcode opcode, std::string_view head,
                          std::string_view payload, const WebSocketMask* mask) {
  const std::size_t size = head.size() + payload.size();
  const int masked = mask != nullptr ? 0x80 : 0;
  out += static_cast<char>(0x80 | static_cast<std::uint8_t>(opcode));
  if (size < 126) {
    out += static_cast<char>(masked | static_cast<int>(size));
  } else {
    const int bytes = size >> 16 == 0 ? 2 : 8;
    out += static_cast<char>(masked | (bytes == 2 ? 126 : 127));
    for (int i = bytes - 1; i >= 0; --i) {
      out += static_cast<char>(static_cast<std::uint64_t>(size) >> (8 * i));
    }
  }
  if (mask != nullptr) out.append(mask->data(), mask->size());
  const std::size_t begin = out.size();
  out.append(head).append(payload);
  if (mask != nullptr) maskWebSocketBytes({out.data() + begin, size}, *mask);
}

// A header has 2 bytes, possibly a longer length, and a client's mask.
bool WebSocketFrames::readHeader(std::string_view& input) {
  const auto need = [&](std::size_t size) {
    const std::size_t taken = std::min(size - std::min(size, header_.size()), input.size());
    header_.append(input.data(), taken);
    input.remove_prefix(taken);
    return header_.size() >= size;
  };
  const auto byte = [&](std::size_t at) { return static_cast<std::uint8_t>(header_[at]); };
  if (!need(2)) return false;
  if ((byte(0) & 0x70) != 0) brokenWebSocket("a reserved bit is set without an extension");
  if (((byte(1) & 0x80) != 0) != masked_) {
    brokenWebSocket(masked_ ? "a client's frame has to be masked"
                            : "a server's frame must not be masked");
  }
  const std::uint8_t shortLength = byte(1) & 0x7f;
  const std::size_t more = shortLength == 127 ? 8 : shortLength == 126 ? 2 : 0;
  if (!need(2 + more + (masked_ ? mask_.size() : 0))) return false;
  std::uint64_t length = more == 0 ? shortLength : 0;
  for (std::size_t i = 0; i < more; ++i) length = length << 8 | byte(2 + i);
  if ((more == 2 && length < 126) || (more == 8 && (length >> 16 == 0 || length >> 63 != 0))) {
    brokenWebSocket("a length is not in its shortest form");
  }
  opcode_ = static_cast<WebSocketOpcode>(byte(0) & 0x0f);
  final_ = (byte(0) & 0x80) != 0;
  switch (opcode_) {
    case WebSocketOpcode::Continuation:
      if (!inMessage_) brokenWebSocket("a continuation without a message");
      inMessage_ = !final_;
      break;
    case WebSocketOpcode::Text:
    case WebSocketOpcode::Binary:
      if (inMessage_) brokenWebSocket("a message begins within another");
      inMessage_ = !final_;
      fresh_ = true;
      break;
    case WebSocketOpcode::Close:
    case WebSocketOpcode::Ping:
    case WebSocketOpcode::Pong:
      if (!final_ || length > kMaxControl)
        brokenWebSocket("a control frame has to be short and whole");
      break;
    default:
      brokenWebSocket(fmt::format("unknown opcode {}", byte(0) & 0x0f));
  }
  if (masked_) std::memcpy(mask_.data(), header_.data() + 2 + more, mask_.size());
  maskAt_ = 0;
  left_ = length;
  header_.clear();
  control_.clear();
  inFrame_ = true;
  return true;
}

std::optional<WebSocketFrames::Part> WebSocketFrames::next(std::string_view& input) {
  if (!inFrame_ && !readHeader(input)) return std::nullopt;
  const std::string_view payload = input.substr(0, left_);
  input.remove_prefix(payload.size());
  left_ -= payload.size();
  if (left_ == 0) inFrame_ = false;
  if (opcode_ <= WebSocketOpcode::Binary) {
    if (payload.empty() && left_ != 0) return std::nullopt;
    return Part{Event::Data, payload, std::exchange(fresh_, false), left_ == 0 && final_};
  }
  control_.append(payload);
  if (left_ != 0) return std::nullopt;
  if (masked_) maskWebSocketBytes(control_, mask_);
  const Event event = opcode_ == WebSocketOpcode::Close  ? Event::Close
                      : opcode_ == WebSocketOpcode::Ping ? Event::Ping
                                                         : Event::Pong;
  return Part{event, control_, true, true};
}

std::optional<WebSocketFrames::Part> WebSocketFrames::next(std::span<char>& input) {
  std::string_view rest(input.data(), input.size());
  const auto part = next(rest);
  if (masked_ && part && part->event == Event::Data) {
    char* const begin = input.data() + (part->payload.data() - input.data());
    maskWebSocketBytes({begin, part->payload.size()}, mask_, maskAt_);
    maskAt_ = (maskAt_ + part->payload.size()) % mask_.size();
  }
  input = input.last(rest.size());
  return part;
}

WebSocketClose WebSocketClose::parse(std::string_view payload) {
  if (payload.empty()) return {};
  if (payload.size() == 1) brokenWebSocket("a close code has two bytes");
  const auto code = static_cast<std::uint16_t>(static_cast<std::uint8_t>(payload[0]) << 8 |
                                               static_cast<std::uint8_t>(payload[1]));
  // These codes describe ends without a close frame, and are never sent.
  if (code < 1000 || (code >= 1004 && code <= 1006) || code == 1015 || code > 4999) {
    brokenWebSocket("a close code that must not be sent");
  }
  return {.code = code, .reason = std::string(payload.substr(2))};
}

std::string WebSocketClose::payload() const {
  if (code == kNoCode) return {};
  const char head[2] = {static_cast<char>(code >> 8), static_cast<char>(code)};
  return std::string(head, 2).append(reason, 0, WebSocketFrames::kMaxControl - 2);
}

std::string webSocketAcceptKey(std::string_view key) {
  const std::string text = std::string(key) + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  EVP_Digest(text.data(), text.size(), digest, &size, EVP_sha1(), nullptr);
  std::string out;
  base64Encode({reinterpret_cast<const char*>(digest), size}, out);
  return out;
}

std::vector<std::string> headerElements(const HttpHeaders& headers, std::string_view name) {
  std::vector<std::string> found;
  for (const HttpHeader& header : headers) {
    if (!equalIgnoringCase(header.name, name)) continue;
    std::string_view rest = header.value;
    while (!rest.empty()) {
      const std::string_view element = trim(cut(rest, ','));
      if (!element.empty()) found.emplace_back(element);
    }
  }
  return found;
}

}  // namespace kube::detail
