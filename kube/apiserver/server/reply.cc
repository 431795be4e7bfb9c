#include "kube/apiserver/server/reply.h"

#include <zlib.h>

#include <memory>
#include <utility>

#include "kube/base/error.h"
#include "kube/codec/deserializer.h"

namespace kube::apiserver {

namespace {

constexpr std::size_t kWorthCompressing = 128 << 10;

class Gzip {
 public:
  Gzip() {
    constexpr int kGzip = 16;
    if (deflateInit2(&stream_, Z_BEST_SPEED, Z_DEFLATED, MAX_WBITS + kGzip, MAX_MEM_LEVEL,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
      throw Error("gzip: no memory");
    }
  }
  ~Gzip() { deflateEnd(&stream_); }
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;

  /// Appends the compressed form of `text` to `out`; all that is left if this is the last piece.
  void add(std::string_view text, bool last, std::string& out) {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream_.avail_in = static_cast<uInt>(text.size());
    std::size_t size = out.size();
    do {
      out.resize(size + kStep);
      stream_.next_out = reinterpret_cast<Bytef*>(out.data() + size);
      stream_.avail_out = kStep;
      deflate(&stream_, last ? Z_FINISH : Z_NO_FLUSH);
      size += kStep - stream_.avail_out;
    } while (stream_.avail_out == 0);
    out.resize(size);
  }

 private:
  static constexpr std::size_t kStep = 32 << 10;
  z_stream stream_{};
};

BodySource gzipped(BodySource source) {
  return [source = std::move(source), gzip = std::make_shared<Gzip>(),
          text = std::string()](std::string& out) mutable {
    for (;;) {
      text.clear();
      const BodyState state = source(text);
      gzip->add(text, state == BodyState::End, out);
      // The compressor may keep a whole piece; returning nothing would mean waiting for a wake-up.
      if (!out.empty() || (state != BodyState::More && state != BodyState::Ahead)) return state;
    }
  };
}

// A header's value is one line of printable ASCII.
std::string quoted(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) >= 0x20 && static_cast<unsigned char>(c) < 0x7f) out += c;
  }
  return out;
}

}  // namespace

void Reply::body(int code, std::string mediaType, std::string body) const {
  ServerResponse response{.status = code};
  response.headers.add("Content-Type", std::move(mediaType));
  response.headers.add("Cache-Control", "no-cache, private");
  send(std::move(response), std::move(body));
}

void Reply::stream(int code, std::string mediaType, BodySource source) const {
  std::string first;
  const BodyState state = source(first);
  if (state == BodyState::End) return body(code, std::move(mediaType), std::move(first));
  BodySource all = [first = std::move(first), state,
                    source = std::move(source)](std::string& out) mutable {
    if (first.empty()) return source(out);
    out = std::exchange(first, {});
    return state;
  };
  HttpHeaders headers{{"Content-Type", std::move(mediaType)},
                      {"Cache-Control", "no-cache, private"}};
  addWarnings(headers);
  if (takesGzip()) {
    all = gzipped(std::move(all));
    headers.add("Content-Encoding", "gzip");
    headers.add("Vary", "Accept-Encoding");
  }
  responder_.stream(code, std::move(headers), std::move(all));
}

void Reply::document(const std::string& mediaType, const std::string& body,
                     const std::string& etag) const {
  ServerResponse response;
  response.headers.add("Content-Type", mediaType);
  response.headers.add("ETag", "\"" + etag + "\"");
  response.headers.add("Vary", "Accept");
  if (request_.http.headers.get("If-None-Match") == "\"" + etag + "\"") {
    response.status = 304;
    return responder_.send(std::move(response));
  }
  send(std::move(response), body);
}

void Reply::addWarnings(HttpHeaders& headers) const {
  for (const std::string& warning : warnings) {
    headers.add("Warning", "299 - \"" + quoted(warning) + "\"");
  }
}

bool Reply::takesGzip() const {
  return request_.http.headers.get("Accept-Encoding").find("gzip") != std::string_view::npos;
}

void Reply::send(ServerResponse response, std::string body) const {
  addWarnings(response.headers);
  if (body.size() >= kWorthCompressing && takesGzip()) {
    Gzip().add(body, true, response.body);
    response.headers.add("Content-Encoding", "gzip");
    response.headers.add("Vary", "Accept-Encoding");
  } else {
    response.body = std::move(body);
  }
  responder_.send(std::move(response));
}

void Reply::object(int code, const AnyObject& object) const {
  const testing::ResponseForm form = request_.form({});
  body(code, std::string(form.mediaType()), encodeObject(object, form.format, form.pretty ? 2 : 0));
}

void Reply::status(const metav1::Status& status) const {
  ServerResponse response{.status = status.code == 0 ? 500 : status.code};
  // A client that accepts none of the forms gets JSON.
  testing::ResponseForm form;
  try {
    form = request_.form({});
  } catch (const Error&) {
  }
  response.headers.add("Content-Type", std::string(form.mediaType()));
  if (status.details && status.details->retryAfterSeconds > 0) {
    response.headers.add("Retry-After", std::to_string(status.details->retryAfterSeconds));
  }
  response.body = encodeObject(AnyObject(status), form.format);
  responder_.send(std::move(response));
}

}  // namespace kube::apiserver
