// The scheme of all built-in kinds: client-go's scheme.Scheme, with conversions.
//
//   const kube::Scheme& scheme = kube::builtInScheme();
//   auto v2 = scheme.convertTo<kube::autoscalingv2::HorizontalPodAutoscaler>(v1);
//
//   kube::Scheme mine = kube::builtInScheme();   // a copy, to add to
//   samplecrdv1::addToScheme(mine);
//
// Versions of one kind become each other by their fields' names, and where that would not keep the
// meaning by what an API server does: HorizontalPodAutoscalers, Ingresses, PodDisruptionBudgets,
// Deployments and StatefulSets, webhook configurations, priority levels, access reviews, bindings
// of v1alpha1 and certificate requests; and Events of the core group and events.k8s.io. A field
// that another version has no place for is an error, so for EndpointSlices, RuntimeClasses of
// v1alpha1 and resource claims and slices of v1beta1, where they use it. CustomResourceDefinitions
// are not converted. Groups prefer the versions that API servers do.
//
// Using this links all built-in kinds. Thread safety: any thread may read it at any time.
#pragma once

#include "kube/meta/scheme.h"

namespace kube {

const Scheme& builtInScheme();

}  // namespace kube
