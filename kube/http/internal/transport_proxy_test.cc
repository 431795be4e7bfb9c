// Calls through proxies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <future>
#include <thread>

#include "kube/base/error.h"
#include "kube/http/http_server.h"
#include "kube/http/internal/raw_server_testing.h"
#include "kube/http/internal/streams/server_websocket.h"
#include "kube/http/internal/transport_ca_testing.h"
#include "kube/http/transport.h"
#include "kube/http/websocket.h"
#include "kube/testing/test_ca.h"

namespace kube {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// Carries bytes both ways until either side closes.
void tunnel(RawConnection& client, int port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  ASSERT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  RawConnection server(fd);
  std::thread back([&] {
    for (std::string bytes = server.readSome(); !bytes.empty(); bytes = server.readSome()) {
      if (!client.write(bytes)) break;
    }
    shutdown(client.fd(), SHUT_RDWR);
  });
  for (std::string bytes = client.readSome(); !bytes.empty(); bytes = client.readSome()) {
    if (!server.write(bytes)) break;
  }
  shutdown(fd, SHUT_RDWR);
  back.join();
}

class TransportProxyTest : public ::testing::Test {
 protected:
  TransportProxyTest()
      : server_({.tls = ServerTls{ca().server({"apiserver.test", "127.0.0.1"})}},
                [](ServerRequest request, Responder responder) {
                  responder.send({.body = "through " + request.target});
                }) {}

  // A URL whose host only the proxy can resolve.
  std::string url() const {
    return "https://apiserver.test:" + std::to_string(server_.port()) + "/x";
  }
  static Transport through(const std::string& proxy) {
    return Transport({.tls = {.caData = ca().certPem()}, .proxy = proxy});
  }

  HttpServer server_;
};

TEST_F(TransportProxyTest, HttpsGoesThroughAnHttpProxyByConnect) {
  Guarded<std::string> asked;
  RawServer proxy([&](RawConnection& connection, int) {
    asked = connection.readHead();
    connection.write("HTTP/1.1 200 Connection established\r\nVia: test\r\n\r\n");
    tunnel(connection, server_.port());
  });
  const Transport transport = through("http://user:pass@" + proxy.address());
  EXPECT_EQ(transport.send({.url = url()}).body, "through /x");
  EXPECT_EQ(transport.send({.url = url()}).httpVersion, 2);
  const std::string host = "apiserver.test:" + std::to_string(server_.port());
  EXPECT_THAT(asked.get(), AllOf(StartsWith("CONNECT " + host + " HTTP/1.1\r\n"),
                                 HasSubstr("Host: " + host + "\r\n"),
                                 HasSubstr("Proxy-Authorization: Basic dXNlcjpwYXNz\r\n")));
  EXPECT_EQ(proxy.accepted(), 1);
}

// Passes the first piece of data to the test.
class Heard final : public WebSocketListener {
 public:
  std::size_t onData(std::string_view piece, bool, bool) override {
    if (!std::exchange(told_, true)) heard.set_value(std::string(piece));
    return piece.size();
  }
  void onClosed(WebSocketEnd) noexcept override {}

  std::promise<std::string> heard;

