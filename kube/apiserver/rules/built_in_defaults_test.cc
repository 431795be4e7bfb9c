// No threads.

#include <gtest/gtest.h>

#include "kube/api/registry.h"
#include "kube/apiserver/rules/built_in_kinds.h"
#include "kube/apiserver/rules/built_in_rules_testing.h"
#include "kube/meta/equality.h"

namespace kube::apiserver {
namespace {

TEST(BuiltInDefaultsTest, PodIsFilledIn) {
  const auto pod = defaulted<corev1::Pod>(R"(
    spec:
      serviceAccount: robot
      containers:
      - {name: a, image: nginx, ports: [{containerPort: 80}]}
      - {name: b, image: "nginx:1.25"}
  )");
  const corev1::PodSpec& spec = *pod.spec;
  EXPECT_EQ(spec.restartPolicy, "Always");
  EXPECT_EQ(spec.dnsPolicy, "ClusterFirst");
  EXPECT_EQ(spec.schedulerName, "default-scheduler");
  EXPECT_EQ(spec.terminationGracePeriodSeconds, 30);
  EXPECT_EQ(spec.serviceAccountName, "robot");
  EXPECT_EQ(spec.enableServiceLinks, true);
  EXPECT_TRUE(spec.securityContext);
  EXPECT_EQ(spec.containers[0].imagePullPolicy, "Always");
  EXPECT_EQ(spec.containers[1].imagePullPolicy, "IfNotPresent");
  EXPECT_EQ(spec.containers[0].terminationMessagePath, "/dev/termination-log");
  EXPECT_EQ(spec.containers[0].terminationMessagePolicy, "File");
  EXPECT_EQ(spec.containers[0].ports[0].protocol, "TCP");
}

TEST(BuiltInDefaultsTest, WhatIsSetStays) {
  const auto pod = defaulted<corev1::Pod>(R"(
    spec:
      restartPolicy: Never
      terminationGracePeriodSeconds: 0
      enableServiceLinks: false
      containers: [{name: a, image: nginx, imagePullPolicy: Never}]
  )");
  EXPECT_EQ(pod.spec->restartPolicy, "Never");
  EXPECT_EQ(pod.spec->terminationGracePeriodSeconds, 0);
  EXPECT_EQ(pod.spec->enableServiceLinks, false);
  EXPECT_EQ(pod.spec->containers[0].imagePullPolicy, "Never");
}

TEST(BuiltInDefaultsTest, ImagesArePulledByTag) {
  const auto policy = [](std::string_view image) {
    corev1::Pod pod;
    pod.spec->containers.push_back({.name = "a", .image = image});
    AnyObject object(pod);
    rulesOf(object)->setDefaults(object);
    return object.as<corev1::Pod>()->spec->containers[0].imagePullPolicy.str();
  };
  EXPECT_EQ(policy("nginx"), "Always");
  EXPECT_EQ(policy("nginx:latest"), "Always");
  EXPECT_EQ(policy("localhost:5000/nginx"), "Always");
  EXPECT_EQ(policy("Example.com/nginx:latest"), "Always");
  EXPECT_EQ(policy("localhost:5000/nginx:1"), "IfNotPresent");
  EXPECT_EQ(policy("nginx@sha256:0123"), "IfNotPresent");
  EXPECT_EQ(policy("nginx:latest@sha256:0123"), "Always");
  EXPECT_EQ(policy("Nginx"), "IfNotPresent");  // not an image name
  EXPECT_EQ(policy(""), "IfNotPresent");
}

TEST(BuiltInDefaultsTest, ProbesAndHandlers) {
  const auto pod = defaulted<corev1::Pod>(R"(
    spec:
      containers:
      - name: a
        livenessProbe: {httpGet: {port: 80}}
        readinessProbe: {grpc: {port: 9}, periodSeconds: 3}
        lifecycle: {preStop: {httpGet: {port: 80, path: /bye}}}
  )");
  const corev1::Container& container = pod.spec->containers[0];
  EXPECT_EQ(container.livenessProbe->httpGet->path, "/");
  EXPECT_EQ(container.livenessProbe->httpGet->scheme, "HTTP");
  EXPECT_EQ(container.livenessProbe->timeoutSeconds, 1);
  EXPECT_EQ(container.livenessProbe->periodSeconds, 10);
  EXPECT_EQ(container.livenessProbe->successThreshold, 1);
  EXPECT_EQ(container.livenessProbe->failureThreshold, 3);
  EXPECT_EQ(container.readinessProbe->periodSeconds, 3);
  EXPECT_EQ(container.readinessProbe->grpc->service, "");
  EXPECT_EQ(container.lifecycle->preStop->httpGet->path, "/bye");
  EXPECT_EQ(container.lifecycle->preStop->httpGet->scheme, "HTTP");
  EXPECT_FALSE(container.startupProbe);
}

TEST(BuiltInDefaultsTest, Volumes) {
  const auto pod = defaulted<corev1::Pod>(R"(
    spec:
      volumes:
      - name: none
      - {name: secret, secret: {secretName: s}}
      - {name: map, configMap: {name: c, defaultMode: 256}}
      - {name: down, downwardAPI: {items: [{path: a, fieldRef: {fieldPath: metadata.name}}]}}
      - {name: all, projected: {sources: [{serviceAccountToken: {path: t}}]}}
      - {name: host, hostPath: {path: /}}
      - {name: iscsi, iscsi: {iqn: i}}
      - {name: rbd, rbd: {image: i}}
      - {name: claim, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce]}}}}
  )");
  const auto& volumes = pod.spec->volumes;
  EXPECT_TRUE(volumes[0].emptyDir);
  EXPECT_EQ(volumes[1].secret->defaultMode, 420);
  EXPECT_FALSE(volumes[1].emptyDir);
  EXPECT_EQ(volumes[2].configMap->defaultMode, 256);
  EXPECT_EQ(volumes[3].downwardAPI->defaultMode, 420);
  EXPECT_EQ(volumes[3].downwardAPI->items[0].fieldRef->apiVersion, "v1");
  EXPECT_EQ(volumes[4].projected->defaultMode, 420);
  EXPECT_EQ(volumes[4].projected->sources[0].serviceAccountToken->expirationSeconds, 3600);
  EXPECT_EQ(volumes[5].hostPath->type, "");
  EXPECT_EQ(volumes[6].iscsi->iscsiInterface, "default");
  EXPECT_EQ(volumes[7].rbd->pool, "rbd");
  EXPECT_EQ(volumes[8].ephemeral->volumeClaimTemplate->spec->volumeMode, "Filesystem");
}

