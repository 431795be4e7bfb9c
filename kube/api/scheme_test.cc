#include "kube/api/scheme.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/api/admissionregistration/v1.h"
#include "kube/api/admissionregistration/v1beta1.h"
#include "kube/api/apiextensions/v1.h"
#include "kube/api/apiextensions/v1beta1.h"
#include "kube/api/apps/v1.h"
#include "kube/api/apps/v1beta1.h"
#include "kube/api/apps/v1beta2.h"
#include "kube/api/authorization/v1.h"
#include "kube/api/authorization/v1beta1.h"
#include "kube/api/autoscaling/v1.h"
#include "kube/api/autoscaling/v2.h"
#include "kube/api/batch/v1.h"
#include "kube/api/batch/v1beta1.h"
#include "kube/api/certificates/v1.h"
#include "kube/api/certificates/v1beta1.h"
#include "kube/api/core/v1.h"
#include "kube/api/events/v1.h"
#include "kube/api/events/v1beta1.h"
#include "kube/api/flowcontrol/v1.h"
#include "kube/api/flowcontrol/v1beta2.h"
#include "kube/api/flowcontrol/v1beta3.h"
#include "kube/api/networking/v1.h"
#include "kube/api/networking/v1beta1.h"
#include "kube/api/policy/v1.h"
#include "kube/api/policy/v1beta1.h"
#include "kube/api/rbac/v1.h"
#include "kube/api/rbac/v1alpha1.h"
#include "kube/api/registry.h"
#include "kube/codec/deserializer.h"
#include "kube/codec/json.h"
#include "kube/codec/protobuf.h"
#include "kube/codec/yaml.h"

