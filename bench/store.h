// The speed of a store.
#pragma once

namespace kube::bench {

/// Adds, gets, lists by index and updates 100,000 pods, as the peer does; then once more with
/// several threads that read.
int store(int threads);

}  // namespace kube::bench
