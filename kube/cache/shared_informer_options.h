// Options of a SharedInformer.
//
//   kube::SharedInformer<Pod> pods(source, {.name = "pods", .resync = 10min});
//
// Thread safety: values.
#pragma once

#include "kube/cache/reflector_options.h"

namespace kube {

/// The options of the informer's reflector, two of them with a meaning of their own: `resync` is
/// the period of handlers that set none (HandlerOptions::resync), and `shouldResync` is ignored,
/// because the informer decides by the periods of its handlers.
using SharedInformerOptions = ReflectorOptions;

}  // namespace kube
