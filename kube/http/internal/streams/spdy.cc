#include "kube/http/internal/streams/spdy.h"

#include <fmt/core.h>
#include <zlib.h>

#include <algorithm>
#include <new>

#include "kube/base/error.h"
#include "kube/base/internal/text.h"

namespace kube::detail {

namespace {

enum Type : std::uint16_t {
  kSynStream = 1,
  kSynReply = 2,
  kRstStream = 3,
  kSettings = 4,
  kPing = 6,
  kGoAway = 7,
  kHeaders = 8,
  kWindowUpdate = 9
};

constexpr std::uint16_t kVersion = 3;
constexpr std::uint8_t kFin = 1;
constexpr std::size_t kHead = 8;
constexpr std::size_t kSynStreamHead = 10;
constexpr std::size_t kMaxControl = 64 << 10;
constexpr std::size_t kMaxHeaders = 64 << 10;  // after decompression

[[noreturn]] void brokenSpdy(std::string_view what) {
  throw DecodeError({.format = "spdy"}, std::string(what));
}

std::uint32_t number(std::string_view bytes, std::size_t at) {
  if (bytes.size() < at + 4) brokenSpdy("a frame is too short");
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<std::uint8_t>(bytes[at + i]);
  return value;
}

void addNumber(std::string& out, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift);
}

std::string controlFrame(std::uint16_t type, std::string_view body) {
  std::string frame;
  addNumber(frame, 0x80000000U | kVersion << 16 | type);
  addNumber(frame, static_cast<std::uint32_t>(body.size()));
  return frame.append(body);
}

std::string twoNumbers(std::uint32_t a, std::uint32_t b) {
  std::string body;
  addNumber(body, a);
  addNumber(body, b);
  return body;
}

}  // namespace

// --- SpdyHeaders.

// The dictionary of SPDY/3: words with their lengths, and a text.
const std::string& SpdyHeaders::dictionary() {
  static const std::string whole = [] {
    constexpr std::string_view kWords[] = {"options",
                                           "head",
                                           "post",
                                           "put",
                                           "delete",
                                           "trace",
                                           "accept",
                                           "accept-charset",
                                           "accept-encoding",
                                           "accept-language",
                                           "accept-ranges",
                                           "age",
                                           "allow",
                                           "authorization",
                                           "cache-control",
                                           "connection",
                                           "content-base",
                                           "content-encoding",
                                           "content-language",
                                           "content-length",
                                           "content-location",
                                           "content-md5",
                                           "content-range",
                                           "content-type",
                                           "date",
                                           "etag",
                                           "expect",
                                           "expires",
                                           "from",
                                           "host",
                                           "if-match",
                                           "if-modified-since",
                                           "if-none-match",
                                           "if-range",
                                           "if-unmodified-since",
                                           "last-modified",
                                           "location",
                                           "max-forwards",
                                           "pragma",
                                           "proxy-authenticate",
                                           "proxy-authorization",
                                           "range",
                                           "referer",
                                           "retry-after",
                                           "server",
                                           "te",
                                           "trailer",
                                           "transfer-encoding",
                                           "upgrade",
                                           "user-agent",
                                           "vary",
                                           "via",
                                           "warning",
                                           "www-authenticate",
                                           "method",
                                           "get",
                                           "status",
                                           "200 OK",
                                           "version",
                                           "HTTP/1.1",
                                           "url",
                                           "public",
                                           "set-cookie",
                                           "keep-alive",
                                           "origin"};
    std::string text;
    for (const std::string_view word : kWords) {
      addNumber(text, static_cast<std::uint32_t>(word.size()));
      text.append(word);
    }
    text +=
        "100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505"
        "203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request"
        "401 Unauthorized403 Forbidden404 Not Found500 Internal Server Error501 Not Implemented"
        "503 Service UnavailableJan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 "
        "Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMTchunked,text/html,image/png,image/jpg,image/gif,"
        "application/xml,application/xhtml+xml,text/plain,text/javascript,publicprivatemax-age="
        "gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0.";
    return text;
  }();
  return whole;
}

