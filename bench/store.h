// The speed of a store.
#pragma once

namespace kube::bench {

/// Adds, gets, lists by index and updates 100,000 pods, like the peer; then reads again with
/// several threads.
int store(int threads);

}  // namespace kube::bench