TEST(BuiltInDefaultsTest, RequestsFollowLimitsInPodsOnly) {
  constexpr std::string_view kSpec = R"({containers: [{name: a, resources:
      {limits: {cpu: 100.5u, memory: 1Gi}, requests: {memory: 1Mi}}}]})";
  const auto pod = defaulted<corev1::Pod>("spec: " + std::string(kSpec));
  const auto& resources = *pod.spec->containers[0].resources;
  EXPECT_EQ(resources.limits["cpu"].str(), "1m") << "to a thousandth";
  EXPECT_EQ(resources.requests["cpu"].str(), "1m");
  EXPECT_EQ(resources.requests["memory"].str(), "1Mi");
  const auto set =
      defaulted<appsv1::ReplicaSet>("spec: {template: {spec: " + std::string(kSpec) + "}}");
  EXPECT_FALSE(set.spec->template_->spec->containers[0].resources->requests.contains("cpu"));
}

TEST(BuiltInDefaultsTest, HostNetworkPortsAreTheHosts) {
  const auto pod = defaulted<corev1::Pod>(
      "spec: {hostNetwork: true, containers: [{name: a, ports: [{containerPort: 80}]}]}");
  EXPECT_EQ(pod.spec->containers[0].ports[0].hostPort, 80);
}

TEST(BuiltInDefaultsTest, Deployment) {
  const auto deployment = defaulted<appsv1::Deployment>("spec: {template: {spec: {}}}");
  const auto& spec = *deployment.spec;
  EXPECT_EQ(spec.replicas, 1);
  EXPECT_EQ(spec.revisionHistoryLimit, 10);
  EXPECT_EQ(spec.progressDeadlineSeconds, 600);
  EXPECT_EQ(spec.strategy->type, "RollingUpdate");
  EXPECT_EQ(spec.strategy->rollingUpdate->maxSurge, IntOrString("25%"));
  EXPECT_EQ(spec.template_->spec->restartPolicy, "Always");
  EXPECT_FALSE(spec.template_->spec->enableServiceLinks.has_value()) << "of pods only";
  const auto recreate = defaulted<appsv1::Deployment>("spec: {strategy: {type: Recreate}}");
  EXPECT_FALSE(recreate.spec->strategy->rollingUpdate);
}

