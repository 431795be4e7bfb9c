// The CustomResourceDefinition of Networks, for programs that install it themselves.
#pragma once

#include <string>

#include "kube/client/manifest.h"
#include "kube/rest/rest_client.h"

namespace network {

/// Returns the text of a manifest, such as "crd.yaml". The folder is relative to the top folder of
/// the project. Throws kube::Error if the file cannot be read.
std::string readManifest(const std::string& file,
                         const std::string& folder = "examples/network-controller/deploy");

/// Applies the definition and waits until Networks are served. Throws if that fails.
kube::ManifestReport installDefinition(const kube::RestClient& rest);
void removeDefinition(const kube::RestClient& rest);

}  // namespace network
