// No threads.
#include "kube/meta/resource_version.h"

#include <gtest/gtest.h>

#include <string>

#include "kube/base/error.h"

namespace kube {
namespace {

TEST(ResourceVersionTest, NumbersAreComparedByTheirValue) {
  EXPECT_TRUE(compareResourceVersions("9", "10") < 0);
  EXPECT_TRUE(compareResourceVersions("21", "12") > 0);
  EXPECT_TRUE(compareResourceVersions("7", "7") == 0);
}

TEST(ResourceVersionTest, NumbersMayHaveAnyLength) {
  const std::string large(40, '9');
  EXPECT_TRUE(compareResourceVersions("18446744073709551616", large) < 0);
  EXPECT_TRUE(compareResourceVersions(large, large.substr(1)) > 0);
  EXPECT_TRUE(compareResourceVersions(large, large) == 0);
}

TEST(ResourceVersionTest, OtherTextsHaveNoOrder) {
  for (const char* text : {"", "0", "01", "-1", "+1", " 1", "1 ", "1a", "0x1", "1.0"}) {
    EXPECT_FALSE(isResourceVersion(text)) << text;
    EXPECT_THROW(compareResourceVersions(text, "1"), Error) << text;
    EXPECT_THROW(compareResourceVersions("1", text), Error) << text;
    EXPECT_EQ(tryCompareResourceVersions("1", text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace kube