TEST(BuiltInDefaultsTest, OtherWorkloads) {
  const auto set = defaulted<appsv1::StatefulSet>("spec: {volumeClaimTemplates: [{spec: {}}]}");
  EXPECT_EQ(set.spec->podManagementPolicy, "OrderedReady");
  EXPECT_EQ(set.spec->updateStrategy->rollingUpdate->partition, 0);
  EXPECT_EQ(set.spec->persistentVolumeClaimRetentionPolicy->whenScaled, "Retain");
  EXPECT_EQ(set.spec->volumeClaimTemplates[0].status->phase, "Pending");
  const auto daemons = defaulted<appsv1::DaemonSet>("spec: {}");
  EXPECT_EQ(daemons.spec->updateStrategy->rollingUpdate->maxUnavailable, IntOrString(1));
  EXPECT_EQ(daemons.spec->updateStrategy->rollingUpdate->maxSurge, IntOrString(0));
  const auto controller = defaulted<corev1::ReplicationController>(
      "spec: {template: {metadata: {labels: {a: b}}, spec: {}}}");
  EXPECT_EQ(controller.spec->selector["a"], "b");
  EXPECT_EQ(controller.metadata.labels["a"], "b");
  EXPECT_EQ(controller.spec->replicas, 1);
}

TEST(BuiltInDefaultsTest, Jobs) {
  const auto job = defaulted<batchv1::Job>(
      "spec: {template: {metadata: {labels: {a: b}}, spec: {restartPolicy: Never}}}");
  EXPECT_EQ(job.spec->completions, 1);
  EXPECT_EQ(job.spec->parallelism, 1);
  EXPECT_EQ(job.spec->backoffLimit, 6);
  EXPECT_EQ(job.spec->completionMode, "NonIndexed");
  EXPECT_EQ(job.spec->podReplacementPolicy, "TerminatingOrFailed");
  EXPECT_EQ(job.spec->suspend, false);
  EXPECT_EQ(job.metadata.labels["a"], "b");
  const auto parallel = defaulted<batchv1::Job>("spec: {parallelism: 2}");
  EXPECT_FALSE(parallel.spec->completions.has_value()) << "a queue of work";
  const auto cron = defaulted<batchv1::CronJob>("spec: {schedule: '@daily'}");
  EXPECT_EQ(cron.spec->concurrencyPolicy, "Allow");
  EXPECT_EQ(cron.spec->successfulJobsHistoryLimit, 3);
  EXPECT_EQ(cron.spec->failedJobsHistoryLimit, 1);
  EXPECT_FALSE(cron.spec->jobTemplate->spec->completions.has_value());
}

TEST(BuiltInDefaultsTest, Service) {
  const auto service = defaulted<corev1::Service>("spec: {ports: [{port: 80}]}");
  EXPECT_EQ(service.spec->type, "ClusterIP");
  EXPECT_EQ(service.spec->sessionAffinity, "None");
  EXPECT_EQ(service.spec->ports[0].protocol, "TCP");
  EXPECT_EQ(service.spec->ports[0].targetPort, IntOrString(80));
  EXPECT_EQ(service.spec->internalTrafficPolicy, "Cluster");
  EXPECT_EQ(service.spec->externalTrafficPolicy, "");
  const auto balanced =
      defaulted<corev1::Service>("spec: {type: LoadBalancer, sessionAffinity: ClientIP}");
  EXPECT_EQ(balanced.spec->externalTrafficPolicy, "Cluster");
  EXPECT_EQ(balanced.spec->allocateLoadBalancerNodePorts, true);
  EXPECT_EQ(balanced.spec->sessionAffinityConfig->clientIP->timeoutSeconds, 10800);
}

TEST(BuiltInDefaultsTest, SecretTextBecomesData) {
  const auto secret = defaulted<corev1::Secret>("{data: {a: YQ==}, stringData: {a: new, b: text}}");
  EXPECT_EQ(secret.type, "Opaque");
  EXPECT_EQ(secret.data["a"], "new");
  EXPECT_EQ(secret.data["b"], "text");
  EXPECT_TRUE(secret.stringData.empty());
}

TEST(BuiltInDefaultsTest, Namespace) {
  const auto space = defaulted<corev1::Namespace>("metadata: {name: book}");
  EXPECT_EQ(space.metadata.labels["kubernetes.io/metadata.name"], "book");
  EXPECT_EQ(space.status->phase, "Active");
}

TEST(BuiltInDefaultsTest, Autoscalers) {
  const auto v1 = defaulted<autoscalingv1::HorizontalPodAutoscaler>("spec: {maxReplicas: 3}");
  EXPECT_EQ(v1.spec->minReplicas, 1);
  EXPECT_EQ(v1.spec->targetCPUUtilizationPercentage, 80);
  const auto v2 = defaulted<autoscalingv2::HorizontalPodAutoscaler>(
      "spec: {maxReplicas: 3, behavior: {scaleDown: {stabilizationWindowSeconds: 7}}}");
  EXPECT_EQ(v2.spec->metrics[0].resource->target->averageUtilization, 80);
  EXPECT_EQ(v2.spec->behavior->scaleUp->stabilizationWindowSeconds, 0);
  EXPECT_EQ(v2.spec->behavior->scaleUp->policies.size(), 2u);
  EXPECT_EQ(v2.spec->behavior->scaleDown->stabilizationWindowSeconds, 7);
  EXPECT_EQ(v2.spec->behavior->scaleDown->selectPolicy, "Max");
}