struct SpdyHeaders::Streams {
  z_stream in{}, out{};
};

SpdyHeaders::SpdyHeaders() : streams_(std::make_unique<Streams>()) {
  const std::string& words = dictionary();
  if (inflateInit(&streams_->in) != Z_OK) throw std::bad_alloc();
  if (deflateInit(&streams_->out, Z_BEST_SPEED) != Z_OK) {
    inflateEnd(&streams_->in);
    throw std::bad_alloc();
  }
  deflateSetDictionary(&streams_->out, reinterpret_cast<const Bytef*>(words.data()),
                       static_cast<uInt>(words.size()));
}

SpdyHeaders::~SpdyHeaders() {
  inflateEnd(&streams_->in);
  deflateEnd(&streams_->out);
}

SpdyHeaderList SpdyHeaders::unpack(std::string_view block) {
  z_stream& in = streams_->in;
  in.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(block.data()));
  in.avail_in = static_cast<uInt>(block.size());
  std::string text(kMaxHeaders, '\0');
  in.next_out = reinterpret_cast<Bytef*>(text.data());
  in.avail_out = static_cast<uInt>(text.size());
  int result = inflate(&in, Z_SYNC_FLUSH);
  if (result == Z_NEED_DICT) {
    const std::string& words = dictionary();
    result = inflateSetDictionary(&in, reinterpret_cast<const Bytef*>(words.data()),
                                  static_cast<uInt>(words.size()));
    if (result == Z_OK) result = inflate(&in, Z_SYNC_FLUSH);
  }
  if (result != Z_OK || in.avail_in != 0) brokenSpdy("a block of headers cannot be decompressed");
  text.resize(text.size() - in.avail_out);

  std::size_t at = 0;
  const auto next = [&] {
    const std::uint32_t value = number(text, at);
    at += 4;
    return value;
  };
  const auto word = [&] {
    const std::uint32_t size = next();
    if (size > text.size() - at) brokenSpdy("a header is longer than its block");
    at += size;
    return text.substr(at - size, size);
  };
  SpdyHeaderList headers;
  for (std::uint32_t count = next(); count > 0; --count) {
    const std::string name = word();
    headers.emplace_back(lower(name), word());
  }
  return headers;
}

std::string SpdyHeaders::pack(const SpdyHeaderList& headers) {
  std::string text;
  addNumber(text, static_cast<std::uint32_t>(headers.size()));
  for (const auto& [name, value] : headers) {
    addNumber(text, static_cast<std::uint32_t>(name.size()));
    text.append(name);
    addNumber(text, static_cast<std::uint32_t>(value.size()));
    text.append(value);
  }
  z_stream& out = streams_->out;
  std::string packed(deflateBound(&out, text.size()) + 64, '\0');
  out.next_in = reinterpret_cast<Bytef*>(text.data());
  out.avail_in = static_cast<uInt>(text.size());
  out.next_out = reinterpret_cast<Bytef*>(packed.data());
  out.avail_out = static_cast<uInt>(packed.size());
  deflate(&out, Z_SYNC_FLUSH);
  packed.resize(packed.size() - out.avail_out);
  return packed;
}

// --- SpdyConnection.

void SpdyConnection::received(std::string_view bytes) {
  while (!bytes.empty()) {
    if (!inFrame_) {
      const std::size_t taken = std::min(kHead - head_.size(), bytes.size());
      head_.append(bytes.substr(0, taken));
      bytes.remove_prefix(taken);
      if (head_.size() < kHead) return;
      const std::uint32_t first = number(head_, 0), second = number(head_, 4);
      head_.clear();
      isControl_ = first >> 31 != 0;
      type_ = static_cast<std::uint16_t>(first);
      stream_ = first & 0x7fffffffU;
      flags_ = static_cast<std::uint8_t>(second >> 24);
      left_ = second & 0xffffffU;
      inFrame_ = true;
      body_.clear();
      if (isControl_ && (first >> 16 & 0x7fffU) != kVersion) brokenSpdy("this is not SPDY/3");
      if (isControl_ && left_ > kMaxControl) brokenSpdy("a control frame is too long");
      if (!isControl_ && (stream_ == 0 || stream_ > lastStream_)) {
        brokenSpdy("data for a stream that was not opened");
      }
    }
    const std::string_view piece = bytes.substr(0, left_);
    bytes.remove_prefix(piece.size());
    left_ -= piece.size();
    inFrame_ = left_ != 0;
    if (!isControl_) {
      data(stream_, piece, !inFrame_ && (flags_ & kFin) != 0);
    } else {
      body_.append(piece);
      if (!inFrame_) control(body_);
    }
  }
}

