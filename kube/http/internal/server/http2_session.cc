// A server's HTTP/2 connection. nghttp2 does the framing and flow control, and checks the protocol.
#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <unordered_map>
#include <vector>

#include "kube/base/rate_limiter.h"
#include "kube/http/internal/http2_fields.h"
#include "kube/http/internal/parsed_text.h"
#include "kube/http/internal/server/http2_frame_scan.h"
#include "kube/http/internal/server/http_session.h"

namespace kube::detail {
namespace {

constexpr std::uint32_t kStreamWindow = 1 << 20;
constexpr std::int32_t kConnectionWindow = 16 << 20;

// Limits of frames that request nothing, and of small window updates: more would be useless work.
constexpr TokenBucketOptions kIdleFrames{.qps = 100, .burst = 1000};
constexpr TokenBucketOptions kCheapFrames{.qps = 10'000, .burst = 50'000};
// The number of queued frames for a client that does not read.
constexpr std::size_t kMaxOutbound = 1000;

struct Stream {
  // The state of the request and its answer.
  enum class State : std::uint8_t { Receiving, Working, Sending, Streaming };

  ServerRequest request;
  std::size_t headerBytes = 0, bodyBytes = 0;
  ServerTime begun;
  State state = State::Receiving;
  bool screened = false;
  bool headed = false;    // its head is whole
  bool ended = false;     // the request was received completely
  bool answered = false;  // the answer has begun
  std::string whole;      // the answer's body, if it is not streamed
  std::size_t sent = 0;
  std::shared_ptr<BodyQueue> body;  // the answer's body, if it is streamed

  bool handled() const { return state != State::Receiving; }
};

class Http2Session final : public ServerSession {
 public:
  using ServerSession::ServerSession;
  ~Http2Session() override { nghttp2_session_del(session_); }

  void respond(std::int32_t id, ServerResponse response) override {
    Stream* stream = answering(id);
    if (stream == nullptr) return;
    response.headers.set("content-length", std::to_string(response.body.size()));
    if (stream->request.method != "HEAD") stream->whole = std::move(response.body);
    unsent_ += stream->whole.size();
    enter(*stream, Stream::State::Sending);
    submit(id, response.status, response.headers, !stream->whole.empty());
  }

  void respondStream(std::int32_t id, int status, HttpHeaders headers,
                     std::shared_ptr<BodyQueue> body) override {
    Stream* stream = answering(id);
    if (stream == nullptr) return body->peerGone();
    const bool headOnly = stream->request.method == "HEAD";
    enter(*stream, headOnly ? Stream::State::Sending : Stream::State::Streaming);
    if (headOnly) {
      body->peerGone();
    } else {
      stream->body = std::move(body);
    }
    submit(id, status, headers, !headOnly);
  }

  void bodyReady(std::int32_t id) override {
    if (find(id) == nullptr || isClosed()) return;
    nghttp2_session_resume_data(session_, id);
    flush();
  }

  void upgrade(std::int32_t id, HttpHeaders,
               std::function<void(std::shared_ptr<RawSocket>)>) override {
    respond(id, {.status = 400, .body = "HTTP/2 connections cannot be upgraded"});
  }

  void drain() override {
    nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE,
                          nghttp2_session_get_last_proc_stream_id(session_), NGHTTP2_NO_ERROR,
                          nullptr, 0);
    flush();
  }

  void shutDown() override {
    nghttp2_session_terminate_session(session_, NGHTTP2_NO_ERROR);
    closeAfterFlush();
  }

 private:
  Stream* find(std::int32_t id) {
    const auto it = streams_.find(id);
    return it != streams_.end() ? &it->second : nullptr;
  }

  Stream* answering(std::int32_t id) {
    Stream* stream = find(id);
    if (stream == nullptr || isClosed() || std::exchange(stream->answered, true)) return nullptr;
    return stream;
  }

  void opened() override;

