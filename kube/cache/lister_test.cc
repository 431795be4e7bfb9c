#include "kube/cache/lister.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/api/core/v1.h"

namespace kube {
namespace {

using corev1::Pod;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

Pod podOf(std::string_view ns, std::string_view name, std::string_view app) {
  Pod result;
  result.metadata.namespace_ = ns;
  result.metadata.name = name;
  result.metadata.labels["app"] = app;
  return result;
}
std::vector<std::string> names(const std::vector<std::shared_ptr<const Pod>>& pods) {
  std::vector<std::string> result;
  for (const auto& pod : pods) result.push_back(keyOf(*pod).str());
  return result;
}

class ListerTest : public ::testing::TestWithParam<bool> {};

TEST_P(ListerTest, ListsByNamespaceAndLabels) {
  const auto store = std::make_shared<Store<Pod>>(
      GetParam() ? Indexers<Pod>{{kNamespaceIndex, namespaceIndex<Pod>}} : Indexers<Pod>{});
  store->add(podOf("book", "a", "web"));
  store->add(podOf("book", "b", "db"));
  store->add(podOf("shelf", "c", "web"));
  store->add(podOf("", "d", "web"));
  const Lister<Pod> pods(store);
  const auto web = labels::Selector::parse("app=web");
  EXPECT_THAT(names(pods.list()), UnorderedElementsAre("book/a", "book/b", "shelf/c", "d"));
  EXPECT_THAT(names(pods.list(web)), UnorderedElementsAre("book/a", "shelf/c", "d"));
  EXPECT_THAT(names(pods.inNamespace("book").list()), UnorderedElementsAre("book/a", "book/b"));
  EXPECT_THAT(names(pods.inNamespace("book").list(web)), ElementsAre("book/a"));
  EXPECT_THAT(pods.inNamespace("book").list(labels::Selector::nothing()), IsEmpty());
  EXPECT_THAT(pods.inNamespace("nowhere").list(), IsEmpty());
  EXPECT_EQ(pods.inNamespace("").list().size(), 4U);

  EXPECT_EQ(pods.inNamespace("book").get("a")->metadata.name, "a");
  EXPECT_EQ(pods.inNamespace("book").get("c"), nullptr);
  EXPECT_EQ(pods.get("d")->metadata.name, "d");
  EXPECT_EQ(pods.get("a"), nullptr);
  EXPECT_EQ(pods.get(ObjectKey{"shelf", "c"})->metadata.name, "c");
}
INSTANTIATE_TEST_SUITE_P(WithAndWithoutIndex, ListerTest, ::testing::Bool());

TEST(ListerTest, SeesWhatTheStoreHasNow) {
  const auto store = std::make_shared<Store<Pod>>();
  const Lister<Pod> pods(store);
  EXPECT_THAT(pods.list(), IsEmpty());
  store->add(podOf("book", "a", "web"));
  EXPECT_EQ(pods.list().size(), 1U);
  EXPECT_EQ(pods.store().size(), 1U);
}

}  // namespace
}  // namespace kube
