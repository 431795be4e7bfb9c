// Has to be included for controllers whose keys are no ObjectKey.
//
//   #include <kube/controller/keyed_controller.h>
//
//   kube::Controller<corev1::Pod, kube::String> nodes("nodes", factory);
//   nodes.keyedBy([](const corev1::Pod& pod) { return std::vector{pod.spec->nodeName}; })
//       .reconcile([&](const kube::String& node) { ... });
//
// A key compares, hashes and can be printed; see ControllerKey. The workers are then compiled with
// the program.
#pragma once

#include "kube/controller/controller.h"
#include "kube/controller/internal/controller_run.h"

namespace kube::detail {

template <class Key>
struct KeyedControllerHeader {};

}  // namespace kube::detail
