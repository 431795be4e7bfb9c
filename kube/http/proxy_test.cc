// No threads.

#include "kube/http/proxy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "kube/base/error.h"

namespace kube {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

ProxyRules rulesOf(std::map<std::string, std::string> variables) {
  return ProxyRules::fromEnvironment([variables = std::move(variables)](const char* name) {
    const auto it = variables.find(name);
    return it != variables.end() ? it->second : std::string();
  });
}

std::string proxyOf(const ProxyRules& rules, const char* url) {
  const Proxy* proxy = rules.proxyFor(parseUrl(url));
  return proxy != nullptr ? proxy->display() : "direct";
}

TEST(ProxyTest, WithoutVariablesThereIsNone) {
  EXPECT_EQ(proxyOf(rulesOf({}), "https://example.com"), "direct");
  EXPECT_EQ(proxyOf(ProxyRules(), "https://example.com"), "direct");
}

TEST(ProxyTest, EachSchemeHasItsVariable) {
  const ProxyRules rules =
      rulesOf({{"HTTPS_PROXY", "https://secure:1"}, {"HTTP_PROXY", "plain:2"}});
  EXPECT_EQ(proxyOf(rules, "https://example.com"), "https://secure:1");
  EXPECT_EQ(proxyOf(rules, "http://example.com"), "http://plain:2");
}

TEST(ProxyTest, SmallLettersComeFirst) {
  const ProxyRules rules =
      rulesOf({{"HTTPS_PROXY", "http://large"}, {"https_proxy", "http://small"}});
  EXPECT_EQ(proxyOf(rules, "https://example.com"), "http://small:80");
}

TEST(ProxyTest, InACgiProgramHttpProxyIsTheClientsWord) {
  const ProxyRules rules = rulesOf({{"HTTP_PROXY", "http://evil"}, {"REQUEST_METHOD", "GET"}});
  EXPECT_EQ(proxyOf(rules, "http://example.com"), "direct");
}

TEST(ProxyTest, LocalhostIsNeverProxied) {
  const ProxyRules rules = rulesOf({{"https_proxy", "proxy:1"}});
  for (const char* url : {"https://localhost", "https://localhost:6443", "https://127.0.0.1",
                          "https://127.9.8.7", "https://[::1]"}) {
    EXPECT_EQ(proxyOf(rules, url), "direct") << url;
  }
  EXPECT_EQ(proxyOf(rules, "https://localhost.example.com"), "http://proxy:1");
  EXPECT_EQ(proxyOf(rules, "https://128.0.0.1"), "http://proxy:1");
}

struct ExceptionCase {
  const char* noProxy;
  const char* url;
  bool direct;
};

class NoProxyTest : public ::testing::TestWithParam<ExceptionCase> {};

TEST_P(NoProxyTest, FollowsGosRules) {
  const ProxyRules rules = rulesOf({{"https_proxy", "proxy:1"}, {"NO_PROXY", GetParam().noProxy}});
  EXPECT_EQ(proxyOf(rules, GetParam().url), GetParam().direct ? "direct" : "http://proxy:1")
      << GetParam().noProxy << " and " << GetParam().url;
}

INSTANTIATE_TEST_SUITE_P(
    Cases, NoProxyTest,
    ::testing::Values(ExceptionCase{"*", "https://anything", true},
                      ExceptionCase{"foo.com", "https://foo.com", true},
                      ExceptionCase{"foo.com", "https://bar.foo.com", true},
                      ExceptionCase{"foo.com", "https://notfoo.com", false},
                      ExceptionCase{"FOO.com", "https://Bar.Foo.com", true},
                      ExceptionCase{".foo.com", "https://foo.com", false},
                      ExceptionCase{".foo.com", "https://bar.foo.com", true},
                      ExceptionCase{"*.foo.com", "https://foo.com", false},
                      ExceptionCase{"*.foo.com", "https://bar.foo.com", true},
                      ExceptionCase{"foo.com:80", "https://foo.com", false},
                      ExceptionCase{"foo.com:443", "https://foo.com", true},
                      ExceptionCase{"foo.com:6443", "https://foo.com:6443", true},
                      ExceptionCase{" a.com , b.com ", "https://b.com", true},
                      ExceptionCase{"10.0.0.0/8", "https://10.1.2.3", true},
                      ExceptionCase{"10.0.0.0/8", "https://11.1.2.3", false},
                      ExceptionCase{"10.0.0.0/9", "https://10.128.0.1", false},
                      ExceptionCase{"0.0.0.0/0", "https://1.2.3.4", true},
                      ExceptionCase{"0.0.0.0/0", "https://name", false},
                      ExceptionCase{"fd00::/8", "https://[fd12::1]", true},
                      ExceptionCase{"fd00::/8", "https://[fe80::1]", false},
                      ExceptionCase{"192.168.1.1", "https://192.168.1.1", true},
                      ExceptionCase{"192.168.1.1", "https://192.168.1.10", false},
                      ExceptionCase{"192.168.1.1:443", "https://192.168.1.1:6443", false},
                      ExceptionCase{"192.168.1.1:6443", "https://192.168.1.1:6443", true},
                      ExceptionCase{"[fd00::1]:6443", "https://[fd00::1]:6443", true},
                      ExceptionCase{"fd00::1", "https://[fd00::1]:6443", true},
                      ExceptionCase{"10.0.0.0/33,10.0.0.0/x,/8,:80,,", "https://10.1.2.3", false},
                      ExceptionCase{"foo.com", "https://1.2.3.4", false}));

TEST(ProxyTest, AnExplicitOneIsForEverything) {
  const ProxyRules rules = ProxyRules::always("socks5h://user:p%40ss@[::1]:9");
  EXPECT_EQ(proxyOf(rules, "https://localhost"), "socks5://[::1]:9");
  const Proxy* proxy = rules.proxyFor(parseUrl("http://example.com"));
  ASSERT_NE(proxy, nullptr);
  EXPECT_EQ(proxy->kind, Proxy::Kind::Socks5);
  EXPECT_EQ(proxy->user, "user");
  EXPECT_EQ(proxy->password, "p@ss");
}

TEST(ProxyTest, OtherKindsAreRefusedWithoutTellingThePassword) {
  try {
    ProxyRules::always("ftp://user:secret@proxy");
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("ftp://proxy"));
    EXPECT_THAT(error.what(), HasSubstr("socks5://"));
    EXPECT_THAT(error.what(), Not(HasSubstr("secret")));
  }
  EXPECT_THROW(ProxyRules::always("http://"), ConfigError);
  EXPECT_THROW(ProxyRules::always("socks5://" + std::string(256, 'a') + "@proxy"), ConfigError);
}

