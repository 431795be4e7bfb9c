// Certificates: the servers that the transport trusts, and its own identity.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>

#include "kube/base/error.h"
#include "kube/base/log.h"
#include "kube/http/http_server.h"
#include "kube/http/internal/raw_server_testing.h"
#include "kube/http/internal/transport_ca_testing.h"
#include "kube/http/transport.h"
#include "kube/testing/test_ca.h"

namespace kube {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// A server that answers with the name of the client.
HttpServer serverAs(const std::vector<std::string>& names, bool requireClient = false) {
  return HttpServer(
      {.tls = ServerTls{ca().server(names), ca().certPem(), requireClient}},
      [](ServerRequest request, Responder responder) {
        std::string who = "nobody";
        if (request.peer) {
          who = request.peer->commonName;
          for (const std::string& group : request.peer->organizations) who += " " + group;
        }
        responder.send(
            {.headers = {{"X-Host", std::string(request.headers.get("host"))}}, .body = who});
      });
}

std::string failureOf(const TlsConfig& tls, const std::string& url) {
  return thrown<TransportError>([&] { Transport({.tls = tls}).send({.url = url}); });
}

class TlsFilesTest : public ::testing::Test {
 protected:
  TlsFilesTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "kubexx-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp");
    folder_ = pattern;
  }
  ~TlsFilesTest() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string write(const std::string& name, const std::string& text) const {
    // Replaces the file by a new one, as Kubernetes does.
    std::ofstream(path(name + ".new")) << text;
    std::filesystem::rename(path(name + ".new"), path(name));
    return path(name);
  }

  std::filesystem::path folder_;
};

TEST(TransportTlsTest, TrustsWhomItIsTold) {
  const HttpServer server = serverAs({"127.0.0.1"});
  EXPECT_EQ(Transport({.tls = {.caData = ca().certPem()}}).send({.url = server.url()}).status, 200);
  const std::string what =
      failureOf({.caData = TestCa("another").certPem()}, server.url() + "/x?y");
  EXPECT_THAT(what,
              AllOf(HasSubstr("GET https://127.0.0.1:"), HasSubstr("certificate verify failed")));
  EXPECT_THAT(failureOf({}, server.url()), HasSubstr("certificate verify failed"));
  EXPECT_EQ(Transport({.tls = {.insecureSkipVerify = true}}).send({.url = server.url()}).status,
            200);
}

TEST(TransportTlsTest, ACertificateMayItselfBeTheAnchor) {
  const KeyPair own = ca().server({"127.0.0.1"});
  const HttpServer server({.tls = ServerTls{own}},
                          [](ServerRequest, Responder responder) { responder.send({}); });
  EXPECT_EQ(Transport({.tls = {.caData = own.certPem}}).send({.url = server.url()}).status, 200);
}

TEST(TransportTlsTest, TheNameHasToBeRight) {
  const HttpServer server = serverAs({"kubernetes.default.svc", "*.example.com", "10.0.0.1"});
  const TlsConfig trusting{.caData = ca().certPem()};
  EXPECT_THAT(failureOf(trusting, server.url()), HasSubstr("IP address mismatch"));
  EXPECT_THAT(failureOf(trusting, "https://localhost:" + std::to_string(server.port())),
              HasSubstr("hostname mismatch"));
  // The common name has no effect: kubernetes.default.svc is an alternative name of this
  // certificate, the common name is not.
  const auto named = [&](const std::string& name) {
    TlsConfig tls = trusting;
    tls.serverName = name;
    return tls;
  };
  for (const char* name : {"kubernetes.default.svc", "a.example.com", "10.0.0.1"}) {
    const HttpResponse response = Transport({.tls = named(name)}).send({.url = server.url()});
    EXPECT_EQ(response.headers.get("x-host"), "127.0.0.1:" + std::to_string(server.port()));
  }
  for (const char* name : {"kubernetes", "example.com", "a.b.example.com", "10.0.0.2"}) {
    EXPECT_THAT(failureOf(named(name), server.url()), HasSubstr("mismatch")) << name;
  }
}

