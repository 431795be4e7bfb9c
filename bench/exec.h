// What goes through exec and port-forward, over TLS to an API server in the process.
#pragma once

#include <cstddef>

namespace kube::bench {

/// So many megabytes in each direction, and how long a cancellation takes.
int exec(std::size_t megabytes);

}  // namespace kube::bench
