// The cost of reading one object, or all of them.
#pragma once

#include <string>

namespace kube::bench {

/// Reads one of seed()'s pods `count` times on each thread, one request after the other.
int get(const std::string& mode, int count, int threads);

/// Lists all pods so many times.
int list(const std::string& mode, int rounds);
/// The same without decoding: measures the speed of the server.
int rawList(const std::string& mode, int rounds);

}  // namespace kube::bench
