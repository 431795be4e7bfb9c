// Tests every kind of the API, fully populated, against upstream's own compatibility data.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
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

// A release of Kubernetes, with its compatibility data.
struct Release {
  std::string_view version;
  std::size_t kinds;
  // Kinds whose form has changed since: fields were renamed, removed or are always written now.
  // With upstream's data come the expected forms, in files named *.after_roundtrip.*. CSINode has
  // one as well, but only because upstream's types write the new status even if it is absent.
  std::set<std::string_view> changed = {};
};

void PrintTo(const Release& release, std::ostream* out) { *out << release.version; }

// The newest first: the release of the built-in types.
const std::vector<Release>& releases() {
  static const std::vector<Release> all = {
      {"v1.37", 193},
      {"v1.36",
       185,
       {"core.v1.Pod", "core.v1.PodStatusResult", "resource.k8s.io.v1.ResourceSlice",
        "resource.k8s.io.v1beta1.ResourceSlice", "resource.k8s.io.v1beta2.ResourceSlice"}},
      {"v1.35",
       183,
       {"core.v1.ListOptions",
        "apps.v1.DaemonSet",
        "apps.v1.Deployment",
        "apps.v1.ReplicaSet",
        "apps.v1.StatefulSet",
        "apps.v1beta1.Deployment",
        "apps.v1beta1.StatefulSet",
        "apps.v1beta2.DaemonSet",
        "apps.v1beta2.Deployment",
        "apps.v1beta2.ReplicaSet",
        "apps.v1beta2.StatefulSet",
        "batch.v1.CronJob",
        "batch.v1.Job",
        "batch.v1beta1.CronJob",
        "certificates.k8s.io.v1beta1.PodCertificateRequest",
        "core.v1.Pod",
        "core.v1.PodTemplate",
        "core.v1.ReplicationController",
        "extensions.v1beta1.DaemonSet",
        "extensions.v1beta1.Deployment",
        "extensions.v1beta1.ReplicaSet"}},
      {"v1.34", 182, {"core.v1.ListOptions", "resource.k8s.io.v1alpha3.DeviceTaintRule"}},
      {"v1.33", 180, {"core.v1.ListOptions", "resource.k8s.io.v1alpha3.DeviceTaintRule"}},
  };
  return all;
}

