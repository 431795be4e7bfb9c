// No threads.
// Checks of all kinds except Pod.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/api/registry.h"
#include "kube/apiserver/rules/built_in_kinds.h"
#include "kube/apiserver/rules/built_in_rules_testing.h"

namespace kube::apiserver {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kPods =
    "{metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: x}]}}";

std::string workload(std::string_view fields) {
  return "spec: {template: " + std::string(kPods) + ", " + std::string(fields) + "}";
}

TEST(BuiltInWorkloadValidationTest, SelectorMustMatch) {
  EXPECT_EQ(problems<appsv1::Deployment>(workload("selector: {matchLabels: {a: b}}")), "");
  EXPECT_EQ(
      problems<appsv1::Deployment>(workload("selector: {matchLabels: {a: c}}")),
      "spec.template.metadata.labels: Invalid value: {\"a\":\"b\"}: `selector` does not match "
      "template `labels`");
  EXPECT_EQ(
      problems<appsv1::ReplicaSet>(workload("replicas: -1")),
      "[spec.replicas: Invalid value: -1: must be greater than or equal to 0, spec.selector: "
      "Required value, spec.template.metadata.labels: Invalid value: {\"a\":\"b\"}: `selector` "
      "does not match template `labels`]");
  EXPECT_EQ(problems<appsv1::StatefulSet>(workload("selector: {}")),
            "spec.selector: Invalid value: {}: empty selector is invalid for statefulset");
  EXPECT_EQ(problems<appsv1::DaemonSet>(workload("selector: {matchLabels: {a: b}}")), "");
  EXPECT_EQ(
      problems<corev1::ReplicationController>(workload("selector: {a: c}")),
      "spec.template.metadata.labels: Invalid value: {\"a\":\"b\"}: `selector` does not match "
      "template `labels`");
}

TEST(BuiltInWorkloadValidationTest, TemplatesAreChecked) {
  EXPECT_EQ(
      problems<appsv1::Deployment>(
          "spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: "
          "{restartPolicy: Never, containers: [{name: a}]}}}"),
      "[spec.template.spec.containers[0].image: Required value, "
      "spec.template.spec.restartPolicy: Unsupported value: \"Never\": supported values: "
      "\"Always\"]");
}

TEST(BuiltInWorkloadValidationTest, Strategies) {
  EXPECT_EQ(problems<appsv1::Deployment>(
                workload("selector: {matchLabels: {a: b}}, strategy: {rollingUpdate: {maxSurge: 0, "
                         "maxUnavailable: 0%}}")),
            "spec.strategy.rollingUpdate.maxUnavailable: Invalid value: \"0%\": may not be 0 when "
            "`maxSurge` is 0");
  EXPECT_EQ(
      problems<appsv1::Deployment>(
          workload("selector: {matchLabels: {a: b}}, minReadySeconds: 600")),
      "spec.progressDeadlineSeconds: Invalid value: 600: must be greater than minReadySeconds");
  EXPECT_EQ(problems<appsv1::StatefulSet>(
                workload("selector: {matchLabels: {a: b}}, updateStrategy: {type: Now}")),
            "spec.updateStrategy: Invalid value: {\"type\":\"Now\"}: must be 'RollingUpdate' or "
            "'OnDelete'");
}

TEST(BuiltInWorkloadValidationTest, ClaimsAreVolumes) {
  EXPECT_EQ(problems<appsv1::StatefulSet>(R"(
    spec:
      selector: {matchLabels: {a: b}}
      volumeClaimTemplates:
      - {metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1}}}}
      template:
        metadata: {labels: {a: b}}
        spec: {containers: [{name: a, image: x, volumeMounts: [{name: data, mountPath: /d}]}]}
  )"),
            "");
}

