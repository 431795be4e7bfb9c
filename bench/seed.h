// The pods that the benchmarks use, the same as in the peers' programs.
#pragma once

#include "kube/api/core/v1.h"

namespace kube::bench {

/// The i-th pod, of 50 namespaces, 500 apps and 200 nodes.
corev1::Pod makePod(int i);

/// Creates the first `count` of them, with status, and the namespaces, accounts and nodes that
/// they need. Objects that exist stay as they are.
int seed(int count);

}  // namespace kube::bench
