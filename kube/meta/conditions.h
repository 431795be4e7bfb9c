// Conditions: a controller's report on the state of an object, one entry per type in its status.
//
//   bool changed = setStatusCondition(network.status->conditions,
//                                     {.type = "Ready", .status = "True", .reason = "Configured"});
//   if (isStatusConditionTrue(pod.status->conditions, "Ready")) ...
//
// The functions work on metav1::Condition and on the condition types of all groups (PodCondition,
// DeploymentCondition, ...).
//
// Thread safety: as any C++ value.
#pragma once

#include <concepts>
#include <string_view>
#include <type_traits>
#include <utility>

#include "kube/base/clock.h"
#include "kube/base/list.h"
#include "kube/meta/v1.h"

namespace kube {

inline constexpr std::string_view kConditionTrue = "True";
inline constexpr std::string_view kConditionFalse = "False";
inline constexpr std::string_view kConditionUnknown = "Unknown";

template <class C>
concept StatusCondition = requires(C condition) {
  { condition.type } -> std::convertible_to<const String&>;
  { condition.status } -> std::convertible_to<const String&>;
};

/// Null if there is none. Valid as long as the list is unchanged.
template <StatusCondition C>
const C* findStatusCondition(const List<C>& conditions, std::string_view type) noexcept {
  for (const C& condition : conditions) {
    if (condition.type == type) return &condition;
  }
  return nullptr;
}

template <StatusCondition C>
bool isStatusConditionPresentAndEqual(const List<C>& conditions, std::string_view type,
                                      std::string_view status) noexcept {
  const C* condition = findStatusCondition(conditions, type);
  return condition != nullptr && condition->status == status;
}
template <StatusCondition C>
bool isStatusConditionTrue(const List<C>& conditions, std::string_view type) noexcept {
  return isStatusConditionPresentAndEqual(conditions, type, kConditionTrue);
}
template <StatusCondition C>
bool isStatusConditionFalse(const List<C>& conditions, std::string_view type) noexcept {
  return isStatusConditionPresentAndEqual(conditions, type, kConditionFalse);
}

/// Returns whether the condition existed.
template <StatusCondition C>
bool removeStatusCondition(List<C>& conditions, std::string_view type) {
  return erase_if(conditions, [&](const C& condition) { return condition.type == type; }) > 0;
}

/// Adds a condition, or updates the one of the same type; returns whether anything changed.
/// lastTransitionTime changes only with the status: to the given time, or to now. lastUpdateTime,
/// if the type has it, is set on every change. Other times (lastProbeTime, lastHeartbeatTime) are
/// replaced only if given.
template <StatusCondition C>
requires std::equality_comparable<C>
bool setStatusCondition(List<C>& conditions, std::type_identity_t<C> condition,
                        const Clock& clock = realClock()) {
  std::size_t place = 0;
  const auto& all = std::as_const(conditions);
  while (place < all.size() && all[place].type != condition.type) ++place;
  const auto orNow = [&](Time time) { return time ? time : Time(clock.wallNow()); };
  if (place == all.size()) {
    if constexpr (requires { condition.lastTransitionTime; }) {
      condition.lastTransitionTime = orNow(condition.lastTransitionTime);
    }
    if constexpr (requires { condition.lastUpdateTime; }) {
      condition.lastUpdateTime = orNow(condition.lastUpdateTime);
    }
    conditions.push_back(std::move(condition));
    return true;
  }
  const C& existing = all[place];
  // Times that the caller did not give stay unchanged.
  if constexpr (requires { condition.lastTransitionTime; }) {
    condition.lastTransitionTime = condition.status == existing.status
                                       ? existing.lastTransitionTime
                                       : orNow(condition.lastTransitionTime);
  }
  if constexpr (requires { condition.lastProbeTime; }) {
    if (!condition.lastProbeTime) condition.lastProbeTime = existing.lastProbeTime;
  }
  if constexpr (requires { condition.lastHeartbeatTime; }) {
    if (!condition.lastHeartbeatTime) condition.lastHeartbeatTime = existing.lastHeartbeatTime;
  }
  if constexpr (requires { condition.lastUpdateTime; }) {
    const Time given = std::exchange(condition.lastUpdateTime, existing.lastUpdateTime);
    if (condition == existing) return false;
    condition.lastUpdateTime = orNow(given);
  }
  if (condition == existing) return false;
  conditions[place] = std::move(condition);
  return true;
}

}  // namespace kube
