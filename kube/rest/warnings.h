// Handlers of the warnings that servers send, such as that an API is deprecated.
//
//   config.warningHandler = kube::eachWarningOnce();          // of one client
//   kube::setDefaultWarningHandler(kube::ignoreWarnings());   // of all that have no handler
//
// Handlers are called by the thread that has received the answer, several at a time, and must not
// block. Only warnings with the code 299 are shown, as Kubernetes sends them; long ones are cut.
//
// Thread safety: every function and handler may be called from any thread.
#pragma once

#include <cstddef>

#include "kube/rest/config.h"

namespace kube {

/// Logs a warning. The default.
WarningHandler logWarnings();
WarningHandler ignoreWarnings();

/// Passes each text on once. It remembers the latest `remembered` texts; one that was forgotten is
/// passed on again.
WarningHandler eachWarningOnce(WarningHandler handler = logWarnings(),
                               std::size_t remembered = 256);

/// Replaces the handler of the clients whose Config has none, and returns the one before. An empty
/// function stands for logWarnings().
WarningHandler setDefaultWarningHandler(WarningHandler handler);
WarningHandler defaultWarningHandler();

}  // namespace kube
