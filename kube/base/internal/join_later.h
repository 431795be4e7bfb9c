// For an object that owns a thread and may be destroyed by that very thread, which cannot join
// itself. The thread is joined later, at the latest when the process ends, so that it does not run
// on while the process is torn down.
#pragma once

#include <thread>

namespace kube {

/// Takes over `thread`, which is about to end.
void joinLater(std::thread thread);

}  // namespace kube
