// Conditions for waitFor: functions of an object, which is null if it does not exist.
//
//   kube::waitFor(pods, "web", kube::conditions::podReady, 1min);
//   kube::waitFor(jobs, "load", kube::conditions::anyOf(kube::conditions::jobComplete,
//                                                       kube::conditions::jobFailed));
//   kube::waitFor(maps, "old", kube::conditions::deleted(map.metadata.uid));
//   kube::waitForObjects(pods, {.labelSelector = "app=web"},
//                        kube::conditions::every(kube::conditions::podReady));
//
// Most of them compare the state with the generation that it belongs to, so they do not hold for a
// state that was there before the last change of the object.
//
// Thread safety: all may be called from any thread.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "kube/api/apiextensions/v1.h"
#include "kube/api/apps/v1.h"
#include "kube/api/batch/v1.h"
#include "kube/api/core/v1.h"
#include "kube/api/networking/v1.h"
#include "kube/meta/conditions.h"
#include "kube/meta/internal/object_access.h"
#include "kube/meta/unstructured.h"

namespace kube::conditions {

// ---- Objects of any kind.

/// The object exists.
inline constexpr auto exists = [](const auto* object) { return object != nullptr; };

/// The object with this uid is gone: there is none of the name, or a new one. Without a uid: there
/// is none.
inline auto deleted(String uid = {}) {
  return [uid = std::move(uid)](const auto* object) {
    return object == nullptr || (!uid.empty() && detail::uidOf(*object) != uid);
  };
}

/// status.conditions has this type with this status: `kubectl wait --for=condition=TYPE`.
inline auto hasCondition(std::string type, std::string status = std::string(kConditionTrue)) {
  return [type = std::move(type), status = std::move(status)](const auto* object) {
    if (object == nullptr) return false;
    if constexpr (std::same_as<std::remove_cvref_t<decltype(*object)>, Unstructured>) {
      for (const Value& condition : object->object["status"]["conditions"].asArray()) {
        if (condition["type"].asString() == type) return condition["status"].asString() == status;
      }
      return false;
    } else if constexpr (requires { object->status->conditions; }) {
      return isStatusConditionPresentAndEqual(object->status->conditions, type, status);
    } else {
      return isStatusConditionPresentAndEqual(object->status.conditions, type, status);
    }
  };
}

// ---- Combinations of conditions.

template <class... Conditions>
auto allOf(Conditions... conditions) {
  return [=](const auto* object) { return (conditions(object) && ...); };
}
template <class... Conditions>
auto anyOf(Conditions... conditions) {
  return [=](const auto* object) { return (conditions(object) || ...); };
}
template <class Condition>
auto noneOf(Condition condition) {
  return [=](const auto* object) { return !condition(object); };
}

// ---- Conditions for waitForObjects.

/// There is an object, and the condition holds for all.
template <class Condition>
auto every(Condition condition) {
  return [=](const auto& objects) {
    return !objects.empty() && std::ranges::all_of(objects, [&](const auto& entry) {
      return condition(&entry.second);
    });
  };
}
/// The condition holds for one at least.
template <class Condition>
auto some(Condition condition) {
  return [=](const auto& objects) {
    return std::ranges::any_of(objects,
                               [&](const auto& entry) { return condition(&entry.second); });
  };
}
/// There are no objects.
inline constexpr auto none = [](const auto& objects) { return objects.empty(); };

// ---- Pods.

inline bool podRunning(const corev1::Pod* pod) {
  return pod != nullptr && pod->status->phase == "Running";
}
inline bool podScheduled(const corev1::Pod* pod) {
  return pod != nullptr && isStatusConditionTrue(pod->status->conditions, "PodScheduled");
}
inline bool podReady(const corev1::Pod* pod) {
  return pod != nullptr && isStatusConditionTrue(pod->status->conditions, "Ready");
}
/// All containers have ended, well or not.
inline bool podFinished(const corev1::Pod* pod) {
  return pod != nullptr && (pod->status->phase == "Succeeded" || pod->status->phase == "Failed");
}

// ---- Workloads.

inline bool deploymentAvailable(const appsv1::Deployment* deployment) {
  return deployment != nullptr &&
         deployment->status->observedGeneration >= deployment->metadata.generation &&
         isStatusConditionTrue(deployment->status->conditions, "Available");
}
/// All replicas are of the present template, and available: `kubectl rollout status`.
inline bool deploymentRolledOut(const appsv1::Deployment* deployment) {
  if (deployment == nullptr) return false;
  const appsv1::DeploymentStatus& status = *deployment->status;
  const std::int32_t wanted = deployment->spec->replicas.value_or(1);
  return status.observedGeneration >= deployment->metadata.generation &&
         status.updatedReplicas >= wanted && status.replicas <= status.updatedReplicas &&
         status.availableReplicas >= status.updatedReplicas;
}
inline bool statefulSetRolledOut(const appsv1::StatefulSet* set) {
  if (set == nullptr) return false;
  const appsv1::StatefulSetStatus& status = *set->status;
  const std::int32_t wanted = set->spec->replicas.value_or(1);
  const std::int32_t held = set->spec->updateStrategy->rollingUpdate->partition.value_or(0);
  const bool updated = held > 0 ? status.updatedReplicas >= wanted - held
                                : status.updateRevision == status.currentRevision;
  return status.observedGeneration >= set->metadata.generation && status.readyReplicas >= wanted &&
         updated;
}
inline bool daemonSetRolledOut(const appsv1::DaemonSet* set) {
  if (set == nullptr) return false;
  const appsv1::DaemonSetStatus& status = *set->status;
  return status.observedGeneration >= set->metadata.generation &&
         status.updatedNumberScheduled >= status.desiredNumberScheduled &&
         status.numberAvailable >= status.desiredNumberScheduled;
}
inline bool jobComplete(const batchv1::Job* job) {
  return job != nullptr && isStatusConditionTrue(job->status->conditions, "Complete");
}
inline bool jobFailed(const batchv1::Job* job) {
  return job != nullptr && isStatusConditionTrue(job->status->conditions, "Failed");
}
inline bool jobFinished(const batchv1::Job* job) { return jobComplete(job) || jobFailed(job); }

// ---- Others.

/// The kind is served, and its names are accepted.
inline bool crdEstablished(const apiextensionsv1::CustomResourceDefinition* crd) {
  return crd != nullptr && isStatusConditionTrue(crd->status->conditions, "Established");
}
inline bool nodeReady(const corev1::Node* node) {
  return node != nullptr && isStatusConditionTrue(node->status->conditions, "Ready");
}
inline bool namespaceActive(const corev1::Namespace* space) {
  return space != nullptr && space->status->phase == "Active";
}
inline bool claimBound(const corev1::PersistentVolumeClaim* claim) {
  return claim != nullptr && claim->status->phase == "Bound";
}
/// The load balancer of a service of that type has an address; services of other types need none.
inline bool serviceProvisioned(const corev1::Service* service) {
  if (service == nullptr) return false;
  return service->spec->type != "LoadBalancer" || !service->status->loadBalancer->ingress.empty();
}
inline bool ingressProvisioned(const networkingv1::Ingress* ingress) {
  return ingress != nullptr && !ingress->status->loadBalancer->ingress.empty();
}

}  // namespace kube::conditions
