// No threads.

#include "kube/apiserver/rules/built_in_rules.h"

#include <gtest/gtest.h>

#include "kube/apiserver/rules/built_in_kinds.h"
#include "kube/apiserver/rules/built_in_rules_testing.h"

namespace kube::apiserver {
namespace {

template <class T>
T created(std::string_view yaml) {
  AnyObject object(fromYaml<T>(yaml));
  rulesOf(object)->setDefaults(object);
  rulesOf(object)->prepareForCreate(object);
  return *object.as<T>();
}

template <class T>
T updated(T next, const T& old) {
  AnyObject object(next);
  rulesOf(object)->prepareForUpdate(object, AnyObject(old));
  return *object.as<T>();
}

std::string qosOf(std::string_view resources) {
  return created<corev1::Pod>("spec: {containers: [" + std::string(resources) + "]}")
      .status.read()
      .qosClass.str();
}

TEST(BuiltInPrepareTest, PodStartsPending) {
  const auto pod =
      created<corev1::Pod>("{spec: {containers: [{name: a}]}, status: {phase: Running}}");
  EXPECT_EQ(pod.status->phase, "Pending");
  EXPECT_TRUE(pod.status->conditions.empty());
  const auto gated = created<corev1::Pod>("spec: {schedulingGates: [{name: g}]}");
  EXPECT_EQ(gated.status->conditions[0].reason, "SchedulingGated");
}

TEST(BuiltInPrepareTest, QosClass) {
  EXPECT_EQ(qosOf("{name: a}"), "BestEffort");
  EXPECT_EQ(qosOf("{name: a, resources: {limits: {example.com/gpu: 1}}}"), "BestEffort");
  EXPECT_EQ(qosOf("{name: a, resources: {requests: {cpu: 1}}}"), "Burstable");
  EXPECT_EQ(qosOf("{name: a, resources: {limits: {cpu: 1}}}"), "Burstable");
  EXPECT_EQ(qosOf("{name: a, resources: {limits: {cpu: 1, memory: 1Gi}}}"), "Guaranteed");
  EXPECT_EQ(qosOf("{name: a, resources: {limits: {cpu: 1, memory: 1Gi}}}, {name: b}"), "Burstable");
  EXPECT_EQ(qosOf("{name: a, resources: {limits: {cpu: 1, memory: 1Gi}, requests: {cpu: 500m}}}"),
            "Burstable");
}

TEST(BuiltInPrepareTest, JobSelectsItsPodsByUid) {
  const auto job = created<batchv1::Job>(
      "{metadata: {name: j, uid: u}, spec: {template: {metadata: {labels: {job-name: mine}}}}}");
  const auto& labels = job.spec->template_->metadata.labels;
  EXPECT_EQ(labels["batch.kubernetes.io/controller-uid"], "u");
  EXPECT_EQ(labels["controller-uid"], "u");
  EXPECT_EQ(labels["batch.kubernetes.io/job-name"], "j");
  EXPECT_EQ(labels["job-name"], "mine");
  EXPECT_EQ(job.spec->selector->matchLabels["batch.kubernetes.io/controller-uid"], "u");
  const auto manual = created<batchv1::Job>("spec: {manualSelector: true}");
  EXPECT_FALSE(manual.spec->selector);
}

TEST(BuiltInPrepareTest, NamespaceHasItsFinalizer) {
  const auto space =
      created<corev1::Namespace>("{metadata: {name: ns}, spec: {finalizers: [a/b]}}");
  EXPECT_EQ(space.spec->finalizers, (List<String>{"a/b", "kubernetes"}));
  auto next = space;
  next.spec->finalizers.clear();
  next.metadata.labels.clear();
  next = updated(next, space);
  EXPECT_EQ(next.spec->finalizers, space.spec->finalizers) << "only by finalize";
  EXPECT_EQ(next.metadata.labels["kubernetes.io/metadata.name"], "ns");
}

TEST(BuiltInPrepareTest, DaemonSetCountsItsTemplates) {
  constexpr std::string_view kKey = "deprecated.daemonset.template.generation";
  const auto set = created<appsv1::DaemonSet>("spec: {template: {spec: {}}}");
  EXPECT_EQ(set.metadata.annotations[kKey], "1");
  auto next = set;
  next.metadata.annotations.clear();
  next.spec->minReadySeconds = 5;
  EXPECT_EQ(updated(next, set).metadata.annotations[kKey], "1");
  next.spec->template_->spec->nodeName = "n";
  EXPECT_EQ(updated(next, set).metadata.annotations[kKey], "2");
}

TEST(BuiltInPrepareTest, CertificateRequestStaysAsItWas) {
  const auto request = created<certificatesv1::CertificateSigningRequest>(
      "spec: {signerName: a/b, username: me, groups: [admins]}");
  EXPECT_EQ(request.spec->username, "");
  EXPECT_TRUE(request.spec->groups.empty());
  auto next = request;
  next.spec->signerName = "c/d";
  EXPECT_EQ(updated(next, request).spec.read().signerName, "a/b");
}

TEST(BuiltInPrepareTest, ClaimSaysItsSourceBothWays) {
  const auto claim = created<corev1::PersistentVolumeClaim>(
      "spec: {dataSource: {kind: PersistentVolumeClaim, name: c}}");
  EXPECT_EQ(claim.status->phase, "Pending");
  EXPECT_EQ(claim.spec->dataSourceRef->name, "c");
}

class BuiltInServiceTest : public ::testing::Test {
 protected:
  corev1::Service allocated(std::string_view yaml) {
    return allocated(defaulted<corev1::Service>(yaml));
  }
  corev1::Service allocated(const corev1::Service& service) {
    AnyObject object(service);
    allocateForService(object, allocator);
    return *object.as<corev1::Service>();
  }