TEST(TransportTlsTest, ANameThatCannotBeCheckedIsRefused) {
  const HttpServer server = serverAs({"a.example.com", "*.example.com", "127.0.0.1"});
  const auto tls = [](std::string name) {
    return TlsConfig{.caData = ca().certPem(), .serverName = std::move(name)};
  };
  using namespace std::string_literals;
  for (const std::string& name :
       {"good.test\0x"s, "\0"s, "\0a.example.com"s, ".example.com"s, ".com"s, "a..example.com"s,
        "a.example.com\n"s, "a b"s, "\x7f"s, std::string(254, 'a')}) {
    EXPECT_THAT(thrown<ConfigError>([&] { Transport({.tls = tls(name)}); }),
                HasSubstr("server's name"))
        << name;
    TlsConfig unchecked{.serverName = name, .insecureSkipVerify = true};
    EXPECT_THROW(Transport({.tls = unchecked}), ConfigError) << name;
  }
  EXPECT_EQ(Transport({.tls = tls("a.example.com")}).send({.url = server.url()}).status, 200);
  // The host of a URL is checked as well.
  EXPECT_THAT(thrown<TransportError>([&] {
                Transport({.tls = {.caData = ca().certPem()}, .proxy = "direct"})
                    .send({.url = "https://.localhost:" + std::to_string(server.port())});
              }),
              Not(HasSubstr("mismatch")));
}

TEST(TransportTlsTest, AnAuthorityAndNoVerificationContradictEachOther) {
  for (const TlsConfig& tls :
       {TlsConfig{.caData = ca().certPem(), .insecureSkipVerify = true},
        TlsConfig{.caFile = "/nowhere/ca.crt", .insecureSkipVerify = true}}) {
    EXPECT_THROW(Transport({.tls = tls}), ConfigError);
  }
  EXPECT_THAT(thrown<ConfigError>([&] {
                Transport({.tls = {.caData = ca().certPem(), .insecureSkipVerify = true}});
              }),
              AllOf(HasSubstr("certificate authority"), HasSubstr("insecureSkipVerify")));
}

TEST(TransportTlsTest, AClientCertificateSaysWhoOneIs) {
  const HttpServer server = serverAs({"127.0.0.1"});
  const KeyPair jane = ca().client("jane", {"system:masters", "dev"});
  TlsConfig tls{.caData = ca().certPem()};
  EXPECT_EQ(Transport({.tls = tls}).send({.url = server.url()}).body, "nobody");
  tls.certData = jane.certPem;
  tls.keyData = jane.keyPem;
  EXPECT_EQ(Transport({.tls = tls}).send({.url = server.url()}).body, "jane system:masters dev");
}

TEST(TransportTlsTest, AServerMayInsistOnACertificate) {
  const HttpServer server = serverAs({"127.0.0.1"}, true);
  for (const bool http1 : {false, true}) {
    const Transport transport({.tls = {.caData = ca().certPem()}, .disableHttp2 = http1});
    EXPECT_THAT(thrown<TransportError>([&] { transport.send({.url = server.url()}); }),
                HasSubstr("certificate required"));
  }
}