namespace kube {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const Scheme& scheme() { return builtInScheme(); }

template <class Function>
std::string errorOf(Function function) {
  try {
    function();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

// Converts YAML of type A to type B, as YAML.
template <class B, class A>
std::string converted(const std::string& yaml) {
  return toYaml(scheme().convertTo<B>(fromYaml<A>(yaml, {.strict = true})));
}

TEST(BuiltInSchemeTest, EveryBuiltInKindIsRegistered) {
  for (const TypeInfo* type : builtInKinds()) {
    const ResourceInfo& resource = *type->resource;
    const GroupVersionKind gvk{resource.group, resource.version, resource.kind};
    EXPECT_TRUE(scheme().recognizes(gvk)) << gvk;
    EXPECT_EQ(&scheme().newObject(gvk).type(), type) << gvk;
    EXPECT_THAT(scheme().objectKinds(*type).kinds, testing::Contains(gvk));
  }
  EXPECT_EQ(&builtInScheme(), &builtInScheme());
  EXPECT_EQ(scheme().name(), "built-in");
}

TEST(BuiltInSchemeTest, SomeTypesAreUnversionedAndOptionsAreInEveryVersion) {
  EXPECT_TRUE(scheme().objectKinds<metav1::Status>().unversioned);
  EXPECT_TRUE(scheme().objectKinds<metav1::APIVersions>().unversioned);
  EXPECT_TRUE(scheme().objectKinds<metav1::APIGroup>().unversioned);
  EXPECT_FALSE(scheme().objectKinds<corev1::Pod>().unversioned);
  EXPECT_TRUE(scheme().recognizes({"apps", "v1", "DeleteOptions"}));
  EXPECT_TRUE(scheme().recognizes({"", "v1", "ListOptions"}));
  EXPECT_TRUE(scheme().recognizes({"", "v1", "WatchEvent"}));
  EXPECT_TRUE(scheme().recognizes({"", "v1", "List"}));
}

// The order of the `install` packages of Kubernetes.
TEST(BuiltInSchemeTest, VersionsAreInTheOrderOfAnApiServer) {
  const auto versions = [](std::string_view group) {
    std::string result;
    for (const GroupVersion& version : scheme().prioritizedVersionsForGroup(group)) {
      if (!result.empty()) result += ' ';
      result += version.version;
    }
    return result;
  };
  EXPECT_EQ(versions(""), "v1");
  EXPECT_EQ(versions("apps"), "v1 v1beta2 v1beta1");
  EXPECT_EQ(versions("autoscaling"), "v2 v1 v2beta2 v2beta1");
  EXPECT_EQ(versions("batch"), "v1 v1beta1 v2alpha1");
  EXPECT_EQ(versions("admissionregistration.k8s.io"), "v1 v1beta1 v1alpha1");
  EXPECT_EQ(versions("coordination.k8s.io"), "v1 v1beta1 v1alpha2 v1alpha1");
  EXPECT_EQ(versions("flowcontrol.apiserver.k8s.io"), "v1 v1beta3 v1beta2 v1beta1 v1alpha1");
  EXPECT_EQ(versions("resource.k8s.io"), "v1 v1beta2 v1beta1 v1alpha3 v1alpha2 v1alpha1");
  EXPECT_EQ(versions("rbac.authorization.k8s.io"), "v1 v1beta1 v1alpha1");
  EXPECT_EQ(versions("apidiscovery.k8s.io"), "v2 v2beta1");
  const auto preferred = scheme().preferredVersionAllGroups();
  EXPECT_THAT(preferred, testing::Contains(GroupVersion{"autoscaling", "v2"}));
  EXPECT_THAT(preferred, testing::Contains(GroupVersion{"policy", "v1"}));
}

TEST(BuiltInSchemeTest, DecodesAnyKindFromAnyFormat) {
  const UniversalDeserializer deserializer(scheme());
  EXPECT_NE(deserializer.decode("apiVersion: apps/v1\nkind: Deployment\n").as<appsv1::Deployment>(),
            nullptr);
  corev1::Pod pod;
  pod.metadata.name = "p";
  EXPECT_EQ(deserializer.decode(toProtobuf(pod)).objectMeta()->name, "p");
  EXPECT_EQ(deserializer.decode(toJson(pod)).objectMeta()->name, "p");
}

// Most kinds with several versions have equal fields in them; filled objects survive a round trip.
TEST(BuiltInSchemeTest, VersionsWithEqualFieldsBecomeEachOther) {
  const auto cronJob = fromYaml<batchv1beta1::CronJob>(
      "metadata: {name: c}\nspec:\n  schedule: '* * * * *'\n  suspend: false\n  jobTemplate:\n"
      "    spec:\n      backoffLimit: 3\n      template:\n        spec:\n          containers:\n"
      "          - name: a\n            image: b\n",
      {.strict = true});
  const auto v1 = scheme().convertTo<batchv1::CronJob>(cronJob);
  EXPECT_EQ(v1.spec->jobTemplate->spec->template_->spec->containers[0].image, "b");
  EXPECT_TRUE(
      v1.spec->jobTemplate->spec->template_.sharesWith(cronJob.spec->jobTemplate->spec->template_))
      << "the pod template is of one type, and shared";
  EXPECT_EQ(scheme().convertTo<batchv1beta1::CronJob>(v1), cronJob);

  const auto event = fromYaml<eventsv1beta1::Event>(
      "metadata: {name: e}\neventTime: '2024-01-02T03:04:05.000006Z'\nnote: text\nregarding: "
      "{kind: "
      "Pod}\nseries: {count: 2, lastObservedTime: '2024-01-02T03:04:05.000006Z'}\n");
  EXPECT_EQ(scheme().convertTo<eventsv1beta1::Event>(scheme().convertTo<eventsv1::Event>(event)),
            event);
}

TEST(BuiltInSchemeTest, EveryPairOfVersionsIsConvertedOrRefusedByName) {
  int pairs = 0;
  for (const auto& [gvk, type] : scheme().allKnownTypes()) {
    if (scheme().objectKinds(*type).kinds.size() > 1) continue;
    for (const GroupVersion& version : scheme().versionsForGroupKind(gvk.groupKind())) {
      if (version == gvk.groupVersion()) continue;
      ++pairs;
      try {
        const AnyObject out = scheme().convertToVersion(scheme().newObject(gvk), version);
        EXPECT_EQ(out.gvk(), version.withKind(gvk.kind));
      } catch (const ConversionError& error) {
        EXPECT_THAT(error.what(), HasSubstr(version.str() + " " + gvk.kind.str()));
        EXPECT_EQ(gvk.kind, "CustomResourceDefinition") << error.what();
      }
    }
  }
  EXPECT_GT(pairs, 250);
}

constexpr const char* kHpaV2 = R"(apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  annotations:
    keep: me
  name: web
spec:
  behavior:
    scaleDown:
      policies:
      - periodSeconds: 15
        type: Percent
        value: 100
      stabilizationWindowSeconds: 300
  maxReplicas: 10
  metrics:
  - pods:
      metric:
        name: packets
        selector:
          matchLabels:
            a: b
      target:
        averageValue: 1k
        type: AverageValue
    type: Pods
  - object:
      describedObject:
        apiVersion: networking.k8s.io/v1
        kind: Ingress
        name: main
      metric:
        name: requests
      target:
        type: Value
        value: 10k
    type: Object
  - external:
      metric:
        name: queue
      target:
        averageValue: "30"
        type: AverageValue
    type: External
  - containerResource:
      container: app
      name: memory
      target:
        averageUtilization: 60
        type: Utilization
    type: ContainerResource
  - resource:
      name: memory
      target:
        averageValue: 1Gi
        type: AverageValue
    type: Resource
  - resource:
      name: cpu
      target:
        averageUtilization: 50
        type: Utilization
    type: Resource
  minReplicas: 2
  scaleTargetRef:
    apiVersion: apps/v1
    kind: Deployment
    name: web
status:
  conditions:
  - lastTransitionTime: "2024-01-02T03:04:05Z"
    message: fine
    reason: ReadyForNewScale
    status: "True"
    type: AbleToScale
  currentMetrics:
  - resource:
      current:
        averageUtilization: 42
        averageValue: 84m
      name: cpu
    type: Resource
  currentReplicas: 3
  desiredReplicas: 4
  observedGeneration: 7
)";

TEST(AutoscalingTest, V1KeepsFieldsThatItLacksInAnnotations) {
  namespace v1 = autoscalingv1;
  namespace v2 = autoscalingv2;
  const auto hpa = fromYaml<v2::HorizontalPodAutoscaler>(kHpaV2, {.strict = true});
  const auto old = scheme().convertTo<v1::HorizontalPodAutoscaler>(hpa);
  EXPECT_EQ(old.spec->targetCPUUtilizationPercentage, 50);
  EXPECT_EQ(old.spec->minReplicas, 2);
  EXPECT_EQ(old.spec->scaleTargetRef->name, "web");
  EXPECT_EQ(old.status->currentCPUUtilizationPercentage, 42);
  EXPECT_EQ(old.status->desiredReplicas, 4);
  const Map<String>& annotations = old.metadata.annotations;
  EXPECT_EQ(annotations["keep"], "me");
  EXPECT_EQ(annotations["autoscaling.alpha.kubernetes.io/behavior"],
            R"({"ScaleUp":null,"ScaleDown":{"StabilizationWindowSeconds":300,"SelectPolicy":null,)"
            R"("Policies":[{"Type":"Percent","Value":100,"PeriodSeconds":15}],"Tolerance":null}})");
  EXPECT_EQ(annotations["autoscaling.alpha.kubernetes.io/conditions"],
            R"([{"type":"AbleToScale","status":"True","lastTransitionTime":"2024-01-02T03:04:05Z",)"
            R"("reason":"ReadyForNewScale","message":"fine"}])");
  EXPECT_EQ(
      annotations["autoscaling.alpha.kubernetes.io/current-metrics"],
      R"([{"type":"Resource","resource":{"name":"cpu","currentAverageUtilization":42,"currentAverageValue":"84m"}}])");
  EXPECT_EQ(
      annotations["autoscaling.alpha.kubernetes.io/metrics"],
      R"([{"type":"Pods","pods":{"metricName":"packets","targetAverageValue":"1k","selector":{"matchLabels":{"a":"b"}}}},)"
      R"({"type":"Object","object":{"target":{"kind":"Ingress","name":"main","apiVersion":"networking.k8s.io/v1"},"metricName":"requests","targetValue":"10k"}},)"
      R"({"type":"External","external":{"metricName":"queue","targetAverageValue":"30"}},)"
      R"({"type":"ContainerResource","containerResource":{"name":"memory","targetAverageUtilization":60,"container":"app"}},)"
      R"({"type":"Resource","resource":{"name":"memory","targetAverageValue":"1Gi"}}])");

  EXPECT_EQ(toYaml(scheme().convertTo<v2::HorizontalPodAutoscaler>(old)), kHpaV2)
      << "and all of it comes back";
}

TEST(AutoscalingTest, StatusesOfAllMetricsGoAround) {
  namespace v1 = autoscalingv1;
  namespace v2 = autoscalingv2;
  const auto hpa = fromYaml<v2::HorizontalPodAutoscaler>(R"(spec:
  maxReplicas: 1
  metrics:
  - {type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 1}}}
status:
  currentReplicas: 1
  desiredReplicas: 1
  currentMetrics:
  - {type: Pods, pods: {metric: {name: p}, current: {averageValue: "1"}}}
  - {type: Object, object: {metric: {name: o}, current: {value: "2", averageValue: "3"}, describedObject: {kind: K, name: x}}}
  - {type: External, external: {metric: {name: e}, current: {value: "4", averageValue: "5"}}}
  - {type: ContainerResource, containerResource: {name: cpu, container: c, current: {averageValue: "6", averageUtilization: 7}}}
  - {type: Resource, resource: {name: memory, current: {averageValue: "8"}}}
)",
                                                         {.strict = true});
  const auto old = scheme().convertTo<v1::HorizontalPodAutoscaler>(hpa);
  EXPECT_FALSE(old.status->currentCPUUtilizationPercentage.has_value());
  EXPECT_EQ(toYaml(scheme().convertTo<v2::HorizontalPodAutoscaler>(old)), toYaml(hpa));
}

