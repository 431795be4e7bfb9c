// Ends a program on SIGINT or SIGTERM.
//
//   int main() {
//     std::stop_token stop = kube::signalStop();
//     runUntil(stop);
//   }
//
// The first SIGINT or SIGTERM requests a stop. A second one ends the process at once, with status
// 1, for users who do not want to wait.
//
// Thread safety: may be called from any thread, and more than once: all tokens share one state.
#pragma once

#include <stop_token>

namespace kube {

/// Handles SIGINT and SIGTERM for as long as the process lives. Throws Error if the system cannot
/// create a pipe.
std::stop_token signalStop();

}  // namespace kube
