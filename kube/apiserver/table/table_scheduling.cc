// Priorities, devices and pod groups as rows of a table.
#include <fmt/core.h>

#include <vector>

#include "kube/api/resource/v1.h"
#include "kube/api/resource/v1alpha3.h"
#include "kube/api/resource/v1beta1.h"
#include "kube/api/resource/v1beta2.h"
#include "kube/api/scheduling/v1.h"
#include "kube/api/scheduling/v1alpha3.h"
#include "kube/api/scheduling/v1beta1.h"
#include "kube/apiserver/table/table_columns.h"
#include "kube/meta/conditions.h"

namespace kube::apiserver {

namespace {

using resourcev1alpha3::ResourcePoolStatusRequest;
using schedulingv1::PriorityClass;

constexpr TableColumn kPriorityClasses[] = {
    nameColumn<PriorityClass>(),
    integer("Value", "the priority of pods of this class",
            [](const PriorityClass& priority) { return priority.value; }),
    boolean("Global-Default", "whether it is for pods that name no class",
            [](const PriorityClass& priority) { return priority.globalDefault; }),
    ageColumn<PriorityClass>(),
    text("PreemptionPolicy", "whether pods of this class push others out",
         [](const PriorityClass& priority) {
           return orElse(priority.preemptionPolicy, "PreemptLowerPriority");
         }),
};

// --- Devices.

template <class T>
constexpr TableColumn kNameAndAge[] = {nameColumn<T>(), ageColumn<T>()};

template <class ResourceClaim>
std::string claimState(const ResourceClaim& claim) {
  const bool deleted = static_cast<bool>(claim.metadata.deletionTimestamp);
  if (!claim.status->allocation) return deleted ? "deleted" : "pending";
  std::string state = deleted ? "deleted,allocated" : "allocated";
  if (!claim.status->reservedFor.empty()) state += ",reserved";
  return state;
}

template <class ResourceClaim>
constexpr TableColumn kResourceClaims[] = {
    nameColumn<ResourceClaim>(),
    text("State", "whether devices were found, and are in use",
         [](const ResourceClaim& claim) { return claimState(claim); }),
    ageColumn<ResourceClaim>(),
};

template <class ResourceSlice>
constexpr TableColumn kResourceSlices[] = {
    nameColumn<ResourceSlice>(),
    text("Node", "the node that has the devices",
         [](const ResourceSlice& slice) { return orElse(slice.spec->nodeName, ""); }),
    text("Driver", "whose devices they are",
         [](const ResourceSlice& slice) { return slice.spec->driver; }),
    text("Pool", "the pool that the slice is part of",
         [](const ResourceSlice& slice) { return slice.spec->pool->name; }),
    ageColumn<ResourceSlice>(),
};

template <class DeviceTaintRule>
constexpr TableColumn kDeviceTaintRules[] = {
    nameColumn<DeviceTaintRule>(),
    text("Key", "the taint's key",
         [](const DeviceTaintRule& rule) { return rule.spec->taint->key; }),
    text("Value", "the taint's value",
         [](const DeviceTaintRule& rule) { return rule.spec->taint->value; }),
    text("Effect", "what it does to pods",
         [](const DeviceTaintRule& rule) { return rule.spec->taint->effect; }),
    text("TimeAdded", "the time since it was set",
         [](const DeviceTaintRule& rule, Clock::WallTime now) {
           const Time added = rule.spec->taint->timeAdded;
           return added ? detail::humanAge(added, now) : std::string();
         }),
    ageColumn<DeviceTaintRule>(),
};

// --- Reports about pools.

std::string requestStatus(const ResourcePoolStatusRequest& request) {
  const auto& status = *request.status;
  if (isStatusConditionTrue(status.conditions, "Failed")) return "Failed";
  if (!isStatusConditionTrue(status.conditions, "Complete")) return "Pending";
  const auto shown = static_cast<std::int32_t>(status.pools.size());
  if (status.poolCount.value_or(0) <= shown) return "Complete";
  return fmt::format("Complete ({}/{} pools)", shown, *status.poolCount);
}

// "-" if there is nothing to sum up.
template <class Number>
std::string sum(const ResourcePoolStatusRequest& request, Number number) {
  if (!request.status || requestStatus(request) == "Failed") return "-";
  std::int64_t total = 0;
  for (const resourcev1alpha3::PoolStatus& pool : request.status->pools) total += number(pool);
  return std::to_string(total);
}

constexpr TableColumn kResourcePoolStatusRequests[] = {
    nameColumn<ResourcePoolStatusRequest>(),
    text("Driver", "whose pools are asked about",
         [](const ResourcePoolStatusRequest& request) { return request.spec->driver; }),
    text("Total", "devices in all pools",
         [](const ResourcePoolStatusRequest& request) {
           return sum(request, [](const auto& pool) { return pool.totalDevices.value_or(0); });
         }),
    text("Available", "devices that are free",
         [](const ResourcePoolStatusRequest& request) {
           return sum(request, [](const auto& pool) { return pool.availableDevices.value_or(0); });
         }),
    text("Allocated", "devices that are taken",
         [](const ResourcePoolStatusRequest& request) {
           return sum(request, [](const auto& pool) { return pool.allocatedDevices.value_or(0); });
         }),
    text("Unavailable", "devices that cannot be used",
         [](const ResourcePoolStatusRequest& request) {
           return sum(request,
                      [](const auto& pool) { return pool.unavailableDevices.value_or(0); });
         }),
    text("Errors", "pools that are not valid",
         [](const ResourcePoolStatusRequest& request) {
           return sum(request, [](const auto& pool) { return pool.validationError ? 1 : 0; });
         }),
    integer("Pools", "how many pools there are",
            [](const ResourcePoolStatusRequest& request) {
              return request.status->poolCount.value_or(0);
            }),
    text("Status", "whether the answer is there",
         [](const ResourcePoolStatusRequest& request) { return requestStatus(request); }),
    text("Completed", "the time since the answer came",
         [](const ResourcePoolStatusRequest& request, Clock::WallTime now) {
           const auto* complete = findStatusCondition(request.status->conditions, "Complete");
           if (complete == nullptr || complete->status != kConditionTrue) {
             return std::string("<none>");
           }
           return detail::humanAge(complete->lastTransitionTime, now);
         }),
};

// --- Groups of pods.

template <class PodGroup>
std::string groupStatus(const PodGroup& group) {
  const auto& conditions = group.status->conditions;
  if (const auto* disrupted = findStatusCondition(conditions, "DisruptionTarget")) {
    return disrupted->reason.str();
  }
  const auto* scheduled = findStatusCondition(conditions, "PodGroupInitiallyScheduled");
  if (scheduled == nullptr) return "Pending";
  return scheduled->status == kConditionTrue ? "Scheduled" : "Unschedulable";
}

template <class Group>
constexpr TableColumn policyColumn() {
  return text("Policy", "whether its pods are scheduled together", [](const Group& group) {
    return group.spec->schedulingPolicy->gang ? "Gang" : "Basic";
  });
}
template <class Group>
constexpr TableColumn workloadColumn() {
  return text("Workload", "the workload it belongs to", [](const Group& group) {
    const auto& reference = group.spec->workloadRef;
    return reference ? reference->workloadName : String("<none>");
  });
}

template <class PodGroup>
constexpr TableColumn kPodGroups[] = {
    nameColumn<PodGroup>(),
    policyColumn<PodGroup>(),
    workloadColumn<PodGroup>(),
    text("Status", "whether its pods were scheduled",
         [](const PodGroup& group) { return groupStatus(group); }),
    ageColumn<PodGroup>(),
};

using schedulingv1alpha3::CompositePodGroup;

constexpr TableColumn kCompositePodGroups[] = {
    nameColumn<CompositePodGroup>(),
    policyColumn<CompositePodGroup>(),
    workloadColumn<CompositePodGroup>(),
    ageColumn<CompositePodGroup>(),
};

template <class T>
constexpr KindTable nameAndAge() {
  return kindTable<T>(kNameAndAge<T>);
}
template <class T>
constexpr KindTable claims() {
  return kindTable<T>(kResourceClaims<T>);
}
template <class T>
constexpr KindTable slices() {
  return kindTable<T>(kResourceSlices<T>);
}
template <class T>
constexpr KindTable taints() {
  return kindTable<T>(kDeviceTaintRules<T>);
}

constexpr KindTable kSchedulingTables[] = {
    kindTable<PriorityClass>(kPriorityClasses),
    nameAndAge<resourcev1::DeviceClass>(),
    nameAndAge<resourcev1beta1::DeviceClass>(),
    nameAndAge<resourcev1beta2::DeviceClass>(),
    nameAndAge<resourcev1::ResourceClaimTemplate>(),
    nameAndAge<resourcev1beta1::ResourceClaimTemplate>(),
    nameAndAge<resourcev1beta2::ResourceClaimTemplate>(),
    claims<resourcev1::ResourceClaim>(),
    claims<resourcev1beta1::ResourceClaim>(),
    claims<resourcev1beta2::ResourceClaim>(),
    slices<resourcev1::ResourceSlice>(),
    slices<resourcev1beta1::ResourceSlice>(),
    slices<resourcev1beta2::ResourceSlice>(),
    taints<resourcev1::DeviceTaintRule>(),
    taints<resourcev1alpha3::DeviceTaintRule>(),
    taints<resourcev1beta2::DeviceTaintRule>(),
    kindTable<ResourcePoolStatusRequest>(kResourcePoolStatusRequests),
    nameAndAge<schedulingv1beta1::Workload>(),
    nameAndAge<schedulingv1alpha3::Workload>(),
    kindTable<schedulingv1beta1::PodGroup>(kPodGroups<schedulingv1beta1::PodGroup>),
    kindTable<schedulingv1alpha3::PodGroup>(kPodGroups<schedulingv1alpha3::PodGroup>),
    kindTable<CompositePodGroup>(kCompositePodGroups),
};

}  // namespace

std::span<const KindTable> schedulingTables() { return kSchedulingTables; }

}  // namespace kube::apiserver
