// The cost of many informers in one process, and of many watches on a server.
#pragma once

namespace kube::bench {

/// Creates so many namespaces with ten ConfigMaps each, unless they exist.
int createConfigMaps(int namespaces);

/// Fills so many informers, each with the ConfigMaps of one of these namespaces.
int informers(int count);

/// Changes ConfigMaps so many times, on several threads, while others watch them. Measures the
/// events a second of all watchers together, and checks that each gets all events in order.
int watchers(int changes, int watches);

}  // namespace kube::bench
