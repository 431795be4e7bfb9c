// The throughput of a work queue.
#pragma once

namespace kube::bench {

/// One thread adds 2,000,000 times, 100,000 keys in turn, and 1 and then 4 workers take and forget
/// them. `objectKeys`: ObjectKey instead of String. `named`: with metrics.
int queue(bool objectKeys, bool named);

}  // namespace kube::bench