  void received(std::string_view bytes) override {
    frames_.scan(bytes, [this](const Http2FrameScan::Head& frame) {
      if (!welcome(frame)) floods_ = true;
    });
    if (floods_) {
      nghttp2_session_terminate_session(session_, NGHTTP2_ENHANCE_YOUR_CALM);
      return closeAfterFlush();
    }
    const ssize_t used = nghttp2_session_mem_recv(
        session_, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    if (used < 0) return close();
    if (nghttp2_session_want_read(session_) == 0) closeAfterFlush();
  }

  void produce(std::string& out) override {
    output_ = &out;
    while (out.size() < kOutputPiece) {
      const std::uint8_t* data = nullptr;
      const ssize_t size = nghttp2_session_mem_send(session_, &data);
      if (size < 0) return close();
      if (size == 0) return;
      out.append(reinterpret_cast<const char*>(data), static_cast<std::size_t>(size));
    }
  }

  void lost() override {
    for (auto& [id, stream] : streams_) {
      if (stream.body) stream.body->peerGone();
    }
    streams_.clear();
    count_ = {};
    receiving_ = unsent_ = 0;
  }

  // The counts tell the connection's activity without a look at all streams.
  std::size_t& count(Stream::State state) { return count_[static_cast<std::size_t>(state)]; }
  void enter(Stream& stream, Stream::State state) {
    if (stream.state == state) return;
    if (!stream.handled()) receiving_ -= stream.headerBytes + stream.bodyBytes;
    --count(stream.state);
    ++count(state);
    stream.state = state;
  }
  // Notes more memory for a request. Returns false if the request was refused.
  bool grow(std::int32_t id, Stream& stream, std::size_t bytes);
  void refuse(std::int32_t id, Stream& stream, ServerResponse response);

  bool wantsInput() const override {
    return !isSending() || nghttp2_session_get_outbound_queue_size(session_) < kMaxOutbound;
  }
  std::size_t unproduced() const override { return unsent_; }
  void appraise() override;
  void tookTooLong(ServerTime time) override;
  ServerTime deadlineOf(const Stream& stream) const {
    const HttpServerOptions& options = server().options();
    const std::chrono::seconds grown(stream.bodyBytes >> 10);
    return stream.begun + (stream.headed ? options.bodyTime + grown : options.headTime);
  }

  void submit(std::int32_t id, int status, const HttpHeaders& headers, bool hasBody);
  void onBegin(const nghttp2_frame& frame);
  bool welcome(const Http2FrameScan::Head& frame);
  int onHeader(std::int32_t id, std::string_view name, std::string_view value);
  int onData(std::int32_t id, std::string_view data);
  void onFrame(const nghttp2_frame& frame);
  void onSent(const nghttp2_frame& frame);
  void onClose(std::int32_t id);
  ssize_t onWantBody(std::int32_t id, std::size_t most, std::uint32_t& flags);
  int onSendBody(std::int32_t id, std::string_view frameHead, std::size_t bytes);
  static nghttp2_session_callbacks* callbacks();

  nghttp2_session* session_ = nullptr;
  std::string* output_ = nullptr;  // produce()'s, to which bodies are copied directly
  std::unordered_map<std::int32_t, Stream> streams_;
  std::array<std::size_t, 4> count_{};  // of streams by state
  std::size_t receiving_ = 0;           // bytes of unfinished requests
  std::size_t unsent_ = 0;              // bytes of whole answers
  TokenBucket idleFrames_{kIdleFrames}, cheapFrames_{kCheapFrames};
  ServerTime changed_ = now();    // when a stream last began, ended or sent
  ServerTime lookAt_ = changed_;  // earliest deadline of an unfinished request
  Http2FrameScan frames_;
  bool answeredOne_ = false, floods_ = false;
};

Http2Session& self(void* user) { return *static_cast<Http2Session*>(user); }

void Http2Session::opened() {
  nghttp2_session_server_new(&session_, callbacks(), this);
  const HttpServerOptions& options = server().options();
  const std::array<nghttp2_settings_entry, 3> settings = {{
      {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, options.maxConcurrentStreams},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kStreamWindow},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, static_cast<std::uint32_t>(options.maxHeaderBytes)},
  }};
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings.data(), settings.size());
  nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, kConnectionWindow);
}

