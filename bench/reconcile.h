// The sample operator under load, with many Networks at once.
#pragma once

namespace kube::bench {

/// Creates so many Networks on the server of $KUBECONFIG, from 16 threads.
int createNetworks(int count);

/// Runs the operator until so many Networks are ready.
int reconcile(int count, int workers);

}  // namespace kube::bench
