// The cost of a GET.
#pragma once

#include <string>

namespace kube::bench {

/// Reads one of seed()'s pods `count` times on each thread, one request after the other.
int get(const std::string& mode, int count, int threads);

}  // namespace kube::bench