TEST(BuiltInWorkloadValidationTest, SelectorsStay) {
  const auto check = [](auto object) {
    auto next = object;
    next.spec->selector->matchLabels["c"] = "d";
    return changeProblems(next, object);
  };
  constexpr std::string_view kImmutable =
      "spec.selector: Invalid value: {\"matchLabels\":{\"a\":\"b\",\"c\":\"d\"}}: field is "
      "immutable";
  const std::string yaml = workload("selector: {matchLabels: {a: b}}");
  EXPECT_THAT(check(defaulted<appsv1::Deployment>(yaml)), HasSubstr(kImmutable));
  EXPECT_THAT(check(defaulted<appsv1::ReplicaSet>(yaml)), HasSubstr(kImmutable));
  EXPECT_THAT(check(defaulted<appsv1::DaemonSet>(yaml)), HasSubstr(kImmutable));
  EXPECT_THAT(check(defaulted<appsv1::StatefulSet>(yaml)),
              HasSubstr("spec: Forbidden: updates to statefulset spec for fields other than "
                        "'replicas', 'ordinals', 'template', 'updateStrategy', "
                        "'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and "
                        "'minReadySeconds' are forbidden"));
  auto set = defaulted<appsv1::StatefulSet>(yaml);
  auto next = set;
  next.spec->replicas = 5;
  EXPECT_EQ(changeProblems(next, set), "");
}

batchv1::Job someJob(std::string_view fields = "") {
  AnyObject object(written<batchv1::Job>(
      "{metadata: {name: j, uid: u}, spec: {template: {spec: {restartPolicy: Never, containers: "
      "[{name: a, image: x}]}}" +
      std::string(fields) + "}}"));
  rulesOf(object)->setDefaults(object);
  rulesOf(object)->prepareForCreate(object);
  return *object.as<batchv1::Job>();
}

TEST(BuiltInJobValidationTest, SelectorIsGenerated) {
  EXPECT_EQ(toString(rulesOf<batchv1::Job>()->validate(AnyObject(someJob()))), "");
  EXPECT_THAT(toString(rulesOf<batchv1::Job>()->validate(
                  AnyObject(someJob(", selector: {matchLabels: {a: b}}")))),
              HasSubstr("`selector` not auto-generated"));
}

TEST(BuiltInJobValidationTest, PodsEnd) {
  EXPECT_EQ(problems<batchv1::Job>(
                "spec: {manualSelector: true, selector: {matchLabels: {a: b}}, template: " +
                std::string(kPods) + "}"),
            "spec.template.spec.restartPolicy: Required value: valid values: \"OnFailure\", "
            "\"Never\"");
}

TEST(BuiltInJobValidationTest, TemplateStays) {
  const batchv1::Job job = someJob();
  batchv1::Job next = job;
  next.spec->parallelism = 3;
  EXPECT_EQ(changeProblems(next, job), "");
  next.spec->template_->spec->nodeSelector["a"] = "b";
  EXPECT_THAT(changeProblems(next, job), HasSubstr("spec.template: Invalid value: {"));
  batchv1::Job suspended = someJob(", suspend: true");
  next = suspended;
  next.spec->template_->spec->nodeSelector["a"] = "b";
  EXPECT_EQ(changeProblems(next, suspended), "") << "it may still be told where to run";
  next.spec->template_->spec->containers[0].image = "y";
  EXPECT_THAT(changeProblems(next, suspended), HasSubstr("field is immutable"));
  next = job;
  next.spec->completions = 5;
  EXPECT_EQ(changeProblems(next, job), "spec.completions: Invalid value: 5: field is immutable");
}

TEST(BuiltInJobValidationTest, CronJobs) {
  const auto check = [](std::string_view fields) {
    return problems<batchv1::CronJob>(
        "spec: {jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: "
        "a, "
        "image: x}]}}}}, " +
        std::string(fields) + "}");
  };
  EXPECT_EQ(check("schedule: '@daily', timeZone: Europe/Berlin"), "");
  EXPECT_EQ(check("suspend: true"), "spec.schedule: Required value");
  EXPECT_EQ(check("schedule: '* * * *'"),
            "spec.schedule: Invalid value: \"* * * *\": expected exactly 5 fields, found 4: [* * * "
            "*]");
  EXPECT_EQ(
      check("schedule: 'TZ=UTC 0 0 * * *', concurrencyPolicy: Maybe, timeZone: a//b"),
      "[spec.schedule: Invalid value: \"TZ=UTC 0 0 * * *\": cannot use TZ or CRON_TZ in "
      "schedule, use timeZone field instead, spec.timeZone: Invalid value: \"a//b\": unknown "
      "time zone a//b, spec.concurrencyPolicy: Unsupported value: \"Maybe\": supported values: "
      "\"Allow\", \"Forbid\", \"Replace\"]");
}

