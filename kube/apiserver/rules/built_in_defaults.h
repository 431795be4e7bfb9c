// The small steps that defaults are made of, and the parts that several kinds share.
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

/// Amounts are kept to a thousandth.
void roundUp(Map<Quantity>& amounts);

/// What a PodSpec gets wherever it is; a Pod gets more.
void setPodSpecDefaults(corev1::PodSpec& spec);
void setTemplateDefaults(Shared<corev1::PodTemplateSpec>& podTemplate);
void setVolumeDefaults(corev1::Volume& volume);
void setClaimSpecDefaults(corev1::PersistentVolumeClaimSpec& spec);

/// The policy that an image's tag asks for: "latest", said or meant, is pulled always.
std::string_view pullPolicyFor(std::string_view image);

}  // namespace kube::apiserver::rules
