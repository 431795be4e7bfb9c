#include "test/attack/attacks.h"

#include <utility>

namespace kube::attack {

namespace {

constexpr std::size_t kMany = 1500;
constexpr std::size_t kSome = 200;
constexpr std::size_t kFew = 4;

const std::string kGet = "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n";
const std::string kChunked =
    "POST /healthz HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";

// Makes an HTTP/2 frame: length, type, flags, stream, content.
std::string frame(int type, int flags, unsigned stream, const std::string& content) {
  std::string text;
  for (const int shift : {16, 8, 0}) text += static_cast<char>(content.size() >> shift & 0xff);
  text += static_cast<char>(type);
  text += static_cast<char>(flags);
  for (const int shift : {24, 16, 8, 0}) text += static_cast<char>(stream >> shift & 0xff);
  return text + content;
}

enum Type { Data, Headers, Priority, Reset, Settings, Push, Ping, GoAway, Window, Continuation };
constexpr int kEndStream = 1, kEndHeaders = 4;

std::string literal(const std::string& name, const std::string& value) {
  const auto text = [](const std::string& of) { return static_cast<char>(of.size()) + of; };
  return std::string(1, '\0') + text(name) + text(value);
}

std::string head(const std::string& method, const std::string& path) {
  return literal(":method", method) + literal(":path", path) + literal(":scheme", "https") +
         literal(":authority", "a");
}

const std::string kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(Settings, 0, 0, "");
const std::string kNoWindow =
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(Settings, 0, 0, std::string("\0\4\0\0\0\0", 6));

template <class Make>
std::string streams(unsigned count, Make make) {
  std::string text;
  for (unsigned i = 0; i < count; ++i) text += make(2 * i + 1);
  return text;
}

std::vector<Attack> plain() {
  const std::string x(4000, 'x');
  return {
      {"chunk extension", {.connections = kFew, .first = kChunked + "5;", .again = x}},
      {"chunk extensions", {.connections = kFew, .first = kChunked, .again = "1;a=b\r\nx\r\n"}},
      {"trailer", {.connections = kFew, .first = kChunked + "0\r\nX: ", .again = x}},
      {"trailers", {.connections = kFew, .first = kChunked + "0\r\n", .again = "A: b\r\n"}},
      {"headers", {.connections = kFew, .first = "GET / HTTP/1.1\r\n", .again = "A: b\r\n"}},
      {"target", {.connections = kFew, .first = "GET /", .again = x}},
      {"idle connections", {.connections = kMany}},
      {"half heads",
       {.connections = kMany, .first = "GET / HTTP/1.1\r\nX: " + std::string(15'000, 'x')}},
      {"heads of many fields",
       {.connections = kMany,
        .first = "GET / HTTP/1.1\r\n" +
                 [] {
                   std::string fields;
                   for (int i = 0; i < 500; ++i) fields += "A: b\r\n";
                   return fields;
                 }()}},
      {"half bodies",
       {.connections = kMany,
        .first = "POST /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 16000000\r\n\r\n" +
                 std::string(60'000, 'x')}},
      {"bodies",
       {.connections = kSome,
        .first = "POST /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 160000000\r\n\r\n",
        .again = x}},
      {"keep-alive", {.connections = kMany, .first = kGet}},
      {"slow readers", {.connections = kMany, .first = kGet, .again = kGet, .reads = false}},
      {"requests", {.connections = kSome, .first = kGet, .again = kGet}},
      {"probes",
       {.connections = kSome,
        .first = "GET /readyz HTTP/1.1\r\nHost: a\r\n\r\n",
        .again = "GET /readyz HTTP/1.1\r\nHost: a\r\n\r\n"}},
      {"garbage", {.connections = kSome, .first = x, .again = x}},
  };
}

std::vector<Attack> secure() {
  const std::string get = head("GET", "/metrics"), post = head("POST", "/healthz");
  const std::string body(16'000, 'x');
  std::vector<Attack> all = {
      {"silence before the handshake", {.connections = kMany}},
      {"half handshakes",
       {.connections = kMany, .first = std::string("\x16\x03\x01\x10\x00\x01\x00\x0f\xfc", 9)}},
  };
  const std::vector<Attack> inside = {
      {"idle connections", {.connections = kMany, .first = kPreface}},
      {"requests without a window",
       {.connections = kMany,
        .first = kNoWindow + streams(100,
                                     [&](unsigned id) {
                                       return frame(Headers, kEndHeaders | kEndStream, id, get);
                                     }),
        .reads = false}},
      {"unfinished bodies",
       {.connections = kSome,
        .first = kPreface + streams(250,
                                    [&](unsigned id) {
                                      return frame(Headers, kEndHeaders, id, post) +
                                             frame(Data, 0, id, body);
                                    })}},
      {"unfinished heads",
       {.connections = kMany,
        .first = kPreface + frame(Headers, 0, 1, get + literal("x", std::string(100, 'x'))) +
                 frame(Continuation, 0, 1, literal("y", std::string(100, 'y')))}},
      {"continuations",
       {.connections = kFew,
        .first = kPreface + frame(Headers, 0, 1, get),
        .again = frame(Continuation, 0, 1, literal("y", std::string(100, 'y')))}},
      {"empty data",
       {.connections = kFew,
        .first = kPreface + frame(Headers, kEndHeaders, 1, post),
        .again = frame(Data, 0, 1, "")}},
      {"priorities",
       {.connections = kFew,
        .first = kPreface,
        .again = frame(Priority, 0, 1, std::string(5, '\0'))}},
      {"pings",
       {.connections = kFew,
        .first = kPreface,
        .again = frame(Ping, 0, 0, std::string(8, '\0')),
        .reads = false}},
      {"settings", {.connections = kFew, .first = kPreface, .again = frame(Settings, 0, 0, "")}},
      {"windows",
       {.connections = kFew,
        .first = kPreface,
        .again = frame(Window, 0, 0, std::string("\0\0\0\1", 4))}},
      {"unknown frames", {.connections = kFew, .first = kPreface, .again = frame(0x77, 0, 0, "")}},
      {"resets",
       {.connections = kFew,
        .first = kPreface + streams(20'000,
                                    [&](unsigned id) {
                                      return frame(Headers, kEndHeaders | kEndStream, id, get) +
                                             frame(Reset, 0, id, std::string(4, '\0'));
                                    })}},
  };
  for (Attack attack : inside) {
    attack.name = "h2: " + attack.name;
    attack.swarm.tls = true;
    attack.swarm.protocol = "h2";
    all.push_back(std::move(attack));
  }
  for (Attack& attack : all) attack.name = "TLS: " + attack.name;
  return all;
}

}  // namespace

std::vector<Attack> attacks(bool tls) { return tls ? secure() : plain(); }

}  // namespace kube::attack