TEST(BuiltInServiceValidationTest, Ports) {
  EXPECT_EQ(problems<corev1::Service>("spec: {ports: [{port: 80}]}"), "");
  EXPECT_EQ(problems<corev1::Service>("spec: {}"), "spec.ports: Required value");
  EXPECT_EQ(problems<corev1::Service>("spec: {ports: [{port: 80}, {name: a, port: 81}]}"),
            "spec.ports[0].name: Required value");
  EXPECT_THAT(
      problems<corev1::Service>("spec: {ports: [{name: a, port: 80}, {name: a, port: 80}]}"),
      HasSubstr("spec.ports[1].name: Duplicate value: \"a\", spec.ports[1]: Duplicate value"));
  EXPECT_EQ(problems<corev1::Service>("spec: {ports: [{port: 80, nodePort: 30000}]}"),
            "spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'");
}

TEST(BuiltInServiceValidationTest, TypesAndPolicies) {
  EXPECT_EQ(problems<corev1::Service>("spec: {type: ExternalName}"),
            "spec.externalName: Required value");
  EXPECT_THAT(problems<corev1::Service>("spec: {type: Other, ports: [{port: 80}]}"),
              HasSubstr("spec.type: Unsupported value: \"Other\": supported values: \"ClusterIP\", "
                        "\"ExternalName\", \"LoadBalancer\", \"NodePort\""));
  EXPECT_EQ(problems<corev1::Service>("spec: {externalTrafficPolicy: Local, ports: [{port: 80}]}"),
            "spec.externalTrafficPolicy: Invalid value: \"Local\": may only be set for "
            "externally-accessible services");
  EXPECT_EQ(problems<corev1::Service>("spec: {externalIPs: [127.0.0.1], ports: [{port: 80}]}"),
            "spec.externalIPs[0]: Invalid value: \"127.0.0.1\": may not be in the loopback range "
            "(127.0.0.0/8, ::1/128)");
}

TEST(BuiltInServiceValidationTest, AddressesStay) {
  auto service = defaulted<corev1::Service>(
      "spec: {clusterIP: 10.0.0.1, clusterIPs: [10.0.0.1], ports: [{port: 80}]}");
  auto next = service;
  next.spec->clusterIP = "10.0.0.2";
  next.spec->clusterIPs = {"10.0.0.2"};
  EXPECT_EQ(changeProblems(next, service),
            "spec.clusterIPs[0]: Invalid value: [\"10.0.0.2\"]: may not change once set");
}

TEST(BuiltInServiceValidationTest, Endpoints) {
  EXPECT_EQ(problems<corev1::Endpoints>("subsets: [{}]"),
            "subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`");
  EXPECT_THAT(problems<corev1::Endpoints>("subsets: [{addresses: [{ip: 169.254.0.1}]}]"),
              HasSubstr("may not be in the link-local range"));
  EXPECT_EQ(problems<discoveryv1::EndpointSlice>(
                "{addressType: IPv4, endpoints: [{addresses: [10.0.0.1]}], ports: [{port: 80}]}"),
            "");
  EXPECT_EQ(problems<discoveryv1::EndpointSlice>("{addressType: IPv5, endpoints: [{}]}"),
            "[addressType: Unsupported value: \"IPv5\": supported values: \"FQDN\", \"IPv4\", "
            "\"IPv6\", endpoints[0].addresses: Required value: must contain at least 1 address]");
}

TEST(BuiltInDataValidationTest, KeysAndSize) {
  EXPECT_EQ(problems<corev1::ConfigMap>("{data: {k: v}, binaryData: {k: YQ==}}"),
            "data[k]: Invalid value: \"k\": duplicate of key present in binaryData");
  EXPECT_THAT(problems<corev1::ConfigMap>("data: {'a b': v}"),
              HasSubstr("data[a b]: Invalid value: \"a b\": a valid config key must consist of"));
  corev1::ConfigMap big{.data = {{"k", std::string(1024 * 1024 + 1, 'x')}}};
  EXPECT_EQ(toString(rulesOf<corev1::ConfigMap>()->validate(AnyObject(big))),
            ": Too long: may not be more than 1048576 bytes");
  corev1::Secret secret{.data = {{"k", std::string(1024 * 1024 + 1, 'x')}}};
  EXPECT_EQ(toString(rulesOf<corev1::Secret>()->validate(AnyObject(secret))),
            "data: Too long: may not be more than 1048576 bytes");
}