// The cases of Kubernetes' own test.
TEST(AutoscalingTest, TheCpuUtilizationIsFoundBesideAnAverageValueOfTheCpu) {
  namespace v1 = autoscalingv1;
  namespace v2 = autoscalingv2;
  const auto old =
      scheme().convertTo<v1::HorizontalPodAutoscaler>(fromYaml<v2::HorizontalPodAutoscaler>(R"(spec:
  minReplicas: 1
  maxReplicas: 3
  metrics:
  - {type: Resource, resource: {name: cpu, target: {type: AverageValue, averageValue: 300m}}}
  - {type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 70}}}
  - {type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 90}}}
)"));
  EXPECT_EQ(old.spec->targetCPUUtilizationPercentage, 70);
  EXPECT_EQ(old.metadata.annotations["autoscaling.alpha.kubernetes.io/metrics"],
            R"([{"type":"Resource","resource":{"name":"cpu","targetAverageValue":"300m"}},)"
            R"({"type":"Resource","resource":{"name":"cpu","targetAverageUtilization":90}}])");
  const auto none = scheme().convertTo<v1::HorizontalPodAutoscaler>(
      fromYaml<v2::HorizontalPodAutoscaler>("spec: {maxReplicas: 3}\n"));
  EXPECT_FALSE(none.spec->targetCPUUtilizationPercentage.has_value());
  EXPECT_TRUE(none.metadata.annotations.empty());
}

