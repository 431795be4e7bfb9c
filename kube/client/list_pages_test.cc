// No threads.

#include "kube/client/list_pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/api/core/v1.h"

namespace kube {
namespace {

TEST(PagesTest, ARepeatedContinueTokenIsAnError) {
  int asked = 0;
  Pages<corev1::Pod> pages(
      [&](const metav1::ListOptions&) {
        if (++asked > 10) throw std::logic_error("asked for ever");
        ObjectList<corev1::Pod> page;
        page.metadata.continue_ = "same";
        return page;
      },
      {});
  EXPECT_TRUE(pages.next());
  try {
    pages.next();
    FAIL();
  } catch (const TransportError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("the list has no end"));
    EXPECT_TRUE(error.permanent());
  }
  EXPECT_EQ(asked, 2);
}

}  // namespace
}  // namespace kube
