// Many informers in one process: what they cost in threads, memory and CPU.
#pragma once

namespace kube::soak {

/// Each of a namespace of its own with some objects, all on one client; the server is another
/// process. Prints the figures as JSON. Must be called before the process has started a thread.
int runMany(int informers, int objectsEach);

}  // namespace kube::soak
