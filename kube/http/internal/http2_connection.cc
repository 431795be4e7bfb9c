// A client's HTTP/2 connection: many concurrent exchanges. nghttp2 does the framing and checks the
// protocol.
//
// Flow control: the connection's window is large and returned at once, so that a slow reader stops
// only its own stream. A stream's window is streamBuffer, returned as the reader reads.
#include <fmt/core.h>
#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <exception>
#include <new>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kube/base/internal/control_characters.h"
#include "kube/base/internal/text.h"
#include "kube/http/internal/connection.h"
#include "kube/http/internal/guarded_callback.h"
#include "kube/http/internal/host_pool.h"
#include "kube/http/internal/http2_fields.h"
#include "kube/http/internal/http_engine.h"
#include "kube/http/internal/parsed_text.h"

namespace kube::detail {
namespace {

constexpr std::int32_t kConnectionWindow = 64 << 20;
// The limit of concurrent streams, even if the server allows more.
constexpr std::size_t kMaxStreams = 1000;
// The approximate size of a piece of output: one TLS record.
constexpr std::size_t kOutputPiece = 16 << 10;

struct ClientStream {
  std::shared_ptr<Exchange> exchange;  // null once abandoned
  HttpResponse head;
  std::size_t headerBytes = 0;
  std::size_t bodySent = 0;
  bool first = false;  // the first of its connection
  bool headDone = false;
  bool sent = false;
  bool ended = false;
};

class Http2Connection final : public Connection {
 public:
  Http2Connection(HttpEngine& engine, HostPool& pool, std::unique_ptr<Channel> channel,
                  std::size_t assumedStreams)
      : Connection(engine, pool, std::move(channel)),
        assumedStreams_(assumedStreams),
        liveness_(engine.loop()) {}
  ~Http2Connection() override { nghttp2_session_del(session_); }

  int httpVersion() const override { return 2; }
  std::size_t streams() const override { return streams_.size(); }
  std::size_t freeStreams() const override {
    if (retired()) return 0;
    const std::size_t most = allowedStreams();
    return most > streams_.size() ? most - streams_.size() : 0;
  }
  std::size_t allowedStreams() const override {
    return settingsSeen_
               ? std::min<std::size_t>(nghttp2_session_get_remote_settings(
                                           session_, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS),
                                       kMaxStreams)
               : assumedStreams_;
  }

  void open() override;
  void begin(std::shared_ptr<Exchange> exchange) override;
  void abandon(Exchange& exchange) override;
  void credit(Exchange& exchange, std::size_t bytes) override;

 private:
  void receive(std::string_view bytes) override;
  void receiveEnd() override { shut("connection closed by the server" + farewell_); }
  void produce() override;
  void lost(const std::string& cause) override;

  void returnExcess();
  void watchLiveness();
  void checkLiveness();
  ClientStream* find(std::int32_t id);

  static nghttp2_session_callbacks* callbacks();
  int onHeader(std::int32_t id, std::string_view name, std::string_view value);
  void onFrame(const nghttp2_frame& frame);
  void onHeadersComplete(ClientStream& stream);
  void onClose(std::int32_t id, std::uint32_t code);
  ssize_t onWantBody(std::int32_t id, std::uint8_t* buffer, std::size_t size, std::uint32_t& flags);
  void onData(std::int32_t id, std::string_view bytes);
  void onFrameSent(const nghttp2_frame& frame);
  std::string broken(ssize_t error) const;
  void endedByLibrary();

  const std::size_t assumedStreams_;  // until the server's settings arrive
  nghttp2_session* session_ = nullptr;
  std::unordered_map<std::int32_t, ClientStream> streams_;
  std::unordered_map<const Exchange*, std::int32_t> ids_;
  Http2Fields fields_;  // of the request that begins; kept for its memory
  std::string farewell_;
  std::exception_ptr thrown_;  // by a callback
  bool malformed_ = false;     // the server violates the protocol
  bool begun_ = false;
  bool settingsSeen_ = false;

