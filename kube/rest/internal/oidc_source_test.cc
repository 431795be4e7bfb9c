#include "kube/rest/internal/oidc_source.h"

#include <gmock/gmock.h>

#include "kube/base/internal/base64.h"
#include "kube/base/log.h"
#include "kube/codec/json.h"
#include "kube/rest/environment_testing.h"

namespace kube {
namespace {

using namespace std::chrono_literals;
using test::messageOf;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

std::string jwt(const Value& claims) {
  std::string payload;
  detail::base64Encode(toJson(claims), payload);
  for (char& c : payload) c = c == '+' ? '-' : c == '/' ? '_' : c;
  while (payload.ends_with('=')) payload.pop_back();
  return "e30." + payload + ".c2ln";
}

/// A token that expires this long after the fake clock's start, which is 2024-01-01.
std::string tokenFor(std::chrono::seconds life) {
  return jwt(Value::Object{{"exp", 1704067200 + life.count()}});
}

/// A provider whose answers the test sets.
class OidcTest : public ::testing::Test {
 protected:
  std::shared_ptr<Credentials> make() {
    Config config{.host = "https://example.com",
                  .authProvider = AuthProviderConfig{.name = "oidc", .config = settings},
                  .authProviderPersister = [this](const Map<String>& kept) {
                    persisted.push_back(kept);
                    if (persisterFails) throw ConfigError("read-only");
                  }};
    return makeCredentials(
        config,
        {.clock = &clock, .fetch = [this](HttpRequest call, const TlsConfig& tls, std::stop_token) {
           calls.push_back(call);
           tlsUsed = tls;
           if (call.method == "GET") return discovery;
           HttpResponse reply = answers.front();
           if (answers.size() > 1) answers.erase(answers.begin());
           return reply;
         }});
  }
  std::string token(Credentials& credentials) {
    HttpHeaders headers;
    grant = credentials.apply(headers);
    return headers.empty() ? "" : headers.begin()->value;
  }
  std::string failure() {
    return messageOf<Error>([&] {
      const auto made = make();
      token(*made);
    });
  }
  static HttpResponse ok(const Value& body) { return {.status = 200, .body = toJson(body)}; }

