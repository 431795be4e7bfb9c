// Checks of HorizontalPodAutoscalers.
#include <fmt/core.h>

#include <algorithm>

#include "kube/apiserver/rules/built_in_kinds.h"
#include "kube/apiserver/rules/built_in_validation.h"

namespace kube::apiserver::rules {

namespace {

using namespace autoscalingv2;

constexpr std::int32_t kMaxWindowSeconds = 3600;
constexpr std::int32_t kMaxPeriodSeconds = 1800;
constexpr std::string_view kNeedsMetric =
    "must specify at least one Object or External metric to support scaling to zero replicas";

void checkReplicas(const std::optional<std::int32_t>& min, std::int32_t max, const Place& at) {
  if (min.value_or(1) < 1) at("minReplicas").invalid(*min, "must be greater than or equal to 1");
  if (max == 0) {
    at("maxReplicas").required("must be set and greater than 0");
  } else if (max < 0) {
    at("maxReplicas").invalid(max, "must be greater than or equal to 1");
  }
  if (min && max < *min) {
    at("maxReplicas").invalid(max, "must be greater than or equal to `minReplicas`");
  }
}

/// For the target of an autoscaler and for the object of a metric.
template <class Reference>
void checkReferred(const Reference& reference, const Place& at) {
  at("kind").requiredText(reference.kind, validation::isPathSegmentName);
  at("name").requiredText(reference.name, validation::isPathSegmentName);
}

void checkTarget(const MetricTarget& target, const Place& at) {
  if (target.type.empty()) at("type").required("must specify a metric target type");
  if (target.type != "Utilization" && target.type != "Value" && target.type != "AverageValue") {
    at("type").invalid(target.type, "must be either Utilization, Value, or AverageValue");
  }
  if (target.value && target.value->sign() <= 0) {
    at("value").invalid(target.value->text(), "must be positive");
  }
  if (target.averageValue && target.averageValue->sign() <= 0) {
    at("averageValue").invalid(target.averageValue->text(), "must be positive");
  }
  if (target.averageUtilization.value_or(1) < 1) {
    at("averageUtilization").invalid(*target.averageUtilization, "must be greater than 0");
  }
}

void checkMetricName(const MetricIdentifier& metric, const Place& at) {
  if (metric.name.empty()) return at("name").required("must specify a metric name");
  at("name").text(metric.name, validation::isPathSegmentName);
}

/// Either a raw amount or a percentage of the request, but not both.
void checkUsage(const MetricTarget& target, const Place& at) {
  checkTarget(target, at);
  if (!target.averageUtilization && !target.averageValue) {
    at("averageUtilization").required("must set either a target raw value or a target utilization");
  }
  if (target.averageUtilization && target.averageValue) {
    at("averageValue").forbidden("may not set both a target raw value and a target utilization");
  }
}

void checkObject(const ObjectMetricSource& source, const Place& at) {
  checkReferred(*source.describedObject, at("describedObject"));
  checkMetricName(*source.metric, at("metric"));
  checkTarget(*source.target, at("target"));
  if (!source.target->value && !source.target->averageValue) {
    at("target.averageValue").required("must set either a target value or averageValue");
  }
}

void checkExternal(const ExternalMetricSource& source, const Place& at) {
  checkMetricName(*source.metric, at("metric"));
  checkTarget(*source.target, at("target"));
  if (!source.target->value && !source.target->averageValue) {
    at("target.averageValue")
        .required("must set either a target value for metric or a per-pod target");
  }
  if (source.target->value && source.target->averageValue) {
    at("target.value").forbidden("may not set both a target value for metric and a per-pod target");
  }
}

void checkPods(const PodsMetricSource& source, const Place& at) {
  checkMetricName(*source.metric, at("metric"));
  checkTarget(*source.target, at("target"));
  if (!source.target->averageValue) {
    at("target.averageValue").required("must specify a positive target averageValue");
  }
}

void checkResource(const ResourceMetricSource& source, const Place& at) {
  if (source.name.empty()) at("name").required("must specify a resource name");
  checkUsage(*source.target, at("target"));
}

void checkContainerResource(const ContainerResourceMetricSource& source, const Place& at) {
  if (source.name.empty()) at("name").required("must specify a resource name");
  if (source.container.empty()) {
    at("container").required("must specify a container");
  } else {
    at("container").text(source.container, validation::isDNS1123Label);
  }
  checkUsage(*source.target, at("target"));
}

void checkMetric(const MetricSpec& metric, const Place& at) {
  if (metric.type.empty()) at("type").required("must specify a metric source type");
  at("type").oneOfSupported(metric.type,
                            {"ContainerResource", "External", "Object", "Pods", "Resource"});
  const auto check = [&](const auto& source, std::string_view type, std::string_view name,
                         auto checkSource) {
    if (source && metric.type == type) {
      checkSource(*source, at(name));
    } else if (metric.type == type) {
      at(name).required("must populate information for the given metric source");
    } else if (source) {
      at(name).forbidden("must populate the given metric source only");
    }
  };
  check(metric.object, "Object", "object", checkObject);
  check(metric.external, "External", "external", checkExternal);
  check(metric.pods, "Pods", "pods", checkPods);
  check(metric.resource, "Resource", "resource", checkResource);
  check(metric.containerResource, "ContainerResource", "containerResource", checkContainerResource);
}

void checkPolicy(const HPAScalingPolicy& policy, const Place& at) {
  at("type").oneOfSupported(policy.type, {"Percent", "Pods"});
  if (policy.value <= 0) at("value").invalid(policy.value, "must be greater than zero");
  if (policy.periodSeconds <= 0) {
    at("periodSeconds").invalid(policy.periodSeconds, "must be greater than zero");
  }
  if (policy.periodSeconds > kMaxPeriodSeconds) {
    at("periodSeconds")
        .invalid(policy.periodSeconds,
                 fmt::format("must be less than or equal to {}", kMaxPeriodSeconds));
  }
}

void checkScaling(const Shared<HPAScalingRules>& rules, const Place& at) {
  if (!rules) return;
  const std::int32_t window = rules->stabilizationWindowSeconds.value_or(0);
  if (window < 0) {
    at("stabilizationWindowSeconds").invalid(window, "must be greater than or equal to zero");
  }
  if (window > kMaxWindowSeconds) {
    at("stabilizationWindowSeconds")
        .invalid(window, fmt::format("must be less than or equal to {}", kMaxWindowSeconds));
  }
  at("selectPolicy").oneOf(rules->selectPolicy, {"Disabled", "Max", "Min"});
  if (rules->policies.empty()) at("policies").required("must specify at least one Policy");
  forEach(rules->policies, at("policies"), checkPolicy);
  if (rules->tolerance) at("tolerance").nonNegative(*rules->tolerance);
}

}  // namespace

void validate(const autoscalingv1::HorizontalPodAutoscaler& autoscaler, const Place& root) {
  const auto& spec = *autoscaler.spec;
  const Place at = root("spec");
  checkReplicas(spec.minReplicas, spec.maxReplicas, at);
  checkReferred(*spec.scaleTargetRef, at("scaleTargetRef"));
  if (spec.minReplicas == 0) at("metrics").forbidden(kNeedsMetric);
  if (spec.targetCPUUtilizationPercentage.value_or(1) < 1) {
    // The server checks it as the metric that replaces it.
    at("metrics[0].resource.target.averageUtilization")
        .invalid(*spec.targetCPUUtilizationPercentage, "must be greater than 0");
  }
}

void validate(const HorizontalPodAutoscaler& autoscaler, const Place& root) {
  const HorizontalPodAutoscalerSpec& spec = *autoscaler.spec;
  const Place at = root("spec");
  checkReplicas(spec.minReplicas, spec.maxReplicas, at);
  checkReferred(*spec.scaleTargetRef, at("scaleTargetRef"));
  forEach(spec.metrics, at("metrics"), checkMetric);
  const bool scalesToZero =
      std::any_of(spec.metrics.begin(), spec.metrics.end(), [](const MetricSpec& metric) {
        return metric.type == "Object" || metric.type == "External";
      });
  if (spec.minReplicas == 0 && !scalesToZero) at("metrics").forbidden(kNeedsMetric);
  const Place behavior = at("behavior");
  checkScaling(spec.behavior->scaleUp, behavior("scaleUp"));
  checkScaling(spec.behavior->scaleDown, behavior("scaleDown"));
}

}  // namespace kube::apiserver::rules
