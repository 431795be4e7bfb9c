// Checks of workloads, which keep pods running.
#include <fmt/core.h>

#include "kube/apiserver/rules/built_in_kinds.h"
#include "kube/apiserver/rules/built_in_validation.h"

namespace kube::apiserver::rules {

namespace {

constexpr std::string_view kBadSelector = "invalid label selector";
constexpr std::string_view kNoMatch = "`selector` does not match template `labels`";

bool isZero(const IntOrString& value) {
  if (!value.isString()) return value.intValue() == 0;
  std::string_view digits = value.stringValue();
  if (digits.ends_with('%')) digits.remove_suffix(1);
  return IntOrString::parse(digits).intValue() == 0;
}

/// The selector must exist and select something. Returns false if it cannot be parsed; the template
/// is not checked then.
bool checkWorkloadSelector(const Shared<metav1::LabelSelector>& selector, std::string_view kind,
                           std::string_view unreadable, const Place& at) {
  if (!selector) {
    at.required();
    return true;
  }
  const std::size_t before = at.errors().size();
  checkSelector(*selector, at);
  const bool readable = at.errors().size() == before;
  if (isEmpty(*selector)) {
    at.invalid(shown(*selector), fmt::format("empty selector is invalid for {}", kind));
  }
  if (!readable) at.invalid(shown(*selector), unreadable);
  return readable;
}

void checkSelectsTemplate(const Shared<metav1::LabelSelector>& selector,
                          const corev1::PodTemplateSpec& podTemplate, const Place& at) {
  const bool choosesAll = selector && isEmpty(*selector);
  if (choosesAll || selects(selector, podTemplate.metadata.labels)) return;
  at("metadata.labels").invalid(shown(podTemplate.metadata.labels), kNoMatch);
}

/// Pods of a workload are always restarted and have no deadline.
void checkRunsForEver(const corev1::PodSpec& spec, std::string_view kind, const Place& at) {
  if (spec.restartPolicy != "Always") {
    at("spec.restartPolicy").notSupported(spec.restartPolicy, {"Always"});
  }
  if (spec.activeDeadlineSeconds) {
    at("spec.activeDeadlineSeconds")
        .forbidden(fmt::format("activeDeadlineSeconds in {} is not Supported", kind));
  }
}

void checkReplicaTemplate(const Shared<metav1::LabelSelector>& selector,
                          const corev1::PodTemplateSpec& podTemplate, const Place& at) {
  checkSelectsTemplate(selector, podTemplate, at);
  checkTemplate(podTemplate, at);
  checkRunsForEver(*podTemplate.spec, "ReplicaSet", at);
}

void checkIfSet(const std::optional<std::int32_t>& value, const Place& at) {
  if (value) at.nonNegative(*value);
}

void checkDeploymentStrategy(const appsv1::DeploymentStrategy& strategy, const Place& at) {
  if (strategy.type == "Recreate") {
    if (strategy.rollingUpdate) {
      at("rollingUpdate").forbidden("may not be specified when strategy `type` is 'Recreate'");
    }
    return;
  }
  if (strategy.type != "RollingUpdate") {
    at.add({FieldError::notSupported(at.path(), shown(strategy), {"Recreate", "RollingUpdate"})});
    return;
  }
  const Place rolling = at("rollingUpdate");
  const IntOrString unavailable = strategy.rollingUpdate->maxUnavailable.value_or(0);
  const IntOrString surge = strategy.rollingUpdate->maxSurge.value_or(0);
  checkCountOrPercent(unavailable, rolling("maxUnavailable"));
  checkCountOrPercent(surge, rolling("maxSurge"));
  if (isZero(unavailable) && isZero(surge)) {
    rolling("maxUnavailable").invalid(shown(unavailable), "may not be 0 when `maxSurge` is 0");
  }
  checkAtMost100Percent(unavailable, rolling("maxUnavailable"));
}

void checkDaemonStrategy(const appsv1::DaemonSetUpdateStrategy& strategy, const Place& at) {
  if (strategy.type == "OnDelete") return;
  if (strategy.type != "RollingUpdate") {
    at.add({FieldError::notSupported(at.path(), shown(strategy), {"RollingUpdate", "OnDelete"})});
    return;
  }
  const Place rolling = at("rollingUpdate");
  const IntOrString unavailable = strategy.rollingUpdate->maxUnavailable.value_or(0);
  const IntOrString surge = strategy.rollingUpdate->maxSurge.value_or(0);
  checkCountOrPercent(unavailable, rolling("maxUnavailable"));
  checkCountOrPercent(surge, rolling("maxSurge"));
  checkAtMost100Percent(unavailable, rolling("maxUnavailable"));
  checkAtMost100Percent(surge, rolling("maxSurge"));
  if (!isZero(unavailable) && !isZero(surge)) {
    rolling("maxSurge").invalid(shown(surge), "may not be set when maxUnavailable is non-zero");
  } else if (isZero(unavailable) && isZero(surge)) {
    rolling("maxUnavailable").required("cannot be 0 when maxSurge is 0");
  }
}

void checkStatefulStrategy(const appsv1::StatefulSetUpdateStrategy& strategy, const Place& at) {
  const appsv1::RollingUpdateStatefulSetStrategy& rolling = *strategy.rollingUpdate;
  if (!at.require(strategy.type)) return;
  if (strategy.type == "OnDelete") {
    if (strategy.rollingUpdate) {
      at("rollingUpdate")
          .invalid(shown(rolling), "only allowed for updateStrategy 'RollingUpdate'");
    }
    return;
  }
  if (strategy.type != "RollingUpdate") {
    return at.invalid(shown(strategy), "must be 'RollingUpdate' or 'OnDelete'");
  }
  at("rollingUpdate.partition").nonNegative(rolling.partition.value_or(0));
  if (!rolling.maxUnavailable) return;
  const Place unavailable = at("rollingUpdate.maxUnavailable");
  checkCountOrPercent(*rolling.maxUnavailable, unavailable);
  if (isZero(*rolling.maxUnavailable)) {
    unavailable.invalid(shown(rolling.maxUnavailable), "cannot be 0");
  }
  checkAtMost100Percent(*rolling.maxUnavailable, unavailable);
}

/// The template with the volumes of the claims and a hostname, as its pods will have them.
corev1::PodTemplateSpec podsOf(const appsv1::StatefulSetSpec& spec) {
  corev1::PodTemplateSpec result = *spec.template_;
  if (spec.volumeClaimTemplates.empty() && result.spec.read().hostname.empty() &&
      result.spec.read().subdomain.empty()) {
    return result;
  }
  corev1::PodSpec& pod = *result.spec;
  pod.hostname = {};
  pod.subdomain = {};
  List<corev1::Volume> volumes;
  Seen claims;
  for (const corev1::PersistentVolumeClaim& claim : spec.volumeClaimTemplates) {
    if (!claims.insert(claim.metadata.name)) continue;
    corev1::Volume volume{.name = claim.metadata.name};
    volume.persistentVolumeClaim->claimName = claim.metadata.name;
    volumes.push_back(std::move(volume));
  }
  for (const corev1::Volume& volume : std::as_const(pod.volumes)) {
    if (!claims.has(volume.name)) volumes.push_back(volume);
  }
  pod.volumes = std::move(volumes);
  return result;
}

}  // namespace

void validate(const corev1::ReplicationController& controller, const Place& root) {
  const corev1::ReplicationControllerSpec& spec = *controller.spec;
  const Place at = root("spec");
  at("minReadySeconds").nonNegative(spec.minReadySeconds);
  if (spec.selector.empty()) at("selector").required();
  checkIfSet(spec.replicas, at("replicas"));
  const Place podTemplate = at("template");
  if (!spec.template_) return podTemplate.required();
  checkSelectsTemplate(metav1::LabelSelector{.matchLabels = spec.selector}, *spec.template_,
                       podTemplate);
  checkTemplate(*spec.template_, podTemplate);
  checkRunsForEver(*spec.template_->spec, "ReplicationController", podTemplate);
}

void validate(const appsv1::Deployment& deployment, const Place& root) {
  const appsv1::DeploymentSpec& spec = *deployment.spec;
  const Place at = root("spec");
  checkIfSet(spec.replicas, at("replicas"));
  if (checkWorkloadSelector(spec.selector, "deployment", kBadSelector, at("selector"))) {
    checkReplicaTemplate(spec.selector, *spec.template_, at("template"));
  }
  checkDeploymentStrategy(*spec.strategy, at("strategy"));
  at("minReadySeconds").nonNegative(spec.minReadySeconds);
  checkIfSet(spec.revisionHistoryLimit, at("revisionHistoryLimit"));
  if (!spec.progressDeadlineSeconds) return;
  at("progressDeadlineSeconds").nonNegative(*spec.progressDeadlineSeconds);
  if (*spec.progressDeadlineSeconds <= spec.minReadySeconds) {
    at("progressDeadlineSeconds")
        .invalid(*spec.progressDeadlineSeconds, "must be greater than minReadySeconds");
  }
}

void validateUpdate(const appsv1::Deployment& next, const appsv1::Deployment& old,
                    const Place& at) {
  at("spec.selector").immutable(next.spec->selector, old.spec->selector);
}

void validate(const appsv1::ReplicaSet& set, const Place& root) {
  const appsv1::ReplicaSetSpec& spec = *set.spec;
  const Place at = root("spec");
  checkIfSet(spec.replicas, at("replicas"));
  at("minReadySeconds").nonNegative(spec.minReadySeconds);
  if (checkWorkloadSelector(spec.selector, "deployment", kBadSelector, at("selector"))) {
    checkReplicaTemplate(spec.selector, *spec.template_, at("template"));
  }
}

void validateUpdate(const appsv1::ReplicaSet& next, const appsv1::ReplicaSet& old,
                    const Place& at) {
  at("spec.selector").immutable(next.spec->selector, old.spec->selector);
}

void validate(const appsv1::StatefulSet& set, const Place& root) {
  const appsv1::StatefulSetSpec& spec = *set.spec;
  const Place at = root("spec");
  const Place management = at("podManagementPolicy");
  if (management.require(spec.podManagementPolicy) && spec.podManagementPolicy != "OrderedReady" &&
      spec.podManagementPolicy != "Parallel") {
    management.invalid(spec.podManagementPolicy, "must be 'OrderedReady' or 'Parallel'");
  }
  checkStatefulStrategy(*spec.updateStrategy, at("updateStrategy"));
  if (spec.persistentVolumeClaimRetentionPolicy) {
    const Place retention = at("persistentVolumeClaimRetentionPolicy");
    const auto& policy = *spec.persistentVolumeClaimRetentionPolicy;
    retention("whenDeleted").oneOfSupported(policy.whenDeleted, {"Retain", "Delete"});
    retention("whenScaled").oneOfSupported(policy.whenScaled, {"Retain", "Delete"});
  }
  checkIfSet(spec.replicas, at("replicas"));
  at("minReadySeconds").nonNegative(spec.minReadySeconds);
  at("ordinals.start").nonNegative(spec.ordinals->start);
  const corev1::PodTemplateSpec pods = podsOf(spec);
  const Place podTemplate = at("template");
  if (checkWorkloadSelector(spec.selector, "statefulset", "", at("selector"))) {
    checkSelectsTemplate(spec.selector, pods, podTemplate);
    checkTemplate(pods, podTemplate);
  }
  checkRunsForEver(*pods.spec, "StatefulSet", podTemplate);
}

void validateCreate(const appsv1::StatefulSet& set, const Place& root) {
  const Place at = root("spec");
  forEach(set.spec->volumeClaimTemplates, at("volumeClaimTemplates"),
          [](const corev1::PersistentVolumeClaim& claim, const Place& at) {
            checkClaimSpec(*claim.spec, at("spec"));
          });
  const String& service = set.spec->serviceName;
  if (!service.empty()) at("serviceName").text(service, validation::isDNS1123Label);
}

void validateUpdate(const appsv1::StatefulSet& next, const appsv1::StatefulSet& old,
                    const Place& at) {
  appsv1::StatefulSetSpec rest = *next.spec;
  rest.replicas = old.spec->replicas;
  rest.template_ = old.spec->template_;
  rest.updateStrategy = old.spec->updateStrategy;
  rest.minReadySeconds = old.spec->minReadySeconds;
  rest.ordinals = old.spec->ordinals;
  rest.revisionHistoryLimit = old.spec->revisionHistoryLimit;
  rest.persistentVolumeClaimRetentionPolicy = old.spec->persistentVolumeClaimRetentionPolicy;
  if (semanticEqual(rest, *old.spec)) return;
  at("spec").forbidden(
      "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', "
      "'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and "
      "'minReadySeconds' are forbidden");
}

void validate(const appsv1::DaemonSet& set, const Place& root) {
  const appsv1::DaemonSetSpec& spec = *set.spec;
  const Place at = root("spec");
  const Place podTemplate = at("template");
  if (spec.selector) checkSelector(*spec.selector, at("selector"));
  if (!selects(spec.selector, spec.template_->metadata.labels)) {
    podTemplate("metadata.labels").invalid(shown(spec.template_->metadata.labels), kNoMatch);
  }
  if (spec.selector && isEmpty(*spec.selector)) {
    at("selector").invalid(shown(*spec.selector), "empty selector is invalid for daemonset");
  }
  checkTemplate(*spec.template_, podTemplate);
  checkRunsForEver(*spec.template_->spec, "DaemonSet", podTemplate);
  at("minReadySeconds").nonNegative(spec.minReadySeconds);
  checkDaemonStrategy(*spec.updateStrategy, at("updateStrategy"));
  checkIfSet(spec.revisionHistoryLimit, at("revisionHistoryLimit"));
}

void validateUpdate(const appsv1::DaemonSet& next, const appsv1::DaemonSet& old, const Place& at) {
  at("spec.selector").immutable(next.spec->selector, old.spec->selector);
}

void validate(const appsv1::ControllerRevision& revision, const Place& at) {
  at("revision").nonNegative(revision.revision);
}

void validateUpdate(const appsv1::ControllerRevision& next, const appsv1::ControllerRevision& old,
                    const Place& at) {
  if (next.data != old.data) at("data").invalid(next.data.raw, "field is immutable");
}

void validate(const policyv1::PodDisruptionBudget& budget, const Place& root) {
  const policyv1::PodDisruptionBudgetSpec& spec = *budget.spec;
  const Place at = root("spec");
  if (spec.minAvailable && spec.maxUnavailable) {
    at.invalid(shown(spec), "minAvailable and maxUnavailable cannot be both set");
  }
  const auto check = [](const std::optional<IntOrString>& value, const Place& at) {
    if (!value) return;
    checkCountOrPercent(*value, at);
    checkAtMost100Percent(*value, at);
  };
  check(spec.minAvailable, at("minAvailable"));
  check(spec.maxUnavailable, at("maxUnavailable"));
  if (spec.selector) checkSelector(*spec.selector, at("selector"));
  at("unhealthyPodEvictionPolicy")
      .oneOf(spec.unhealthyPodEvictionPolicy, {"AlwaysAllow", "IfHealthyBudget"});
}

}  // namespace kube::apiserver::rules
