#include "kube/meta/finalizers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kube {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

template <class T>
class FinalizersTest : public testing::Test {
 public:
  T object;
  List<String> all() {
    if constexpr (std::same_as<T, metav1::ObjectMeta>) {
      return object.finalizers;
    } else if constexpr (std::same_as<T, Unstructured>) {
      return object.finalizers();
    } else {
      return object.metadata.finalizers;
    }
  }
};
using WithMetadata =
    testing::Types<metav1::ObjectMeta, metav1::PartialObjectMetadata, Unstructured>;
TYPED_TEST_SUITE(FinalizersTest, WithMetadata);

TYPED_TEST(FinalizersTest, AreAddedOnce) {
  EXPECT_TRUE(addFinalizer(this->object, "x/a"));
  EXPECT_TRUE(addFinalizer(this->object, "x/b"));
  EXPECT_FALSE(addFinalizer(this->object, "x/a"));
  EXPECT_THAT(this->all(), ElementsAre("x/a", "x/b"));
  EXPECT_TRUE(containsFinalizer(this->object, "x/b"));
  EXPECT_FALSE(containsFinalizer(this->object, "x/c"));
}

TYPED_TEST(FinalizersTest, AreRemoved) {
  EXPECT_FALSE(removeFinalizer(this->object, "x/a"));
  addFinalizer(this->object, "x/a");
  addFinalizer(this->object, "x/b");
  EXPECT_FALSE(removeFinalizer(this->object, "x/c"));
  EXPECT_TRUE(removeFinalizer(this->object, "x/a"));
  EXPECT_THAT(this->all(), ElementsAre("x/b"));
  EXPECT_TRUE(removeFinalizer(this->object, "x/b"));
  EXPECT_THAT(this->all(), IsEmpty());
}

TEST(FinalizersOfMetaTest, AreRemovedEvenIfRepeated) {
  metav1::ObjectMeta meta{.finalizers = {"a", "b", "a"}};
  EXPECT_TRUE(removeFinalizer(meta, "a"));
  EXPECT_THAT(meta.finalizers, ElementsAre("b"));
}

}  // namespace
}  // namespace kube