TEST(AutoscalingTest, V1WithoutMetricsMeansEightyPercentOfTheCpu) {
  const std::string yaml =
      converted<autoscalingv2::HorizontalPodAutoscaler, autoscalingv1::HorizontalPodAutoscaler>(
          "metadata: {name: a}\nspec: {maxReplicas: 3}\nstatus: {currentReplicas: 1, "
          "desiredReplicas: 1, currentCPUUtilizationPercentage: 7}\n");
  EXPECT_THAT(yaml, HasSubstr("averageUtilization: 80"));
  EXPECT_THAT(yaml, HasSubstr("current:\n        averageUtilization: 7\n"));
}

TEST(AutoscalingTest, AnnotationsThatCannotBeReadAreDropped) {
  namespace v1 = autoscalingv1;
  v1::HorizontalPodAutoscaler old;
  old.spec->targetCPUUtilizationPercentage = 5;
  for (const char* key : {"metrics", "current-metrics", "conditions", "behavior"}) {
    for (const char* text : {"{", "3", "[3]", "{\"ScaleUp\":[]}", "{}", ""}) {
      v1::HorizontalPodAutoscaler in = old;
      in.metadata.annotations["keep"] = "me";
      in.metadata.annotations[std::string("autoscaling.alpha.kubernetes.io/") + key] = text;
      const auto out = scheme().convertTo<autoscalingv2::HorizontalPodAutoscaler>(in);
      EXPECT_EQ(out.metadata.annotations, (Map<String>{{"keep", "me"}})) << key << ' ' << text;
      EXPECT_EQ(out.spec->metrics.size(), 1U) << key << ' ' << text;
      EXPECT_FALSE(out.spec->behavior) << key << ' ' << text;
    }
  }
}