void Http2Session::submit(std::int32_t id, int status, const HttpHeaders& headers, bool hasBody) {
  const std::string code = std::to_string(status);
  Http2Fields fields;
  fields.start(headers, 1);
  fields.add(":status", code);
  for (const HttpHeader& header : headers) fields.addHeader(header);
  nghttp2_data_provider provider{};
  provider.read_callback = [](nghttp2_session*, std::int32_t stream, std::uint8_t*,
                              std::size_t size, std::uint32_t* flags, nghttp2_data_source*,
                              void* user) -> ssize_t {
    return self(user).onWantBody(stream, size, *flags);
  };
  nghttp2_submit_response(session_, id, fields.data(), fields.size(),
                          hasBody ? &provider : nullptr);
  flush();
}

ssize_t Http2Session::onWantBody(std::int32_t id, std::size_t most, std::uint32_t& flags) {
  const Stream* stream = find(id);
  if (stream == nullptr) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  flags |= NGHTTP2_DATA_FLAG_NO_COPY;
  if (!stream->body) {
    const std::size_t rest = stream->whole.size() - stream->sent;
    if (rest <= most) flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(std::min(rest, most));
  }
  const BodyQueue::Offer offer = stream->body->offer(most);
  if (offer.state == BodyQueue::State::Aborted) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  if (offer.state == BodyQueue::State::Ended) flags |= NGHTTP2_DATA_FLAG_EOF;
  if (offer.bytes == 0 && offer.state == BodyQueue::State::Open) return NGHTTP2_ERR_DEFERRED;
  return static_cast<ssize_t>(offer.bytes);
}

// Called right after onWantBody(), with the size that it returned.
int Http2Session::onSendBody(std::int32_t id, std::string_view frameHead, std::size_t bytes) {
  Stream* stream = find(id);
  if (stream == nullptr) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  output_->append(frameHead);
  if (stream->body) {
    stream->body->take(bytes, *output_);
  } else {
    output_->append(stream->whole, stream->sent, bytes);
    stream->sent += bytes;
    unsent_ -= bytes;
    changed_ = now();
    if (stream->sent == stream->whole.size()) {
      stream->whole = std::string();
      stream->sent = 0;
    }
  }
  return output_->size() < kOutputPiece ? 0 : NGHTTP2_ERR_PAUSE;
}

void Http2Session::appraise() {
  using State = Stream::State;
  const HttpServerOptions& options = server().options();
  hold(receiving_);
  ServerTime deadline = ServerTime::max();
  if (count(State::Receiving) != 0) deadline = lookAt_;
  if (count(State::Streaming) != 0) return standing().set(Stage::Streaming, changed_, deadline);
  const bool sending = count(State::Sending) != 0 || isSending();
  const ServerTime since = std::max(changed_, lastSent());
  if (sending) deadline = std::min(deadline, since + options.sendTime);
  if (count(State::Working) != 0) return standing().set(Stage::Working, changed_, deadline);
  if (sending) return standing().set(Stage::Sending, since, deadline);
  if (streams_.empty()) {
    deadline = changed_ + (answeredOne_ ? options.idleTime : options.headTime);
  }
  if (answeredOne_) return standing().set(Stage::Idle, changed_, deadline);
  standing().set(Stage::Fresh, cameAt(), deadline);
}

void Http2Session::tookTooLong(ServerTime time) {
  const bool sending =
      (count(Stream::State::Sending) != 0 || isSending()) && count(Stream::State::Streaming) == 0;
  if (sending && std::max(changed_, lastSent()) + server().options().sendTime <= time) {
    server().countTimeout();
    return close();
  }
  if (streams_.empty()) {
    server().countTimeout();
    return shutDown();
  }
  lookAt_ = ServerTime::max();
  std::vector<std::int32_t> late;
  for (const auto& [id, stream] : streams_) {
    if (stream.handled()) continue;
    const ServerTime deadline = deadlineOf(stream);
    deadline <= time ? late.push_back(id) : void(lookAt_ = std::min(lookAt_, deadline));
  }
  for (const std::int32_t id : late) {
    server().countTimeout();
    if (Stream* stream = find(id)) refuse(id, *stream, {.status = 408});
  }
}

