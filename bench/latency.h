// How long an event takes from the acknowledgement of its write to the handler.
#pragma once

#include <string>

namespace kube::bench {

/// Watches the ConfigMaps that pacedWrites() changes. Prints "ready", and some seconds later writes
/// a line for each update to the file: resourceVersion, and the time of the handler's call in
/// nanoseconds of the wall clock.
int latency(const std::string& mode, int seconds, const std::string& file);

/// Changes ConfigMaps `rate` times a second for some seconds, as fast as the server allows, and
/// writes a line for each change to the file: resourceVersion, and the time of the answer.
int pacedWrites(int rate, int seconds, const std::string& file);

}  // namespace kube::bench
