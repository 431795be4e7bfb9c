#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/meta/validation/validation.h"

namespace kube::validation {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const ErrorPath kPath("ip");

/// The errors of the strict, the legacy and the strict legacy check; "" for none.
struct Case {
  std::string_view text;
  std::string_view strict = {};
  std::string_view legacy = {};
  std::string_view legacyStrict = {};
};

void expectDetail(const FieldErrors& errors, std::string_view detail, std::string_view text) {
  if (detail.empty()) {
    EXPECT_TRUE(errors.empty()) << text << ": " << toString(errors);
    return;
  }
  ASSERT_EQ(errors.size(), 1U) << text;
  EXPECT_THAT(errors[0].detail, StartsWith(std::string(detail))) << text;
  EXPECT_EQ(errors[0].badValue, Value(text));
}

TEST(ValidIPTest, FollowsUpstream) {
  constexpr std::string_view kBad = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
  constexpr std::string_view kZeros = "must not have leading 0s";
  constexpr std::string_view kMapped = "must not be an IPv4-mapped IPv6 address";
  const Case cases[] = {
      {"1.2.3.4"},
      {"0.0.0.0"},
      {"255.255.255.255"},
      {"1234::abcd"},
      {"::"},
      {"::1"},
      {"1::"},
      {"1:0:0:2::3"},
      {"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
      {"0:0:0:0:0:0:0:0", R"(must be in canonical form ("::"))"},
      {"0001:002:03:4::", R"(must be in canonical form ("1:2:3:4::"))"},
      {"1234::ABCD", R"(must be in canonical form ("1234::abcd"))"},
      {"1:2:3:4:5:6:7::", R"(must be in canonical form ("1:2:3:4:5:6:7:0"))"},
      {"1::2:0:0:0:3", R"(must be in canonical form ("1:0:0:2::3"))"},
      {"::1.2.3.4", R"(must be in canonical form ("::102:304"))"},
      {"1.1.1.01", kZeros, "", kZeros},
      {"::ffff:1.1.1.1", kMapped, "", kMapped},
      {"::ffff:101:101", kMapped, "", kMapped},
      {"00001::", kZeros, "", kZeros},
      {"", kBad, kBad, kBad},
      {"aaaaaaa", kBad, kBad, kBad},
      {"myhost.mydomain", kBad, kBad, kBad},
      {"1.2.3.0/24", kBad, kBad, kBad},
      {"1.2.3.400", kBad, kBad, kBad},
      {"1.2.3", kBad, kBad, kBad},
      {"1.2.3.4.5", kBad, kBad, kBad},
      {"1.2.3.", kBad, kBad, kBad},
      {"-1.0.0.0", kBad, kBad, kBad},
      {"99999999999999999999.0.0.0", kBad, kBad, kBad},
      {"2001:db8::10005", kBad, kBad, kBad},
      {"1.2.3.4:80", kBad, kBad, kBad},
      {"[2001:db8::1]", kBad, kBad, kBad},
      {"[2001:db8::1]:80", kBad, kBad, kBad},
      {"example.com:80", kBad, kBad, kBad},
      {"1234::abcd%eth0", kBad, kBad, kBad},
      {"169.254.0.0%eth0", kBad, kBad, kBad},
      {":", kBad, kBad, kBad},
      {":::", kBad, kBad, kBad},
      {"1::2::3", kBad, kBad, kBad},
      {"1:2:3:4:5:6:7", kBad, kBad, kBad},
      {"1:2:3:4:5:6:7:8:9", kBad, kBad, kBad},
      {"1:2:3:4:5:6:7:8:", kBad, kBad, kBad},
      {"::1:2:3:4:5:6:7:8", kBad, kBad, kBad},
      {"1:2:3:4:5:6:7:1.2.3.4", kBad, kBad, kBad},
      {"1:2:3:4:5:1.2.3.4", kBad, kBad, kBad},
      {"1:2:3:4:5:6:1.2.3", kBad, kBad, kBad},
  };
  for (const Case& test : cases) {
    expectDetail(isValidIP(kPath, test.text), test.strict, test.text);
    expectDetail(isValidIPForLegacyField(kPath, test.text, false), test.legacy, test.text);
    expectDetail(isValidIPForLegacyField(kPath, test.text), test.legacyStrict, test.text);
  }
}

TEST(ValidIPTest, MayBeRestrictedToAFamily) {
  expectDetail(isValidIPv4(kPath, "10.0.0.1"), "", "10.0.0.1");
  expectDetail(isValidIPv4(kPath, "::1"), "must be a valid IPv4 address", "::1");
  expectDetail(isValidIPv4(kPath, "x"), "must be a valid IPv4 address", "x");
  expectDetail(isValidIPv4(kPath, "10.0.0.01"), "must not have leading 0s", "10.0.0.01");
  expectDetail(isValidIPv6(kPath, "::1"), "", "::1");
  expectDetail(isValidIPv6(kPath, "10.0.0.1"), "must be a valid IPv6 address", "10.0.0.1");
  expectDetail(isValidIPv6(kPath, "::FFFF"), "must be in canonical form", "::FFFF");
}

TEST(ValidCIDRTest, FollowsUpstream) {
  constexpr std::string_view kBad =
      "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";
  constexpr std::string_view kZeros = "must not have leading 0s in IP or prefix length";
  constexpr std::string_view kMapped = "must not have an IPv4-mapped IPv6 address";
  constexpr std::string_view kBits = "must not have bits set beyond the prefix length";
  const Case cases[] = {
      {"1.0.0.0/8"},
      {"0.0.0.0/0"},
      {"1.1.1.1/32"},
      {"10.96.0.0/12"},
      {"2001:4860:4860::/48"},
      {"::/0"},
      {"::1/128"},
      {"2a00:79e0:2:0::/64", R"(must be in canonical form ("2a00:79e0:2::/64"))"},
      {"2001:DB8::/64", R"(must be in canonical form ("2001:db8::/64"))"},
      {"1.1.01.0/24", kZeros, "", kZeros},
      {"::ffff:1.1.1.0/24", kMapped, "", kMapped},
      {"::ffff:1.1.1.0/120", kMapped, "", kMapped},
      {"1.2.3.4/24", kBits, "", kBits},
      {"10.97.0.0/12", kBits, "", kBits},
      {"2001:db8::1/64", kBits, "", kBits},
      {"192.168.0.0/016", kZeros, "", kZeros},
      {"", kBad, kBad, kBad},
      {"aaaaaaa", kBad, kBad, kBad},
      {"1.2.3.4", kBad, kBad, kBad},
      {"1.2.3.4/", kBad, kBad, kBad},
      {"1.2.3.4/33", kBad, kBad, kBad},
      {"::/129", kBad, kBad, kBad},
      {"192.168.0.1/healthz", kBad, kBad, kBad},
      {"192.168.0.1/0/99", kBad, kBad, kBad},
      {"192.168.0.0/-16", kBad, kBad, kBad},
      {"192.168.0.0/+16", kBad, kBad, kBad},
  };
  for (const Case& test : cases) {
    expectDetail(isValidCIDR(kPath, test.text), test.strict, test.text);
    expectDetail(isValidCIDRForLegacyField(kPath, test.text, false), test.legacy, test.text);
    expectDetail(isValidCIDRForLegacyField(kPath, test.text), test.legacyStrict, test.text);
  }
}

TEST(ValidInterfaceAddressTest, FollowsUpstream) {
  constexpr std::string_view kBad = "must be a valid address in CIDR form";
  const Case cases[] = {
      {"1.2.3.4/24"},
      {"1.1.1.1/32"},
      {"2001:4860:4860::1/48"},
      {"::1/128"},
      {"", kBad},
      {"1.2.3.4", kBad},
      {"192.168.0.1/0/99", kBad},
      {"2001:0:0:0::0BCD/64", R"(must be in canonical form ("2001::bcd/64"))"},
      {"1.1.01.002/24", R"(must be in canonical form ("1.1.1.2/24"))"},
      {"::ffff:1.1.1.1/24", R"(must be in canonical form ("1.1.1.1/24"))"},
      {"::ffff:1.1.1.1/120", R"(must be in canonical form ("1.1.1.1/24"))"},
      {"192.168.0.5/016", R"(must be in canonical form ("192.168.0.5/16"))"},
  };
  for (const Case& test : cases) {
    expectDetail(isValidInterfaceAddress(kPath, test.text), test.strict, test.text);
  }
}

}  // namespace
}  // namespace kube::validation
