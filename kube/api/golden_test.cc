// Tests every kind of the API, fully populated, against upstream's own compatibility data.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "kube/api/registry.h"
#include "kube/api/scheme.h"
#include "kube/base/pool.h"
#include "kube/codec/deserializer.h"
#include "kube/codec/json.h"
#include "kube/codec/protobuf.h"
#include "kube/codec/yaml.h"
#include "kube/meta/any_object.h"
#include "kube/meta/v1.h"

namespace kube {
namespace {

namespace fs = std::filesystem;

fs::path goldenFolder() {
  const char* set = std::getenv("KUBEXX_GOLDEN_DIR");
  return fs::path(set != nullptr ? set : "../shared/golden") / "v1.36";
}

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream content;
  content << in.rdbuf();
  return content.str();
}

// Maps "apps.v1.Deployment" to its type. Files of core start with "core".
const TypeInfo* findType(const std::string& stem) {
  const auto lastDot = stem.rfind('.');
  const auto versionDot = stem.rfind('.', lastDot - 1);
  const std::string kind = stem.substr(lastDot + 1);
  const std::string version = stem.substr(versionDot + 1, lastDot - versionDot - 1);
  std::string group = stem.substr(0, versionDot);
  if (group == "core") group.clear();
  // WatchEvent is not a kind with an apiVersion of its own.
  if (kind == "WatchEvent") return &TypeOf<metav1::WatchEvent>::info;
  return builtInKind(group.empty() ? version : group + "/" + version, kind);
}

std::vector<std::string> stems() {
  std::vector<std::string> names;
  if (!fs::exists(goldenFolder())) return names;
  for (const auto& entry : fs::directory_iterator(goldenFolder())) {
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

#define SKIP_WITHOUT_GOLDEN()                                                              \
  if (stems().empty()) {                                                                   \
    GTEST_SKIP() << "no golden files at " << goldenFolder() << " (set KUBEXX_GOLDEN_DIR)"; \
  }

TEST(Golden, EveryFileIsAKnownKind) {
  SKIP_WITHOUT_GOLDEN();
  EXPECT_EQ(stems().size(), 185U);
  for (const std::string& stem : stems()) EXPECT_NE(findType(stem), nullptr) << stem;
}

TEST(Golden, JsonBecomesTheSameProtobuf) {
  SKIP_WITHOUT_GOLDEN();
  for (const std::string& stem : stems()) {
    SCOPED_TRACE(stem);
    const TypeInfo& type = *findType(stem);
    AnyObject object(type);
    decodeJson(type, object.data(), read(goldenFolder() / (stem + ".json")), {.strict = true});
    std::string out;
    encodeProtobuf(type, object.data(), out);
    EXPECT_EQ(out, read(goldenFolder() / (stem + ".pb")));
  }
}

TEST(Golden, ProtobufBecomesTheSameJson) {
  SKIP_WITHOUT_GOLDEN();
  for (const std::string& stem : stems()) {
    SCOPED_TRACE(stem);
    const TypeInfo& type = *findType(stem);
    AnyObject object(type);
    decodeProtobuf(type, object.data(), read(goldenFolder() / (stem + ".pb")));
    std::string out;
    encodeJson(type, object.data(), out, 2);
    EXPECT_EQ(out, read(goldenFolder() / (stem + ".json")));
  }
}

TEST(Golden, YamlBothWays) {
  SKIP_WITHOUT_GOLDEN();
  for (const std::string& stem : stems()) {
    SCOPED_TRACE(stem);
    const TypeInfo& type = *findType(stem);
    const std::string yaml = read(goldenFolder() / (stem + ".yaml"));
    AnyObject object(type);
    decodeYaml(type, object.data(), yaml, {.strict = true});
    std::string protobuf;
    encodeProtobuf(type, object.data(), protobuf);
    EXPECT_EQ(protobuf, read(goldenFolder() / (stem + ".pb")));
    std::string json;
    encodeJson(type, object.data(), json);
    EXPECT_EQ(toYaml(parseJson(json)), yaml);
  }
}

TEST(Golden, DecodingThroughAPoolChangesNothing) {
  SKIP_WITHOUT_GOLDEN();
  Pool pool;
  for (int round = 0; round < 3; ++round) {
    for (const std::string& stem : stems()) {
      SCOPED_TRACE(stem);
      const TypeInfo& type = *findType(stem);
      const std::string json = read(goldenFolder() / (stem + ".json"));
      const std::string protobuf = read(goldenFolder() / (stem + ".pb"));
      AnyObject fromJson(type);
      decodeJson(type, fromJson.data(), json, {.pool = &pool});
      std::string out;
      encodeProtobuf(type, fromJson.data(), out);
      EXPECT_EQ(out, protobuf);
      AnyObject fromProtobuf(type);
      decodeProtobuf(type, fromProtobuf.data(), protobuf, {.pool = &pool});
      out.clear();
      encodeJson(type, fromProtobuf.data(), out, 2);
      EXPECT_EQ(out, json);
    }
    pool.sweep();
  }
  EXPECT_GT(pool.stats().hits, 0U);
}

// Converts each object to every other version of its kind, and back. With every field set, few
// kinds have a field that another version lacks; these report it.
TEST(Golden, VersionsOfAKindBecomeEachOtherAndBackOrSayWhyNot) {
  SKIP_WITHOUT_GOLDEN();
  const Scheme& scheme = builtInScheme();
  const UniversalDeserializer deserializer(scheme);
  // The made-up values of these kinds contradict each other, and one of them is dropped.
  const std::set<String> notTheSame = {"HorizontalPodAutoscaler", "RoleBinding",
                                       "ClusterRoleBinding"};
  std::set<String> refused;
  std::size_t same = 0;
  for (const std::string& stem : stems()) {
    if (findType(stem)->resource == nullptr) continue;
    const AnyObject object = deserializer.decode(read(goldenFolder() / (stem + ".pb")));
    const GroupVersionKind gvk = object.gvk();
    for (const GroupVersion& version : scheme.versionsForGroupKind(gvk.groupKind())) {
      if (scheme.recognizes(gvk) &&
          &scheme.newObject(version.withKind(gvk.kind)).type() == &object.type()) {
        continue;  // unversioned: the same in each version
      }
      try {
        const AnyObject other = scheme.convertToVersion(object, version);
        const AnyObject back = scheme.convertToVersion(other, gvk.groupVersion());
        if (notTheSame.contains(gvk.kind)) continue;
        EXPECT_EQ(encodeObject(back, Format::Json), encodeObject(object, Format::Json))
            << stem << " by way of " << version;
        ++same;
      } catch (const ConversionError& error) {
        EXPECT_NE(error.path(), "") << error.what();
        refused.insert(gvk.kind);
      }
    }
  }
  EXPECT_GT(same, 100U);
  EXPECT_THAT(refused,
              testing::ElementsAre("EndpointSlice", "Ingress", "ResourceClaim",
                                   "ResourceClaimTemplate", "ResourceSlice", "RuntimeClass"));
}

}  // namespace
}  // namespace kube
