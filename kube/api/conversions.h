// Conversions between versions of built-in kinds for which equal names are not enough.
//
// For kube/api/scheme.cc. They follow the API server: if an absent field has different meanings in
// two versions, its meaning is written explicitly.
#pragma once

namespace kube {
class Scheme;
}

namespace kube::detail {

/// Converts HorizontalPodAutoscalers.
void addAutoscalingConversions(Scheme& scheme);
/// Converts Deployment and StatefulSet of apps/v1beta1.
void addAppsConversions(Scheme& scheme);
/// Converts claims and slices of resource.k8s.io.
void addResourceConversions(Scheme& scheme);
/// Converts all other kinds.
void addOtherConversions(Scheme& scheme);

}  // namespace kube::detail
