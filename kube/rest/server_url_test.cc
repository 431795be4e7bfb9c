// No threads.

#include "kube/rest/server_url.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <sstream>

#include "kube/rest/config.h"
#include "kube/rest/environment_testing.h"

namespace kube {
namespace {

using test::messageOf;

std::string parsed(std::string_view host, bool defaultTls = false) {
  return parseServerUrl(host, defaultTls).str();
}

TEST(ServerUrlTest, AUrlIsTakenAsItIs) {
  EXPECT_EQ(parsed("https://example.com:6443"), "https://example.com:6443");
  EXPECT_EQ(parsed("HTTP://10.0.0.1", true), "http://10.0.0.1");
  EXPECT_EQ(parsed("https://[::1]:6443"), "https://[::1]:6443");
  EXPECT_EQ(parsed("https://[fe80::1%25eth0]"), "https://[fe80::1%25eth0]");
}

TEST(ServerUrlTest, IsPrinted) {
  const ServerUrl url = parseServerUrl("https://example.com:6443/a/", false);
  std::ostringstream out;
  out << url;
  EXPECT_EQ(out.str(), "https://example.com:6443/a");
  EXPECT_EQ(fmt::format("{}", url), out.str());
}

TEST(ServerUrlTest, AMereHostGetsTheDefaultScheme) {
  EXPECT_EQ(parsed("localhost"), "http://localhost");
  EXPECT_EQ(parsed("localhost:8080"), "http://localhost:8080");
  EXPECT_EQ(parsed("127.0.0.1:6443", true), "https://127.0.0.1:6443");
  EXPECT_EQ(parsed("localhost/", true), "https://localhost");
  EXPECT_EQ(parsed("example.com:", true), "https://example.com");
}

TEST(ServerUrlTest, APathIsAPrefixWithoutQueryAndFragment) {
  const ServerUrl url = parseServerUrl("https://example.com/k8s/clusters/c-1/?a=b#c", false);
  EXPECT_EQ(url.path, "/k8s/clusters/c-1");
  EXPECT_EQ(url.authority, "example.com");
  EXPECT_EQ(parsed("https://example.com/"), "https://example.com");
  EXPECT_EQ(parsed("https://example.com?x"), "https://example.com");
}

TEST(ServerUrlTest, KnowsAddressesOfThisMachine) {
  for (const char* host : {"localhost", "localhost:8080", "127.0.0.1", "https://127.1.2.3:6443/a",
                           "https://[::1]", "[::1]:6443"}) {
    EXPECT_TRUE(parseServerUrl(host, true).isLoopback()) << host;
  }
  for (const char* host : {"localhost.example.com", "10.0.0.127", "[::2]:6443", "a:1"}) {
    EXPECT_FALSE(parseServerUrl(host, true).isLoopback()) << host;
  }
}

TEST(ServerUrlTest, NonsenseIsRefused) {
  for (const char* bad :
       {"", "host/path", "ftp://host", "https://", "https:///x", "https://host:port", "a b",
        "https://ho st", "https://host\n", "::1", "https://::1", "https://[::1",
        "https://host:70000", "https://[]:1", "https://[g]x:1", "https://[a::1]x", "http:/host"}) {
    EXPECT_THROW(parseServerUrl(bad, true), ConfigError) << bad;
  }
}

TEST(ServerUrlTest, AUsersNameIsRefusedAndNotRepeated) {
  for (const char* bad : {"https://jane:hunter2@host", "jane:hunter2@host",
                          "https://jane:hun/ter2@host", "ftp://jane:hunter2@host"}) {
    const std::string message = messageOf([&] { parseServerUrl(bad, true); });
    EXPECT_EQ(message.find("hun"), std::string::npos) << message;
    EXPECT_EQ(message.find("jane"), std::string::npos) << message;
  }
}

TEST(ServerUrlTest, OfAConfigHasTlsIfATlsOptionIsSet) {
  EXPECT_EQ(Config{}.serverUrl().str(), "http://localhost");
  EXPECT_EQ((Config{.host = "a:1"}).serverUrl().str(), "http://a:1");
  const auto with = [](auto member, auto value) {
    Config config{.host = "a:1"};
    config.tls.*member = value;
    return config.serverUrl().str();
  };
  EXPECT_EQ(with(&TlsConfig::caFile, "x"), "https://a:1");
  EXPECT_EQ(with(&TlsConfig::caData, "x"), "https://a:1");
  EXPECT_EQ(with(&TlsConfig::certData, "x"), "https://a:1");
  EXPECT_EQ(with(&TlsConfig::certFile, "x"), "https://a:1");
  EXPECT_EQ(with(&TlsConfig::insecureSkipVerify, true), "https://a:1");
  EXPECT_EQ(with(&TlsConfig::serverName, "x"), "http://a:1");
}

TEST(ProxyUrlTest, IsHttpHttpsOrSocks5) {
  EXPECT_EQ(detail::proxyProblem("http://proxy:3128"), "");
  EXPECT_EQ(detail::proxyProblem("https://me:pass@proxy"), "");
  EXPECT_EQ(detail::proxyProblem("socks5://[::1]:1080"), "");
  EXPECT_NE(detail::proxyProblem("proxy:3128"), "");
  EXPECT_NE(detail::proxyProblem("ftp://proxy"), "");
  EXPECT_NE(detail::proxyProblem("http://"), "");
}

}  // namespace
}  // namespace kube