  int addresses = 0;
  int ports = 30000;
  ServiceAllocator allocator{
      .clusterIP = [this] { return "10.0.0." + std::to_string(++addresses); },
      .nodePort = [this] { return ports++; }};
};

TEST_F(BuiltInServiceTest, GetsAnAddress) {
  const auto service = allocated("spec: {ports: [{port: 80}]}");
  EXPECT_EQ(service.spec->clusterIP, "10.0.0.1");
  EXPECT_EQ(service.spec->clusterIPs, (List<String>{"10.0.0.1"}));
  EXPECT_EQ(service.spec->ipFamilies, (List<String>{"IPv4"}));
  EXPECT_EQ(service.spec->ipFamilyPolicy, "SingleStack");
  EXPECT_EQ(service.spec->ports[0].nodePort, 0);
}

TEST_F(BuiltInServiceTest, GetsWhatItsTypeNeeds) {
  EXPECT_EQ(allocated("spec: {type: ExternalName, externalName: a.b}").spec.read().clusterIP, "");
  const auto headless = allocated("spec: {clusterIP: None}");
  EXPECT_EQ(headless.spec->clusterIPs, (List<String>{"None"}));
  EXPECT_EQ(headless.spec->ipFamilies, (List<String>{"IPv4"}));
  EXPECT_EQ(addresses, 0);
  const auto node =
      allocated("spec: {type: NodePort, ports: [{port: 1, nodePort: 32000}, {port: 2}]}");
  EXPECT_EQ(node.spec->ports[0].nodePort, 32000);
  EXPECT_EQ(node.spec->ports[1].nodePort, 30000);
  const auto balanced =
      allocated("spec: {type: LoadBalancer, externalTrafficPolicy: Local, ports: [{port: 1}]}");
  EXPECT_EQ(balanced.spec->ports[0].nodePort, 30001);
  EXPECT_EQ(balanced.spec->healthCheckNodePort, 30002);
  const auto six = allocated("spec: {clusterIP: 'fd00::1'}");
  EXPECT_EQ(six.spec->ipFamilies, (List<String>{"IPv6"}));
}

TEST_F(BuiltInServiceTest, KeepsWhatAnUpdateLeavesOut) {
  const auto old =
      allocated("spec: {type: NodePort, ports: [{name: a, port: 1}, {name: b, port: 2}]}");
  auto next = defaulted<corev1::Service>("spec: {type: NodePort, ports: [{name: b, port: 3}]}");
  next = updated(next, old);
  EXPECT_EQ(next.spec->clusterIP, "10.0.0.1");
  EXPECT_EQ(next.spec->ports[0].nodePort, 30001);
}

TEST_F(BuiltInServiceTest, ListFollowsTheOneAddress) {
  const auto old = allocated("spec: {ports: [{port: 1}]}");
  auto next = old;
  next.spec->clusterIP = "10.0.0.9";
  EXPECT_EQ(updated(next, old).spec.read().clusterIPs, (List<String>{"10.0.0.9"}));
  const auto odd = allocated("spec: {clusterIPs: [10.0.0.8], ports: [{port: 1}]}");
  EXPECT_EQ(odd.spec->clusterIP, "") << "which the checks will say";
}

TEST_F(BuiltInServiceTest, GivesUpWhatItsNewTypeHasNot) {
  const auto old = allocated("spec: {type: NodePort, ports: [{port: 1}]}");
  auto next = old;
  next.spec->type = "ClusterIP";
  next = updated(next, old);
  EXPECT_EQ(next.spec->ports[0].nodePort, 0);
  EXPECT_EQ(next.spec->clusterIP, "10.0.0.1");
  EXPECT_EQ(next.spec->externalTrafficPolicy, "");
  next = old;
  next.spec->type = "ExternalName";
  next = updated(next, old);
  EXPECT_EQ(next.spec->clusterIP, "");
  EXPECT_TRUE(next.spec->clusterIPs.empty());
  EXPECT_FALSE(next.spec->ipFamilyPolicy.has_value());
}

TEST(BuiltInFactsTest, Generations) {
  EXPECT_TRUE(rulesOf<appsv1::Deployment>()->tracksGeneration());
  EXPECT_TRUE(rulesOf<corev1::Pod>()->tracksGeneration());
  EXPECT_FALSE(rulesOf<corev1::ConfigMap>()->tracksGeneration());
  const auto changes = [](const auto& next, const auto& old) {
    const AnyObject changed(next);
    return rulesOf(changed)->changesGeneration(changed, AnyObject(old));
  };
  appsv1::Deployment deployment;
  appsv1::Deployment next = deployment;
  next.status->replicas = 3;
  next.metadata.labels["a"] = "b";
  EXPECT_FALSE(changes(next, deployment));
  next.metadata.annotations["a"] = "b";
  EXPECT_TRUE(changes(next, deployment)) << "which its ReplicaSets copy";
  appsv1::ReplicaSet set;
  appsv1::ReplicaSet annotated = set;
  annotated.metadata.annotations["a"] = "b";
  EXPECT_FALSE(changes(annotated, set));
  annotated.spec->replicas = 2;
  EXPECT_TRUE(changes(annotated, set));
  EXPECT_FALSE(
      changes(schedulingv1::PriorityClass{.description = "new"}, schedulingv1::PriorityClass{}));
  EXPECT_FALSE(changes(corev1::ConfigMap{.data = {{"a", "b"}}}, corev1::ConfigMap{}));
}

TEST(BuiltInFactsTest, Names) {
  const auto problem = [](const TypeInfo& type, std::string_view name) {
    return builtInRules(type)->nameRule()(name, false);
  };
  EXPECT_TRUE(problem(TypeOf<corev1::Pod>::info, "a.b").empty());
  EXPECT_FALSE(problem(TypeOf<corev1::Service>::info, "a.b").empty());
  EXPECT_FALSE(problem(TypeOf<corev1::Namespace>::info, "a.b").empty());
  EXPECT_FALSE(problem(TypeOf<appsv1::StatefulSet>::info, "a.b").empty());
  EXPECT_TRUE(problem(TypeOf<rbacv1::ClusterRole>::info, "system:node").empty());
  EXPECT_FALSE(problem(TypeOf<rbacv1::ClusterRole>::info, "a/b").empty());
  EXPECT_TRUE(problem(TypeOf<networkingv1::IPAddress>::info, "10.0.0.1").empty());
  EXPECT_FALSE(problem(TypeOf<networkingv1::IPAddress>::info, "ten").empty());
}

TEST(BuiltInFactsTest, Updates) {
  EXPECT_TRUE(rulesOf<coordinationv1::Lease>()->allowsCreateOnUpdate());
  EXPECT_TRUE(rulesOf<corev1::Endpoints>()->allowsCreateOnUpdate());
  EXPECT_FALSE(rulesOf<corev1::Pod>()->allowsCreateOnUpdate());
  EXPECT_FALSE(rulesOf<corev1::Namespace>()->allowsCreateOnUpdate());
  EXPECT_TRUE(rulesOf<corev1::Pod>()->allowsUnconditionalUpdate());
  EXPECT_FALSE(rulesOf<coordinationv1::Lease>()->allowsUnconditionalUpdate());
  EXPECT_FALSE(rulesOf<policyv1::PodDisruptionBudget>()->allowsUnconditionalUpdate());
  EXPECT_TRUE(rulesOf<corev1::Node>()->keepsStatusOnCreate());
  EXPECT_FALSE(rulesOf<corev1::Pod>()->keepsStatusOnCreate());
}

TEST(BuiltInFieldsTest, OfAPod) {
  const AnyObject pod(written<corev1::Pod>(R"(
    metadata: {name: p, namespace: ns}
    spec: {nodeName: node-1, hostNetwork: true}
    status: {podIP: 10.0.0.1}
  )"));
  EXPECT_EQ(rulesOf(pod)->selectableField(pod, "metadata.name"), "p");
  EXPECT_EQ(rulesOf(pod)->selectableField(pod, "metadata.namespace"), "ns");
  EXPECT_EQ(rulesOf(pod)->selectableField(pod, "spec.nodeName"), "node-1");
  EXPECT_EQ(rulesOf(pod)->selectableField(pod, "spec.hostNetwork"), "true");
  EXPECT_EQ(rulesOf(pod)->selectableField(pod, "status.podIP"), "10.0.0.1");
  EXPECT_EQ(rulesOf(pod)->selectableField(pod, "status.phase"), "");
  EXPECT_EQ(rulesOf(pod)->selectableField(pod, "spec.hostname"), std::nullopt);
}

TEST(BuiltInFieldsTest, OfOtherKinds) {
  const auto value = [](const auto& object, std::string_view field) {
    const AnyObject any(object);
    return rulesOf(any)->selectableField(any, field);
  };
  EXPECT_EQ(value(corev1::Secret{.type = "t"}, "type"), "t");
  EXPECT_EQ(value(written<corev1::Node>("spec: {unschedulable: true}"), "spec.unschedulable"),
            "true");
  EXPECT_EQ(value(corev1::Node{}, "metadata.namespace"), std::nullopt);
  EXPECT_EQ(value(written<batchv1::Job>("status: {succeeded: 2}"), "status.successful"), "2");
  EXPECT_EQ(value(written<corev1::Event>("{reportingComponent: c, involvedObject: {kind: Pod}}"),
                  "source"),
            "c");
  EXPECT_EQ(value(written<eventsv1::Event>("regarding: {kind: Pod}"), "regarding.kind"), "Pod");
  EXPECT_EQ(value(corev1::ConfigMap{}, "metadata.name"), "");
  EXPECT_EQ(value(corev1::ConfigMap{}, "data"), std::nullopt);
}

TEST(BuiltInFieldsTest, WhatIsSaidOfOthers) {
  EXPECT_EQ(rulesOf<corev1::Pod>()->unknownField("spec.x"), "field label not supported: spec.x");
  EXPECT_EQ(rulesOf<batchv1::Job>()->unknownField("x"), "field label \"x\" not supported for Job");
  EXPECT_EQ(rulesOf<corev1::ConfigMap>()->unknownField("x"),
            "\"x\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"");
}

TEST(BuiltInDeletionTest, OnlyPodsThatRunGetTime) {
  corev1::Pod pod;
  const auto grace = [&](std::optional<std::int64_t> wanted) {
    return rulesOf<corev1::Pod>()->deletionGrace(AnyObject(pod), wanted);
  };
  pod.spec->terminationGracePeriodSeconds = 30;
  EXPECT_EQ(grace(std::nullopt), 0) << "on no node";
  pod.spec->nodeName = "n";
  EXPECT_EQ(grace(std::nullopt), 30);
  EXPECT_EQ(grace(5), 5);
  EXPECT_EQ(grace(0), 0);
  EXPECT_EQ(grace(-1), 1);
  pod.status->phase = "Succeeded";
  EXPECT_EQ(grace(5), 0);
  EXPECT_EQ(rulesOf<corev1::ConfigMap>()->deletionGrace(AnyObject(corev1::ConfigMap{}), 5), 0);
}

}  // namespace
}  // namespace kube::apiserver
