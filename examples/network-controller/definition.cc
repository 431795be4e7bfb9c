#include "examples/network-controller/definition.h"

#include <fstream>
#include <sstream>

#include "kube/base/error.h"
#include "kube/client/api_discovery/discovery_client.h"
#include "kube/client/api_discovery/discovery_rest_mapper.h"
#include "kube/client/dynamic_client.h"

namespace network {

std::string readManifest(const std::string& file, const std::string& folder) {
  const std::string path = folder + "/" + file;
  std::ifstream in(path, std::ios::binary);
  if (!in)
    throw kube::Error(path + ": cannot be opened; run this in the top folder of the project");
  std::stringstream content;
  content << in.rdbuf();
  return content.str();
}

kube::ManifestReport installDefinition(const kube::RestClient& rest) {
  const auto mapper = kube::discoveryRestMapper(kube::DiscoveryClient(rest));
  auto report = kube::applyFromYaml(kube::DynamicClient(rest), *mapper, readManifest("crd.yaml"),
                                    {.fieldManager = "network-controller", .force = true});
  report.throwIfFailed();
  return report;
}

void removeDefinition(const kube::RestClient& rest) {
  const auto mapper = kube::discoveryRestMapper(kube::DiscoveryClient(rest));
  kube::removeFromYaml(kube::DynamicClient(rest), *mapper, readManifest("crd.yaml"))
      .throwIfFailed();
}

}  // namespace network
