// Measures threads, memory and CPU of many informers in one process.
#pragma once

namespace kube::soak {

/// Each informer watches a namespace of its own with some objects. All use one client; the server
/// runs in another process. Prints the figures as JSON. Must be called before the process has
/// started a thread.
int runMany(int informers, int objectsEach);

}  // namespace kube::soak
