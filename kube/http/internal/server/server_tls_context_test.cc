// Tests of servers whose certificates are files that change.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "kube/base/internal/error_of_testing.h"
#include "kube/base/internal/logged_testing.h"
#include "kube/http/http_server.h"
#include "kube/http/internal/files.h"
#include "kube/http/transport.h"
#include "kube/testing/test_ca.h"

namespace kube {
namespace {

using ::testing::HasSubstr;

class ServerFilesTest : public ::testing::Test {
 protected:
  ServerFilesTest() {
    folder = ::testing::TempDir() + "server_files_XXXXXX";
    EXPECT_NE(::mkdtemp(folder.data()), nullptr);
  }
  ~ServerFilesTest() override { std::filesystem::remove_all(folder); }

  std::string path(const char* name) const { return folder + "/" + name; }
  void write(const char* name, std::string_view text) const {
    detail::replaceFile(path(name), text, {.durable = false});
  }
  void writePair(const TestCa& ca) const {
    const KeyPair pair = ca.server({"127.0.0.1"});
    write("cert", pair.certPem);
    write("key", pair.keyPem);
  }
  ServerTls tls() const {
    return {.certFile = path("cert"),
            .keyFile = path("key"),
            .checkInterval = std::chrono::milliseconds(0)};
  }
  static HttpServerOptions options(ServerTls tls) { return {.tls = std::move(tls)}; }
  static void answer(const ServerRequest& request, const Responder& responder) {
    responder.send({.body = request.peer ? request.peer->commonName : "nobody"});
  }
  // Asks on a new connection.
  static std::string ask(const HttpServer& server, TlsConfig trust) {
    Transport transport({.tls = std::move(trust)});
    return transport.send({.url = server.url()}).body;
  }
  static TlsConfig trust(const TestCa& ca) { return {.caData = ca.certPem()}; }

  std::string folder;
  const TestCa first{"first"}, second{"second"};
};

TEST_F(ServerFilesTest, NewConnectionsUseNewCertificates) {
  writePair(first);
  const HttpServer server(options(tls()), answer);
  Transport before({.tls = trust(first)});
  EXPECT_EQ(before.send({.url = server.url()}).body, "nobody");
  EXPECT_THROW(ask(server, trust(second)), Error);
  writePair(second);
  EXPECT_EQ(ask(server, trust(second)), "nobody");
  EXPECT_THROW(ask(server, trust(first)), Error);
  EXPECT_EQ(before.send({.url = server.url()}).body, "nobody") << "connections stay";
}

TEST_F(ServerFilesTest, HalfAChangeIsLeftForTheNextTime) {
  writePair(first);
  const HttpServer server(options(tls()), answer);
  const KeyPair next = second.server({"127.0.0.1"});
  const testing::Logged logged;
  write("cert", next.certPem);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(ask(server, trust(first)), "nobody");
  const std::string text = logged.text();
  const std::string warning = "still using the former ones";
  EXPECT_THAT(text, HasSubstr("the key does not belong to the certificate"));
  EXPECT_EQ(text.find(warning), text.rfind(warning)) << "once: " << text;
  write("key", next.keyPem);
  EXPECT_EQ(ask(server, trust(second)), "nobody");
  std::filesystem::remove(path("key"));
  EXPECT_EQ(ask(server, trust(second)), "nobody");
}

TEST_F(ServerFilesTest, TheAuthorityOfClientsMayChange) {
  writePair(first);
  write("clients", first.certPem());
  ServerTls files = tls();
  files.clientCaFile = path("clients");
  files.requireClientCert = true;
  const HttpServer server(options(files), answer);
  const auto as = [&](const TestCa& ca, const char* name) {
    const KeyPair pair = ca.client(name);
    return TlsConfig{.caData = first.certPem(), .certData = pair.certPem, .keyData = pair.keyPem};
  };
  EXPECT_EQ(ask(server, as(first, "ann")), "ann");
  EXPECT_THROW(ask(server, as(second, "bob")), Error);
  write("clients", second.certPem());
  EXPECT_EQ(ask(server, as(second, "bob")), "bob");
  EXPECT_THROW(ask(server, as(first, "ann")), Error);
  write("clients", "");
  EXPECT_THROW(ask(server, as(first, "ann")), Error) << "no authority is not any authority";
}

TEST_F(ServerFilesTest, MistakesAreReportedAtTheStart) {
  const auto problem = [&](const ServerTls& wrong) {
    return errorOf<ConfigError>([&] { const HttpServer server(options(wrong), answer); });
  };
  EXPECT_THAT(problem(tls()), HasSubstr(path("cert")));
  writePair(first);
  write("key", second.server({"127.0.0.1"}).keyPem);
  EXPECT_THAT(problem(tls()), HasSubstr("the key does not belong to the certificate"));
  ServerTls both = tls();
  both.identity = first.server({"127.0.0.1"});
  EXPECT_EQ(problem(both), "HTTP server: the certificate is given as a text and as a file");
  EXPECT_THAT(problem({}), HasSubstr("the certificate is not PEM text"));
}

TEST_F(ServerFilesTest, ClientsConnectWhileFilesChange) {
  writePair(first);
  HttpServerOptions served = options(tls());
  served.threads = 2;
  const HttpServer server(served, answer);
  std::atomic<bool> over = false;
  std::vector<std::jthread> clients;
  const std::string both = first.certPem() + second.certPem();
  for (int i = 0; i < 2; ++i) {
    clients.emplace_back([&] {
      while (!over) EXPECT_EQ(ask(server, {.caData = both}), "nobody");
    });
  }
  for (int i = 0; i < 20; ++i) writePair(i % 2 == 0 ? second : first);
  over = true;
}

}  // namespace
}  // namespace kube
