// The throughput of a work queue.
#pragma once

#include <vector>

namespace kube::bench {

/// Measures once for each number of workers: one thread makes 2,000,000 adds of 100,000 keys in
/// turn, and the workers take and forget them. With `objectKeys`, the keys are ObjectKey instead of
/// String; with `named`, the queue has metrics.
int queue(bool objectKeys, bool named, const std::vector<int>& workerCounts);

}  // namespace kube::bench