TEST(TransportTlsTest, BadMaterialIsAConfigError) {
  const KeyPair jane = ca().client("jane");
  const KeyPair john = ca().client("john");
  const auto error = [](const TlsConfig& tls) {
    return thrown<ConfigError>([&] { Transport({.tls = tls}); });
  };
  EXPECT_THAT(error({.certData = jane.certPem, .keyData = john.keyPem}),
              AllOf(HasSubstr("client certificate"), HasSubstr("client key"),
                    HasSubstr("do not belong together")));
  EXPECT_THAT(error({.certData = jane.certPem}),
              HasSubstr("client certificate without a client key"));
  EXPECT_THAT(error({.keyData = jane.keyPem}),
              HasSubstr("client key without a client certificate"));
  EXPECT_THAT(error({.caData = "nonsense"}), HasSubstr("contains no PEM certificate"));
  EXPECT_THAT(error({.caData = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"}),
              HasSubstr("bad certificate"));
  EXPECT_THAT(error({.certData = "nonsense", .keyData = jane.keyPem}),
              HasSubstr("no usable PEM certificate"));
  EXPECT_THAT(error({.certData = jane.certPem, .keyData = "nonsense"}),
              HasSubstr("no usable PEM private key"));
  EXPECT_THAT(error({.caFile = "/does/not/exist"}),
              AllOf(HasSubstr("/does/not/exist"), HasSubstr("No such file")));
  EXPECT_THAT(error({.caFile = "/"}), HasSubstr("directory"));
}

TEST_F(TlsFilesTest, FilesServeLikeText) {
  const HttpServer server = serverAs({"127.0.0.1"});
  const KeyPair jane = ca().client("jane");
  const Transport transport({.tls = {.caFile = write("ca.crt", ca().certPem()),
                                     .certFile = write("tls.crt", jane.certPem),
                                     .keyFile = write("tls.key", jane.keyPem)}});
  EXPECT_EQ(transport.send({.url = server.url()}).body, "jane");
  EXPECT_THAT(thrown<ConfigError>([&] {
                Transport({.tls = {.certFile = path("tls.crt"),
                                   .keyFile = write("tls.key", ca().client("john").keyPem)}});
              }),
              AllOf(HasSubstr(path("tls.crt")), HasSubstr(path("tls.key"))));
}

TEST_F(TlsFilesTest, AChangedCertificateIsUsedFromTheNextRequestOn) {
  const HttpServer server = serverAs({"127.0.0.1"});
  for (const bool http1 : {false, true}) {
    const KeyPair jane = ca().client("jane");
    const KeyPair john = ca().client("john");
    const Transport transport({.tls = {.caData = ca().certPem(),
                                       .certFile = write("tls.crt", jane.certPem),
                                       .keyFile = write("tls.key", jane.keyPem)},
                               .disableHttp2 = http1,
                               .tlsCheckInterval = 0s});
    EXPECT_EQ(transport.send({.url = server.url()}).body, "jane");
    EXPECT_EQ(transport.send({.url = server.url()}).body, "jane");
    EXPECT_EQ(transport.stats().connectionsMade, 1u);
    // In the middle of the change, the transport still uses the old pair.
    setLogLevel(LogLevel::Off);
    write("tls.crt", john.certPem);
    EXPECT_EQ(transport.send({.url = server.url()}).body, "jane");
    setLogLevel(LogLevel::Warning);
    write("tls.key", john.keyPem);
    EXPECT_EQ(transport.send({.url = server.url()}).body, "john");
    EXPECT_EQ(transport.stats().connectionsMade, 2u);
    // Writing a file again with the same content changes nothing.
    write("tls.key", john.keyPem);
    EXPECT_EQ(transport.send({.url = server.url()}).body, "john");
    EXPECT_EQ(transport.stats().connectionsMade, 2u);
  }
}

TEST_F(TlsFilesTest, AStreamOutlivesTheCertificateItBeganWith) {
  std::promise<ResponseStream> begun;
  const HttpServer server({.tls = ServerTls{ca().server({"127.0.0.1"})}},
                          [&](ServerRequest request, Responder responder) {
                            if (request.target == "/watch")
                              return begun.set_value(responder.stream(200, {}));
                            responder.send({});
                          });
  const Transport transport(
      {.tls = {.caFile = write("ca.crt", ca().certPem())}, .tlsCheckInterval = 0s});
  HttpStream watch = transport.open({.url = server.url() + "/watch"});
  const ResponseStream writer = begun.get_future().get();
  write("ca.crt", TestCa("another").certPem());
  EXPECT_THROW(transport.send({.url = server.url()}), TransportError);
  writer.write("event");
  EXPECT_EQ(watch.read(), "event");
}

TEST_F(TlsFilesTest, FilesAreLookedAtNowAndThenOnly) {
  const HttpServer server = serverAs({"127.0.0.1"});
  const Transport transport(
      {.tls = {.caFile = write("ca.crt", ca().certPem())}, .tlsCheckInterval = 1h});
  transport.send({.url = server.url()});
  write("ca.crt", TestCa("another").certPem());
  EXPECT_EQ(transport.send({.url = server.url()}).status, 200);
  EXPECT_EQ(transport.stats().connectionsMade, 1u);
}

}  // namespace
}  // namespace kube
