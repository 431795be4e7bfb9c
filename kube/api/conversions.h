// Conversions between versions of built-in kinds, where equal names are not enough.
//
// For kube/api/scheme.cc. They follow what an API server does: where a version takes something
// absent to mean something else than the other does, the meaning is written out.
#pragma once

namespace kube {
class Scheme;
}

namespace kube::detail {

/// HorizontalPodAutoscaler, v1 and v2.
void addAutoscalingConversions(Scheme& scheme);
/// Deployment and StatefulSet of apps/v1beta1.
void addAppsConversions(Scheme& scheme);
/// Everything else.
void addOtherConversions(Scheme& scheme);

}  // namespace kube::detail
