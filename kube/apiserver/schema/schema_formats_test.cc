// No threads.

#include "kube/apiserver/schema/schema_formats.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kube::apiserver {
namespace {

struct Case {
  std::string_view format;
  std::vector<std::string> good, bad;
};

TEST(SchemaFormatsTest, TakeWhatAnApiServerTakes) {
  const std::vector<Case> cases = {
      {"date", {"2020-02-29", "0000-01-01"}, {"2019-02-29", "2020-13-01", "2020-1-1", "x", ""}},
      {"date-time",
       {"2014-12-15T08:00:00Z", "2014-12-15t08:00:00.000z", "2011-08-18T19:03:37.000+01:00"},
       {"2014-12-15", "2014-12-15T24:00:00Z", "2014-12-15T08:00Z", "2014-12-15 08:00:00Z"}},
      {"byte", {"YWJj", "YWI=", "YQ=="}, {"YWJ", "", "YW Jj", "YQ==="}},
      {"uuid",
       {"a8098c1a-f86e-11da-bd1a-00112444be1e", "A8098C1AF86E11DABD1A00112444BE1E"},
       {"not-a-uuid", "a8098c1a-f86e-11da-bd1a-00112444be1", ""}},
      {"uuid3", {"bcd02e22-68f0-3046-a512-327cca9def8f"}, {"025b0d74-00a2-4048-bf57-227c5111bb34"}},
      {"uuid4", {"025b0d74-00a2-4048-bf57-227c5111bb34"}, {"025b0d74-00a2-4048-0f57-227c5111bb34"}},
      {"uuid5", {"886313e1-3b8a-5372-9b90-0c9aee199e5d"}, {"025b0d74-00a2-4048-bf57-227c5111bb34"}},
      {"ipv4", {"192.168.254.1", "010.0.0.1"}, {"198.168.254.2.2", "::1", "", "1.2.3.256"}},
      {"ipv6", {"::1", "2001:db8::1"}, {"127.0.0.1", "::g", "1::2::3"}},
      {"cidr", {"192.168.254.0/24", "::1/128", "10.0.0.1/8"}, {"198.168.254.2", "10.0.0.0/33", ""}},
      {"mac",
       {"01:02:03:04:05:06", "01-02-03-04-05-06", "0102.0304.0506"},
       {"01:02:03:04:05", "x"}},
      {"duration",
       {"1h", "-1.5h", "3 days", "1 us", "2 weeks", "0", "10hr", "2 hours"},
       {"", "h", "1 parsec", "3", "99999999999999999999 d"}},
      {"email",
       {"somebody@somewhere.com", "A B <a@b.c>", "\"quoted name\"@x.org", "a@[1.2.3.4]"},
       {"somebody@somewhere@com", "a", "@b", "a@", "a@.b", "<a@b", "a..b@c"}},
      {"hostname",
       {"somewhere.com", "888.com", "a", "www.example.onion", "ex=ample.com"},
       {"somewhere.com!", "-somewhere.com", "www.e", "", std::string(70, 'x')}},
      {"uri",
       {"http://somewhere.com", "/a/b", "https://u:p@host:80/x?y", "*", "http://[::1]:80/",
        "mailto:x"},
       {"somewhere.com", "http://a b/", "http://x/%zz", "", ":x", "http://x:y/"}},
      {"bsonobjectid", {"507f1f77bcf86cd799439011"}, {"507f1f77bcf86cd79943901", "z"}},
      {"isbn", {"0321751043", "978-0321751041"}, {"836217463", "9780321751042"}},
      {"isbn10", {"032175104-3", "097522980X"}, {"978-0321751041"}},
      {"isbn13", {"978 0321 751041"}, {"0321751043"}},
      {"creditcard", {"4111-1111-1111-1111"}, {"9999-9999-9999-999", ""}},
      {"ssn", {"111-11-1111"}, {"999 99 999", "111111111"}},
      {"hexcolor", {"#FFFFFF", "fff"}, {"#fffffffz", "#ff"}},
      {"rgbcolor", {"rgb(100, 100,100)"}, {"rgb(300,0,0)", "rgb(1,2)"}},
      {"password", {"", "secret"}, {}},
      {"k8s-short-name", {"a-b", "1"}, {"a-", "A", "", std::string(64, 'a')}},
      {"k8s-long-name", {"a.b-c", std::string(200, 'a')}, {"a.-", "a..b", std::string(254, 'a')}},
  };
  for (const Case& each : cases) {
    const StringFormat* format = findStringFormat(each.format);
    ASSERT_NE(format, nullptr) << each.format;
    for (const std::string& text : each.good) {
      EXPECT_TRUE(format->matches(text)) << each.format << ": " << text;
    }
    for (const std::string& text : each.bad) {
      EXPECT_FALSE(format->matches(text)) << each.format << ": " << text;
    }
  }
}

TEST(SchemaFormatsTest, OthersAreNotKnown) {
  EXPECT_EQ(findStringFormat("colour"), nullptr);
  EXPECT_EQ(findStringFormat("int32"), nullptr);
  EXPECT_EQ(findStringFormat("date-time"), findStringFormat("datetime"));
}

TEST(SchemaFormatsTest, LongTextsAreNoTrouble) {
  const std::string text(1'000'000, '1');
  for (const char* name : {"date-time", "byte", "duration", "email", "hostname", "uri", "isbn",
                           "creditcard", "cidr", "mac", "k8s-long-name"}) {
    findStringFormat(name)->matches(text);
    findStringFormat(name)->matches("http://" + text);
    findStringFormat(name)->matches(text + "@" + text);
  }
}

}  // namespace
}  // namespace kube::apiserver
