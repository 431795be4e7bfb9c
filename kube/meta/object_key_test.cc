#include "kube/meta/object_key.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <unordered_set>

#include "kube/base/error.h"
#include "kube/meta/any_object.h"
#include "kube/meta/unstructured.h"

namespace kube {
namespace {

TEST(ObjectKeyTest, IsSplitAndJoined) {
  EXPECT_EQ(ObjectKey::parse("book/web-1"), (ObjectKey{"book", "web-1"}));
  EXPECT_EQ(ObjectKey::parse("node-1"), (ObjectKey{"", "node-1"}));
  EXPECT_EQ(ObjectKey::parse(""), ObjectKey());
  EXPECT_EQ(ObjectKey::parse("/a"), (ObjectKey{"", "a"}));
  EXPECT_EQ(ObjectKey::parse("a/"), (ObjectKey{"a", ""}));
  EXPECT_EQ((ObjectKey{"book", "web-1"}).str(), "book/web-1");
  EXPECT_EQ((ObjectKey{"", "node-1"}).str(), "node-1");
  EXPECT_TRUE(ObjectKey().empty());
}

TEST(ObjectKeyTest, HasOneSlashAtMost) {
  try {
    ObjectKey::parse("a/b/c");
    FAIL();
  } catch (const DecodeError& e) {
    EXPECT_EQ(e.offset(), 3U);
    EXPECT_STREQ(e.what(),
                 "object key: offset 3: unexpected key format: \"a/b/c\": expected namespace/name "
                 "or name");
  }
}

TEST(ObjectKeyTest, IsOrderedHashedAndPrinted) {
  const std::set<ObjectKey> keys{{"b", "a"}, {"a", "b"}, {"", "z"}, {"a", "a"}};
  std::string order;
  for (const ObjectKey& key : keys) order += key.str() + ' ';
  EXPECT_EQ(order, "z a/a a/b b/a ");
  const std::unordered_set<ObjectKey> set{{"a", "b"}, {"b", "a"}, {"a", "b"}};
  EXPECT_EQ(set.size(), 2U);
  EXPECT_TRUE(set.contains({"b", "a"}));
  std::ostringstream out;
  out << ObjectKey{"a", "b"};
  EXPECT_EQ(out.str(), "a/b");
  EXPECT_EQ(fmt::format("{}", ObjectKey{"a", "b"}), "a/b");
}

TEST(ObjectKeyTest, ExistsForEveryObject) {
  const metav1::PartialObjectMetadata object{.metadata = {.name = "web", .namespace_ = "book"}};
  const ObjectKey key{"book", "web"};
  EXPECT_EQ(keyOf(object), key);
  EXPECT_EQ(keyOf(object.metadata), key);
  EXPECT_EQ(keyOf(AnyObject(object)), key);
  Unstructured dynamic;
  dynamic.setName("web");
  dynamic.setNamespace("book");
  EXPECT_EQ(keyOf(dynamic), key);
  EXPECT_EQ(keyOf(AnyObject(dynamic)), key);
  EXPECT_THROW(keyOf(AnyObject(metav1::Status())), Error);
  static_assert(NamedObject<metav1::PartialObjectMetadata>);
  static_assert(!NamedObject<metav1::PartialObjectMetadataList>);
}

}  // namespace
}  // namespace kube
