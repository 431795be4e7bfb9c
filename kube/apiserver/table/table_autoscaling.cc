// Autoscalers and scales as rows of a table.
#include <fmt/core.h>

#include <vector>

#include "kube/api/autoscaling/v1.h"
#include "kube/api/autoscaling/v2.h"
#include "kube/apiserver/table/table_columns.h"

namespace kube::apiserver {

namespace {

using autoscalingv1::Scale;
using autoscalingv2::HorizontalPodAutoscaler;
using autoscalingv2::MetricSpec;
using autoscalingv2::MetricStatus;
using autoscalingv2::MetricTarget;
using autoscalingv2::MetricValueStatus;

constexpr std::string_view kUnknown = "<unknown>";

std::string orUnknown(const std::optional<Quantity>& quantity) {
  return quantity ? quantity->str() : std::string(kUnknown);
}

// A quantity that is optional in the API but always set here.
std::string amount(const std::optional<Quantity>& quantity) {
  return quantity ? quantity->str() : "0";
}

std::string percent(const std::optional<std::int32_t>& value, std::string_view otherwise) {
  return value ? fmt::format("{}%", *value) : std::string(otherwise);
}

// Either an average over pods, or a single value.
std::string ofObject(const MetricTarget& target, bool known, const MetricValueStatus& current) {
  if (target.averageValue) {
    return fmt::format("{}/{} (avg)", orUnknown(current.averageValue), *target.averageValue);
  }
  return fmt::format("{}/{}", known ? amount(current.value) : std::string(kUnknown),
                     amount(target.value));
}

// Either an average amount of a resource, or a percentage of the request.
std::string ofResource(std::string_view name, const MetricTarget& target, bool known,
                       const MetricValueStatus& current) {
  if (target.averageValue) {
    return fmt::format("{}: {}/{}", name,
                       known ? amount(current.averageValue) : std::string(kUnknown),
                       *target.averageValue);
  }
  return fmt::format("{}: {}/{}", name, percent(current.averageUtilization, kUnknown),
                     percent(target.averageUtilization, "<auto>"));
}

std::string metric(const MetricSpec& spec, const MetricStatus& status) {
  if (spec.type == "External") {
    return ofObject(*spec.external->target, status.external.has_value(), *status.external->current);
  }
  if (spec.type == "Object") {
    return ofObject(*spec.object->target, status.object.has_value(), *status.object->current);
  }
  if (spec.type == "Pods") {
    return fmt::format(
        "{}/{}", status.pods ? amount(status.pods->current->averageValue) : std::string(kUnknown),
        amount(spec.pods->target->averageValue));
  }
  if (spec.type == "Resource") {
    return ofResource(spec.resource->name, *spec.resource->target, status.resource.has_value(),
                      *status.resource->current);
  }
  if (spec.type == "ContainerResource") {
    return ofResource(spec.containerResource->name, *spec.containerResource->target,
                      status.containerResource.has_value(), *status.containerResource->current);
  }
  return "<unknown type>";
}

std::string targetsOf(const HorizontalPodAutoscaler& scaler) {
  const auto& specs = scaler.spec->metrics;
  if (specs.empty()) return "<none>";
  std::vector<std::string> metrics;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    metrics.push_back(metric(specs[i], scaler.status->currentMetrics[i]));
  }
  return firstOf(metrics, 2, ", ");
}

constexpr TableColumn kAutoscalers[] = {
    nameColumn<HorizontalPodAutoscaler>(),
    text("Reference", "what is scaled",
         [](const HorizontalPodAutoscaler& scaler) {
           const auto& target = *scaler.spec->scaleTargetRef;
           return fmt::format("{}/{}", target.kind, target.name);
         }),
    text("Targets", "metrics: what they are, of what they should be",
         [](const HorizontalPodAutoscaler& scaler) { return targetsOf(scaler); }),
    text("MinPods", "the least number of pods",
         [](const HorizontalPodAutoscaler& scaler) {
           return std::to_string(scaler.spec->minReplicas.value_or(1));
         }),
    text("MaxPods", "the greatest number of pods",
         [](const HorizontalPodAutoscaler& scaler) { return scaler.spec->maxReplicas; }),
    text("Replicas", "how many pods there are",
         [](const HorizontalPodAutoscaler& scaler) { return scaler.status->currentReplicas; }),
    ageColumn<HorizontalPodAutoscaler>(),
};

constexpr TableColumn kScales[] = {
    text("Name", "the object's name", [](const Scale& scale) { return scale.metadata.name; }),
    integer("Desired", "how many pods there should be",
            [](const Scale& scale) { return scale.spec->replicas; }),
    integer("Available", "how many pods there are",
            [](const Scale& scale) { return scale.status->replicas; }),
    ageColumn<Scale>(),
};

constexpr KindTable kAutoscalingTables[] = {
    kindTable<HorizontalPodAutoscaler>(kAutoscalers),
    kindTable<Scale>(kScales),
};

}  // namespace

std::span<const KindTable> autoscalingTables() { return kAutoscalingTables; }

}  // namespace kube::apiserver