  LoopTimer liveness_;
  EventLoop::TimePoint heard_{};
  bool pinging_ = false;
};

void Http2Connection::open() {
  nghttp2_option* options = nullptr;
  if (nghttp2_option_new(&options) != 0) throw std::bad_alloc();
  nghttp2_option_set_no_auto_window_update(options, 1);
  const int made = nghttp2_session_client_new2(&session_, callbacks(), this, options);
  nghttp2_option_del(options);
  if (made != 0) throw std::bad_alloc();

  const auto window = static_cast<std::uint32_t>(
      std::clamp<std::size_t>(engine_.options().streamBuffer, 1, NGHTTP2_MAX_WINDOW_SIZE));
  const auto headers = static_cast<std::uint32_t>(
      std::min<std::size_t>(engine_.options().maxHeaderBytes, UINT32_MAX));
  const std::array<nghttp2_settings_entry, 3> settings = {{
      {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, window},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, headers},
  }};
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings.data(), settings.size());
  nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, kConnectionWindow);
  heard_ = engine_.loop().now();
  scheduleFlush();
  Connection::open();
}

void Http2Connection::begin(std::shared_ptr<Exchange> exchange) {
  const HttpRequest& request = exchange->request();
  const Url& url = exchange->url();
  const std::string authority = url.authority();
  fields_.start(request.headers, 6);
  fields_.add(":method", request.method);
  fields_.add(":scheme", url.scheme);
  fields_.add(":authority", authority);
  fields_.add(":path", url.target);
  const bool compress = !engine_.options().disableCompression;
  if (compress) fields_.add("accept-encoding", "gzip, deflate");
  for (const HttpHeader& header : request.headers) {
    if (isConnectionHeader(header.name)) continue;
    if (compress && equalIgnoringCase(header.name, "accept-encoding")) continue;
    fields_.addHeader(header);
  }
  const std::string length = std::to_string(request.body.size());
  if (!request.body.empty()) fields_.add("content-length", length);

  nghttp2_data_provider body{};
  body.read_callback = [](nghttp2_session*, std::int32_t id, std::uint8_t* buffer, std::size_t size,
                          std::uint32_t* flags, nghttp2_data_source*, void* user) -> ssize_t {
    auto& self = *static_cast<Http2Connection*>(user);
    return guardedCallback(self.thrown_, ssize_t{NGHTTP2_ERR_CALLBACK_FAILURE},
                           [&] { return self.onWantBody(id, buffer, size, *flags); });
  };
  const std::int32_t id = nghttp2_submit_request(session_, nullptr, fields_.data(), fields_.size(),
                                                 request.body.empty() ? nullptr : &body, nullptr);
  exchange->attach(*this);
  if (id < 0) {  // the connection has no stream numbers left
    exchange->onFailure(fmt::format("HTTP/2: {}", nghttp2_strerror(id)), Failure::NotProcessed);
    return retire();
  }
  ids_.emplace(exchange.get(), id);
  ClientStream& stream = streams_[id];
  stream.exchange = std::move(exchange);
  stream.first = !std::exchange(begun_, true);
  watchLiveness();
  scheduleFlush();
}

void Http2Connection::abandon(Exchange& exchange) {
  const auto it = ids_.find(&exchange);
  if (it == ids_.end()) return;
  const std::int32_t id = it->second;
  ids_.erase(it);
  // The stream counts until the reset has been sent, which closes it.
  streams_[id].exchange = nullptr;
  nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL);
  scheduleFlush();
}

void Http2Connection::credit(Exchange& exchange, std::size_t bytes) {
  const auto it = ids_.find(&exchange);
  if (it == ids_.end()) return;
  nghttp2_session_consume_stream(session_, it->second, bytes);
  if (nghttp2_session_want_write(session_) != 0) scheduleFlush();
}

