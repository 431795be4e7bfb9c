// No threads.

#include "kube/http/http.h"

#include <gtest/gtest.h>

namespace kube {
namespace {

TEST(HttpHeadersTest, NamesAreComparedWithoutRegardToCase) {
  HttpHeaders headers{{"Content-Type", "application/json"}, {"Warning", "a"}, {"WARNING", "b"}};
  EXPECT_EQ(headers.get("content-type"), "application/json");
  EXPECT_EQ(headers.get("warning"), "a");
  EXPECT_TRUE(headers.has("CONTENT-TYPE"));
  EXPECT_FALSE(headers.has("content"));
  EXPECT_EQ(headers.get("missing"), "");
  headers.set("warning", "c");
  EXPECT_EQ(headers.size(), 2u);
  EXPECT_EQ(headers.get("Warning"), "c");
  EXPECT_EQ(headers.erase("Warning"), 1u);
  EXPECT_EQ(headers, (HttpHeaders{{"Content-Type", "application/json"}}));
}

}  // namespace
}  // namespace kube
