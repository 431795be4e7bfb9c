// No threads.
#include "kube/meta/semantic_version.h"

#include <gtest/gtest.h>

#include "kube/base/error.h"

namespace kube {
namespace {

TEST(SemanticVersionTest, IsParsedAndWritten) {
  for (const char* text : {"1.2.3", "0.0.0", "1.37.0-rc.1", "1.2.3-a-b.0+x.07", "1.2.3+build"}) {
    EXPECT_EQ(SemanticVersion::parse(text).str(), text);
  }
  EXPECT_EQ(SemanticVersion::parse("v1.30").str(), "1.30.0");
  for (const char* text :
       {"", "v", "1", "1.", "1.2.", "1.2.3.4", "1.2.x", "01.2.3", "1.2.3-", "1.2.3-01",
        "1.2.3-a..b", "1.2.3+", "-1.2.3", "1.2.4294967296", "1.2.3-a.", " 1.2.3", "1.+2.3"}) {
    EXPECT_FALSE(SemanticVersion::tryParse(text)) << text;
  }
  EXPECT_THROW(SemanticVersion::parse("one"), Error);
}

TEST(SemanticVersionTest, IsOrderedAsSemverOrgSays) {
  const char* ordered[] = {"1.0.0-alpha",  "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta",
                           "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1",       "1.0.0",
                           "1.0.1",        "1.2.0",         "1.10.0",           "2.0.0"};
  for (std::size_t i = 0; i < std::size(ordered); ++i) {
    for (std::size_t j = 0; j < std::size(ordered); ++j) {
      const auto a = SemanticVersion::parse(ordered[i]), b = SemanticVersion::parse(ordered[j]);
      EXPECT_EQ(a < b, i < j) << ordered[i] << " " << ordered[j];
      EXPECT_EQ(a == b, i == j);
    }
  }
  EXPECT_EQ(SemanticVersion::parse("1.0.0+a"), SemanticVersion::parse("1.0.0+b"));
  EXPECT_GE(SemanticVersion::parse("v1.33.4"), (SemanticVersion{1, 33}));
}

}  // namespace
}  // namespace kube