// Returns requests if the server's settings allow fewer streams than were begun before they
// arrived. nghttp2 holds the surplus requests back; behind watches they would wait for ever, so
// other connections get them.
void Http2Connection::returnExcess() {
  if (streams_.size() <= allowedStreams()) return;
  std::vector<std::int32_t> unsent;
  for (const auto& [id, stream] : streams_) {
    if (!stream.sent && stream.exchange) unsent.push_back(id);
  }
  for (const std::int32_t id : unsent) {
    const auto exchange = streams_[id].exchange;
    abandon(*exchange);
    exchange->onFailure("too many streams", Failure::NotProcessed);
  }
}

ClientStream* Http2Connection::find(std::int32_t id) {
  const auto it = streams_.find(id);
  return it != streams_.end() ? &it->second : nullptr;
}

void Http2Connection::receive(std::string_view bytes) {
  heard_ = engine_.loop().now();
  if (std::exchange(pinging_, false)) {
    liveness_.set(heard_ + engine_.options().pingAfter, [this] { checkLiveness(); });
  }
  const ssize_t used = nghttp2_session_mem_recv(
      session_, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  if (used < 0) {
    malformed_ = thrown_ == nullptr && !nghttp2_is_fatal(static_cast<int>(used));
    return shut(broken(used));
  }
  if (nghttp2_session_want_write(session_) != 0) {
    scheduleFlush();
  } else if (nghttp2_session_want_read(session_) == 0) {
    endedByLibrary();
  }
}

// nghttp2 reads no more after a protocol violation, or after GOAWAY. In the second case it would
// still wait for the open streams.
void Http2Connection::endedByLibrary() {
  malformed_ = true;
  shut("HTTP/2 connection ended" + farewell_);
}

std::string Http2Connection::broken(ssize_t error) const {
  if (thrown_) return fmt::format("HTTP/2: {}", messageOf(thrown_));
  return fmt::format("{}HTTP/2: {}", malformed_ ? "malformed " : "",
                     nghttp2_strerror(static_cast<int>(error)));
}

void Http2Connection::produce() {
  while (output().size() < kOutputPiece) {
    const std::uint8_t* data = nullptr;
    const ssize_t size = nghttp2_session_mem_send(session_, &data);
    if (size < 0) return shut(broken(size));
    if (size == 0) break;
    output().append(reinterpret_cast<const char*>(data), static_cast<std::size_t>(size));
  }
  if (output().empty() && nghttp2_session_want_read(session_) == 0) endedByLibrary();
}

void Http2Connection::lost(const std::string& cause) {
  liveness_.cancel();
  ids_.clear();
  const auto streams = std::exchange(streams_, {});
  for (const auto& [id, stream] : streams) {
    if (!stream.exchange) continue;
    Failure failure = Failure::Final;
    if (!stream.sent) {
      failure = Failure::NotProcessed;
    } else if (malformed_) {
      failure = Failure::Permanent;
    } else if (!stream.first && !stream.headDone) {
      failure = Failure::Lost;
    }
    stream.exchange->onFailure(cause, failure);
  }
}

// --- Liveness: as Go's ReadIdleTimeout and PingTimeout, while there are streams. One timer
// compares the time of the last received data now and then; nothing is done per frame.

void Http2Connection::watchLiveness() {
  const auto after = engine_.options().pingAfter;
  if (after.count() <= 0 || closed()) return;
  // After a long idle time, the request and a ping are sent together.
  if (!pinging_ && engine_.loop().now() - heard_ >= after) return checkLiveness();
  if (!liveness_.isSet()) liveness_.set(heard_ + after, [this] { checkLiveness(); });
}

void Http2Connection::checkLiveness() {
  const TransportOptions& options = engine_.options();
  const auto now = engine_.loop().now();
  if (pinging_) {
    return shut(fmt::format("connection lost: no answer to a ping within {} ms",
                            options.pingTimeout.count()));
  }
  if (idle()) return;  // the next exchange sets the timer again
  if (now - heard_ < options.pingAfter) {
    return liveness_.set(heard_ + options.pingAfter, [this] { checkLiveness(); });
  }
  pinging_ = true;
  nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr);
  scheduleFlush();
  liveness_.set(now + options.pingTimeout, [this] { checkLiveness(); });
}