TEST(AutoscalingTest, ListsAreConvertedItemByItem) {
  autoscalingv2::HorizontalPodAutoscalerList list;
  list.items = {fromYaml<autoscalingv2::HorizontalPodAutoscaler>(kHpaV2)};
  const AnyObject out = scheme().convertToVersion(list, {"autoscaling", "v1"});
  ASSERT_NE(out.as<autoscalingv1::HorizontalPodAutoscalerList>(), nullptr);
  EXPECT_EQ(out.as<autoscalingv1::HorizontalPodAutoscalerList>()
                ->items[0]
                .spec.read()
                .targetCPUUtilizationPercentage,
            50);
}

TEST(AppsTest, DefaultsOfV1beta1BecomeExplicitInV1) {
  constexpr const char* kWorkload =
      "spec:\n  template:\n    metadata: {labels: {app: web}}\n    spec: {containers: []}\n";
  const auto deployment =
      scheme().convertTo<appsv1::Deployment>(fromYaml<appsv1beta1::Deployment>(kWorkload));
  EXPECT_EQ(deployment.spec->selector->matchLabels["app"], "web");
  EXPECT_EQ(deployment.metadata.labels["app"], "web");
  EXPECT_EQ(deployment.spec->revisionHistoryLimit, 2);
  const auto set =
      scheme().convertTo<appsv1::StatefulSet>(fromYaml<appsv1beta1::StatefulSet>(kWorkload));
  EXPECT_EQ(set.spec->updateStrategy->type, "OnDelete");
  EXPECT_EQ(set.spec->selector->matchLabels["app"], "web");

  // And the reverse.
  EXPECT_EQ(scheme()
                .convertTo<appsv1beta1::StatefulSet>(fromYaml<appsv1::StatefulSet>(kWorkload))
                .spec.read()
                .updateStrategy->type,
            "RollingUpdate");
  EXPECT_EQ(scheme()
                .convertTo<appsv1beta1::Deployment>(fromYaml<appsv1::Deployment>(kWorkload))
                .spec.read()
                .revisionHistoryLimit,
            10);
  EXPECT_FALSE(scheme()
                   .convertTo<appsv1beta2::Deployment>(fromYaml<appsv1::Deployment>(kWorkload))
                   .spec.read()
                   .revisionHistoryLimit.has_value());
}

TEST(AppsTest, ARollbackIsKeptAndV1beta2IsReachedThroughV1) {
  auto beta = fromYaml<appsv1beta1::Deployment>("spec: {rollbackTo: {revision: 4}}\n");
  const auto v1beta2 = scheme().convertTo<appsv1beta2::Deployment>(beta);
  EXPECT_EQ(v1beta2.metadata.annotations["deprecated.deployment.rollback.to"], "4");
  EXPECT_EQ(v1beta2.spec->revisionHistoryLimit, 2);
  const auto back = scheme().convertTo<appsv1beta1::Deployment>(v1beta2);
  EXPECT_EQ(back.spec->rollbackTo->revision, 4);
  EXPECT_TRUE(back.metadata.annotations.empty());

  appsv1::Deployment bad;
  bad.metadata.annotations["deprecated.deployment.rollback.to"] = "four";
  EXPECT_THAT(errorOf([&] { scheme().convertTo<appsv1beta1::Deployment>(bad); }),
              HasSubstr("converting apps/v1 Deployment to apps/v1beta1 Deployment: the annotation "
                        "deprecated.deployment.rollback.to is not a number: four"));
}

