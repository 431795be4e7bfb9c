#include "kube/testing/reply.h"

#include <zlib.h>

#include "kube/codec/deserializer.h"

namespace kube::testing {

namespace {

constexpr std::size_t kWorthCompressing = 128 << 10;

// Empty where it fails.
std::string gzip(const std::string& body) {
  z_stream stream{};
  constexpr int kGzip = 16;
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, MAX_WBITS + kGzip, MAX_MEM_LEVEL,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    return {};
  }
  std::string out(deflateBound(&stream, body.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(body.data()));
  stream.avail_in = static_cast<uInt>(body.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const bool done = deflate(&stream, Z_FINISH) == Z_STREAM_END;
  out.resize(done ? stream.total_out : 0);
  deflateEnd(&stream);
  return out;
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

void Reply::send(ServerResponse response, std::string body) const {
  for (const std::string& warning : warnings) {
    response.headers.add("Warning", "299 - \"" + quoted(warning) + "\"");
  }
  if (body.size() >= kWorthCompressing &&
      request_.http.headers.get("Accept-Encoding").find("gzip") != std::string_view::npos) {
    if (std::string packed = gzip(body); !packed.empty()) {
      body = std::move(packed);
      response.headers.add("Content-Encoding", "gzip");
      response.headers.add("Vary", "Accept-Encoding");
    }
  }
  response.body = std::move(body);
  responder_.send(std::move(response));
}

void Reply::object(int code, const AnyObject& object) const {
  const ResponseForm form = request_.form({});
  body(code, std::string(form.mediaType()), encodeObject(object, form.format, form.pretty ? 2 : 0));
}

void Reply::status(const metav1::Status& status) const {
  ServerResponse response{.status = status.code == 0 ? 500 : status.code};
  // A client that asks for what there is not gets JSON.
  ResponseForm form;
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

}  // namespace kube::testing