TEST(BuiltInDataValidationTest, SecretTypes) {
  EXPECT_EQ(problems<corev1::Secret>("{type: kubernetes.io/tls, data: {tls.crt: YQ==}}"),
            "data[tls.key]: Required value");
  EXPECT_EQ(problems<corev1::Secret>("type: kubernetes.io/service-account-token"),
            "metadata.annotations[kubernetes.io/service-account.name]: Required value");
  EXPECT_THAT(problems<corev1::Secret>(
                  "{type: kubernetes.io/dockerconfigjson, stringData: {.dockerconfigjson: '{x'}}"),
              HasSubstr("data[.dockerconfigjson]: Invalid value: \"<secret contents redacted>\""));
}

TEST(BuiltInDataValidationTest, ImmutableStays) {
  auto map = defaulted<corev1::ConfigMap>("{immutable: true, data: {a: b}}");
  auto next = map;
  next.metadata.labels["a"] = "b";
  EXPECT_EQ(changeProblems(next, map), "");
  next.data["a"] = "c";
  next.immutable.reset();
  EXPECT_EQ(changeProblems(next, map),
            "[immutable: Forbidden: field is immutable when `immutable` is set, data: Forbidden: "
            "field is immutable when `immutable` is set]");
  auto secret = defaulted<corev1::Secret>("data: {a: YQ==}");
  auto other = secret;
  other.type = "x";
  EXPECT_EQ(changeProblems(other, secret), "type: Invalid value: \"x\": field is immutable");
}

TEST(BuiltInCoreValidationTest, NodesAndNamespaces) {
  EXPECT_EQ(
      problems<corev1::Namespace>("spec: {finalizers: [foo]}"),
      "spec.finalizers: Invalid value: \"foo\": name is neither a standard finalizer name nor "
      "is it fully qualified");
  EXPECT_THAT(problems<corev1::Node>(
                  "spec: {taints: [{key: a, effect: NoSchedule}, {key: a, effect: NoSchedule}]}"),
              HasSubstr("taints must be unique by key and effect pair"));
  auto node = defaulted<corev1::Node>("spec: {providerID: a}");
  auto next = node;
  next.spec->providerID = "b";
  EXPECT_EQ(
      changeProblems(next, node),
      "spec.providerID: Forbidden: node updates may not change providerID except from \"\" to "
      "valid");
}

TEST(BuiltInCoreValidationTest, LimitsAndQuotas) {
  EXPECT_EQ(
      problems<corev1::LimitRange>("spec: {limits: [{type: Pod, max: {cpu: 1}, min: {cpu: 2}}]}"),
      "spec.limits[0].min[cpu]: Invalid value: \"2\": min value 2 is greater than max value 1");
  EXPECT_EQ(problems<corev1::ResourceQuota>("spec: {hard: {pods: 500m}, scopes: [Odd]}"),
            "[spec.hard[pods]: Invalid value: \"500m\": must be an integer, spec.scopes: Invalid "
            "value: [\"Odd\"]: unsupported scope]");
}

TEST(BuiltInCoreValidationTest, Events) {
  EXPECT_EQ(problems<corev1::Event>("{metadata: {namespace: a}, involvedObject: {namespace: b}}"),
            "involvedObject.namespace: Invalid value: \"b\": does not match event.namespace");
  EXPECT_THAT(problems<eventsv1::Event>("{metadata: {namespace: a}, regarding: {namespace: a}}"),
              HasSubstr("eventTime: Required value"));
}

TEST(BuiltInStorageValidationTest, Claims) {
  EXPECT_EQ(problems<corev1::PersistentVolumeClaim>("spec: {}"),
            "[spec.accessModes: Required value: at least 1 access mode is required, "
            "spec.resources[storage]: Required value]");
  auto claim = defaulted<corev1::PersistentVolumeClaim>(
      "spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}");
  auto next = claim;
  next.spec->volumeName = "v";
  EXPECT_EQ(changeProblems(next, claim), "") << "once";
  next.spec->accessModes = {"ReadOnlyMany"};
  EXPECT_THAT(changeProblems(next, claim),
              HasSubstr("spec: Forbidden: spec is immutable after creation"));
  claim.status->phase = "Bound";
  next = claim;
  next.spec->resources->requests.insert_or_assign("storage", Quantity("2Gi"));
  EXPECT_EQ(changeProblems(next, claim), "") << "a bound claim may grow";
}