fs::path goldenFolder(std::string_view version = releases().front().version) {
  const char* set = std::getenv("KUBEXX_GOLDEN_DIR");
  return fs::path(set != nullptr ? set : "../shared/golden") / version;
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

// The kinds with data, such as "apps.v1.Deployment".
std::vector<std::string> stems(std::string_view version = releases().front().version) {
  std::vector<std::string> names;
  if (!fs::exists(goldenFolder(version))) return names;
  for (const auto& entry : fs::directory_iterator(goldenFolder(version))) {
    if (entry.path().extension() != ".json") continue;
    std::string stem = entry.path().stem().string();
    if (!stem.ends_with(".after_roundtrip")) names.push_back(std::move(stem));
  }
  std::sort(names.begin(), names.end());
  return names;
}

void skipWithoutData(std::string_view version) {
  if (!stems(version).empty()) return;
  GTEST_SKIP()
      << "no compatibility data of Kubernetes " << version << " in " << goldenFolder(version)
      << "; ./dev import KUBERNETES --since v1.26 --golden DIR copies it from a repository "
         "of Kubernetes, for KUBEXX_GOLDEN_DIR=DIR";
}

class GoldenTest : public testing::TestWithParam<Release> {
 protected:
  void SetUp() override { skipWithoutData(GetParam().version); }

  std::string file(const std::string& name) const {
    return read(goldenFolder(GetParam().version) / name);
  }
  std::optional<std::string> fileIfAny(const std::string& name) const {
    if (!fs::exists(goldenFolder(GetParam().version) / name)) return std::nullopt;
    return file(name);
  }
  // The kinds whose form is still the same.
  std::vector<std::string> unchanged() const {
    std::vector<std::string> names = stems(GetParam().version);
    std::erase_if(names, [](const std::string& stem) { return GetParam().changed.contains(stem); });
    return names;
  }
};

TEST_P(GoldenTest, EveryFileIsAKnownKind) {
  EXPECT_EQ(stems(GetParam().version).size(), GetParam().kinds);
  for (const std::string& stem : stems(GetParam().version)) {
    EXPECT_NE(findType(stem), nullptr) << stem;
  }
}

TEST_P(GoldenTest, JsonBecomesTheSameProtobuf) {
  for (const std::string& stem : unchanged()) {
    SCOPED_TRACE(stem);
    const TypeInfo& type = *findType(stem);
    AnyObject object(type);
    decodeJson(type, object.data(), file(stem + ".json"), {.strict = true});
    std::string out;
    encodeProtobuf(type, object.data(), out);
    EXPECT_EQ(out, file(stem + ".pb"));
  }
}

TEST_P(GoldenTest, ProtobufBecomesTheSameJson) {
  for (const std::string& stem : unchanged()) {
    SCOPED_TRACE(stem);
    const TypeInfo& type = *findType(stem);
    AnyObject object(type);
    decodeProtobuf(type, object.data(), file(stem + ".pb"));
    std::string out;
    encodeJson(type, object.data(), out, 2);
    EXPECT_EQ(out, file(stem + ".json"));
  }
}

TEST_P(GoldenTest, YamlBothWays) {
  for (const std::string& stem : unchanged()) {
    SCOPED_TRACE(stem);
    const TypeInfo& type = *findType(stem);
    const std::string yaml = file(stem + ".yaml");
    AnyObject object(type);
    decodeYaml(type, object.data(), yaml, {.strict = true});
    std::string protobuf;
    encodeProtobuf(type, object.data(), protobuf);
    EXPECT_EQ(protobuf, file(stem + ".pb"));
    std::string json;
    encodeJson(type, object.data(), json);
    EXPECT_EQ(toYaml(parseJson(json)), yaml);
  }
}

// Objects of kinds that have changed lose the fields that are gone, as with upstream's types.
TEST_P(GoldenTest, KindsThatHaveChangedGetTheirPresentForm) {
  const Release& release = GetParam();
  for (const std::string_view changed : release.changed) {
    const std::string stem(changed);
    SCOPED_TRACE(stem);
    const TypeInfo& type = *findType(stem);
    AnyObject object(type);
    decodeJson(type, object.data(), file(stem + ".json"));
    std::string json;
    encodeJson(type, object.data(), json, 2);
    std::string protobuf;
    encodeProtobuf(type, object.data(), protobuf);
    EXPECT_TRUE(json != file(stem + ".json") || protobuf != file(stem + ".pb")) << "is unchanged";
    // Required bytes that are missing are "" here and null there, and a status that is absent is
    // {}.
    if (stem != "certificates.k8s.io.v1beta1.PodCertificateRequest" &&
        stem != "resource.k8s.io.v1alpha3.DeviceTaintRule") {
      EXPECT_EQ(json, fileIfAny(stem + ".after_roundtrip.json").value_or(json));
      EXPECT_EQ(protobuf, fileIfAny(stem + ".after_roundtrip.pb").value_or(protobuf));
    }

    AnyObject again(type);
    decodeProtobuf(type, again.data(), file(stem + ".pb"));
    std::string out;
    encodeProtobuf(type, again.data(), out);
    EXPECT_EQ(out, protobuf);
    out.clear();
    encodeJson(type, again.data(), out, 2);
    EXPECT_EQ(out, json);
  }
}

INSTANTIATE_TEST_SUITE_P(Releases, GoldenTest, testing::ValuesIn(releases()),
                         [](const testing::TestParamInfo<Release>& release) {
                           std::string name(release.param.version);
                           std::ranges::replace(name, '.', '_');
                           return name;
                         });

// Kinds that were gone before those releases, with the data of the last one that had them.
TEST(GoldenFormerTest, KindsOfTheLastReleaseThatHadThem) {
  const std::map<std::string_view, std::vector<std::string>> kinds = {
      {"v1.26",
       {"extensions.v1beta1.PodSecurityPolicy", "resource.k8s.io.v1alpha1.PodScheduling",
        "resource.k8s.io.v1alpha1.ResourceClaim", "resource.k8s.io.v1alpha1.ResourceClaimTemplate",
        "resource.k8s.io.v1alpha1.ResourceClass"}},
      {"v1.28",
       {"flowcontrol.apiserver.k8s.io.v1alpha1.FlowSchema",
        "flowcontrol.apiserver.k8s.io.v1alpha1.PriorityLevelConfiguration",
        "networking.k8s.io.v1alpha1.ClusterCIDR", "policy.v1beta1.PodSecurityPolicy"}},
      {"v1.30",
       {"resource.k8s.io.v1alpha2.PodSchedulingContext", "resource.k8s.io.v1alpha2.ResourceClaim",
        "resource.k8s.io.v1alpha2.ResourceClaimParameters",
        "resource.k8s.io.v1alpha2.ResourceClaimTemplate", "resource.k8s.io.v1alpha2.ResourceClass",
        "resource.k8s.io.v1alpha2.ResourceClassParameters",
        "resource.k8s.io.v1alpha2.ResourceSlice"}},
      {"v1.31",
       {"coordination.k8s.io.v1alpha1.LeaseCandidate",
        "resource.k8s.io.v1alpha3.PodSchedulingContext"}},
  };
  for (const auto& [version, names] : kinds) skipWithoutData(version);
  if (IsSkipped()) return;
  for (const auto& [version, names] : kinds) {
    for (const std::string& stem : names) {
      SCOPED_TRACE(stem);
      ASSERT_NE(findType(stem), nullptr);
      const TypeInfo& type = *findType(stem);
      const fs::path path = goldenFolder(version) / stem;
      AnyObject object(type);
      decodeJson(type, object.data(), read(path.string() + ".json"), {.strict = true});
      std::string protobuf;
      encodeProtobuf(type, object.data(), protobuf);
      EXPECT_EQ(protobuf, read(path.string() + ".pb"));
      AnyObject again(type);
      decodeProtobuf(type, again.data(), protobuf);
      std::string json;
      encodeJson(type, again.data(), json, 2);
      EXPECT_EQ(json, read(path.string() + ".json"));
    }
  }
}

TEST(GoldenNewestTest, DecodingThroughAPoolChangesNothing) {
  skipWithoutData(releases().front().version);
  if (IsSkipped()) return;
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
TEST(GoldenNewestTest, VersionsOfAKindBecomeEachOtherAndBackOrSayWhyNot) {
  skipWithoutData(releases().front().version);
  if (IsSkipped()) return;
  const Scheme& scheme = builtInScheme();
  const UniversalDeserializer deserializer(scheme);
  // The made-up values of these kinds contradict each other, and one of them wins.
  const std::set<String> notTheSame = {"EndpointSlice", "HorizontalPodAutoscaler", "RoleBinding",
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
  EXPECT_THAT(refused, testing::ElementsAre("CronJob", "DeviceClass", "EndpointSlice",
                                            "HorizontalPodAutoscaler", "Ingress", "LeaseCandidate",
                                            "PodCertificateRequest", "PodGroup", "ResourceClaim",
                                            "ResourceClaimTemplate", "ResourceSlice",
                                            "StorageVersionMigration", "Workload"));
}

}  // namespace
}  // namespace kube
