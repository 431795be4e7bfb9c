// Checks of parts that several kinds have.
#pragma once

#include <string_view>
#include <utility>

#include "kube/api/apps/v1.h"
#include "kube/api/batch/v1.h"
#include "kube/api/core/v1.h"
#include "kube/apiserver/rules/built_in_place.h"

namespace kube::apiserver::rules {

inline constexpr std::int32_t kHighestUserPriority = 1'000'000'000;

/// Fields of which exactly one must be set: the first is checked, others are forbidden.
class OneOf {
 public:
  OneOf(const Place& at, std::string_view onlyOne) : at_(at), onlyOne_(onlyOne) {}

  template <class T, class Check>
  void operator()(const Shared<T>& field, std::string_view name, Check check) {
    if (!field) return;
    if (std::exchange(found_, true)) {
      at_(name).forbidden(onlyOne_);
    } else {
      check(*field, at_(name));
    }
  }
  template <class T>
  void operator()(const Shared<T>& field, std::string_view name) {
    (*this)(field, name, [](const T&, const Place&) {});
  }
  void require(std::string_view detail) const {
    if (!found_) at_.required(detail);
  }

 private:
  const Place& at_;
  std::string_view onlyOne_;
  bool found_ = false;
};

/// Checks the spec of a Pod or of a template; `pod` is the metadata around it in a Pod, else null.
void checkPodSpec(const corev1::PodSpec& spec, const metav1::ObjectMeta* pod, const Place& at);
/// Checks the pods of a template, its labels and annotations.
void checkTemplate(const corev1::PodTemplateSpec& podTemplate, const Place& at);

/// Checks the containers of a pod; `at` is the spec.
void checkContainers(const corev1::PodSpec& spec, const Seen& volumes, const Place& at);
/// Checks the volumes of a pod, and returns the names of the valid ones.
Seen checkVolumes(const corev1::PodSpec& spec, const metav1::ObjectMeta* pod, const Place& at);
/// Sources that pods and PersistentVolumes have in common.
void checkHostPath(const corev1::HostPathVolumeSource& source, const Place& at);
void checkNfs(const corev1::NFSVolumeSource& source, const Place& at);

/// No part of the path may be "..".
bool checkNoBacksteps(std::string_view path, const Place& at);
bool checkDescendingPath(std::string_view path, const Place& at);
void checkResourceName(std::string_view name, const Place& at);
/// Amounts must not be negative, and must be whole numbers for resources that are counted.
void checkAmount(std::string_view resource, const Quantity& amount, const Place& at);
void checkPortNumberOrName(const IntOrString& port, const Place& at);
/// The fields that a pod may read of itself through the downward API.
void checkFieldRef(const corev1::ObjectFieldSelector& selector,
                   std::span<const std::string_view> fields, const Place& at);
void checkResourceFieldRef(const corev1::ResourceFieldSelector& selector, bool inVolume,
                           const Place& at);
void checkNodeSelector(const corev1::NodeSelector& selector, const Place& at);
void checkTolerations(const List<corev1::Toleration>& tolerations, const Place& at);
void checkAffinity(const corev1::Affinity& affinity, const Place& at);
void checkClaimSpec(const corev1::PersistentVolumeClaimSpec& spec, const Place& at);

/// The name of a signer: a domain and a path.
void checkSigner(std::string_view name, const Place& at);

inline void checkSelector(const metav1::LabelSelector& selector, const Place& at) {
  at.add(validation::validateLabelSelector(selector, at.path()));
}
/// True if a selector matches these labels. A selector that is absent or invalid matches none.
bool selects(const Shared<metav1::LabelSelector>& selector, const Map<String>& labels);
inline bool isEmpty(const metav1::LabelSelector& selector) {
  return selector.matchLabels.empty() && selector.matchExpressions.empty();
}

/// A number that is not negative, or a percentage of at most `maxPercent` (0: any).
void checkCountOrPercent(const IntOrString& value, const Place& at);
void checkAtMost100Percent(const IntOrString& value, const Place& at);

}  // namespace kube::apiserver::rules
