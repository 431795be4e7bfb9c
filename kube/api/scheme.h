// The scheme of all built-in kinds: client-go's scheme.Scheme, with conversions.
//
//   const kube::Scheme& scheme = kube::builtInScheme();
//   auto v2 = scheme.convertTo<kube::autoscalingv2::HorizontalPodAutoscaler>(v1);
//
//   kube::Scheme mine = kube::builtInScheme();   // a copy, to add to
//   samplecrdv1::addToScheme(mine);
//
// Versions of one kind are converted by field names. Where names are not enough, the conversion
// follows the API server: for HorizontalPodAutoscalers, Ingresses, PodDisruptionBudgets,
// Deployments and StatefulSets, webhook configurations, priority levels, access reviews, bindings
// of v1alpha1 and certificate requests; and for Events of the core group and events.k8s.io. A set
// field without a counterpart in the other version is an error. This concerns EndpointSlices,
// RuntimeClasses of v1alpha1, and resource claims and slices of v1beta1. CustomResourceDefinitions
// are not converted. The preferred versions of groups are those of API servers.
//
// Using this links all built-in kinds. Thread safety: any thread may read it at any time.
#pragma once

#include "kube/meta/scheme.h"

namespace kube {

const Scheme& builtInScheme();

}  // namespace kube