TEST(NetworkingTest, IngressBackendsAreWrittenAnew) {
  const std::string beta = R"(apiVersion: networking.k8s.io/v1beta1
kind: Ingress
metadata:
  name: i
spec:
  backend:
    serviceName: fallback
    servicePort: http
  rules:
  - host: a
    http:
      paths:
      - backend:
          serviceName: web
          servicePort: 80
        path: /
        pathType: ImplementationSpecific
)";
  const std::string v1 = R"(apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: i
spec:
  defaultBackend:
    service:
      name: fallback
      port:
        name: http
  rules:
  - host: a
    http:
      paths:
      - backend:
          service:
            name: web
            port:
              number: 80
        path: /
        pathType: ImplementationSpecific
)";
  EXPECT_EQ((converted<networkingv1::Ingress, networkingv1beta1::Ingress>(beta)), v1);
  EXPECT_EQ((converted<networkingv1beta1::Ingress, networkingv1::Ingress>(v1)), beta);
  std::string untyped = beta;
  untyped.erase(untyped.find("        pathType"));
  EXPECT_EQ((converted<networkingv1::Ingress, networkingv1beta1::Ingress>(untyped)), v1);

  networkingv1::Ingress both;
  both.spec->defaultBackend->service->port = networkingv1::ServiceBackendPort{"http", 80};
  EXPECT_THAT(errorOf([&] { scheme().convertTo<networkingv1beta1::Ingress>(both); }),
              HasSubstr("a service's port has either a name or a number"));
}

TEST(PolicyTest, AnEmptySelectorKeepsItsMeaning) {
  const auto toV1 = [](const char* yaml) {
    return scheme().convertTo<policyv1::PodDisruptionBudget>(
        fromYaml<policyv1beta1::PodDisruptionBudget>(yaml, {.strict = true}));
  };
  const auto toBeta = [](const policyv1::PodDisruptionBudget& in) {
    return scheme().convertTo<policyv1beta1::PodDisruptionBudget>(in);
  };
  const auto none = toV1("spec: {selector: {}, minAvailable: 50%}\n");
  EXPECT_EQ(none.spec->selector->matchExpressions[0].operator_, "Exists");
  EXPECT_EQ(none.spec->minAvailable, IntOrString("50%"));
  EXPECT_TRUE(toBeta(none).spec.read().selector->matchExpressions.empty());

  policyv1::PodDisruptionBudget all;
  all.spec->selector = metav1::LabelSelector();
  const auto betaAll = toBeta(all);
  EXPECT_EQ(betaAll.spec->selector->matchExpressions[0].operator_, "DoesNotExist");
  EXPECT_EQ(scheme().convertTo<policyv1::PodDisruptionBudget>(betaAll), all);

  EXPECT_EQ(
      toV1("spec: {selector: {matchLabels: {a: b}}}\n").spec.read().selector->matchLabels["a"],
      "b");
  EXPECT_FALSE(toV1("spec: {}\n").spec.read().selector);
}

