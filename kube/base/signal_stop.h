// Ending a program when it is asked to.
//
//   int main() {
//     std::stop_token stop = kube::signalStop();
//     runUntil(stop);
//   }
//
// The first SIGINT or SIGTERM requests a stop; a second one ends the process at once, with status
// 1, for those who do not want to wait.
//
// Thread safety: may be called from any thread, and more than once: all tokens are one.
#pragma once

#include <stop_token>

namespace kube {

/// Takes over SIGINT and SIGTERM, for as long as the process lives. Throws Error where the system
/// gives no pipe.
std::stop_token signalStop();

}  // namespace kube