TEST(BuiltInStorageValidationTest, VolumesAndClasses) {
  EXPECT_THAT(problems<corev1::PersistentVolume>("spec: {}"),
              HasSubstr("spec: Required value: must specify a volume type"));
  auto volume = defaulted<corev1::PersistentVolume>(
      "spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], hostPath: {path: /a}}");
  auto next = volume;
  next.spec->capacity.insert_or_assign("storage", Quantity("2Gi"));
  EXPECT_EQ(changeProblems(next, volume), "");
  next.spec->hostPath->path = "/b";
  EXPECT_EQ(
      changeProblems(next, volume),
      "spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after "
      "creation");
  auto storage = defaulted<storagev1::StorageClass>("{provisioner: a.b/c, parameters: {a: b}}");
  auto changed = storage;
  changed.provisioner = "x";
  changed.parameters.clear();
  EXPECT_EQ(changeProblems(changed, storage),
            "[parameters: Invalid value: null: field is immutable, provisioner: Invalid value: "
            "\"x\": field is immutable]");
}

TEST(BuiltInNetworkValidationTest, Ingresses) {
  EXPECT_EQ(
      problems<networkingv1::Ingress>(
          "spec: {rules: [{host: '*.a.b', http: {paths: [{path: /, pathType: Prefix, backend: "
          "{service: {name: s, port: {number: 80}}}}]}}]}"),
      "");
  EXPECT_EQ(problems<networkingv1::Ingress>("spec: {}"),
            "spec: Invalid value: null: either `defaultBackend` or `rules` must be specified");
  EXPECT_EQ(
      problems<networkingv1::Ingress>(
          "spec: {rules: [{http: {paths: [{path: a, pathType: Exact, backend: {service: {name: "
          "s}}}, {}]}}]}"),
      "[spec.rules[0].http.paths[0].path: Invalid value: \"a\": must be an absolute path, "
      "spec.rules[0].http.paths[0].backend: Required value: port name or number is required, "
      "spec.rules[0].http.paths[1].pathType: Required value: pathType must be specified]");
}

TEST(BuiltInNetworkValidationTest, Policies) {
  EXPECT_EQ(
      problems<networkingv1::NetworkPolicy>("spec: {ingress: [{from: [{}], ports: [{port: 0}]}]}"),
      "[spec.ingress[0].ports[0].port: Invalid value: 0: must be between 1 and 65535, "
      "inclusive, spec.ingress[0].from[0]: Required value: must specify a peer]");
}

TEST(BuiltInAccessValidationTest, Roles) {
  EXPECT_EQ(
      problems<rbacv1::Role>("rules: [{}]"),
      "[rules[0].verbs: Required value: verbs must contain at least one value, "
      "rules[0].apiGroups: Required value: resource rules must supply at least one api group, "
      "rules[0].resources: Required value: resource rules must supply at least one resource]");
  EXPECT_EQ(problems<rbacv1::ClusterRole>("rules: [{verbs: [get], nonResourceURLs: [/x]}]"), "");
  auto binding = defaulted<rbacv1::RoleBinding>("roleRef: {kind: Role, name: a}");
  auto next = binding;
  next.roleRef->name = "b";
  EXPECT_EQ(changeProblems(next, binding),
            "roleRef: Invalid value: {\"APIGroup\":\"rbac.authorization.k8s.io\",\"Kind\":\"Role\","
            "\"Name\":\"b\"}: cannot change roleRef");
}

TEST(BuiltInAccessValidationTest, PrioritiesAndLeases) {
  EXPECT_EQ(problems<schedulingv1::PriorityClass>("{metadata: {name: a}, value: 1000000001}"),
            "value: Forbidden: maximum allowed value of a user defined priority is 1000000000");
  EXPECT_EQ(changeProblems(schedulingv1::PriorityClass{.value = 2}, schedulingv1::PriorityClass{}),
            "value: Forbidden: may not be changed in an update.");
  EXPECT_EQ(
      problems<coordinationv1::Lease>("spec: {leaseDurationSeconds: 0, leaseTransitions: -1}"),
      "[spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0, "
      "spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0]");
}

TEST(BuiltInAccessValidationTest, CertificateRequests) {
  EXPECT_THAT(
      problems<certificatesv1::CertificateSigningRequest>(
          "spec: {signerName: foo, expirationSeconds: 5}"),
      HasSubstr("spec.usages: Required value, spec.signerName: Invalid value: \"foo\": must "
                "be a fully qualified domain and path of the form "
                "'example.com/signer-name', spec.expirationSeconds: Invalid value: 5: "));
}

