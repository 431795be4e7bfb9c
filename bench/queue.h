// The throughput of a work queue.
#pragma once

#include <vector>

namespace kube::bench {

/// One thread adds 2,000,000 times, 100,000 keys in turn, and workers take and forget them, once
/// for each number of workers. `objectKeys`: ObjectKey instead of String. `named`: with metrics.
int queue(bool objectKeys, bool named, const std::vector<int>& workerCounts);

}  // namespace kube::bench
