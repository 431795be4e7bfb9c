// What many informers in one process cost, and many watches a server.
#pragma once

namespace kube::bench {

/// So many namespaces with ten ConfigMaps each; what is there already stays.
int createConfigMaps(int namespaces);

/// Fills so many informers, each of the ConfigMaps of one of these namespaces.
int informers(int count);

/// Changes ConfigMaps so many times, by several threads, while others watch them: how many events a
/// second all watchers get together, and whether all of them and in order.
int watchers(int changes, int watches);

}  // namespace kube::bench