// --- Received data.

int Http2Connection::onHeader(std::int32_t id, std::string_view name, std::string_view value) {
  ClientStream* stream = find(id);
  if (stream == nullptr || !stream->exchange) return 0;
  stream->headerBytes += name.size() + value.size() + 32;
  if (stream->headerBytes > engine_.options().maxHeaderBytes) {
    const auto exchange = std::exchange(stream->exchange, nullptr);
    ids_.erase(exchange.get());
    exchange->onFailure(fmt::format("the answer's header is longer than {} bytes",
                                    engine_.options().maxHeaderBytes),
                        Failure::Permanent);
    return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;  // resets the stream
  }
  if (stream->headDone) return 0;  // a trailer
  if (name == ":status") {
    stream->head.status = parseNumber<int>(value).value_or(0);
  } else if (!name.starts_with(':')) {
    stream->head.headers.add(std::string(name), std::string(value));
  }
  return 0;
}

void Http2Connection::onHeadersComplete(ClientStream& stream) {
  if (stream.headDone || !stream.exchange) return;
  if (stream.head.status < 100) {  // neither informational nor an answer, and it may have a body
    const auto exchange = stream.exchange;
    const int status = stream.head.status;
    abandon(*exchange);
    return exchange->onFailure(fmt::format("malformed HTTP/2 answer: its status is {}", status),
                               Failure::Permanent);
  }
  if (stream.head.status < 200) {  // informational: the answer follows
    stream.head = {};
    return;
  }
  stream.headDone = true;
  stream.head.httpVersion = 2;
  const auto exchange = stream.exchange;
  exchange->onHead(std::move(stream.head));
}