 private:
  bool told_ = false;
};

TEST_F(TransportProxyTest, WebSocketsGoThroughAnHttpProxyByConnectWithTlsOrWithout) {
  for (const bool tls : {true, false}) {
    HttpServer server(
        {.tls = tls ? std::optional(ServerTls{ca().server({"apiserver.test"})}) : std::nullopt},
        [](const ServerRequest& request, const Responder& responder) {
          using detail::ServerWebSocket;
          ServerWebSocket::accept(request, responder, "x", [](const auto& socket) {
            socket->start(
                {.onData = [socket](std::string_view piece, bool, bool) { socket->sendNow(piece); },
                 .onClosed = [] {}});
          });
        });
    Guarded<std::string> asked;
    RawServer proxy([&](RawConnection& connection, int) {
      asked = connection.readHead();
      connection.write("HTTP/1.1 200 Connection established\r\n\r\n");
      tunnel(connection, server.port());
    });
    const Transport transport = through("http://" + proxy.address());
    const auto listener = std::make_shared<Heard>();
    const std::string host = "apiserver.test:" + std::to_string(server.port());
    const WebSocket socket =
        WebSocket::open(transport, {.url = (tls ? "https://" : "http://") + host}, {"x"}, listener);
    EXPECT_TRUE(socket.send("hello"));
    EXPECT_EQ(listener->heard.get_future().get(), "hello");
    EXPECT_THAT(asked.get(), StartsWith("CONNECT " + host + " HTTP/1.1\r\n"));
  }
}

TEST_F(TransportProxyTest, HttpsGoesThroughAnHttpsProxyByTlsInTls) {
  RawServer proxy([&](RawConnection& connection, int) {
    const KeyPair own = ca().server({"127.0.0.1"});
    if (!connection.acceptTls(own.certPem, own.keyPem, "http/1.1")) return;
    connection.readHead();
    connection.write("HTTP/1.1 200 OK\r\n\r\n");
    // Carries one direction at a time, since only one thread may use a TLS session. That is enough
    // for HTTP/1.1.
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(server_.port());
    ASSERT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    RawConnection server(fd);
    for (;;) {
      pollfd sockets[] = {{connection.fd(), POLLIN, 0}, {fd, POLLIN, 0}};
      poll(sockets, 2, -1);
      RawConnection& from = (sockets[0].revents & (POLLIN | POLLHUP)) != 0 ? connection : server;
      RawConnection& to = &from == &connection ? server : connection;
      const std::string bytes = from.readSome();
      if (bytes.empty() || !to.write(bytes)) return;
    }
  });
  const Transport transport = through("https://" + proxy.address());
  EXPECT_EQ(transport.send({.url = url()}).body, "through /x");
}

TEST_F(TransportProxyTest, HttpIsGivenToAProxyAsItIs) {
  Guarded<std::string> asked;
  RawServer proxy([&](RawConnection& connection, int) {
    asked = connection.readHead();
    connection.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfrom proxy");
  });
  const Transport transport = through("user:pass@" + proxy.address());
  EXPECT_EQ(transport.send({.url = "http://plain.test/x?y"}).body, "from proxy");
  EXPECT_THAT(asked.get(),
              AllOf(StartsWith("GET http://plain.test/x?y HTTP/1.1\r\nHost: plain.test\r\n"),
                    HasSubstr("Proxy-Authorization: Basic dXNlcjpwYXNz\r\n")));
}

TEST_F(TransportProxyTest, ARefusalOfTheProxyIsTold) {
  RawServer proxy([&](RawConnection& connection, int) {
    connection.readHead();
    connection.write("HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n");
  });
  const Transport transport = through("http://user:secret@" + proxy.address());
  try {
    transport.send({.url = url()});
    FAIL();
  } catch (const TransportError& error) {
    EXPECT_THAT(
        error.what(),
        AllOf(HasSubstr("GET https://apiserver.test"), HasSubstr("proxy http://" + proxy.address()),
              HasSubstr("407 Proxy Authentication Required"), Not(HasSubstr("secret"))));
    EXPECT_FALSE(error.requestSent());
  }
}

TEST_F(TransportProxyTest, ProxiesThatMisbehaveAreErrors) {
  Guarded<std::string> answer;
  RawServer proxy([&](RawConnection& connection, int) {
    connection.readHead();
    connection.write(answer.get());
  });
  const auto error = [&](std::string text) {
    answer = std::move(text);
    return thrown<TransportError>(
        [&] { through("http://" + proxy.address()).send({.url = url()}); });
  };
  EXPECT_THAT(error(""), HasSubstr("closed the connection"));
  EXPECT_THAT(error("garbage\r\n\r\n"), HasSubstr("malformed"));
  EXPECT_THAT(error("HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"),
              HasSubstr("more than its answer"));
  EXPECT_THAT(error(std::string(100'000, 'x')), HasSubstr("without end"));
}

TEST_F(TransportProxyTest, GoesThroughSocks5) {
  Guarded<std::string> greeting, target;
  RawServer proxy([&](RawConnection& connection, int) {
    greeting = connection.readExactly(3);
    connection.write(std::string_view("\5\0", 2));
    target = connection.readExactly(4 + 1 + 14 + 2);
    connection.write(std::string_view("\5\0\0\1\1\2\3\4\0\x50", 10));
    tunnel(connection, server_.port());
  });
  for (const char* scheme : {"socks5://", "socks5h://"}) {
    EXPECT_EQ(through(scheme + proxy.address()).send({.url = url()}).body, "through /x");
    EXPECT_EQ(greeting.get(), std::string_view("\5\1\0", 3));
    // The proxy gets the name, and looks it up.
    EXPECT_EQ(target.get().substr(0, 19), std::string("\5\1\0\3\xe", 5) + "apiserver.test");
    EXPECT_EQ(target.get().substr(19), std::string({static_cast<char>(server_.port() >> 8),
                                                    static_cast<char>(server_.port() & 0xff)}));
  }
}

TEST_F(TransportProxyTest, LogsInToSocks5) {
  Guarded<std::string> greeting, login;
  std::atomic<bool> welcome = true;
  RawServer proxy([&](RawConnection& connection, int) {
    greeting = connection.readExactly(4);
    connection.write(std::string_view("\5\2", 2));
    login = connection.readExactly(3 + 4 + 6);
    connection.write(welcome ? std::string_view("\1\0", 2) : std::string_view("\1\1", 2));
    if (!welcome) return;
    connection.readExactly(4 + 4 + 2);
    connection.write(std::string_view("\5\0\0\1\1\2\3\4\0\x50", 10));
    tunnel(connection, server_.port());
  });
  const std::string byAddress = "https://127.0.0.1:" + std::to_string(server_.port());
  EXPECT_EQ(through("socks5://user:secret@" + proxy.address()).send({.url = byAddress}).status,
            200);
  EXPECT_EQ(greeting.get(), std::string_view("\5\2\0\2", 4));
  EXPECT_EQ(login.get(), "\1\4user\6secret");
  welcome = false;
  EXPECT_THAT(thrown<TransportError>([&] {
                through("socks5://user:secret@" + proxy.address()).send({.url = byAddress});
              }),
              AllOf(HasSubstr("refuses user and password"), Not(HasSubstr("secret"))));
}

TEST_F(TransportProxyTest, ARefusalBySocks5IsTold) {
  RawServer proxy([&](RawConnection& connection, int) {
    connection.readExactly(3);
    connection.write(std::string_view("\5\0", 2));
    connection.readExactly(21);
    connection.write(std::string_view("\5\4\0\1\0\0\0\0\0\0", 10));
  });
  EXPECT_THAT(
      thrown<TransportError>([&] { through("socks5://" + proxy.address()).send({.url = url()}); }),
      AllOf(HasSubstr("proxy socks5://" + proxy.address()), HasSubstr("host unreachable")));
}

TEST_F(TransportProxyTest, TheEnvironmentNamesTheProxy) {
  RawServer proxy([&](RawConnection& connection, int) {
    connection.readHead();
    connection.write("HTTP/1.1 200 OK\r\n\r\n");
    tunnel(connection, server_.port());
  });
  setenv("HTTPS_PROXY", ("http://" + proxy.address()).c_str(), 1);
  const Transport transport({.tls = {.caData = ca().certPem()}});
  unsetenv("HTTPS_PROXY");
  EXPECT_EQ(transport.send({.url = url()}).body, "through /x");
  EXPECT_EQ(proxy.accepted(), 1);
  EXPECT_EQ(transport.send({.url = server_.url()}).status, 200);
  EXPECT_EQ(proxy.accepted(), 1);  // not for loopback addresses

  setenv("HTTPS_PROXY", ("http://" + proxy.address()).c_str(), 1);
  const Transport direct({.proxy = "direct"});
  unsetenv("HTTPS_PROXY");
  EXPECT_THROW(direct.send({.url = url()}), TransportError);
  EXPECT_EQ(proxy.accepted(), 1);
}

}  // namespace
}  // namespace kube
