// The definition of Networks, for programs that bring it along.
#pragma once

#include <string>

#include "kube/client/manifest.h"
#include "kube/rest/rest_client.h"

namespace network {

/// One of the manifests, "crd.yaml". Throws kube::Error if it cannot be read: the folder is found
/// from the project's top folder.
std::string readManifest(const std::string& file,
                         const std::string& folder = "examples/network-controller/deploy");

/// Applies the definition, and waits until Networks are served. Throws if that fails.
kube::ManifestReport installDefinition(const kube::RestClient& rest);
void removeDefinition(const kube::RestClient& rest);

}  // namespace network