TEST(BuiltInExtensionValidationTest, Webhooks) {
  EXPECT_EQ(problems<admissionregistrationv1::ValidatingWebhookConfiguration>(
                "webhooks: [{name: a.b.c, sideEffects: None, admissionReviewVersions: [v1], "
                "clientConfig: {url: 'https://x'}, rules: [{operations: [CREATE], apiGroups: [''], "
                "apiVersions: [v1], resources: [pods]}]}]"),
            "");
  EXPECT_EQ(
      problems<admissionregistrationv1::MutatingWebhookConfiguration>(
          "webhooks: [{name: a.b.c, clientConfig: {}, timeoutSeconds: 31}]"),
      "[webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun, "
      "webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and "
      "30 seconds, webhooks[0].clientConfig: Required value: exactly one of url or service is "
      "required, webhooks[0].admissionReviewVersions: Required value: must specify one of v1, "
      "v1beta1]");
}

TEST(BuiltInExtensionValidationTest, ApiServices) {
  EXPECT_EQ(problems<apiregistrationv1::APIService>(
                "{metadata: {name: v1.x}, spec: {group: a.b, version: v1, groupPriorityMinimum: 1, "
                "versionPriority: 1}}"),
            "metadata.name: Invalid value: \"v1.x\": must be `spec.version+\".\"+spec.group`: "
            "\"v1.a.b\"");
}

TEST(BuiltInScalingValidationTest, Replicas) {
  EXPECT_EQ(problems<autoscalingv1::HorizontalPodAutoscaler>(
                "spec: {minReplicas: 5, maxReplicas: 3, scaleTargetRef: {kind: a, name: b}}"),
            "spec.maxReplicas: Invalid value: 3: must be greater than or equal to `minReplicas`");
  EXPECT_EQ(
      problems<autoscalingv2::HorizontalPodAutoscaler>(
          "spec: {minReplicas: 0, maxReplicas: 3, scaleTargetRef: {}}"),
      "[spec.minReplicas: Invalid value: 0: must be greater than or equal to 1, "
      "spec.scaleTargetRef.kind: Required value, spec.scaleTargetRef.name: Required value, "
      "spec.metrics: Forbidden: must specify at least one Object or External metric to support "
      "scaling to zero replicas]");
  EXPECT_EQ(
      problems<autoscalingv2::HorizontalPodAutoscaler>(
          "spec: {maxReplicas: 3, scaleTargetRef: {kind: a, name: b}, metrics: [{type: Pods}]}"),
      "spec.metrics[0].pods: Required value: must populate information for the given metric "
      "source");
}

TEST(BuiltInScalingValidationTest, DisruptionBudgets) {
  EXPECT_EQ(
      problems<policyv1::PodDisruptionBudget>("spec: {minAvailable: 1, maxUnavailable: 101%}"),
      "[spec: Invalid value: {\"maxUnavailable\":\"101%\",\"minAvailable\":1}: minAvailable and "
      "maxUnavailable cannot be both set, spec.maxUnavailable: Invalid value: \"101%\": must "
      "not be greater than 100%]");
}

// Checks must not crash, whatever fields are missing.
TEST(BuiltInValidationTest, EmptyObjectsCanBeChecked) {
  for (const TypeInfo* type : builtInKinds()) {
    AnyObject empty(*type);
    rulesOf(empty)->validate(empty);
    rulesOf(empty)->validateUpdate(empty, empty);
    rulesOf(empty)->setDefaults(empty);
    if (empty.objectMeta() != nullptr) rulesOf(empty)->prepareForCreate(empty);
    rulesOf(empty)->validate(empty);
    rulesOf(empty)->validateUpdate(empty, empty);
  }
}

TEST(BuiltInValidationTest, KindsOfNoRulesAreFine) {
  EXPECT_TRUE(rulesOf<corev1::Binding>()->validate(AnyObject(corev1::Binding{})).empty());
  EXPECT_TRUE(rulesOf<corev1::Pod>()
                  ->validateUpdate(AnyObject(corev1::Pod{}), AnyObject(corev1::Service{}))
                  .empty());
}

}  // namespace
}  // namespace kube::apiserver