void Http2Connection::onFrame(const nghttp2_frame& frame) {
  switch (frame.hd.type) {
    case NGHTTP2_SETTINGS:
      if ((frame.hd.flags & NGHTTP2_FLAG_ACK) == 0) {
        settingsSeen_ = true;
        engine_.loop().defer([self = shared_from_this(), this] {
          if (closed()) return;
          returnExcess();
          pool_.onRoom();
        });
      }
      break;
    case NGHTTP2_GOAWAY:
      if (frame.goaway.error_code != NGHTTP2_NO_ERROR) {
        const std::string_view words = view(
            frame.goaway.opaque_data, std::min<std::size_t>(frame.goaway.opaque_data_len, 200));
        farewell_ = fmt::format(" ({}{}{})", nghttp2_http2_strerror(frame.goaway.error_code),
                                words.empty() ? "" : ": ", withoutControls(words));
      }
      engine_.loop().defer([self = shared_from_this()] { self->retire(); });
      break;
    case NGHTTP2_HEADERS:
    case NGHTTP2_DATA: {
      ClientStream* stream = find(frame.hd.stream_id);
      if (stream == nullptr) break;
      if (frame.hd.type == NGHTTP2_HEADERS) onHeadersComplete(*stream);
      if ((frame.hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) stream->ended = true;
      break;
    }
    default:
      break;
  }
}

void Http2Connection::onClose(std::int32_t id, std::uint32_t code) {
  const auto it = streams_.find(id);
  if (it == streams_.end()) return;
  const ClientStream stream = std::move(it->second);
  streams_.erase(it);
  if (stream.exchange) {
    ids_.erase(stream.exchange.get());
    if (stream.ended && stream.headDone) {
      stream.exchange->onEnd();
    } else if (code == NGHTTP2_REFUSED_STREAM) {
      stream.exchange->onFailure("the server refused the stream", Failure::NotProcessed);
    } else {
      const bool breach = code == NGHTTP2_PROTOCOL_ERROR;
      stream.exchange->onFailure(fmt::format("HTTP/2 stream ended by {}: {}",
                                             breach ? "a breach of the protocol" : "the server",
                                             nghttp2_http2_strerror(code)),
                                 breach ? Failure::Permanent : Failure::Final);
    }
  }
  streamEnded();
}

ssize_t Http2Connection::onWantBody(std::int32_t id, std::uint8_t* buffer, std::size_t size,
                                    std::uint32_t& flags) {
  ClientStream* stream = find(id);
  if (stream == nullptr || !stream->exchange) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  const std::string& body = stream->exchange->request().body;
  const std::size_t count = std::min(size, body.size() - stream->bodySent);
  std::memcpy(buffer, body.data() + stream->bodySent, count);
  stream->bodySent += count;
  if (stream->bodySent == body.size()) flags |= NGHTTP2_DATA_FLAG_EOF;
  return static_cast<ssize_t>(count);
}

void Http2Connection::onData(std::int32_t id, std::string_view bytes) {
  nghttp2_session_consume_connection(session_, bytes.size());
  ClientStream* stream = find(id);
  if (stream != nullptr && stream->exchange) {
    const auto exchange = stream->exchange;
    exchange->onData(bytes);
  } else {
    nghttp2_session_consume_stream(session_, id, bytes.size());
  }
}

void Http2Connection::onFrameSent(const nghttp2_frame& frame) {
  if (frame.hd.type != NGHTTP2_HEADERS) return;
  if (ClientStream* stream = find(frame.hd.stream_id)) {
    stream->sent = true;
    if (stream->exchange) stream->exchange->markSent();
  }
}

nghttp2_session_callbacks* Http2Connection::callbacks() {
  // An exception ends the connection and all of its exchanges.
  static constexpr auto guarded = [](void* user, auto act) {
    auto& self = *static_cast<Http2Connection*>(user);
    return guardedCallback(self.thrown_, int{NGHTTP2_ERR_CALLBACK_FAILURE},
                           [&]() -> int { return act(self); });
  };
  static nghttp2_session_callbacks* const shared = [] {
    nghttp2_session_callbacks* made = nullptr;
    if (nghttp2_session_callbacks_new(&made) != 0) throw std::bad_alloc();
    nghttp2_session_callbacks_set_on_header_callback(
        made, [](nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                 std::size_t nameSize, const std::uint8_t* value, std::size_t valueSize,
                 std::uint8_t, void* user) {
          return guarded(user, [&](Http2Connection& self) {
            return self.onHeader(frame->hd.stream_id, view(name, nameSize), view(value, valueSize));
          });
        });
    nghttp2_session_callbacks_set_on_frame_recv_callback(
        made, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
          return guarded(user, [&](Http2Connection& self) { return self.onFrame(*frame), 0; });
        });
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
        made, [](nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* data,
                 std::size_t size, void* user) {
          return guarded(
              user, [&](Http2Connection& self) { return self.onData(id, view(data, size)), 0; });
        });
    nghttp2_session_callbacks_set_on_stream_close_callback(
        made, [](nghttp2_session*, std::int32_t id, std::uint32_t code, void* user) {
          return guarded(user, [&](Http2Connection& self) { return self.onClose(id, code), 0; });
        });
    nghttp2_session_callbacks_set_on_frame_send_callback(
        made, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
          return guarded(user, [&](Http2Connection& self) { return self.onFrameSent(*frame), 0; });
        });
    return made;
  }();
  return shared;
}

}  // namespace

std::shared_ptr<Connection> http2Connection(HttpEngine& engine, HostPool& pool,
                                            std::unique_ptr<Channel> channel,
                                            std::size_t assumedStreams) {
  return std::make_shared<Http2Connection>(engine, pool, std::move(channel), assumedStreams);
}

}  // namespace kube::detail
