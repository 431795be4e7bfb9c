// Converts events between their two forms: Event of v1 and Event of events.k8s.io/v1.
#pragma once

#include "kube/api/core/v1.h"
#include "kube/api/events/v1.h"

namespace kube::apiserver {

eventsv1::Event newForm(const corev1::Event& event);
corev1::Event oldForm(const eventsv1::Event& event);

}  // namespace kube::apiserver