  FakeClock clock;
  Map<String> settings = {{"idp-issuer-url", "https://idp.example/"},
                          {"client-id", "kube id"},
                          {"client-secret", "s&c"},
                          {"refresh-token", "r/1"},
                          {"extra", "kept"}};
  HttpResponse discovery = ok(Value::Object{{"token_endpoint", "https://idp.example/token"}});
  std::vector<HttpResponse> answers;
  std::vector<HttpRequest> calls;
  TlsConfig tlsUsed;
  std::vector<Map<String>> persisted;
  bool persisterFails = false;
  Credentials::Grant grant;
};

TEST_F(OidcTest, AValidTokenIsUsedAsItIs) {
  settings["id-token"] = tokenFor(1h);
  const auto made = make();
  EXPECT_EQ(token(*made), "Bearer " + tokenFor(1h));
  clock.advance(1h - 11s);
  EXPECT_EQ(token(*made), "Bearer " + tokenFor(1h));
  EXPECT_THAT(calls, IsEmpty());
}

TEST_F(OidcTest, AnExpiredTokenIsRenewedAndKept) {
  settings["id-token"] = tokenFor(1h);
  const std::string fresh = tokenFor(3h);
  answers = {ok(Value::Object{{"id_token", fresh}, {"refresh_token", "r2"}})};
  const auto made = make();
  clock.advance(1h - 9s);  // a little early
  EXPECT_EQ(token(*made), "Bearer " + fresh);
  EXPECT_EQ(token(*made), "Bearer " + fresh);

  ASSERT_THAT(calls, SizeIs(2));
  EXPECT_EQ(calls[0].url, "https://idp.example/.well-known/openid-configuration");
  EXPECT_EQ(calls[1].method, "POST");
  EXPECT_EQ(calls[1].url, "https://idp.example/token");
  EXPECT_EQ(calls[1].body, "grant_type=refresh_token&refresh_token=r%2F1");
  std::string basic = "Basic ";
  detail::base64Encode("kube+id:s%26c", basic);
  EXPECT_THAT(
      calls[1].headers,
      AllOf(::testing::Contains(HttpHeader{"Authorization", basic}),
            ::testing::Contains(HttpHeader{"Content-Type", "application/x-www-form-urlencoded"})));
  ASSERT_THAT(persisted, SizeIs(1));
  Map<String> expected = settings;
  expected["id-token"] = fresh;
  expected["refresh-token"] = "r2";
  EXPECT_EQ(persisted[0], expected);

  // The next refresh uses the new refresh token.
  answers = {ok(Value::Object{{"id_token", tokenFor(9h)}})};
  clock.advance(2h);
  EXPECT_EQ(token(*made), "Bearer " + tokenFor(9h));
  EXPECT_THAT(calls.back().body, HasSubstr("refresh_token=r2"));
  EXPECT_EQ(persisted.back()["refresh-token"], "r2");
}

TEST_F(OidcTest, AProviderMayWantTheClientInTheForm) {
  answers = {{.status = 401, .body = R"({"error":"invalid_client"})"},
             ok(Value::Object{{"id_token", tokenFor(1h)}})};
  const auto made = make();
  EXPECT_EQ(token(*made), "Bearer " + tokenFor(1h));
  ASSERT_THAT(calls, SizeIs(3));
  EXPECT_THAT(calls[2].body, HasSubstr("&client_id=kube+id&client_secret=s%26c"));
  // The header form is not tried again.
  clock.advance(2h);
  answers = {ok(Value::Object{{"id_token", tokenFor(5h)}})};
  EXPECT_EQ(token(*made), "Bearer " + tokenFor(5h));
  ASSERT_THAT(calls, SizeIs(5));
  EXPECT_THAT(calls[4].body, HasSubstr("&client_id=kube+id"));
}

TEST_F(OidcTest, ARefusedTokenIsRenewedButNotOverAndOver) {
  settings["id-token"] = tokenFor(10h);
  answers = {ok(Value::Object{{"id_token", tokenFor(11h)}})};
  const auto made = make();
  token(*made);
  EXPECT_TRUE(made->refresh(grant));
  EXPECT_EQ(token(*made), "Bearer " + tokenFor(11h));
  const auto before = calls.size();
  EXPECT_FALSE(made->refresh(grant));
  EXPECT_EQ(calls.size(), before);
  clock.advance(1min);
  answers = {ok(Value::Object{{"id_token", tokenFor(12h)}})};
  EXPECT_TRUE(made->refresh(grant));
}

TEST_F(OidcTest, WithoutARefreshTokenItLivesAsLongAsItsToken) {
  settings.erase("refresh-token");
  settings["id-token"] = tokenFor(1h);
  const auto made = make();
  token(*made);
  EXPECT_FALSE(made->refresh(grant));
  clock.advance(1h);
  EXPECT_THAT(messageOf([&] { token(*made); }), HasSubstr("log in again"));
}

TEST_F(OidcTest, TokensThatCannotBeKeptAreUsedNevertheless) {
  persisterFails = true;
  answers = {ok(Value::Object{{"id_token", tokenFor(1h)}})};
  std::string logged;
  const LogSink before = setLogSink([&](const LogRecord& record) { logged += record.message; });
  EXPECT_EQ(token(*make()), "Bearer " + tokenFor(1h));
  setLogSink(before);
  EXPECT_THAT(logged, HasSubstr("read-only"));
}

TEST_F(OidcTest, TheProvidersAuthoritiesAreItsOwn) {
  settings["idp-certificate-authority"] = "/idp.crt";
  settings["idp-certificate-authority-data"] = "Q0E=";
  answers = {ok(Value::Object{{"id_token", tokenFor(1h)}})};
  token(*make());
  EXPECT_EQ(tlsUsed.caFile, "/idp.crt");
  EXPECT_EQ(tlsUsed.caData, "CA");
}

TEST_F(OidcTest, FailuresAreReportedWithoutSecrets) {
  const auto says = [&](const HttpResponse& reply) {
    answers = {reply};
    const std::string message = failure();
    EXPECT_THAT(message, Not(HasSubstr("hunter2")));
    return message;
  };
  EXPECT_THAT(
      says({.status = 400, .body = R"({"error":"invalid_grant","error_description":"hunter2"})"}),
      HasSubstr("https://idp.example/token answered 400 (invalid_grant)"));
  EXPECT_THAT(says({.status = 500, .body = "<html>hunter2"}), HasSubstr("answered 500"));
  EXPECT_THAT(says({.status = 400, .body = R"({"error":"hunter2 is wrong"})"}),
              HasSubstr("answered 400"));
  EXPECT_THAT(says({.status = 200, .body = "hunter2"}), HasSubstr("is not JSON"));
  EXPECT_THAT(says(ok(Value::Object{{"access_token", "hunter2"}})), HasSubstr("no id_token"));
  EXPECT_THAT(says(ok(Value::Object{{"id_token", "hunter2"}})), HasSubstr("not a JSON Web Token"));
  EXPECT_THAT(says(ok(Value::Object{{"id_token", tokenFor(1h) + "\r\nX: y"}})),
              HasSubstr("not allowed"));
  EXPECT_THAT(persisted, IsEmpty());
}

TEST_F(OidcTest, DiscoveryMustNameASafeEndpoint) {
  discovery = {.status = 404, .body = "hunter2"};
  EXPECT_THAT(failure(),
              AllOf(HasSubstr("openid-configuration answered 404"), Not(HasSubstr("hunter2"))));
  discovery = {.status = 200, .body = "<html>"};
  EXPECT_THAT(failure(), HasSubstr("is not JSON"));
  discovery = ok(Value::Object{});
  EXPECT_THAT(failure(), HasSubstr("names no token_endpoint"));
  for (const char* plain : {"http://idp.example/token", "ftp://idp.example/token", "/token"}) {
    discovery = ok(Value::Object{{"token_endpoint", plain}});
    EXPECT_THAT(failure(), HasSubstr("without TLS")) << plain;
  }
  EXPECT_EQ(calls.back().method, "GET");
}

TEST_F(OidcTest, AnIssuerWithoutTlsIsNotAsked) {
  settings["idp-issuer-url"] = "http://idp.example/";
  EXPECT_THAT(failure(), AllOf(HasSubstr("idp-issuer-url is without TLS"), HasSubstr("https://")));
  EXPECT_THAT(calls, IsEmpty());
  settings["idp-issuer-url"] = "HTTPS://idp.example/";
  discovery = {.status = 404};
  failure();
  EXPECT_EQ(calls.size(), 1u);
}

TEST_F(OidcTest, IncompleteSettingsAreRefusedAtOnce) {
  const auto without = [&](const char* key) {
    const Map<String> whole = settings;
    settings.erase(key);
    const std::string message = messageOf([&] { make(); });
    settings = whole;
    return message;
  };
  EXPECT_THAT(without("idp-issuer-url"), HasSubstr("idp-issuer-url is missing"));
  EXPECT_THAT(without("client-id"), HasSubstr("client-id is missing"));
  EXPECT_THAT(without("refresh-token"), HasSubstr("log in first"));
  settings["id-token"] = "hunter2.%.x";
  EXPECT_THAT(messageOf([&] { make(); }),
              AllOf(HasSubstr("id-token is not a JSON Web Token"), Not(HasSubstr("hunter2"))));
  settings.erase("id-token");
  settings["idp-certificate-authority-data"] = "!";
  EXPECT_THAT(messageOf([&] { make(); }), HasSubstr("not base64"));
}

TEST_F(OidcTest, AMissingFetchMattersOnlyIfItIsNeeded) {
  const auto with = [&](std::string idToken) {
    Map<String> own = settings;
    own["id-token"] = idToken;
    return makeCredentials({.host = "https://example.com",
                            .authProvider = AuthProviderConfig{.name = "oidc", .config = own}},
                           {.clock = &clock});
  };
  EXPECT_EQ(token(*with(tokenFor(1h))), "Bearer " + tokenFor(1h));
  EXPECT_THAT(messageOf([&] { token(*with(tokenFor(0s))); }), HasSubstr("nothing to send"));
}

TEST(JsonWebTokenTest, SaysWhenItExpires) {
  const auto at = [](std::int64_t seconds) {
    return Clock::WallTime(std::chrono::seconds(seconds));
  };
  EXPECT_EQ(detail::expiryOf(jwt(Value::Object{{"exp", 5}})), at(5));
  EXPECT_EQ(detail::expiryOf(jwt(Value::Object{{"exp", 5.9}})), at(5));
  EXPECT_EQ(detail::expiryOf(jwt(Value::Object{{"exp", 1e300}})), Clock::WallTime::max());
  EXPECT_EQ(detail::expiryOf(jwt(Value::Object{{"exp", -1e300}})), at(0));
  EXPECT_EQ(detail::expiryOf(jwt(Value::Object{})), at(0));
  for (const char* bad : {"", "a", "a.b", "a.b.c.d", "..", "a.!.c", "a.e30=.c", "a.W10.c"}) {
    EXPECT_FALSE(detail::expiryOf(bad)) << bad;
  }
}

}  // namespace
}  // namespace kube
