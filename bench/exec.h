// The throughput of exec, over TLS to an API server in the process.
#pragma once

#include <cstddef>

namespace kube::bench {

/// Measures the transfer of so many megabytes in each direction, and the time of a cancellation.
int exec(std::size_t megabytes);

}  // namespace kube::bench
