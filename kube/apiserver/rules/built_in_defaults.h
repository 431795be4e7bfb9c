// Small steps for setting defaults, and the defaults of parts that several kinds share.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "kube/api/core/v1.h"
#include "kube/base/map.h"
#include "kube/base/string.h"
#include "kube/meta/quantity.h"

namespace kube::apiserver::rules {

inline void setIfEmpty(String& field, std::string_view value) {
  if (field.empty()) field = value;
}
inline void setIfZero(std::int32_t& field, std::int32_t value) {
  if (field == 0) field = value;
}
template <class T, class V>
void setIfUnset(std::optional<T>& field, V&& value) {
  if (!field.has_value()) field = T(std::forward<V>(value));
}

/// Rounds amounts to a thousandth.
void roundUp(Map<Quantity>& amounts);

/// The defaults of every PodSpec. A Pod has more.
void setPodSpecDefaults(corev1::PodSpec& spec);
void setTemplateDefaults(Shared<corev1::PodTemplateSpec>& podTemplate);
void setVolumeDefaults(corev1::Volume& volume);
void setClaimSpecDefaults(corev1::PersistentVolumeClaimSpec& spec);

/// The pull policy for an image's tag: "latest", written or implied, is always pulled.
std::string_view pullPolicyFor(std::string_view image);

}  // namespace kube::apiserver::rules
