// What many informers in one process cost.
#pragma once

namespace kube::bench {

/// So many namespaces with ten ConfigMaps each; what is there already stays.
int createConfigMaps(int namespaces);

/// Fills so many informers, each of the ConfigMaps of one of these namespaces.
int informers(int count);

}  // namespace kube::bench