void Http2Session::refuse(std::int32_t id, Stream& stream, ServerResponse response) {
  enter(stream, Stream::State::Working);
  const std::string method = stream.request.method;
  stream.request = {.method = method, .target = {}, .headers = {}, .body = {}, .peer = {}};
  respond(id, std::move(response));
}

bool Http2Session::grow(std::int32_t id, Stream& stream, std::size_t bytes) {
  receiving_ += bytes;
  if (hold(receiving_)) return true;
  refuse(id, stream, {.status = 503, .headers = {{"retry-after", "1"}}});
  return false;
}

// Returns false for frames that are useless and too many.
bool Http2Session::welcome(const Http2FrameScan::Head& frame) {
  switch (frame.type) {
    case NGHTTP2_HEADERS:
    case NGHTTP2_CONTINUATION:
    case NGHTTP2_RST_STREAM:
      return true;  // nghttp2 limits these
    case NGHTTP2_DATA: {
      if (frame.size == 0 && (frame.flags & NGHTTP2_FLAG_END_STREAM) == 0) {
        return idleFrames_.tryAccept();
      }
      const Stream* stream = find(frame.stream);
      return (stream != nullptr && !stream->handled()) || cheapFrames_.tryAccept();
    }
    case NGHTTP2_WINDOW_UPDATE:
      return cheapFrames_.tryAccept();
    default:
      return idleFrames_.tryAccept();
  }
}

void Http2Session::onBegin(const nghttp2_frame& frame) {
  if (frame.hd.type != NGHTTP2_HEADERS || frame.headers.cat != NGHTTP2_HCAT_REQUEST) return;
  const auto [it, isNew] = streams_.try_emplace(frame.hd.stream_id);
  if (!isNew) return;
  it->second.begun = changed_ = now();
  const ServerTime soon =
      changed_ + std::min(server().options().headTime, server().options().bodyTime);
  lookAt_ = count(Stream::State::Receiving)++ == 0 ? soon : std::min(lookAt_, soon);
}

int Http2Session::onHeader(std::int32_t id, std::string_view name, std::string_view value) {
  Stream* stream = find(id);
  if (stream == nullptr || stream->handled()) return 0;
  const std::size_t bytes = name.size() + value.size() + kHeaderOverhead;
  stream->headerBytes += bytes;
  if (!grow(id, *stream, bytes)) return 0;
  if (stream->headerBytes > server().options().maxHeaderBytes) {
    refuse(id, *stream, {.status = 431});
    return 0;
  }
  if (stream->headed) return 0;  // trailers: they were not seen when the request was admitted
  if (name == ":method") {
    stream->request.method = value;
  } else if (name == ":path") {
    stream->request.target = value;
  } else if (name == ":authority") {
    stream->request.headers.add("host", std::string(value));
  } else if (!name.starts_with(':')) {
    stream->request.headers.add(std::string(name), std::string(value));
  }
  return 0;
}

int Http2Session::onData(std::int32_t id, std::string_view data) {
  Stream* stream = find(id);
  if (stream == nullptr || stream->handled()) return 0;
  if (data.size() > server().options().maxBodyBytes - stream->request.body.size()) {
    refuse(id, *stream, {.status = 413});
    return 0;
  }
  if (!stream->screened && stream->request.body.size() + data.size() > kUnscreenedBody) {
    stream->screened = true;
    if (auto refusal = screen(stream->request)) {
      refuse(id, *stream, *std::move(refusal));
      return 0;
    }
  }
  stream->bodyBytes += data.size();
  if (!grow(id, *stream, data.size())) return 0;
  stream->request.body.append(data);
  return 0;
}

