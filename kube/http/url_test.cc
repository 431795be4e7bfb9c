// No threads.

#include "kube/http/url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/base/error.h"

namespace kube {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(UrlTest, HasItsParts) {
  const Url url = parseUrl("HTTPS://user:pa%40ss@Example.com:6443/api/v1?watch=1#part");
  EXPECT_EQ(url.scheme, "https");
  EXPECT_EQ(url.host, "example.com");
  EXPECT_EQ(url.port, 6443);
  EXPECT_EQ(url.userinfo, "user:pa%40ss");
  EXPECT_EQ(url.target, "/api/v1?watch=1");
  EXPECT_EQ(url.authority(), "example.com:6443");
  EXPECT_EQ(url.address(), "example.com:6443");
}

TEST(UrlTest, TakesTheSchemesPortAndLeavesItOutOfTheAuthority) {
  EXPECT_EQ(parseUrl("https://a").port, 443);
  EXPECT_EQ(parseUrl("http://a").port, 80);
  EXPECT_EQ(parseUrl("socks5h://a").port, 1080);
  EXPECT_EQ(parseUrl("https://a:443/").authority(), "a");
  EXPECT_EQ(parseUrl("https://a/").address(), "a:443");
  EXPECT_EQ(parseUrl("http://a:443/").authority(), "a:443");
}

TEST(UrlTest, AlwaysHasATarget) {
  EXPECT_EQ(parseUrl("https://a").target, "/");
  EXPECT_EQ(parseUrl("https://a?x=1").target, "/?x=1");
  EXPECT_EQ(parseUrl("https://a#x").target, "/");
}

TEST(UrlTest, PutsAddressesInBracketsAgain) {
  const Url url = parseUrl("https://[FE80::1]:6443/api");
  EXPECT_EQ(url.host, "fe80::1");
  EXPECT_EQ(url.authority(), "[fe80::1]:6443");
  EXPECT_EQ(parseUrl("http://[::1]").address(), "[::1]:80");
}

TEST(UrlTest, RefusesWhatIsNoUrl) {
  for (const char* text : {"",
                           "a",
                           "/api",
                           "://a",
                           "https://",
                           "https://:443",
                           "https://a:0",
                           "https://a:65536",
                           "https://a:12x",
                           "https://a:-1",
                           "https://[::1",
                           "https://[::1]x",
                           "https://[a]/",
                           "https://[[::1]/",
                           "https://a]/",
                           "https://a b/",
                           "https://a/\r\nX: y",
                           "https://a/\x7f",
                           "https://user@",
                           "a/b://c/",
                           "1a://c/",
                           "https://a%00b/",
                           "https://a:1:2/"}) {
    EXPECT_THROW(parseUrl(text), ConfigError) << text;
  }
}

TEST(UrlTest, MessagesHoldNoSecrets) {
  EXPECT_EQ(redactedUrl("https://user:secret@host/path?token=secret#secret"), "https://host/path");
  EXPECT_EQ(redactedUrl("user:secret@host:1/x?y"), "host:1/x");
  EXPECT_EQ(redactedUrl("https://u:se@cret@host/a@b"), "https://host/a@b");
  EXPECT_EQ(redactedUrl(parseUrl("https://user:secret@host/path?token=secret")),
            "https://host/path");
  try {
    parseUrl("https://user:secret@host:x/?token=secret");
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), Not(HasSubstr("secret")));
    EXPECT_THAT(error.what(), HasSubstr("https://host:x/"));
  }
}

TEST(UrlTest, OfWhatIsNoUrlNothingThatMayBeAPasswordIsShown) {
  for (const char* text :
       {"http://u:SECRET/SECRET@h:1", "http://u:SECRET?SECRET@h:1", "http://u:SECRET#SECRET@h:1",
        "http://u:SECRET@", "u:SECRET/SECRET@h", "https://u:SECRET@h:x/?t=SECRET@SECRET"}) {
    EXPECT_THAT(redactedUrl(text), Not(HasSubstr("SECRET"))) << text;
  }
}

TEST(UrlTest, AnOriginIsTheWholeOne) {
  const char* origin = "https://host:6443";
  for (const char* url : {"https://host:6443", "https://host:6443/", "https://host:6443/@a/b",
                          "https://host:6443?x", "https://host:6443#x"}) {
    EXPECT_TRUE(hasOrigin(url, origin)) << url;
  }
  for (const char* url : {"https://host:64430/", "https://host:6443@other/", "https://host:6443.a/",
                          "http://host:6443/", "https://host/", "https://host:6443\\a", ""}) {
    EXPECT_FALSE(hasOrigin(url, origin)) << url;
  }
}

TEST(UrlTest, ResolvesWhatALocationSays) {
  const Url base = parseUrl("https://host:6443/api/v1/pods?limit=1");
  const auto resolved = [&](const char* location) {
    const Url url = resolveUrl(base, location);
    return url.scheme + " " + url.address() + " " + url.target;
  };
  EXPECT_EQ(resolved("/x?y"), "https host:6443 /x?y");
  EXPECT_EQ(resolved("nodes"), "https host:6443 /api/v1/nodes");
  EXPECT_EQ(resolved("?limit=2"), "https host:6443 /api/v1/pods?limit=2");
  EXPECT_EQ(resolved(""), "https host:6443 /api/v1/pods?limit=1");
  EXPECT_EQ(resolved("//other/x"), "https other:443 /x");
  EXPECT_EQ(resolved("http://other/x"), "http other:80 /x");
  EXPECT_EQ(resolved("/login?to=http://other/"), "https host:6443 /login?to=http://other/");
  EXPECT_THROW(resolveUrl(base, "http://"), ConfigError);
}

TEST(UrlTest, DecodesPercentEscapes) {
  EXPECT_EQ(percentDecoded("a%40b%3A"), "a@b:");
  EXPECT_EQ(percentDecoded("%4"), "%4");
  EXPECT_EQ(percentDecoded("%zz%"), "%zz%");
}

}  // namespace
}  // namespace kube
