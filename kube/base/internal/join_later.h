// For an object that owns a thread and may be destroyed by that very thread, which cannot wait for
// itself: the thread is joined by somebody else, at the latest when the process ends, so that none
// runs on while the process is taken down.
#pragma once

#include <thread>

namespace kube {

/// Takes over `thread`, which is about to end.
void joinLater(std::thread thread);

}  // namespace kube
