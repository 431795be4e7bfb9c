#include "kube/meta/validation/validation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>

namespace kube::validation {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string repeat(char c, std::size_t n) { return std::string(n, c); }

template <class Check>
void expectGood(Check check, std::initializer_list<std::string> texts) {
  for (const std::string& text : texts) EXPECT_THAT(check(text), IsEmpty()) << text;
}
template <class Check>
void expectBad(Check check, std::initializer_list<std::string> texts) {
  for (const std::string& text : texts) EXPECT_FALSE(check(text).empty()) << text;
}

TEST(ValidationTest, DNS1123Label) {
  expectGood(isDNS1123Label, {"a", "ab", "abc", "a1", "a-1", "a--1--2--b", "0", "01", "012", "1a",
                              "1-a", "1--a--b--2", repeat('a', 63)});
  expectBad(isDNS1123Label, {"",
                             "A",
                             "ABC",
                             "aBc",
                             "A1",
                             "A-1",
                             "1-A",
                             "-",
                             "a-",
                             "-a",
                             "1-",
                             "-1",
                             "_",
                             "a_",
                             "_a",
                             "a_b",
                             "1_",
                             "_1",
                             "1_2",
                             ".",
                             "a.",
                             ".a",
                             "a.b",
                             "1.",
                             ".1",
                             "1.2",
                             " ",
                             "a ",
                             " a",
                             "a b",
                             "1 ",
                             " 1",
                             "1 2",
                             "a\n",
                             std::string("a\0b", 3),
                             repeat('a', 64)});
  EXPECT_THAT(
      isDNS1123Label("A"),
      ElementsAre("a lowercase RFC 1123 label must consist of lower case alphanumeric characters "
                  "or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  "
                  "or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"));
  EXPECT_THAT(isDNS1123Label("a.b"), ElementsAre("must not contain dots"));
  EXPECT_THAT(isDNS1123Label(repeat('a', 64)), ElementsAre("must be no more than 63 characters"));
}

TEST(ValidationTest, DNS1123Subdomain) {
  expectGood(isDNS1123Subdomain,
             {"a", "ab", "a-1", "a--1--2--b", "0", "012", "1--a--b--2", "a.a", "a1.a", "a-1.a",
              "a--1--2--b.1", "0.a", "1-a.1", "a.b.c.d.e", "11.22.33.44.55", repeat('a', 253)});
  expectBad(isDNS1123Subdomain, {"",
                                 "A",
                                 "aBc",
                                 "-",
                                 "a-",
                                 "-a",
                                 "1-",
                                 "_",
                                 "a_b",
                                 ".",
                                 "a.",
                                 ".a",
                                 "a..b",
                                 "1..2",
                                 " ",
                                 "a b",
                                 "A.a",
                                 "ab.A",
                                 "aa.bB.cc.dd.ee",
                                 "a@b",
                                 "a,b",
                                 "a;b",
                                 "a:b",
                                 "a%b",
                                 "a?b",
                                 "a$b",
                                 "a.-b",
                                 "a-.b",
                                 repeat('a', 254)});
  EXPECT_THAT(
      isDNS1123Subdomain("A"),
      ElementsAre("a lowercase RFC 1123 subdomain must consist of lower case alphanumeric "
                  "characters, '-' or '.', and must start and end with an alphanumeric character "
                  "(e.g. 'example.com', regex used for validation is "
                  R"('[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*'))"));
  EXPECT_THAT(isDNS1123Subdomain(repeat('a', 253) + "-"),
              ElementsAre("must be no more than 253 characters", HasSubstr("RFC 1123")));
}

TEST(ValidationTest, DNS1123SubdomainWithUnderscore) {
  expectGood(isDNS1123SubdomainWithUnderscore,
             {"example.com", "_example.com", "sub._example.com", "sub-domain.example.com",
              "sub_domain.example.com"});
  expectBad(isDNS1123SubdomainWithUnderscore, {"", "Example.com", "-example.com", "example.com-",
                                               "example@.com", "example..com", "_", "__a", "a_"});
  EXPECT_EQ(isDNS1123SubdomainWithUnderscore("a." + repeat('\0', 251) + ".com").size(), 2U);
}

TEST(ValidationTest, WildcardDNS1123Subdomain) {
  expectGood(isWildcardDNS1123Subdomain, {"*.example.com", "*.bar.com", "*.foo.bar.com"});
  expectBad(isWildcardDNS1123Subdomain,
            {"*.*.bar.com", "*.foo.*.com", "*bar.com", "f*.bar.com", "*", "*."});
}

TEST(ValidationTest, DNS1035Label) {
  expectGood(isDNS1035Label, {"a", "ab", "abc", "a1", "a-1", "a--1--2--b", repeat('a', 63)});
  expectBad(isDNS1035Label, {"0", "01", "1a", "1-a", "", "A", "aBc", "-", "a-", "-a", "_", "a_b",
                             ".", "a.b", " ", "a b", repeat('a', 64)});
  EXPECT_THAT(isDNS1035Label("1a"), ElementsAre(HasSubstr("start with an alphabetic character")));
}

TEST(ValidationTest, QualifiedName) {
  expectGood(isQualifiedName,
             {"simple", "now-with-dashes", "1-starts-with-num", "1234", "simple/simple",
              "now-with-dashes/simple", "now-with-dashes/now-with-dashes", "now.with.dots/simple",
              "now-with.dashes-and.dots/simple", "1-num.2-num/3-num", "1234/5678", "1.2.3.4/5678",
              "Uppercase_Is_OK_123", "example.com/Uppercase_Is_OK_123", "requests.storage-foo",
              repeat('a', 63), repeat('a', 253) + "/" + repeat('b', 63)});
  expectBad(isQualifiedName,
            {"nospecialchars%^=@", "cantendwithadash-", "-cantstartwithadash-", "only/one/slash",
             "Example.com/abc", "example_com/abc", "example.com/", "/simple", "", "/",
             repeat('a', 64), repeat('a', 254) + "/abc"});
}

TEST(ValidationTest, QualifiedNameErrorsNameTheInvalidPart) {
  constexpr std::string_view kRule =
      "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
      "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
      "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
  EXPECT_THAT(isQualifiedName("a-"), ElementsAre("name part " + std::string(kRule)));
  EXPECT_THAT(isQualifiedName("a/b/c"),
              ElementsAre("a valid label key " + std::string(kRule) +
                          " with an optional DNS subdomain prefix and '/' (e.g. "
                          "'example.com/MyName')"));
  EXPECT_THAT(isQualifiedName("/a"), ElementsAre("prefix part must be non-empty"));
  EXPECT_THAT(isQualifiedName("a/"),
              ElementsAre("name part must be non-empty", HasSubstr("name part must consist of")));
  EXPECT_THAT(isQualifiedName(repeat('a', 64)),
              ElementsAre("name part must be no more than 63 bytes"));
  EXPECT_THAT(isQualifiedName(repeat('a', 254) + "/a"),
              ElementsAre("prefix part must be no more than 253 bytes"));
  EXPECT_THAT(isQualifiedName("A/a"), ElementsAre(HasSubstr("prefix part a lowercase RFC 1123")));
}

TEST(ValidationTest, LabelValue) {
  expectGood(isValidLabelValue, {"simple", "now-with-dashes", "1-starts-with-num", "end-with-num-1",
                                 "1234", repeat('a', 63), ""});
  expectBad(isValidLabelValue, {"nospecialchars%^=@", "Tama-nui-te-rā.is.Māori.sun",
                                "\\backslashes\\are\\bad", "-starts-with-dash", "ends-with-dash-",
                                ".starts.with.dot", "ends.with.dot.", repeat('a', 64)});
  EXPECT_THAT(
      isValidLabelValue("-"),
      ElementsAre("a valid label must be an empty string or consist of alphanumeric characters, "
                  "'-', '_' or '.', and must start and end with an alphanumeric character (e.g. "
                  "'MyValue',  or 'my_value',  or '12345', regex used for validation is "
                  "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"));
  EXPECT_THAT(isValidLabelValue(repeat('a', 64)), ElementsAre("must be no more than 63 bytes"));
}

TEST(ValidationTest, PathSegment) {
  expectGood(isPathSegmentName, {"", "a", "a.b", "...", "system:node", "A b"});
  EXPECT_THAT(isPathSegmentName("."), ElementsAre("may not be '.'"));
  EXPECT_THAT(isPathSegmentName(".."), ElementsAre("may not be '..'"));
  EXPECT_THAT(isPathSegmentName("a/b%c"),
              ElementsAre("may not contain '/'", "may not contain '%'"));
  expectGood(isPathSegmentPrefix, {".", "..", "a"});
  expectBad(isPathSegmentPrefix, {"/", "a%"});
}

TEST(ValidationTest, Numbers) {
  for (const int port : {1, 2, 1000, 16384, 32768, 65535}) {
    EXPECT_THAT(isValidPortNum(port), IsEmpty()) << port;
  }
  for (const int port : {0, -1, 65536, 100000}) {
    EXPECT_THAT(isValidPortNum(port), ElementsAre("must be between 1 and 65535, inclusive"));
  }
  EXPECT_THAT(isInRange(1, 0, 10), IsEmpty());
  EXPECT_THAT(isInRange(5, 5, 20), IsEmpty());
  EXPECT_THAT(isInRange(25, 10, 25), IsEmpty());
  EXPECT_THAT(isInRange(1, 2, 10), ElementsAre("must be between 2 and 10, inclusive"));
  EXPECT_FALSE(isInRange(5, -4, 2).empty());
  for (const std::int64_t id : {0L, 1L, 65535L, 2147483647L}) {
    EXPECT_THAT(isValidUserID(id), IsEmpty());
    EXPECT_THAT(isValidGroupID(id), IsEmpty());
  }
  for (const std::int64_t id : {-1L, -1003L, 2147483648L}) {
    EXPECT_FALSE(isValidUserID(id).empty());
    EXPECT_FALSE(isValidGroupID(id).empty());
  }
}

TEST(ValidationTest, PortName) {
  expectGood(isValidPortName,
             {"telnet", "re-mail-ck", "pop3", "a", "a-1", "1-a", "a-1-b-2-c", "1-a-2-b-3"});
  expectBad(isValidPortName, {"longerthan15characters", "", repeat('a', 16), "12345", "1-2-3-4",
                              "-begin", "end-", "two--hyphens", "whois++"});
  EXPECT_THAT(
      isValidPortName("-1--+"),
      ElementsAre("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)",
                  "must contain at least one letter (a-z)", "must not contain consecutive hyphens",
                  "must not begin or end with a hyphen"));
  EXPECT_THAT(isValidPortName(repeat('a', 16)), ElementsAre("must be no more than 15 characters"));
}

TEST(ValidationTest, Percent) {
  expectGood(isValidPercent, {"0%", "00000%", "1%", "01%", "99%", "100%", "101%"});
  expectBad(isValidPercent,
            {"", "%", "0", "100", "0.0%", "99.9%", "hundred", " 1%", "1% ", "-0%", "-1%", "+1%"});
  EXPECT_THAT(isValidPercent("1"),
              ElementsAre("a valid percent string must be a numeric string followed by an ending "
                          "'%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"));
}

TEST(ValidationTest, Identifiers) {
  expectGood(isCIdentifier, {"a", "ab", "abc", "a1", "_a", "a_", "a_b", "a_1", "a__1__2__b",
                             "__abc", "A", "AbC", "_A1"});
  expectBad(isCIdentifier,
            {"", "1", "123", "1a", "-", "a-", "-a", "1-", "a.b", ".", "a b", " a", "#a#"});
  expectGood(isEnvVarName, {"a", "A_B", "my.env-name", "MY_ENV.NAME", "MyEnvName1", ".a", "-"});
  expectBad(isEnvVarName, {"", "1a", "a=b", "a b", ".", "..", "..a"});
  EXPECT_THAT(isEnvVarName("..a"), ElementsAre("must not start with '..'"));
  EXPECT_THAT(isEnvVarName("."), ElementsAre("must not be '.'"));
  EXPECT_THAT(isEnvVarName(".."), ElementsAre("must not be '..'"));
}

TEST(ValidationTest, RelaxedEnvVarName) {
  expectGood(isRelaxedEnvVarName,
             {"-",   ":",  "_",  "+a", ">a", "<a", "a.", "a..", "*a",  "%a", "?a", "a:a",
              "aAz", "~a", "|a", "a9", "/a", "a ", "#a", "0a",  "0 a", "'a", "(a", "@a"});
  expectBad(isRelaxedEnvVarName, {"", "=", "a=", "1=a", "a=b", "#%=&&",
                                  "\x01"
                                  "abc",
                                  "\u0082abc", "Ç ç", "Ä ä", "Ñ ñ", "\x7f"});
  EXPECT_THAT(isRelaxedEnvVarName(""), ElementsAre("environment variable name must be non-empty"));
}

TEST(ValidationTest, ConfigMapKey) {
  expectGood(isConfigMapKey, {"a", "good", "good-good", "still.good", "this.is.also.good",
                              ".so.is.this", "THIS_IS_GOOD", "so_is_this_17", repeat('a', 253)});
  expectBad(isConfigMapKey, {".", "..", "..bad", "b*d", "bad!&bad", "", repeat('a', 254)});
}

TEST(ValidationTest, HTTPHeaderName) {
  expectGood(isHTTPHeaderName, {"Accept-Encoding", "Host", "X-Forwarded-For", "a", "-a", "a-",
                                "a--1--2--b", "--abc-123", "A1"});
  expectBad(isHTTPHeaderName, {"Host:", "X-@Home", "", "_", "a_", ".", "a.b", " ", "a b", "#a#",
                               "^", ",", ";", "=", "<", "?", "@", "{"});
}

template <FieldErrors (*Check)(const ErrorPath&, std::string_view)>
FieldErrors at(std::string_view text) {
  return Check(ErrorPath("f"), text);
}

TEST(ValidationTest, FullyQualifiedDomainName) {
  const std::string three = repeat('a', 63) + "." + repeat('b', 63) + "." + repeat('c', 63) + ".";
  expectGood(at<isFullyQualifiedDomainName>,
             {"a.com", "k8s.io", "dev.k8s.io", "dev.k8s.io.", "foo.example.com", "bbc.co.uk",
              "10.0.0.1", "hyphens-are-good.k8s.io", repeat('a', 63) + ".k8s.io",
              three + repeat('d', 54) + ".k8s.io"});
  expectBad(
      at<isFullyQualifiedDomainName>,
      {"", ".", "...", ".io", "com", ".com", "Dev.k8s.io", ".foo.example.com", "*.example.com",
       "underscores_are_bad.k8s.io", "foo@bar.example.com", "http://foo.example.com",
       repeat('a', 64) + ".k8s.io", three + repeat('d', 55) + ".k8s.io"});
  EXPECT_EQ(toString(at<isFullyQualifiedDomainName>("")), "f: Required value");
  EXPECT_EQ(toString(at<isFullyQualifiedDomainName>("com.")),
            "f: Invalid value: \"com\": should be a domain with at least two segments separated by "
            "dots");
}

TEST(ValidationTest, FullyQualifiedName) {
  expectGood(at<isFullyQualifiedName>, {"dev.k8s.io", "foo.example.com", "bbc.co.uk", "10.0.0.1",
                                        repeat('a', 246) + ".k8s.io"});
  expectBad(at<isFullyQualifiedName>,
            {"", "...", "dev.k8s.io.", ".io", "Dev.k8s.io", "k8s.io", "*.example.com",
             "foo@bar.example.com", "http://foo.k8s.io", "A.B.C", repeat('a', 247) + ".k8s.io"});
  EXPECT_THAT(toString(at<isFullyQualifiedName>("k8s.io")),
              HasSubstr("should be a domain with at least three segments separated by dots"));
}

TEST(ValidationTest, DomainPrefixedPath) {
  expectGood(at<isDomainPrefixedPath>,
             {"a/b", "a/b/c/d", "a.com/foo", "k8s.io/FOO/BAR", "10.0.0.1/foo",
              "hyphens-are-good.k8s.io/and-in-paths-too", repeat('a', 240) + ".k8s.io/a",
              "k8s.io/" + repeat('a', 240)});
  expectBad(at<isDomainPrefixedPath>,
            {"", ".", "...", "/b", "com", ".com", "a/", "a.b.c.d/foo?a=b", "a.b.c.d/foo#a",
             "Dev.k8s.io", "*.example.com", "example.com/foo{}[]@^`",
             "underscores_are_bad.k8s.io/foo", "foo@bar.example.com/foo"});
  EXPECT_EQ(toString(at<isDomainPrefixedPath>("a")),
            R"(f: Invalid value: "a": must be a domain-prefixed path (such as "acme.io/foo"))");
  EXPECT_EQ(toString(at<isDomainPrefixedPath>("a/?")),
            R"(f: Invalid value: "?": Invalid path (regex used for validation is )"
            R"('[A-Za-z0-9/\-._~%!$&'()*+,;=:]+'))");
}

TEST(ValidationTest, DomainPrefixedKey) {
  expectGood(at<isDomainPrefixedKey>, {"example.com/foo", "example/com"});
  EXPECT_EQ(
      toString(at<isDomainPrefixedKey>("example")),
      R"(f: Invalid value: "example": must be a domain-prefixed key (such as "acme.io/foo"))");
  expectBad(at<isDomainPrefixedKey>, {"", "example/foo/bar", "/example/foo", "example.com/_e",
                                      "example.com/e_", "example.com/e?"});
}

}  // namespace
}  // namespace kube::validation