void Http2Session::onFrame(const nghttp2_frame& frame) {
  if (frame.hd.type != NGHTTP2_HEADERS && frame.hd.type != NGHTTP2_DATA) return;
  const std::int32_t id = frame.hd.stream_id;
  Stream* stream = find(id);
  if (stream == nullptr) return;
  if ((frame.hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) stream->ended = true;
  if (stream->handled()) return;
  if (stream->ended) {
    enter(*stream, Stream::State::Working);
    answeredOne_ = true;
    changed_ = now();
    stream->request.httpVersion = 2;
    const std::string method = stream->request.method;  // needed for the answer
    ServerRequest request = std::move(stream->request);
    stream->request.method = method;
    handle(id, std::move(request));
    return;
  }
  if (frame.hd.type != NGHTTP2_HEADERS) return;
  stream->headed = true;
  if (server().options().maxBodyBytes == 0) return refuse(id, *stream, {.status = 413});
  if (equalIgnoringCase(stream->request.headers.get("expect"), "100-continue")) {
    Http2Fields fields;
    fields.add(":status", "100");
    nghttp2_submit_headers(session_, NGHTTP2_FLAG_NONE, id, nullptr, fields.data(), fields.size(),
                           nullptr);
  }
}

// After the answer, the rest of a request is not needed.
void Http2Session::onSent(const nghttp2_frame& frame) {
  if ((frame.hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) return;
  if (frame.hd.type != NGHTTP2_HEADERS && frame.hd.type != NGHTTP2_DATA) return;
  const Stream* stream = find(frame.hd.stream_id);
  if (stream != nullptr && !stream->ended) {
    nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, frame.hd.stream_id, NGHTTP2_NO_ERROR);
  }
}

void Http2Session::onClose(std::int32_t id) {
  const auto it = streams_.find(id);
  if (it == streams_.end()) return;
  Stream& stream = it->second;
  const auto body = std::move(stream.body);
  unsent_ -= stream.whole.size() - stream.sent;
  enter(stream, Stream::State::Sending);
  --count(Stream::State::Sending);
  changed_ = now();
  streams_.erase(it);
  if (body) body->peerGone();
}

nghttp2_session_callbacks* Http2Session::callbacks() {
  static nghttp2_session_callbacks* const shared = [] {
    nghttp2_session_callbacks* made = nullptr;
    nghttp2_session_callbacks_new(&made);
    nghttp2_session_callbacks_set_on_begin_headers_callback(
        made, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
          self(user).onBegin(*frame);
          return 0;
        });
    nghttp2_session_callbacks_set_on_frame_send_callback(
        made, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
          self(user).onSent(*frame);
          return 0;
        });
    nghttp2_session_callbacks_set_on_header_callback(
        made, [](nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                 std::size_t nameSize, const std::uint8_t* value, std::size_t valueSize,
                 std::uint8_t, void* user) {
          return self(user).onHeader(frame->hd.stream_id, view(name, nameSize),
                                     view(value, valueSize));
        });
    nghttp2_session_callbacks_set_on_frame_recv_callback(
        made, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
          self(user).onFrame(*frame);
          return 0;
        });
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
        made, [](nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* data,
                 std::size_t size, void* user) { return self(user).onData(id, view(data, size)); });
    nghttp2_session_callbacks_set_send_data_callback(
        made, [](nghttp2_session*, nghttp2_frame* frame, const std::uint8_t* head,
                 std::size_t bytes, nghttp2_data_source*, void* user) {
          return self(user).onSendBody(frame->hd.stream_id, view(head, Http2FrameScan::kHeadBytes),
                                       bytes);
        });
    nghttp2_session_callbacks_set_on_stream_close_callback(
        made, [](nghttp2_session*, std::int32_t id, std::uint32_t, void* user) {
          self(user).onClose(id);
          return 0;
        });
    return made;
  }();
  return shared;
}

}  // namespace

std::shared_ptr<ServerSession> http2Session(std::shared_ptr<ServerState> server,
                                            std::unique_ptr<ServerSocket> socket,
                                            std::optional<PeerIdentity> peer) {
  return std::make_shared<Http2Session>(std::move(server), std::move(socket), std::move(peer));
}

}  // namespace kube::detail