TEST(AdmissionRegistrationTest, WebhooksKeepTheDefaultsOfTheirVersion) {
  namespace v1 = admissionregistrationv1;
  namespace v1beta1 = admissionregistrationv1beta1;
  v1beta1::ValidatingWebhookConfiguration beta;
  beta.webhooks = {{.name = "a"}, {.name = "b", .failurePolicy = "Fail", .timeoutSeconds = 3}};
  const auto out = scheme().convertTo<v1::ValidatingWebhookConfiguration>(beta);
  EXPECT_EQ(out.webhooks[0].failurePolicy, "Ignore");
  EXPECT_EQ(out.webhooks[0].matchPolicy, "Exact");
  EXPECT_EQ(out.webhooks[0].timeoutSeconds, 30);
  EXPECT_EQ(out.webhooks[0].sideEffects, "Unknown");
  EXPECT_THAT(out.webhooks[0].admissionReviewVersions, ElementsAre("v1beta1"));
  EXPECT_EQ(out.webhooks[1].failurePolicy, "Fail");
  EXPECT_EQ(out.webhooks[1].timeoutSeconds, 3);

  v1::MutatingWebhookConfiguration stable;
  stable.webhooks = {{.name = "a"}};
  const auto back = scheme().convertTo<v1beta1::MutatingWebhookConfiguration>(stable);
  EXPECT_EQ(back.webhooks[0].failurePolicy, "Fail");
  EXPECT_EQ(back.webhooks[0].matchPolicy, "Equivalent");
  EXPECT_EQ(back.webhooks[0].timeoutSeconds, 10);
}

TEST(FlowControlTest, NoSharesAreTheDefaultUnlessZeroIsMeant) {
  namespace v1 = flowcontrolv1;
  namespace v1beta3 = flowcontrolv1beta3;
  v1beta3::PriorityLevelConfiguration beta;
  beta.spec->limited->lendablePercent = 3;
  EXPECT_FALSE(scheme()
                   .convertTo<v1::PriorityLevelConfiguration>(beta)
                   .spec.read()
                   .limited->nominalConcurrencyShares.has_value());
  v1::PriorityLevelConfiguration stable;
  stable.spec->limited->nominalConcurrencyShares = 0;
  beta = scheme().convertTo<v1beta3::PriorityLevelConfiguration>(stable);
  EXPECT_TRUE(beta.metadata.annotations.contains(
      "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares"));
  EXPECT_EQ(scheme().convertTo<v1::PriorityLevelConfiguration>(beta), stable);
  beta.spec->limited->nominalConcurrencyShares = 9;
  EXPECT_EQ(scheme()
                .convertTo<v1::PriorityLevelConfiguration>(beta)
                .spec.read()
                .limited->nominalConcurrencyShares,
            9);
}

TEST(FlowControlTest, OldVersionsCallTheSharesAssured) {
  namespace v1 = flowcontrolv1;
  namespace v1beta2 = flowcontrolv1beta2;
  v1beta2::PriorityLevelConfiguration old;
  old.spec->limited->assuredConcurrencyShares = 7;
  const auto v1beta3 = scheme().convertTo<flowcontrolv1beta3::PriorityLevelConfiguration>(old);
  EXPECT_EQ(v1beta3.spec->limited->nominalConcurrencyShares, 7);
  EXPECT_EQ(scheme().convertTo<v1beta2::PriorityLevelConfiguration>(v1beta3), old);
  v1::PriorityLevelConfiguration none;
  none.spec->limited->nominalConcurrencyShares = 0;
  EXPECT_THAT(errorOf([&] { scheme().convertTo<v1beta2::PriorityLevelConfiguration>(none); }),
              HasSubstr("PriorityLevelConfiguration: spec.limited: 0 shares cannot be converted"));
}

TEST(AuthorizationTest, GroupsWereOnceCalledGroup) {
  authorizationv1beta1::SubjectAccessReview old;
  old.spec->group = {"a", "b"};
  old.spec->user = "u";
  const auto review = scheme().convertTo<authorizationv1::SubjectAccessReview>(old);
  EXPECT_THAT(review.spec->groups, ElementsAre("a", "b"));
  EXPECT_EQ(scheme().convertTo<authorizationv1beta1::SubjectAccessReview>(review), old);
}

