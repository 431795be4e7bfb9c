// A controller whose reconcile function waits for something outside.
#pragma once

namespace kube::bench {

/// Reconciles so many keys, each of which waits for 10 ms: in coroutines, so many in flight; or, if
/// that is 0, in threads that block. No server is needed.
int reconciles(int count, int workers, int inFlight);

}  // namespace kube::bench
