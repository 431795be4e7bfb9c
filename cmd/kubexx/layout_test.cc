// No threads.
// Table layouts, diffs and sorting: functions that need no server.
#include <gtest/gtest.h>

#include "cmd/kubexx/invocation.h"
#include "cmd/kubexx/object_printer.h"
#include "cmd/kubexx/sorting.h"
#include "cmd/kubexx/table_layout.h"
#include "cmd/kubexx/text_diff.h"

namespace kube::cmd {
namespace {

TEST(TableLayoutTest, FitsColumnsToTheirLongestCells) {
  TableLayout layout;
  layout.row({{"NAME"}, {"A"}, {"AGE"}});
  layout.row({{"web-12345"}, {""}, {"5m"}});
  EXPECT_EQ(layout.flush(), "NAME        A     AGE\nweb-12345         5m\n");
}

TEST(TableLayoutTest, CountsCharactersAndNotBytes) {
  TableLayout layout;
  layout.row({{"äöüß"}, {"x"}});
  layout.row({{"abcd"}, {"y"}});
  EXPECT_EQ(layout.flush(), "äöüß   x\nabcd   y\n");
}

TEST(TableLayoutTest, KeepsWidthsUntilForgetWidths) {
  TableLayout layout;
  layout.row({{"a-long-name"}, {"x"}});
  layout.flush();
  layout.row({{"b"}, {"y"}});
  EXPECT_EQ(layout.flush(), "b             y\n");
  layout.forgetWidths();
  layout.row({{"b"}, {"y"}});
  EXPECT_EQ(layout.flush(), "b     y\n");
}

TEST(TableLayoutTest, AColumnEndsWhereARowHasNone) {
  TableLayout layout;
  layout.row({{"a"}, {"b"}});
  layout.row({{"a line of its own"}});
  layout.row({{"longer than that"}, {"b"}});
  EXPECT_EQ(layout.flush(), "a     b\na line of its own\nlonger than that   b\n");
}

TEST(TableLayoutTest, ColoursDoNotCountAsWidth) {
  TableLayout layout(true);
  layout.row({{"ok", Style::Good}, {"x"}});
  EXPECT_EQ(layout.flush(), "\x1b[32mok\x1b[0m    x\n");
}

TEST(UnifiedDiffTest, ShowsChangesWithContext) {
  EXPECT_EQ(unifiedDiff("a\n", "a\n", "x", "y"), "");
  EXPECT_EQ(unifiedDiff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n", "x", "y"),
            "--- x\n+++ y\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
  EXPECT_EQ(unifiedDiff("", "a\nb\n", "x", "y"), "--- x\n+++ y\n@@ -0,0 +1,2 @@\n+a\n+b\n");
}

TEST(UnifiedDiffTest, DistantChangesAreSeparateHunks) {
  std::string before, after;
  for (int i = 0; i < 30; ++i) {
    before += std::to_string(i) + "\n";
    after += (i == 3 || i == 25 ? "x" : std::to_string(i)) + "\n";
  }
  const std::string diff = unifiedDiff(before, after, "x", "y");
  EXPECT_NE(diff.find("@@ -1,7 +1,7 @@"), std::string::npos) << diff;
  EXPECT_NE(diff.find("@@ -23,7 +23,7 @@"), std::string::npos) << diff;
}

TEST(SortingTest, NumbersInNamesCountAsNumbers) {
  EXPECT_TRUE(naturalLess("web-2", "web-10"));
  EXPECT_FALSE(naturalLess("web-10", "web-2"));
  EXPECT_TRUE(naturalLess("web", "web-1"));
  EXPECT_FALSE(naturalLess("a", "a"));
  EXPECT_TRUE(lessValue(Value("500m"), Value("1")));
  EXPECT_TRUE(lessValue(Value("1Gi"), Value("2000Mi")));
  EXPECT_TRUE(lessValue(Value(), Value(0)));
}

TEST(GoTextTest, PrintsValuesAsGoDoes) {
  EXPECT_EQ(goText(Value::Object{{"a", 1}, {"b", Value::Array{"x", nullptr, true}}}),
            "map[a:1 b:[x <nil> true]]");
}

TEST(ParseTimeoutTest, AcceptsSecondsAndDurations) {
  EXPECT_EQ(parseTimeout("--timeout", "5"), std::chrono::seconds(5));
  EXPECT_EQ(parseTimeout("--timeout", "1m30s"), std::chrono::seconds(90));
  EXPECT_EQ(parseTimeout("--timeout", "0"), std::chrono::seconds(0));
  EXPECT_THROW(parseTimeout("--timeout", "soon"), UsageError);
}

}  // namespace
}  // namespace kube::cmd