TEST(RbacTest, SubjectsOfV1alpha1HaveAnApiVersion) {
  namespace v1 = rbacv1;
  namespace alpha = rbacv1alpha1;
  alpha::ClusterRoleBinding in;
  in.subjects = {{.kind = "ServiceAccount", .apiVersion = "v1", .name = "s", .namespace_ = "n"},
                 {.kind = "User", .name = "*"},
                 {.kind = "Group", .apiVersion = "rbac.authorization.k8s.io/v1alpha1", .name = "g"},
                 {.kind = "Robot", .apiVersion = "robots.io/v1", .name = "r"}};
  const auto out = scheme().convertTo<v1::ClusterRoleBinding>(in);
  EXPECT_EQ(out.subjects[0],
            (v1::Subject{.kind = "ServiceAccount", .name = "s", .namespace_ = "n"}));
  EXPECT_EQ(out.subjects[1], (v1::Subject{.kind = "Group",
                                          .apiGroup = "rbac.authorization.k8s.io",
                                          .name = "system:authenticated"}));
  EXPECT_EQ(out.subjects[3].apiGroup, "robots.io");
  const auto back = scheme().convertTo<alpha::ClusterRoleBinding>(out);
  EXPECT_EQ(back.subjects[0], in.subjects[0]);
  EXPECT_EQ(back.subjects[2], in.subjects[2]);
  EXPECT_EQ(back.subjects[3].apiVersion, "robots.io/");
}

TEST(CertificatesTest, V1NeedsASigner) {
  certificatesv1beta1::CertificateSigningRequest in;
  in.spec->request = "x";
  EXPECT_THAT(
      errorOf([&] { scheme().convertTo<certificatesv1::CertificateSigningRequest>(in); }),
      HasSubstr("converting certificates.k8s.io/v1beta1 CertificateSigningRequest to "
                "certificates.k8s.io/v1 CertificateSigningRequest: spec: v1 needs a signerName"));
  in.spec->signerName = "example.com/signer";
  in.status->conditions = {{.type = "Approved"}};
  const auto out = scheme().convertTo<certificatesv1::CertificateSigningRequest>(in);
  EXPECT_EQ(out.spec->signerName, "example.com/signer");
  EXPECT_EQ(out.spec->usages.size(), 2U);
  EXPECT_EQ(out.status->conditions[0].status, "True");
}

TEST(EventsTest, OfTheCoreGroupAreThoseOfEventsK8sIo) {
  const auto core = fromYaml<corev1::Event>(
      "metadata: {name: e}\ninvolvedObject: {kind: Pod, name: p}\nmessage: m\nreason: r\ntype: "
      "Warning\nsource: {component: kubelet}\ncount: 3\nfirstTimestamp: '2024-01-02T03:04:05Z'\n"
      "lastTimestamp: '2024-01-02T03:04:06Z'\nreportingComponent: c\nreportingInstance: i\n"
      "series: {count: 2}\n",
      {.strict = true});
  const auto event = scheme().convertTo<eventsv1::Event>(core);
  EXPECT_EQ(event.note, "m");
  EXPECT_EQ(event.regarding->name, "p");
  EXPECT_EQ(event.deprecatedCount, 3);
  EXPECT_EQ(event.deprecatedSource->component, "kubelet");
  EXPECT_EQ(event.reportingController, "c");
  EXPECT_EQ(event.series->count, 2);
  EXPECT_EQ(scheme().convertTo<corev1::Event>(event), core);
}

TEST(DefinitionsTest, AreRefusedBecauseTheirMeaningsDiffer) {
  EXPECT_THAT(errorOf([] {
                scheme().convertTo<apiextensionsv1::CustomResourceDefinition>(
                    apiextensionsv1beta1::CustomResourceDefinition());
              }),
              HasSubstr("CustomResourceDefinitions are not converted"));
}

TEST(BuiltInSchemeTest, AFieldWithoutCounterpartIsAnErrorWithItsPath) {
  const UniversalDeserializer deserializer(scheme());
  EXPECT_THAT(
      errorOf([&] {
        deserializer.decode(
            "apiVersion: coordination.k8s.io/v1alpha2\nkind: LeaseCandidate\nspec: {strategy: "
            "x}\n",
            {.toVersions = {{"coordination.k8s.io", "v1alpha1"}}});
      }),
      HasSubstr("converting coordination.k8s.io/v1alpha2 LeaseCandidate to "
                "coordination.k8s.io/v1alpha1 LeaseCandidate: spec.strategy: "
                "LeaseCandidateSpec has no such field"));
}

}  // namespace
}  // namespace kube
