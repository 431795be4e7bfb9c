#include "kube/apiserver/custom/custom_scale.h"

#include <fmt/core.h>

#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/base/error.h"
#include "kube/meta/nested.h"
#include "kube/meta/time.h"

namespace kube::apiserver {

namespace {

std::vector<std::string_view> split(std::string_view path) {
  if (path.starts_with('.')) path.remove_prefix(1);
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t dot = path.find('.');
    parts.push_back(path.substr(0, dot));
    if (dot == std::string_view::npos) return parts;
    path.remove_prefix(dot + 1);
  }
}

std::optional<std::int64_t> numberAt(const Value& object, std::string_view path) {
  return nestedInt64(object, FieldPath(std::span<const std::string_view>(split(path))));
}
std::optional<String> textAt(const Value& object, std::string_view path) {
  return nestedString(object, FieldPath(std::span<const std::string_view>(split(path))));
}

void checkReplicas(const Value& object, std::string_view path, FieldErrors& errors) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max();
  const ErrorPath place{path};
  try {
    const std::int64_t replicas = numberAt(object, path).value_or(0);
    if (replicas < 0) {
      errors.push_back(FieldError::invalid(place, replicas, "should be a non-negative integer"));
    } else if (replicas > kMax) {
      errors.push_back(FieldError::invalid(
          place, replicas, fmt::format("should be less than or equal to {}", kMax)));
    }
  } catch (const DecodeError& error) {
    errors.push_back(FieldError::invalid(place, 0, error.what()));
  }
}

}  // namespace

CustomScale readScale(const Value& object, const ScalePaths& paths) {
  const auto replicas = numberAt(object, paths.specReplicas);
  const auto current = numberAt(object, paths.statusReplicas);
  CustomScale result{.hasReplicas = replicas.has_value()};
  autoscalingv1::Scale& scale = result.scale;
  const Value& metadata = object["metadata"];
  scale.metadata.name = metadata["name"].asString();
  scale.metadata.namespace_ = metadata["namespace"].asString();
  scale.metadata.uid = metadata["uid"].asString();
  scale.metadata.resourceVersion = metadata["resourceVersion"].asString();
  Time::tryParse(metadata["creationTimestamp"].asString(), scale.metadata.creationTimestamp);
  scale.spec->replicas = static_cast<std::int32_t>(replicas.value_or(0));
  scale.status->replicas = static_cast<std::int32_t>(current.value_or(0));
  if (!paths.labelSelector.empty()) {
    scale.status->selector = textAt(object, paths.labelSelector).value_or(String());
  }
  return result;
}

Value writeScale(const Value& object, const autoscalingv1::Scale& scale, const ScalePaths& paths) {
  Value changed = object;
  const std::vector<std::string_view> path = split(paths.specReplicas);
  setNestedField(changed, scale.spec->replicas, FieldPath(std::span<const std::string_view>(path)));
  if (!scale.metadata.resourceVersion.empty()) {
    changed["metadata"]["resourceVersion"] = scale.metadata.resourceVersion;
  }
  return changed;
}

FieldErrors validateScaleSpec(const Value& object, const ScalePaths& paths) {
  FieldErrors errors;
  checkReplicas(object, paths.specReplicas, errors);
  return errors;
}

FieldErrors validateScaleStatus(const Value& object, const ScalePaths& paths) {
  FieldErrors errors;
  checkReplicas(object, paths.statusReplicas, errors);
  if (paths.labelSelector.empty()) return errors;
  try {
    textAt(object, paths.labelSelector);
  } catch (const DecodeError& error) {
    errors.push_back(FieldError::invalid(ErrorPath(paths.labelSelector), "", error.what()));
  }
  return errors;
}

}  // namespace kube::apiserver