TEST(BuiltInDefaultsTest, SmallKinds) {
  const auto policy = defaulted<networkingv1::NetworkPolicy>("spec: {egress: [{ports: [{}]}]}");
  EXPECT_EQ(policy.spec->policyTypes, (List<String>{"Ingress", "Egress"}));
  EXPECT_EQ(policy.spec->egress[0].ports[0].protocol, "TCP");
  const auto binding = defaulted<rbacv1::RoleBinding>(
      "{roleRef: {kind: Role, name: r}, subjects: [{kind: User, name: u}, {kind: "
      "ServiceAccount}]}");
  EXPECT_EQ(binding.roleRef->apiGroup, "rbac.authorization.k8s.io");
  EXPECT_EQ(binding.subjects[0].apiGroup, "rbac.authorization.k8s.io");
  EXPECT_EQ(binding.subjects[1].apiGroup, "");
  const auto storage = defaulted<storagev1::StorageClass>("provisioner: p");
  EXPECT_EQ(storage.reclaimPolicy, "Delete");
  EXPECT_EQ(storage.volumeBindingMode, "Immediate");
  EXPECT_EQ(defaulted<schedulingv1::PriorityClass>("value: 1").preemptionPolicy,
            "PreemptLowerPriority");
  const auto slice = defaulted<discoveryv1::EndpointSlice>("ports: [{port: 1}]");
  EXPECT_EQ(slice.ports[0].name, "");
  EXPECT_EQ(slice.ports[0].protocol, "TCP");
  const auto volume = defaulted<corev1::PersistentVolume>("spec: {hostPath: {path: /}}");
  EXPECT_EQ(volume.spec->persistentVolumeReclaimPolicy, "Retain");
  EXPECT_EQ(volume.spec->volumeMode, "Filesystem");
  const auto service =
      defaulted<apiregistrationv1::APIService>("spec: {service: {namespace: ns, name: m}}");
  EXPECT_EQ(service.spec->service->port, 443);
}

TEST(BuiltInDefaultsTest, LimitsOfContainers) {
  const auto range = defaulted<corev1::LimitRange>(R"(
    spec: {limits: [{type: Container, max: {cpu: 2}, min: {cpu: 1, memory: 1Mi}},
                    {type: Pod, max: {cpu: 2}}]}
  )");
  const auto& item = range.spec->limits[0];
  EXPECT_EQ(item.default_["cpu"].str(), "2");
  EXPECT_EQ(item.defaultRequest["cpu"].str(), "2");
  EXPECT_EQ(item.defaultRequest["memory"].str(), "1Mi");
  EXPECT_TRUE(range.spec->limits[1].default_.empty());
}

TEST(BuiltInDefaultsTest, Webhooks) {
  const auto hooks = defaulted<admissionregistrationv1::MutatingWebhookConfiguration>(
      "webhooks: [{name: a, clientConfig: {service: {name: s}}, rules: [{operations: ['*']}]}]");
  const auto& webhook = hooks.webhooks[0];
  EXPECT_EQ(webhook.failurePolicy, "Fail");
  EXPECT_EQ(webhook.matchPolicy, "Equivalent");
  EXPECT_EQ(webhook.timeoutSeconds, 10);
  EXPECT_EQ(webhook.reinvocationPolicy, "Never");
  EXPECT_EQ(webhook.rules[0].scope, "*");
  EXPECT_EQ(webhook.clientConfig->service->port, 443);
  EXPECT_TRUE(webhook.namespaceSelector);
  EXPECT_FALSE(webhook.sideEffects.has_value()) << "is to be said";
}

TEST(BuiltInDefaultsTest, FlowControl) {
  const auto level = defaulted<flowcontrolv1::PriorityLevelConfiguration>(
      "spec: {type: Limited, limited: {limitResponse: {type: Queue, queuing: {}}}}");
  EXPECT_EQ(level.spec->limited->nominalConcurrencyShares, 30);
  EXPECT_EQ(level.spec->limited->limitResponse->queuing->queues, 64);
  EXPECT_EQ(defaulted<flowcontrolv1::FlowSchema>("spec: {}").spec.read().matchingPrecedence, 1000);
}

TEST(BuiltInDefaultsTest, AreSetOnceForAll) {
  for (const TypeInfo* type : builtInKinds()) {
    AnyObject object(*type);
    rulesOf(object)->setDefaults(object);
    AnyObject again = object;
    rulesOf(again)->setDefaults(again);
    EXPECT_TRUE(semanticEqual(object, again)) << type->name;
  }
}

}  // namespace
}  // namespace kube::apiserver