void SpdyConnection::control(std::string_view body) {
  switch (type_) {
    case kSynStream:
      return streamOpened(body);
    case kSynReply:
    case kHeaders:
      if (body.size() < 4) brokenSpdy("a frame is too short");
      headers_.unpack(body.substr(4));  // needed for the state of later blocks
      return;
    case kRstStream:
      return wasReset(number(body, 0) & 0x7fffffffU);
    case kPing:
      // Pings of clients are odd, of servers even. Others are answers, and this side sends no
      // pings.
      if ((number(body, 0) % 2 != 0) != isClient_) writeNow(controlFrame(kPing, body.substr(0, 4)));
      return;
    case kGoAway:
      leaving_ = true;
      return;
    case kSettings:
    case kWindowUpdate:
      return;
    default:
      brokenSpdy(fmt::format("unknown frame type {}", type_));
  }
}

void SpdyConnection::streamOpened(std::string_view body) {
  const std::uint32_t stream = number(body, 0) & 0x7fffffffU;
  if (body.size() < kSynStreamHead) brokenSpdy("a frame is too short");
  const SpdyHeaderList headers = headers_.unpack(body.substr(kSynStreamHead));
  if (isClient_) return sendReset(stream, Reset::Refused);
  // Streams of a client have odd, increasing numbers.
  if (stream % 2 == 0 || stream <= lastStream_) return sendReset(stream, Reset::Protocol);
  lastStream_ = stream;
  if (leaving_) return sendReset(stream, Reset::Refused);
  opened(stream, headers, (flags_ & kFin) != 0);
}

void SpdyConnection::opened(std::uint32_t stream, const SpdyHeaderList&, bool) {
  sendReset(stream, Reset::Refused);
}

std::uint32_t SpdyConnection::open(const SpdyHeaderList& headers) {
  constexpr std::uint32_t kMaxStream = 0x7ffffff0U;
  if (leaving_ || lastStream_ >= kMaxStream) return 0;
  lastStream_ += lastStream_ == 0 ? 1 : 2;
  std::string body = twoNumbers(lastStream_, 0);
  body.append(kSynStreamHead - body.size(), '\0');  // priority and slot
  writeNow(controlFrame(kSynStream, body.append(headers_.pack(headers))));
  return lastStream_;
}

void SpdyConnection::accept(std::uint32_t stream) {
  std::string body;
  addNumber(body, stream);
  writeNow(controlFrame(kSynReply, body.append(headers_.pack({}))));
}

bool SpdyConnection::sendData(std::uint32_t stream, std::string_view bytes, bool last,
                              const std::stop_token& stop) {
  std::string frame;
  frame.reserve(kHead + bytes.size());
  addNumber(frame, stream);
  addNumber(frame, static_cast<std::uint32_t>(bytes.size()) | (last ? kFin << 24 : 0));
  return write(frame.append(bytes), stop);
}

void SpdyConnection::sendReset(std::uint32_t stream, Reset why) {
  if (stream == 0) brokenSpdy("a stream has no number");
  writeNow(controlFrame(kRstStream, twoNumbers(stream, static_cast<std::uint32_t>(why))));
}

void SpdyConnection::goAway() { writeNow(controlFrame(kGoAway, twoNumbers(lastStream_, 1))); }

}  // namespace kube::detail
