// No threads.
// Checks and defaults of the kinds that are new in Kubernetes 1.37.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/apiserver/rules/built_in_kinds.h"
#include "kube/apiserver/rules/built_in_rules_testing.h"
#include "kube/testing/test_ca.h"

namespace kube::apiserver {
namespace {

using ::testing::HasSubstr;

// --- Certificates.

std::string bundle(std::string_view name, std::string_view signer, std::string_view pem) {
  metav1::ObjectMeta meta{.name = name};
  certificatesv1::ClusterTrustBundle made{.metadata = meta};
  made.spec->signerName = signer;
  made.spec->trustBundle = pem;
  return toString(rulesOf<certificatesv1::ClusterTrustBundle>()->validate(AnyObject(made)));
}

TEST(BuiltInTrustBundlesTest, TheNameBeginsWithTheSigner) {
  const std::string pem(TestCa().certPem());
  EXPECT_EQ(bundle("example.com:foo:v1", "example.com/foo", pem), "");
  EXPECT_EQ(bundle("plain", "", pem), "");
  EXPECT_THAT(bundle("v1", "example.com/foo", pem),
              HasSubstr("must be named with prefix example.com:foo:"));
  EXPECT_THAT(bundle("a:b", "", pem), HasSubstr("must not have \":\" in its name"));
}

TEST(BuiltInTrustBundlesTest, HoldAuthoritiesOnly) {
  const TestCa ca;
  const std::string& pem = ca.certPem();
  EXPECT_THAT(bundle("a", "", ""), HasSubstr("at least one trust anchor must be provided"));
  EXPECT_THAT(bundle("a", "", pem + pem), HasSubstr("duplicate trust anchor (indices [0 1])"));
  EXPECT_THAT(bundle("a", "", ca.server({"localhost"}).certPem),
              HasSubstr("entry 0 does not have the CA bit set"));
  EXPECT_THAT(
      bundle("a", "", pem + "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
      HasSubstr("entry 1 does not parse as X.509"));
  EXPECT_THAT(bundle("a", "", ca.server({"localhost"}).keyPem),
              HasSubstr("entry 0 has bad block type"));
}

TEST(BuiltInPodCertificatesTest, RequestsAreCheckedAndImmutable) {
  const std::string problem = problems<certificatesv1::PodCertificateRequest>(
      "spec: {signerName: example.com/s, podName: p, podUID: u, serviceAccountName: s, "
      "serviceAccountUID: u, nodeName: n1, maxExpirationSeconds: 60}");
  EXPECT_THAT(problem, HasSubstr("spec.nodeUID: Invalid value: \"\": must not be empty"));
  EXPECT_THAT(problem, HasSubstr("must be in the range [3600, 7862400]"));
  EXPECT_THAT(problem, HasSubstr("must be a valid PKCS#10 CSR"));
  EXPECT_THAT(problems<certificatesv1::PodCertificateRequest>(
                  "spec: {signerName: kubernetes.io/s, maxExpirationSeconds: 100000}"),
              HasSubstr("must be in the range [3600, 86400]"));
  EXPECT_THAT(
      problems<certificatesv1beta1::PodCertificateRequest>(
          "spec: {signerName: example.com/s, maxExpirationSeconds: 3600}"),
      HasSubstr("exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession)"));
  const auto old = written<certificatesv1::PodCertificateRequest>("spec: {podName: a}");
  const auto next = written<certificatesv1::PodCertificateRequest>("spec: {podName: b}");
  EXPECT_THAT(changeProblems(next, old), HasSubstr("field is immutable"));
}

// --- Scheduling.

TEST(BuiltInPodGroupsTest, HaveOnePolicy) {
  using schedulingv1beta1::PodGroup;
  EXPECT_EQ(problems<PodGroup>("spec: {schedulingPolicy: {basic: {}}}"), "");
  EXPECT_THAT(problems<PodGroup>("spec: {}"),
              HasSubstr("spec.schedulingPolicy: Invalid value: \"\": must specify one of: `basic`, "
                        "`gang`"));
  EXPECT_THAT(problems<PodGroup>("spec: {schedulingPolicy: {basic: {}, gang: {minCount: 1}}}"),
              HasSubstr("must specify exactly one of"));
  EXPECT_THAT(problems<PodGroup>("spec: {schedulingPolicy: {gang: {minCount: 0}}}"),
              HasSubstr("spec.schedulingPolicy.gang.minCount"));
  EXPECT_THAT(problems<PodGroup>("spec: {schedulingPolicy: {basic: {}}, priority: 2000000000, "
                                 "preemptionPolicy: Sometimes, parentCompositePodGroupName: p, "
                                 "resourceClaims: [{name: a}, {name: a, resourceClaimName: b}]}"),
              ::testing::AllOf(HasSubstr("spec.priority"), HasSubstr("spec.preemptionPolicy"),
                               HasSubstr("spec.workloadRef: Required value"),
                               HasSubstr("spec.resourceClaims[0]"),
                               HasSubstr("spec.resourceClaims[1]: Duplicate value")));
}

TEST(BuiltInPodGroupsTest, OnlyTheSizeOfAGangChanges) {
  using schedulingv1alpha3::PodGroup;
  const auto two = written<PodGroup>("spec: {schedulingPolicy: {gang: {minCount: 2}}}");
  const auto three = written<PodGroup>("spec: {schedulingPolicy: {gang: {minCount: 3}}}");
  EXPECT_EQ(changeProblems(three, two), "");
  const auto basic = written<PodGroup>("spec: {schedulingPolicy: {basic: {}}}");
  EXPECT_THAT(changeProblems(basic, two), HasSubstr("field is immutable"));
}

TEST(BuiltInWorkloadsTest, AreTreesOfTemplates) {
  using schedulingv1alpha3::Workload;
  const std::string leaf = "{name: NAME, schedulingPolicy: {basic: {}}}";
  const auto named = [&](std::string_view name) {
    std::string text = leaf;
    return text.replace(text.find("NAME"), 4, name);
  };
  EXPECT_EQ(problems<Workload>("spec: {podGroupTemplates: [" + named("a") + "]}"), "");
  EXPECT_THAT(problems<Workload>("spec: {}"),
              HasSubstr("must specify one of: `podGroupTemplates`"));
  EXPECT_THAT(
      problems<Workload>("spec: {podGroupTemplates: [" + named("a") + "," + named("a") + "]}"),
      HasSubstr("spec.podGroupTemplates[1].name: Duplicate value: \"a\""));

  std::string tree = "podGroupTemplates: [" + named("a") + "]";
  for (const std::string_view name : {"b", "c", "d"}) {
    tree = "compositePodGroupTemplates: [{name: " + std::string(name) +
           ", schedulingPolicy: {basic: {}}, " + tree + "}]";
  }
  EXPECT_EQ(problems<Workload>("spec: {" + tree + "}"), "");
  EXPECT_THAT(problems<Workload>("spec: {compositePodGroupTemplates: [{name: e, schedulingPolicy: "
                                 "{basic: {}}, " +
                                 tree + "}]}"),
              HasSubstr("maximum template hierarchy depth is 4"));
  EXPECT_THAT(problems<Workload>("spec: {compositePodGroupTemplates: [{name: e, schedulingPolicy: "
                                 "{basic: {}}}]}"),
              HasSubstr("must have at least one child"));
  EXPECT_THAT(problems<Workload>("spec: {podGroupTemplates: [" + named("a") +
                                 ", {name: b, schedulingPolicy: {basic: {}}, priority: 5}]}"),
              HasSubstr("all priority and priorityClassName values must be identical"));
}

TEST(BuiltInWorkloadsTest, KeepTheirTemplates) {
  using schedulingv1beta1::Workload;
  const auto workload = [](std::string_view name, int size) {
    return written<Workload>("spec: {podGroupTemplates: [{name: " + std::string(name) +
                             ", schedulingPolicy: {gang: {minCount: " + std::to_string(size) +
                             "}}}]}");
  };
  EXPECT_EQ(changeProblems(workload("a", 3), workload("a", 2)), "");
  EXPECT_THAT(changeProblems(workload("b", 2), workload("a", 2)),
              HasSubstr("spec.podGroupTemplates"));
}

// --- Evictions.

TEST(BuiltInEvictionsTest, NameAPodAndARequester) {
  using lifecyclev1alpha1::EvictionRequest;
  const std::string target =
      "target: {pod: {name: web, uid: 0123abcd-0000-4000-8000-0123456789ab}}, intent: Eviction";
  EXPECT_EQ(problems<EvictionRequest>("spec: {" + target + ", requester: example.com/drain}"), "");
  EXPECT_THAT(problems<EvictionRequest>("spec: {" + target + ", requester: drain}"),
              HasSubstr("spec.requester"));
  EXPECT_THAT(problems<EvictionRequest>("spec: {" + target + ", requester: node.k8s.io/drain}"),
              HasSubstr("are reserved"));
  EXPECT_THAT(problems<EvictionRequest>("spec: {requester: example.com/drain, intent: Maybe}"),
              ::testing::AllOf(HasSubstr("spec.target"), HasSubstr("spec.intent")));
  EXPECT_THAT(problems<lifecyclev1alpha1::Eviction>("spec: {target: {pod: {name: web, uid: u}}}"),
              HasSubstr("must be a lowercase UUID"));
}

// --- Taints and migrations.

TEST(BuiltInTaintsTest, SayWhenTheirEffectWasSet) {
  using resourcev1::DeviceTaintRule;
  const auto rule = defaulted<DeviceTaintRule>("spec: {taint: {key: a.com/k, effect: NoSchedule}}");
  EXPECT_TRUE(rule.spec->taint->timeAdded);
  EXPECT_THAT(problems<DeviceTaintRule>("spec: {taint: {key: '', effect: Never}}"),
              ::testing::AllOf(HasSubstr("spec.taint.key"), HasSubstr("spec.taint.effect")));
  EXPECT_THAT(problems<DeviceTaintRule>("spec: {deviceSelector: {pool: a//b, driver: ''}, taint: "
                                        "{key: k, effect: None}}"),
              ::testing::AllOf(HasSubstr("spec.deviceSelector.pool"),
                               HasSubstr("spec.deviceSelector.driver: Required value")));

  auto old = written<DeviceTaintRule>(
      "spec: {taint: {key: k, effect: NoSchedule, timeAdded: '2024-01-01T00:00:00Z'}}");
  auto next = old;
  next.spec->taint->effect = "NoExecute";
  AnyObject changed(next);
  rulesOf(changed)->prepareForUpdate(changed, AnyObject(old));
  EXPECT_NE(changed.as<DeviceTaintRule>()->spec->taint->timeAdded, old.spec->taint->timeAdded);
}

TEST(BuiltInMigrationsTest, NameAResource) {
  using storagemigrationv1::StorageVersionMigration;
  EXPECT_EQ(
      problems<StorageVersionMigration>("spec: {resource: {group: apps, resource: deployments}}"),
      "");
  EXPECT_EQ(problems<StorageVersionMigration>("spec: {}"),
            "spec.resource.resource: Required value: resource is required to be set");
  EXPECT_THAT(
      changeProblems(written<StorageVersionMigration>("spec: {resource: {resource: pods}}"),
                     written<StorageVersionMigration>("spec: {resource: {resource: nodes}}")),
      HasSubstr("field is immutable"));
}

// --- New fields of pods.

TEST(BuiltInPodValidationOf1_37Test, NewFieldsAreChecked) {
  const std::string problem = problems<corev1::Pod>(R"(
metadata: {name: p, namespace: ns}
spec:
  volumes:
  - {name: a, emptyDir: {mode: 2000}}
  - {name: b, secret: {secretName: s, defaultUser: -1, items: [{key: k, path: p, user: -2}]}}
  containers:
  - name: c
    image: i
    volumeMounts: [{name: a, mountPath: /a, bindMountOptions: [noexec, noexec, exec]}]
    livenessProbe: {httpGet: {port: 80, scheme: HTTPS, protocol: HTTP2}}
    readinessProbe: {httpGet: {port: 80, protocol: HTTP3}}
    startupProbe: {grpc: {port: 80, mode: Loud}}
)");
  for (const std::string_view place :
       {"spec.volumes[0].emptyDir.mode", "spec.volumes[1].secret.defaultUser",
        "spec.volumes[1].secret.items[0].user",
        "spec.containers[0].volumeMounts[0].bindMountOptions[1]: Duplicate value",
        "spec.containers[0].volumeMounts[0].bindMountOptions[2]: Unsupported value",
        "livenessProbe.httpGet.protocol: Invalid value: \"HTTP2\"",
        "readinessProbe.httpGet.protocol: Unsupported value", "startupProbe.grpc.mode"}) {
    EXPECT_THAT(problem, HasSubstr(std::string(place)));
  }
}

TEST(BuiltInDefaultsTest, ADriverDoesNotPreventScheduling) {
  const auto driver = defaulted<storagev1::CSIDriver>("{}");
  EXPECT_EQ(driver.spec->preventPodSchedulingIfMissing, false);
}

}  // namespace
}  // namespace kube::apiserver
