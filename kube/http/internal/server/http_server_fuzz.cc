// Feeds arbitrary bytes to sessions of the HTTP server, HTTP/1.1 and HTTP/2, in pieces of any size.
// Nothing crashes, no request exceeds the limits (with its trailers and chunk extensions), all
// memory is returned, and a session ends when its client has gone. The first byte selects the
// protocol (bit 0), whether a client's preface and settings come first (bit 1), whether the head of
// a request with chunks does (bit 2), and the size of the pieces.
#include <sys/socket.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "kube/http/internal/server/http_session.h"

namespace http_server_fuzz {

using namespace kube;
namespace asio = boost::asio;

constexpr std::size_t kMostHeader = 4096, kMostBody = 16 << 10;

void answer(const ServerRequest& request, const Responder& responder) {
  std::size_t head = request.method.size() + request.target.size();
  for (const HttpHeader& header : request.headers) head += header.name.size() + header.value.size();
  if (head > kMostHeader || request.body.size() > kMostBody) std::abort();
  if (request.target.starts_with("/stream")) {
    responder.stream(200, {{"Content-Type", "text/plain"}}, [left = 3](std::string& out) mutable {
      out.assign(1000, 'x');
      return left-- > 0 ? BodyState::More : BodyState::End;
    });
    return;
  }
  if (request.target.starts_with("/break")) {
    responder.stream(200, {}, [](std::string&) { return BodyState::Break; });
    return;
  }
  if (request.target.starts_with("/up")) {
    responder.upgrade({{"Upgrade", "raw"}}, [](RawStream raw) {
      raw.read([raw](std::string_view piece) {
        piece.empty() ? raw.close() : raw.write(String(piece));
      });
    });
    return;
  }
  responder.send(
      {.headers = {{"X-Method", request.method}}, .body = request.target + request.body});
}

class Client {
 public:
  explicit Client(int fd) : fd_(fd) {}
  ~Client() { close(fd_); }

  // Sends as much as the socket takes.
  std::size_t say(std::string_view text) const {
    const ssize_t count = send(fd_, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    return count > 0 ? static_cast<std::size_t>(count) : 0;
  }
  void hear() const {
    char buffer[4096];
    while (recv(fd_, buffer, sizeof buffer, MSG_DONTWAIT) > 0) {
    }
  }
  void leave() const { shutdown(fd_, SHUT_WR); }

 private:
  const int fd_;
};

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto server = std::make_shared<kube::detail::ServerState>(
      HttpServerOptions{
          .maxHeaderBytes = kMostHeader, .maxBodyBytes = kMostBody, .maxConcurrentStreams = 10},
      answer);
  if (size == 0 || size > 64 << 10) return 0;
  const std::uint8_t choice = data[0];
  std::string text;
  const bool http2 = (choice & 1) != 0;
  if (http2 && (choice & 2) != 0) {
    text.append("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").append(std::string("\0\0\0\4\0\0\0\0\0", 9));
  }
  if (!http2 && (choice & 4) != 0) {
    text.append("POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
  }
  text.append(reinterpret_cast<const char*>(data + 1), size - 1);

  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) std::abort();
  const Client client(pair[0]);
  asio::io_context io;
  asio::ip::tcp::socket socket(io);
  socket.assign(asio::ip::tcp::v4(), pair[1]);
  auto accepted = std::make_unique<kube::detail::ServerSocket>(std::move(socket));
  auto session = http2 ? kube::detail::http2Session(server, std::move(accepted), std::nullopt)
                       : kube::detail::http1Session(server, std::move(accepted), std::nullopt);
  session->run();
  session.reset();
  const std::size_t piece = std::size_t{1} << (choice >> 4);
  std::string_view rest = text;
  for (int idle = 0; !rest.empty() && idle < 3;) {
    const std::size_t said = client.say(rest.substr(0, piece));
    rest.remove_prefix(said);
    idle = said == 0 ? idle + 1 : 0;
    io.restart();
    io.poll();
    client.hear();
  }
  client.leave();
  // The session of this client is the only one left, and has to end.
  for (int turns = 0;; ++turns) {
    if (turns == 10'000) std::abort();
    io.restart();
    io.poll();
    client.hear();
    if (io.stopped()) break;
  }
  return 0;
}

}  // namespace http_server_fuzz