TEST(ProxyTest, NothingIsToldOfWhatCannotBeTakenApart) {
  for (const char* url :
       {"http://user:S3CRET/PASS@proxy:1", "http://user:S3CRET?PASS@proxy:1",
        "http://user:S3CRET#PASS@proxy:1", "http://user:S3CRET@", "user:S3CRET/PASS@proxy",
        "http://user:80/S3CRET@proxy:1", "http://user:80#S3CRET@proxy:1", "http://user:S3CRET",
        "http://user:S3CRET PASS@proxy:1", "http://user:PASS@proxy:S3CRET",
        "ftp://user:S3CRET/PASS@proxy"}) {
    for (const char* variable : {"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"}) {
      try {
        ProxyRules::fromEnvironment(
            [&](const char* name) { return name == std::string_view(variable) ? url : ""; });
        ADD_FAILURE() << url;
      } catch (const ConfigError& error) {
        EXPECT_THAT(error.what(), AllOf(Not(HasSubstr("S3CRET")), Not(HasSubstr("PASS"))));
        EXPECT_THAT(error.what(),
                    HasSubstr(variable[4] == 's' || variable[4] == 'S' ? "$HTTPS_PROXY: "
                                                                       : "$HTTP_PROXY: "));
      }
    }
    EXPECT_THROW(ProxyRules::always(url), ConfigError);
  }
  EXPECT_EQ(ProxyRules::always("http://user:S3CRET%2FPASS@proxy:1")
                .proxyFor(parseUrl("http://example.com"))
                ->password,
            "S3CRET/PASS");
}

}  // namespace
}  // namespace kube
