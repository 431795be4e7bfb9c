// HorizontalPodAutoscalers of autoscaling/v1, v2beta1, v2beta2 and v2.
//
// v1 has only a CPU utilisation in percent. The other parts of v2 are stored in annotations: other
// metrics, their current values and the conditions as v1's types in JSON; and the behavior as the
// API server's internal type, whose members have no JSON names and so are written with capitals.
// Annotations that cannot be read are dropped, as in the API server.
//
// The metrics of v2beta1 have the form of those that v1 stores, and it stores the behavior as v1
// does. v2beta2 equals v2, but stores tolerances.
#include <fmt/core.h>

#include <iterator>
#include <optional>

#include "kube/api/autoscaling/v1.h"
#include "kube/api/autoscaling/v2.h"
#include "kube/api/autoscaling/v2beta1.h"
#include "kube/api/autoscaling/v2beta2.h"
#include "kube/api/conversions.h"
#include "kube/base/error.h"
#include "kube/base/internal/text.h"
#include "kube/codec/json.h"
#include "kube/meta/scheme.h"

namespace kube::detail {

namespace {

namespace v1 = autoscalingv1;
namespace v2 = autoscalingv2;
namespace v2beta1 = autoscalingv2beta1;
namespace v2beta2 = autoscalingv2beta2;

// The types of metrics in their old form.
#define KUBE_OLD_METRICS(name, version)                                           \
  struct name {                                                                   \
    using ResourceMetricSource = version::ResourceMetricSource;                   \
    using ContainerResourceMetricSource = version::ContainerResourceMetricSource; \
    using PodsMetricSource = version::PodsMetricSource;                           \
    using ObjectMetricSource = version::ObjectMetricSource;                       \
    using ExternalMetricSource = version::ExternalMetricSource;                   \
    using ResourceMetricStatus = version::ResourceMetricStatus;                   \
    using ContainerResourceMetricStatus = version::ContainerResourceMetricStatus; \
    using PodsMetricStatus = version::PodsMetricStatus;                           \
    using ObjectMetricStatus = version::ObjectMetricStatus;                       \
    using ExternalMetricStatus = version::ExternalMetricStatus;                   \
  }
KUBE_OLD_METRICS(V1Metrics, v1);
KUBE_OLD_METRICS(V2beta1Metrics, v2beta1);
#undef KUBE_OLD_METRICS

constexpr std::string_view kMetrics = "autoscaling.alpha.kubernetes.io/metrics";
constexpr std::string_view kCurrentMetrics = "autoscaling.alpha.kubernetes.io/current-metrics";
constexpr std::string_view kConditions = "autoscaling.alpha.kubernetes.io/conditions";
constexpr std::string_view kBehavior = "autoscaling.alpha.kubernetes.io/behavior";
constexpr std::string_view kScaleUpTolerance =
    "autoscaling.alpha.kubernetes.io/scale-up-tolerance";  // of v2beta2
constexpr std::string_view kScaleDownTolerance =
    "autoscaling.alpha.kubernetes.io/scale-down-tolerance";

constexpr std::string_view kResource = "Resource";
constexpr std::string_view kCpu = "cpu";
constexpr std::string_view kUtilization = "Utilization";
constexpr std::string_view kAverageValue = "AverageValue";
constexpr std::string_view kValue = "Value";
constexpr std::int32_t kDefaultCpuUtilization = 80;

void dropAnnotations(metav1::ObjectMeta& metadata) {
  for (const std::string_view key : {kMetrics, kCurrentMetrics, kConditions, kBehavior,
                                     kScaleUpTolerance, kScaleDownTolerance}) {
    metadata.annotations.erase(key);
  }
}

// --- Parts of metrics.

v2::MetricIdentifier metric(const String& name, const Shared<metav1::LabelSelector>& selector) {
  return {.name = name, .selector = selector};
}

// Makes the target of a resource metric.
template <class Source>
v2::MetricTarget resourceTarget(const Source& in) {
  return {.type = in.targetAverageUtilization ? kUtilization : kAverageValue,
          .averageValue = in.targetAverageValue,
          .averageUtilization = in.targetAverageUtilization};
}

template <class Old>
void addSources(Scheme& scheme) {
  scheme.addConversion<v2::ResourceMetricSource, typename Old::ResourceMetricSource>(
      [](const v2::ResourceMetricSource& in, typename Old::ResourceMetricSource& out) {
        out.name = in.name;
        out.targetAverageUtilization = in.target->averageUtilization;
        out.targetAverageValue = in.target->averageValue;
      });
  scheme.addConversion<typename Old::ResourceMetricSource, v2::ResourceMetricSource>(
      [](const typename Old::ResourceMetricSource& in, v2::ResourceMetricSource& out) {
        out.name = in.name;
        out.target = resourceTarget(in);
      });
  scheme.addConversion<v2::ContainerResourceMetricSource,
                       typename Old::ContainerResourceMetricSource>(
      [](const v2::ContainerResourceMetricSource& in,
         typename Old::ContainerResourceMetricSource& out) {
        out.name = in.name;
        out.container = in.container;
        out.targetAverageUtilization = in.target->averageUtilization;
        out.targetAverageValue = in.target->averageValue;
      });
  scheme.addConversion<typename Old::ContainerResourceMetricSource,
                       v2::ContainerResourceMetricSource>(
      [](const typename Old::ContainerResourceMetricSource& in,
         v2::ContainerResourceMetricSource& out) {
        out.name = in.name;
        out.container = in.container;
        out.target = resourceTarget(in);
      });
  scheme.addConversion<v2::PodsMetricSource, typename Old::PodsMetricSource>(
      [](const v2::PodsMetricSource& in, typename Old::PodsMetricSource& out) {
        out.metricName = in.metric->name;
        out.selector = in.metric->selector;
        out.targetAverageValue = in.target->averageValue.value_or(Quantity());
      });
  scheme.addConversion<typename Old::PodsMetricSource, v2::PodsMetricSource>(
      [](const typename Old::PodsMetricSource& in, v2::PodsMetricSource& out) {
        out.metric = metric(in.metricName, in.selector);
        out.target = v2::MetricTarget{.type = kAverageValue, .averageValue = in.targetAverageValue};
      });
  scheme.addConversion<v2::ObjectMetricSource, typename Old::ObjectMetricSource>(
      [](const v2::ObjectMetricSource& in, typename Old::ObjectMetricSource& out,
         ConversionScope& scope) {
        scope.convert(in.describedObject, out.target);
        out.metricName = in.metric->name;
        out.selector = in.metric->selector;
        out.targetValue = in.target->value.value_or(Quantity());
        out.averageValue = in.target->averageValue;
      });
  scheme.addConversion<typename Old::ObjectMetricSource, v2::ObjectMetricSource>(
      [](const typename Old::ObjectMetricSource& in, v2::ObjectMetricSource& out,
         ConversionScope& scope) {
        scope.convert(in.target, out.describedObject);
        out.metric = metric(in.metricName, in.selector);
        v2::MetricTarget target{.type = in.averageValue ? kAverageValue : kValue,
                                .averageValue = in.averageValue};
        // v1 cannot omit the value; with an average, zero means that there is none.
        if (!in.averageValue || !in.targetValue.isZero()) target.value = in.targetValue;
        out.target = std::move(target);
      });
  scheme.addConversion<v2::ExternalMetricSource, typename Old::ExternalMetricSource>(
      [](const v2::ExternalMetricSource& in, typename Old::ExternalMetricSource& out) {
        out.metricName = in.metric->name;
        out.metricSelector = in.metric->selector;
        out.targetValue = in.target->value;
        out.targetAverageValue = in.target->averageValue;
      });
  scheme.addConversion<typename Old::ExternalMetricSource, v2::ExternalMetricSource>(
      [](const typename Old::ExternalMetricSource& in, v2::ExternalMetricSource& out) {
        out.metric = metric(in.metricName, in.metricSelector);
        out.target = v2::MetricTarget{.type = in.targetValue ? kValue : kAverageValue,
                                      .value = in.targetValue,
                                      .averageValue = in.targetAverageValue};
      });
}

template <class Old>
void addStatuses(Scheme& scheme) {
  scheme.addConversion<v2::ResourceMetricStatus, typename Old::ResourceMetricStatus>(
      [](const v2::ResourceMetricStatus& in, typename Old::ResourceMetricStatus& out) {
        out.name = in.name;
        out.currentAverageUtilization = in.current->averageUtilization;
        out.currentAverageValue = in.current->averageValue.value_or(Quantity());
      });
  scheme.addConversion<typename Old::ResourceMetricStatus, v2::ResourceMetricStatus>(
      [](const typename Old::ResourceMetricStatus& in, v2::ResourceMetricStatus& out) {
        out.name = in.name;
        out.current = v2::MetricValueStatus{.averageValue = in.currentAverageValue,
                                            .averageUtilization = in.currentAverageUtilization};
      });
  scheme.addConversion<v2::ContainerResourceMetricStatus,
                       typename Old::ContainerResourceMetricStatus>(
      [](const v2::ContainerResourceMetricStatus& in,
         typename Old::ContainerResourceMetricStatus& out) {
        out.name = in.name;
        out.container = in.container;
        out.currentAverageUtilization = in.current->averageUtilization;
        out.currentAverageValue = in.current->averageValue.value_or(Quantity());
      });
  scheme.addConversion<typename Old::ContainerResourceMetricStatus,
                       v2::ContainerResourceMetricStatus>(
      [](const typename Old::ContainerResourceMetricStatus& in,
         v2::ContainerResourceMetricStatus& out) {
        out.name = in.name;
        out.container = in.container;
        out.current = v2::MetricValueStatus{.averageValue = in.currentAverageValue,
                                            .averageUtilization = in.currentAverageUtilization};
      });
  scheme.addConversion<v2::PodsMetricStatus, typename Old::PodsMetricStatus>(
      [](const v2::PodsMetricStatus& in, typename Old::PodsMetricStatus& out) {
        out.metricName = in.metric->name;
        out.selector = in.metric->selector;
        out.currentAverageValue = in.current->averageValue.value_or(Quantity());
      });
  scheme.addConversion<typename Old::PodsMetricStatus, v2::PodsMetricStatus>(
      [](const typename Old::PodsMetricStatus& in, v2::PodsMetricStatus& out) {
        out.metric = metric(in.metricName, in.selector);
        out.current = v2::MetricValueStatus{.averageValue = in.currentAverageValue};
      });
  scheme.addConversion<v2::ObjectMetricStatus, typename Old::ObjectMetricStatus>(
      [](const v2::ObjectMetricStatus& in, typename Old::ObjectMetricStatus& out,
         ConversionScope& scope) {
        scope.convert(in.describedObject, out.target);
        out.metricName = in.metric->name;
        out.selector = in.metric->selector;
        out.currentValue = in.current->value.value_or(Quantity());
        out.averageValue = in.current->averageValue;
      });
  scheme.addConversion<typename Old::ObjectMetricStatus, v2::ObjectMetricStatus>(
      [](const typename Old::ObjectMetricStatus& in, v2::ObjectMetricStatus& out,
         ConversionScope& scope) {
        scope.convert(in.target, out.describedObject);
        out.metric = metric(in.metricName, in.selector);
        out.current =
            v2::MetricValueStatus{.value = in.currentValue, .averageValue = in.averageValue};
      });
  scheme.addConversion<v2::ExternalMetricStatus, typename Old::ExternalMetricStatus>(
      [](const v2::ExternalMetricStatus& in, typename Old::ExternalMetricStatus& out) {
        out.metricName = in.metric->name;
        out.metricSelector = in.metric->selector;
        out.currentValue = in.current->value.value_or(Quantity());
        out.currentAverageValue = in.current->averageValue;
      });
  scheme.addConversion<typename Old::ExternalMetricStatus, v2::ExternalMetricStatus>(
      [](const typename Old::ExternalMetricStatus& in, v2::ExternalMetricStatus& out) {
        out.metric = metric(in.metricName, in.metricSelector);
        out.current =
            v2::MetricValueStatus{.value = in.currentValue, .averageValue = in.currentAverageValue};
      });
}

// --- Writing and reading annotations.

template <class T>
std::string listJson(const List<T>& items) {
  std::string json = "[";
  for (const T& item : items) {
    if (json.size() > 1) json += ',';
    encodeJson(TypeOf<T>::info, &item, json);
  }
  return json += ']';
}

template <class T>
std::optional<List<T>> readList(const String& json) {
  if (json.empty()) return std::nullopt;  // the usual case
  try {
    const Value value = parseJson(json);
    if (!value.isArray()) return std::nullopt;
    List<T> result;
    for (const Value& item : value.asArray()) result.push_back(fromJson<T>(toJson(item)));
    return result;
  } catch (const DecodeError&) {
    return std::nullopt;
  }
}

std::string quoted(const String& text) { return toJson(Value(text)); }

template <class T>
std::string numberOrNull(const std::optional<T>& number) {
  return number ? fmt::format("{}", *number) : "null";
}

// Writes rules as the API server writes its internal type: all members, in order.
std::string rulesJson(const Shared<v2::HPAScalingRules>& rules) {
  if (!rules) return "null";
  std::string policies;
  for (const v2::HPAScalingPolicy& policy : rules->policies) {
    fmt::format_to(std::back_inserter(policies), R"({}{{"Type":{},"Value":{},"PeriodSeconds":{}}})",
                   policies.empty() ? "" : ",", quoted(policy.type), policy.value,
                   policy.periodSeconds);
  }
  return fmt::format(
      R"({{"StabilizationWindowSeconds":{},"SelectPolicy":{},"Policies":{},"Tolerance":{}}})",
      numberOrNull(rules->stabilizationWindowSeconds),
      rules->selectPolicy ? quoted(*rules->selectPolicy) : "null",
      policies.empty() ? "null" : "[" + policies + "]",
      rules->tolerance ? quoted(String(rules->tolerance->text())) : "null");
}

std::string behaviorJson(const v2::HorizontalPodAutoscalerBehavior& behavior) {
  return fmt::format(R"({{"ScaleUp":{},"ScaleDown":{}}})", rulesJson(behavior.scaleUp),
                     rulesJson(behavior.scaleDown));
}

// Returns the same value with v2's JSON names.
Value withSmallInitials(const Value& value) {
  if (value.isArray()) {
    Value::Array result;
    for (const Value& item : value.asArray()) result.push_back(withSmallInitials(item));
    return result;
  }
  if (!value.isObject()) return value;
  Value::Object result;
  for (const auto& [key, member] : value.asObject()) {
    std::string name = key.str();
    if (!name.empty()) name[0] = detail::lower(name[0]);
    result.insert_or_assign(name, withSmallInitials(member));
  }
  return result;
}

std::optional<v2::HorizontalPodAutoscalerBehavior> readBehavior(const String& json) {
  if (json.empty()) return std::nullopt;
  try {
    auto behavior =
        fromJson<v2::HorizontalPodAutoscalerBehavior>(toJson(withSmallInitials(parseJson(json))));
    if (behavior == v2::HorizontalPodAutoscalerBehavior()) return std::nullopt;
    return behavior;
  } catch (const DecodeError&) {
    return std::nullopt;
  }
}

// --- The whole object.

bool isCpuUtilization(const v2::MetricSpec& metric) {
  return metric.type == kResource && metric.resource && metric.resource->name == kCpu &&
         metric.resource->target->averageUtilization;
}

v2::MetricSpec cpuUtilization(std::int32_t percent) {
  v2::MetricSpec metric;
  metric.type = kResource;
  metric.resource->name = kCpu;
  metric.resource->target->type = kUtilization;
  metric.resource->target->averageUtilization = percent;
  return metric;
}

void toV1(const v2::HorizontalPodAutoscaler& in, v1::HorizontalPodAutoscaler& out,
          ConversionScope& scope) {
  scope.defaultConvert(
      in, out,
      {.handled = {"spec.metrics", "spec.behavior", "status.currentMetrics", "status.conditions"}});
  dropAnnotations(out.metadata);
  Map<String>& annotations = out.metadata.annotations;

  List<v2::MetricSpec> others;
  std::optional<std::int32_t> percent;
  for (const v2::MetricSpec& metric : in.spec->metrics) {
    if (!percent && isCpuUtilization(metric)) {
      percent = metric.resource->target->averageUtilization;
    } else {
      others.push_back(metric);
    }
  }
  if (percent) out.spec->targetCPUUtilizationPercentage = percent;
  if (!others.empty()) {
    List<v1::MetricSpec> converted;
    scope.convert(others, converted);
    annotations[kMetrics] = listJson(converted);
  }
  if (in.spec->behavior) annotations[kBehavior] = behaviorJson(*in.spec->behavior);

  for (const v2::MetricStatus& metric : in.status->currentMetrics) {
    if (metric.type != kResource || metric.resource->name != kCpu) continue;
    if (const auto& current = metric.resource->current->averageUtilization) {
      out.status->currentCPUUtilizationPercentage = current;
    }
  }
  // This includes the CPU: v1 has a field for its percentage, but not for its value.
  if (!in.status->currentMetrics.empty()) {
    List<v1::MetricStatus> converted;
    scope.convert(in.status->currentMetrics, converted);
    annotations[kCurrentMetrics] = listJson(converted);
  }
  if (!in.status->conditions.empty()) {
    List<v1::HorizontalPodAutoscalerCondition> converted;
    scope.convert(in.status->conditions, converted);
    annotations[kConditions] = listJson(converted);
  }
}

void toV2(const v1::HorizontalPodAutoscaler& in, v2::HorizontalPodAutoscaler& out,
          ConversionScope& scope) {
  scope.defaultConvert(in, out,
                       {.handled = {"spec.targetCPUUtilizationPercentage",
                                    "status.currentCPUUtilizationPercentage"}});
  const Map<String>& annotations = in.metadata.annotations;

  List<v2::MetricSpec> metrics;
  if (const auto others = readList<v1::MetricSpec>(annotations[kMetrics])) {
    scope.convert(*others, metrics);
  }
  if (const auto percent = in.spec->targetCPUUtilizationPercentage) {
    metrics.push_back(cpuUtilization(*percent));
  }
  // The meaning of a v1 object without metrics.
  if (metrics.empty()) metrics.push_back(cpuUtilization(kDefaultCpuUtilization));
  out.spec->metrics = std::move(metrics);
  if (auto behavior = readBehavior(annotations[kBehavior])) {
    out.spec->behavior = *std::move(behavior);
  }

  if (const auto current = readList<v1::MetricStatus>(annotations[kCurrentMetrics])) {
    scope.convert(*current, out.status->currentMetrics);
  } else if (const auto percent = in.status->currentCPUUtilizationPercentage) {
    v2::MetricStatus metric;
    metric.type = kResource;
    metric.resource->name = kCpu;
    metric.resource->current->averageUtilization = percent;
    out.status->currentMetrics = {metric};
  }
  if (const auto conditions =
          readList<v1::HorizontalPodAutoscalerCondition>(annotations[kConditions])) {
    scope.convert(*conditions, out.status->conditions);
  }
  dropAnnotations(out.metadata);
}

void toV2beta1(const v2::HorizontalPodAutoscaler& in, v2beta1::HorizontalPodAutoscaler& out,
               ConversionScope& scope) {
  scope.defaultConvert(in, out, {.handled = {"spec.behavior"}});
  dropAnnotations(out.metadata);
  if (in.spec->behavior) {
    out.metadata.annotations[kBehavior] = behaviorJson(*in.spec->behavior);
  }
}

void fromV2beta1(const v2beta1::HorizontalPodAutoscaler& in, v2::HorizontalPodAutoscaler& out,
                 ConversionScope& scope) {
  scope.defaultConvert(in, out);
  if (auto behavior = readBehavior(in.metadata.annotations[kBehavior])) {
    out.spec->behavior = *std::move(behavior);
  }
  dropAnnotations(out.metadata);
}

void toV2beta2(const v2::HorizontalPodAutoscaler& in, v2beta2::HorizontalPodAutoscaler& out,
               ConversionScope& scope) {
  scope.defaultConvert(
      in, out,
      {.handled = {"spec.behavior.scaleUp.tolerance", "spec.behavior.scaleDown.tolerance"}});
  dropAnnotations(out.metadata);
  const auto store = [&](std::string_view key, const v2::HPAScalingRules& rules) {
    if (rules.tolerance) out.metadata.annotations[key] = rules.tolerance->text();
  };
  store(kScaleUpTolerance, *in.spec->behavior->scaleUp);
  store(kScaleDownTolerance, *in.spec->behavior->scaleDown);
}

void fromV2beta2(const v2beta2::HorizontalPodAutoscaler& in, v2::HorizontalPodAutoscaler& out,
                 ConversionScope& scope) {
  scope.defaultConvert(in, out);
  const auto read = [&](std::string_view key) -> std::optional<Quantity> {
    const String& text = in.metadata.annotations[key];
    if (text.empty()) return std::nullopt;
    return Quantity(text);
  };
  if (const auto up = read(kScaleUpTolerance)) out.spec->behavior->scaleUp->tolerance = up;
  if (const auto down = read(kScaleDownTolerance)) out.spec->behavior->scaleDown->tolerance = down;
  dropAnnotations(out.metadata);
}

}  // namespace

void addAutoscalingConversions(Scheme& scheme) {
  scheme.setHub({"autoscaling", "HorizontalPodAutoscaler"}, "v2");
  addSources<V1Metrics>(scheme);
  addStatuses<V1Metrics>(scheme);
  addSources<V2beta1Metrics>(scheme);
  addStatuses<V2beta1Metrics>(scheme);
  scheme.addConversion<v2::HorizontalPodAutoscaler, v1::HorizontalPodAutoscaler>(toV1);
  scheme.addConversion<v1::HorizontalPodAutoscaler, v2::HorizontalPodAutoscaler>(toV2);
  scheme.addConversion<v2::HorizontalPodAutoscaler, v2beta1::HorizontalPodAutoscaler>(toV2beta1);
  scheme.addConversion<v2beta1::HorizontalPodAutoscaler, v2::HorizontalPodAutoscaler>(fromV2beta1);
  scheme.addConversion<v2::HorizontalPodAutoscaler, v2beta2::HorizontalPodAutoscaler>(toV2beta2);
  scheme.addConversion<v2beta2::HorizontalPodAutoscaler, v2::HorizontalPodAutoscaler>(fromV2beta2);
}

}  // namespace kube::detail
