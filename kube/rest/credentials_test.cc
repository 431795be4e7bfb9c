#include "kube/rest/credentials.h"

#include <gmock/gmock.h>

#include "kube/base/log.h"
#include "kube/rest/environment_testing.h"

namespace kube {
namespace {

using namespace std::chrono_literals;
using test::messageOf;
using test::TemporaryFolder;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

HttpHeaders headersOf(Credentials& credentials) {
  HttpHeaders headers;
  credentials.apply(headers);
  return headers;
}

constexpr const char* kHost = "https://example.com";

HttpHeader authorization(std::string_view value) { return {"Authorization", std::string(value)}; }

TEST(CredentialsTest, OfAnonymousClientsAreNone) {
  EXPECT_THAT(headersOf(*makeCredentials({})), IsEmpty());
}

TEST(CredentialsTest, ATokenIsABearer) {
  const auto credentials = makeCredentials({.host = kHost, .bearerToken = "abc"});
  EXPECT_THAT(headersOf(*credentials), ElementsAre(authorization("Bearer abc")));
  HttpHeaders headers;
  const auto grant = credentials->apply(headers);
  EXPECT_EQ(grant.certificate, nullptr);
  EXPECT_FALSE(credentials->refresh(grant));
}

TEST(CredentialsTest, NameAndPasswordAreBasic) {
  EXPECT_THAT(headersOf(*makeCredentials(
                  {.host = kHost, .username = "Aladdin", .password = "open sesame"})),
              ElementsAre(authorization("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")));
}

TEST(CredentialsTest, ARequestsOwnAuthorizationStays) {
  const auto credentials =
      makeCredentials({.host = kHost, .bearerToken = "abc", .impersonate = {.user = "root"}});
  HttpHeaders headers = {{"authorization", "Bearer mine"}};
  const auto grant = credentials->apply(headers);
  EXPECT_THAT(headers, ElementsAre(HttpHeader{"authorization", "Bearer mine"},
                                   HttpHeader{"Impersonate-User", "root"}));
  EXPECT_FALSE(credentials->refresh(grant));
}

TEST(CredentialsTest, ImpersonationIsInHeaders) {
  const auto credentials = makeCredentials(
      {.impersonate = {.user = "jane",
                       .uid = "42",
                       .groups = {"a", "b"},
                       .extra = {{"scopes", {"x", "y"}}, {"example.com/Über %", {"z"}}}}});
  EXPECT_THAT(
      headersOf(*credentials),
      ElementsAre(HttpHeader{"Impersonate-User", "jane"}, HttpHeader{"Impersonate-Uid", "42"},
                  HttpHeader{"Impersonate-Group", "a"}, HttpHeader{"Impersonate-Group", "b"},
                  HttpHeader{"Impersonate-Extra-example.com%2F%C3%9Cber%20%25", "z"},
                  HttpHeader{"Impersonate-Extra-scopes", "x"},
                  HttpHeader{"Impersonate-Extra-scopes", "y"}));
  HttpHeaders headers = {{"Impersonate-User", "bob"}};
  credentials->apply(headers);
  EXPECT_EQ(headers.size(), 1U);
}

TEST(CredentialsTest, TextThatIsInvalidInAHeaderIsRefusedAndNotShown) {
  for (const Config& bad :
       {Config{.host = kHost, .bearerToken = "hunter2\r\nX: y"},
        Config{.host = kHost, .bearerToken = "hunter2\n"},
        Config{.impersonate = {.user = "hunter2\n"}},
        Config{.impersonate = {.user = "a", .groups = {"hunter2\r"}}},
        Config{.impersonate = {.user = "a", .extra = {{"k", {std::string("hunter2\0", 8)}}}}}}) {
    EXPECT_THAT(messageOf([&] { makeCredentials(bad); }), Not(HasSubstr("hunter2")));
  }
}

TEST(CredentialsTest, ContradictionsAreRefused) {
  const ExecConfig exec{
      .command = "x", .apiVersion = "client.authentication.k8s.io/v1", .interactiveMode = "Never"};
  const AuthProviderConfig oidc{
      .name = "oidc",
      .config = {{"idp-issuer-url", "https://i"}, {"client-id", "c"}, {"refresh-token", "r"}}};
  EXPECT_THROW(makeCredentials({.host = kHost, .bearerToken = "a", .username = "b"}), ConfigError);
  EXPECT_THROW(makeCredentials({.host = kHost, .bearerTokenFile = "/a", .password = "b"}),
               ConfigError);
  EXPECT_THROW(makeCredentials({.host = kHost, .exec = exec, .authProvider = oidc}), ConfigError);
  EXPECT_THROW(makeCredentials({.impersonate = {.groups = {"g"}}}), ConfigError);
  EXPECT_THAT(messageOf([] {
                makeCredentials({.host = kHost, .authProvider = AuthProviderConfig{.name = "gcp"}});
              }),
              HasSubstr("\"gcp\""));
}

TEST(CredentialsTest, AreNotSentWithoutTls) {
  const auto problem = [](Config config) {
    config.host = "https://10.0.0.1:8080";
    const Config secure = config;
    config.host = "http://10.0.0.1:8080";
    EXPECT_NO_THROW(secure.requireTlsForSecrets());
    return messageOf([&] { makeCredentials(config); });
  };
  const ExecConfig exec{.command = "x"};
  const AuthProviderConfig oidc{.name = "oidc"};
  for (const Config& config :
       {Config{.bearerToken = "hunter2"}, Config{.bearerTokenFile = "/hunter2"},
        Config{.username = "u"}, Config{.password = "hunter2"}, Config{.exec = exec},
        Config{.authProvider = oidc}}) {
    EXPECT_THAT(
        problem(config),
        AllOf(HasSubstr("http://10.0.0.1:8080: "), HasSubstr("not sent without TLS"),
              HasSubstr("name the server as https://10.0.0.1:8080"), Not(HasSubstr("hunter2"))));
  }
  for (const char* plain : {"", "localhost", "http://127.0.0.1:8080"}) {
    EXPECT_THROW(makeCredentials({.host = plain, .bearerToken = "t"}), ConfigError) << plain;
    EXPECT_NO_THROW(makeCredentials({.host = plain, .impersonate = {.user = "jane"}})) << plain;
  }
  EXPECT_NO_THROW(makeCredentials({.host = "c:1", .tls = {.caFile = "ca"}, .bearerToken = "t"}));
}

// --- Token files.

class TokenFileTest : public ::testing::Test {
 protected:
  std::shared_ptr<Credentials> credentials(std::string fallback = {}) {
    return makeCredentials(
        {.host = kHost, .bearerToken = std::move(fallback), .bearerTokenFile = path},
        {.clock = &clock});
  }

