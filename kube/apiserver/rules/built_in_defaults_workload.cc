// The defaults of workloads and autoscalers.
#include <limits>

#include "kube/apiserver/rules/built_in_defaults.h"
#include "kube/apiserver/rules/built_in_kinds.h"

namespace kube::apiserver::rules {

namespace {

constexpr std::int32_t kRevisionHistory = 10;
constexpr std::int32_t kTargetCpuPercent = 80;
constexpr std::string_view kMetricsAnnotation = "autoscaling.alpha.kubernetes.io/metrics";

void setFailurePolicyDefaults(batchv1::JobSpec& spec) {
  if (!spec.podFailurePolicy) return;
  for (batchv1::PodFailurePolicyRule& rule : spec.podFailurePolicy->rules) {
    for (auto& pattern : rule.onPodConditions) setIfEmpty(pattern.status, "True");
  }
}

/// The defaults of one scaling direction.
struct ScalingDefaults {
  std::optional<std::int32_t> stabilizationWindowSeconds;
  List<autoscalingv2::HPAScalingPolicy> policies;
};

void setScalingDefaults(autoscalingv2::HPAScalingRules& rules, const ScalingDefaults& defaults) {
  setIfUnset(rules.selectPolicy, "Max");
  if (!rules.stabilizationWindowSeconds) {
    rules.stabilizationWindowSeconds = defaults.stabilizationWindowSeconds;
  }
  if (rules.policies.empty()) rules.policies = defaults.policies;
}

}  // namespace

void setDefaults(corev1::ReplicationController& controller) {
  corev1::ReplicationControllerSpec& spec = *controller.spec;
  if (spec.template_) {
    setTemplateDefaults(spec.template_);
    const Map<String>& labels = spec.template_.read().metadata.labels;
    if (spec.selector.empty()) spec.selector = labels;
    if (controller.metadata.labels.empty()) controller.metadata.labels = labels;
  }
  setIfUnset(spec.replicas, 1);
}

void setDefaults(appsv1::Deployment& deployment) {
  appsv1::DeploymentSpec& spec = *deployment.spec;
  setIfUnset(spec.replicas, 1);
  setIfUnset(spec.revisionHistoryLimit, kRevisionHistory);
  setIfUnset(spec.progressDeadlineSeconds, 600);
  setIfEmpty(spec.strategy->type, "RollingUpdate");
  if (spec.strategy->type == "RollingUpdate") {
    setIfUnset(spec.strategy->rollingUpdate->maxUnavailable, "25%");
    setIfUnset(spec.strategy->rollingUpdate->maxSurge, "25%");
  }
  setTemplateDefaults(spec.template_);
}

void setDefaults(appsv1::ReplicaSet& set) {
  setIfUnset(set.spec->replicas, 1);
  setTemplateDefaults(set.spec->template_);
}

void setDefaults(appsv1::StatefulSet& set) {
  appsv1::StatefulSetSpec& spec = *set.spec;
  setIfUnset(spec.replicas, 1);
  setIfUnset(spec.revisionHistoryLimit, kRevisionHistory);
  setIfEmpty(spec.podManagementPolicy, "OrderedReady");
  appsv1::StatefulSetUpdateStrategy& strategy = *spec.updateStrategy;
  // The partition gets a default if the strategy was left open, or if one was started.
  if (strategy.type.empty()) {
    strategy.type = "RollingUpdate";
    setIfUnset(strategy.rollingUpdate->partition, 0);
  } else if (strategy.type == "RollingUpdate" && strategy.rollingUpdate) {
    setIfUnset(strategy.rollingUpdate->partition, 0);
  }
  setIfEmpty(spec.persistentVolumeClaimRetentionPolicy->whenDeleted, "Retain");
  setIfEmpty(spec.persistentVolumeClaimRetentionPolicy->whenScaled, "Retain");
  for (corev1::PersistentVolumeClaim& claim : spec.volumeClaimTemplates) setDefaults(claim);
  setTemplateDefaults(spec.template_);
}

void setDefaults(appsv1::DaemonSet& set) {
  appsv1::DaemonSetSpec& spec = *set.spec;
  setIfUnset(spec.revisionHistoryLimit, kRevisionHistory);
  setIfEmpty(spec.updateStrategy->type, "RollingUpdate");
  if (spec.updateStrategy->type == "RollingUpdate") {
    setIfUnset(spec.updateStrategy->rollingUpdate->maxUnavailable, 1);
    setIfUnset(spec.updateStrategy->rollingUpdate->maxSurge, 0);
  }
  setTemplateDefaults(spec.template_);
}

void setDefaults(batchv1::Job& job) {
  batchv1::JobSpec& spec = *job.spec;
  if (!spec.completions && !spec.parallelism) spec.completions = 1;
  setIfUnset(spec.parallelism, 1);
  setIfUnset(spec.backoffLimit,
             spec.backoffLimitPerIndex ? std::numeric_limits<std::int32_t>::max() : 6);
  setIfUnset(spec.completionMode, "NonIndexed");
  setIfUnset(spec.suspend, false);
  setIfUnset(spec.podReplacementPolicy, spec.podFailurePolicy ? "Failed" : "TerminatingOrFailed");
  setIfUnset(spec.manualSelector, false);
  if (job.metadata.labels.empty()) job.metadata.labels = spec.template_.read().metadata.labels;
  setFailurePolicyDefaults(spec);
  setTemplateDefaults(spec.template_);
}

void setDefaults(batchv1::CronJob& job) {
  batchv1::CronJobSpec& spec = *job.spec;
  setIfEmpty(spec.concurrencyPolicy, "Allow");
  setIfUnset(spec.suspend, false);
  setIfUnset(spec.successfulJobsHistoryLimit, 3);
  setIfUnset(spec.failedJobsHistoryLimit, 1);
  setFailurePolicyDefaults(*spec.jobTemplate->spec);
  setTemplateDefaults(spec.jobTemplate->spec->template_);
}

void setDefaults(autoscalingv1::HorizontalPodAutoscaler& autoscaler) {
  setIfUnset(autoscaler.spec->minReplicas, 1);
  // An annotation holds the metrics that this version has no field for. Without any, the metric is
  // CPU.
  if (!autoscaler.metadata.annotations.contains(kMetricsAnnotation)) {
    setIfUnset(autoscaler.spec->targetCPUUtilizationPercentage, kTargetCpuPercent);
  }
}

void setDefaults(autoscalingv2::HorizontalPodAutoscaler& autoscaler) {
  autoscalingv2::HorizontalPodAutoscalerSpec& spec = *autoscaler.spec;
  setIfUnset(spec.minReplicas, 1);
  if (spec.metrics.empty()) {
    autoscalingv2::MetricSpec cpu{.type = "Resource"};
    cpu.resource->name = "cpu";
    cpu.resource->target =
        autoscalingv2::MetricTarget{.type = "Utilization", .averageUtilization = kTargetCpuPercent};
    spec.metrics.push_back(std::move(cpu));
  }
  if (!spec.behavior) return;
  setScalingDefaults(*spec.behavior->scaleUp,
                     {.stabilizationWindowSeconds = 0,
                      .policies = {{.type = "Pods", .value = 4, .periodSeconds = 15},
                                   {.type = "Percent", .value = 100, .periodSeconds = 15}}});
  setScalingDefaults(*spec.behavior->scaleDown,
                     {.stabilizationWindowSeconds = std::nullopt,
                      .policies = {{.type = "Percent", .value = 100, .periodSeconds = 15}}});
}

}  // namespace kube::apiserver::rules
