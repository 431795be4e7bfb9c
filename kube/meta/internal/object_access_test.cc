// No threads.
#include "kube/meta/internal/object_access.h"

#include <gtest/gtest.h>

#include "kube/meta/internal/sample_kind_testing.h"

namespace kube {
namespace {

using detail::annotationOf;
using detail::clearResourceVersion;
using detail::nameOf;
using detail::namespaceOf;
using detail::resourceVersionOf;
using detail::uidOf;

template <class T>
void expectMetadata(const T& object) {
  EXPECT_EQ(nameOf(object), "web");
  EXPECT_EQ(namespaceOf(object), "book");
  EXPECT_EQ(uidOf(object), "u-1");
  EXPECT_EQ(resourceVersionOf(object), "7");
  EXPECT_EQ(annotationOf(object, "team"), "blue");
  EXPECT_EQ(annotationOf(object, "other"), "");
}

sample::Network network() {
  sample::Network network;
  network.metadata.name = "web";
  network.metadata.namespace_ = "book";
  network.metadata.uid = "u-1";
  network.metadata.resourceVersion = "7";
  network.metadata.annotations["team"] = "blue";
  return network;
}

Unstructured unstructured() {
  Unstructured object;
  object.setName("web");
  object.setNamespace("book");
  object.setUid("u-1");
  object.setResourceVersion("7");
  object.setAnnotations({{"team", "blue"}});
  return object;
}

TEST(ObjectAccessTest, ReadsStructsAndUnstructuredObjectsAlike) {
  expectMetadata(network());
  expectMetadata(unstructured());
}

TEST(ObjectAccessTest, ReadsMissingFieldsOfAnUnstructuredAsEmpty) {
  EXPECT_EQ(nameOf(Unstructured()), "");
  const Unstructured odd(Value::Object{{"metadata", Value::Object{{"name", 3}}}});
  EXPECT_EQ(nameOf(odd), "");
  EXPECT_EQ(annotationOf(odd, "team"), "");
}

TEST(ObjectAccessTest, ClearsTheResourceVersion) {
  sample::Network typed = network();
  clearResourceVersion(typed);
  EXPECT_EQ(resourceVersionOf(typed), "");
  Unstructured untyped = unstructured();
  clearResourceVersion(untyped);
  EXPECT_EQ(resourceVersionOf(untyped), "");
}

}  // namespace
}  // namespace kube
