// No threads.

#include "kube/apiserver/custom/custom_scale.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/apiserver/schema/schema_testing.h"
#include "kube/base/error.h"
#include "kube/codec/json.h"

namespace kube::apiserver {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const ScalePaths kPaths{".spec.size.replicas", ".status.replicas", ".status.selector"};

TEST(CustomScaleTest, IsReadThroughItsPaths) {
  const CustomScale read = readScale(parseYaml(R"(
metadata: {name: web, namespace: book, uid: u1, resourceVersion: "7",
           creationTimestamp: "2020-01-02T03:04:05Z", labels: {a: b}}
spec: {size: {replicas: 3}}
status: {replicas: 2, selector: "app=web"}
)"),
                                     kPaths);
  EXPECT_TRUE(read.hasReplicas);
  EXPECT_EQ(toJson(read.scale),
            R"({"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{"name":"web",)"
            R"("namespace":"book","uid":"u1","resourceVersion":"7",)"
            R"("creationTimestamp":"2020-01-02T03:04:05Z"},"spec":{"replicas":3},)"
            R"("status":{"replicas":2,"selector":"app=web"}})");
}

TEST(CustomScaleTest, MayBeMissing) {
  const CustomScale read = readScale(parseYaml("{metadata: {name: web}}"), kPaths);
  EXPECT_FALSE(read.hasReplicas);
  EXPECT_EQ(read.scale.spec->replicas, 0);
  EXPECT_EQ(read.scale.status->selector, "");
}

TEST(CustomScaleTest, MustBeANumber) {
  EXPECT_THROW(readScale(parseYaml("{spec: {size: {replicas: x}}}"), kPaths), DecodeError);
  EXPECT_THROW(readScale(parseYaml("{spec: {size: 3}}"), kPaths), DecodeError);
  EXPECT_THROW(readScale(parseYaml("{status: {selector: 3}}"), kPaths), DecodeError);
}

TEST(CustomScaleTest, IsWrittenToTheObject) {
  const Value object = parseYaml("{metadata: {name: web, resourceVersion: '7'}, spec: {a: 1}}");
  autoscalingv1::Scale scale;
  scale.spec->replicas = 5;
  EXPECT_EQ(toJson(writeScale(object, scale, kPaths)),
            R"({"metadata":{"name":"web","resourceVersion":"7"},)"
            R"("spec":{"a":1,"size":{"replicas":5}}})");
  scale.metadata.resourceVersion = "6";
  EXPECT_EQ(writeScale(object, scale, kPaths)["metadata"]["resourceVersion"], Value("6"));
  EXPECT_THROW(writeScale(parseYaml("{spec: {size: 1}}"), scale, kPaths), DecodeError);
}

TEST(CustomScaleTest, IsValidated) {
  EXPECT_THAT(validateScaleSpec(parseYaml("{spec: {size: {replicas: 3}}}"), kPaths), IsEmpty());
  EXPECT_THAT(texts(validateScaleSpec(parseYaml("{spec: {size: {replicas: -1}}}"), kPaths)),
              ElementsAre(".spec.size.replicas: Invalid value: -1: should be a non-negative "
                          "integer"));
  EXPECT_THAT(texts(validateScaleStatus(parseYaml("{status: {replicas: 3000000000}}"), kPaths)),
              ElementsAre(".status.replicas: Invalid value: 3000000000: should be less than or "
                          "equal to 2147483647"));
  EXPECT_THAT(texts(validateScaleStatus(parseYaml("{status: {selector: [x]}}"), kPaths)),
              ElementsAre(HasSubstr(".status.selector: Invalid value")));
}

}  // namespace
}  // namespace kube::apiserver