  FakeClock clock;
  TemporaryFolder folder;
  std::string path = folder.write("token", " one\n");
};

TEST_F(TokenFileTest, IsReadAgainWithinAMinute) {
  const auto made = credentials("ignored");
  EXPECT_THAT(headersOf(*made), ElementsAre(authorization("Bearer one")));
  folder.write("token", "two");
  clock.advance(49s);
  EXPECT_THAT(headersOf(*made), ElementsAre(authorization("Bearer one")));
  clock.advance(1s);
  EXPECT_THAT(headersOf(*made), ElementsAre(authorization("Bearer two")));
}

TEST_F(TokenFileTest, TheLastGoodTokenIsUsedWhileTheFileIsGone) {
  const auto made = credentials();
  for (const char* broken : {"", " \n", "hunter2\nhunter2"}) {
    folder.write("token", broken);
    clock.advance(1min);
    EXPECT_THAT(headersOf(*made), ElementsAre(authorization("Bearer one"))) << broken;
  }
  std::filesystem::remove(path);
  clock.advance(1min);
  EXPECT_THAT(headersOf(*made), ElementsAre(authorization("Bearer one")));
  folder.write("token", "two");
  clock.advance(1s);
  EXPECT_THAT(headersOf(*made), ElementsAre(authorization("Bearer two")));
}

TEST_F(TokenFileTest, IsReadAgainWhenItsTokenIsRefused) {
  const auto made = credentials();
  HttpHeaders headers;
  const auto first = made->apply(headers);
  EXPECT_FALSE(made->refresh(first));
  folder.write("token", "two");
  EXPECT_TRUE(made->refresh(first));
  EXPECT_THAT(headersOf(*made), ElementsAre(authorization("Bearer two")));
  EXPECT_TRUE(made->refresh(first));  // another thread, later: the token has changed since
}

TEST_F(TokenFileTest, MustBeThereAtFirstUnlessThereIsAToken) {
  std::filesystem::remove(path);
  EXPECT_THAT(messageOf([&] { credentials(); }), HasSubstr(path));
  const auto made = credentials("fallback");
  EXPECT_THAT(headersOf(*made), ElementsAre(authorization("Bearer fallback")));
  folder.write("token", "one");
  clock.advance(1s);
  EXPECT_THAT(headersOf(*made), ElementsAre(authorization("Bearer one")));
}

TEST_F(TokenFileTest, ProblemsAreLoggedWithoutTheSecret) {
  std::string logged;
  const LogSink before = setLogSink([&](const LogRecord& record) { logged += record.message; });
  const auto made = credentials();
  folder.write("token", "hunter2\nhunter2");
  clock.advance(1min);
  headersOf(*made);
  setLogSink(before);
  EXPECT_THAT(logged, AllOf(HasSubstr(path), Not(HasSubstr("hunter2"))));
}

}  // namespace
}  // namespace kube
