// Lists the resources that the cluster of the kubeconfig serves, like kubectl api-resources. Uses
// kubectl's cache files if they are recent enough.
//
//   api_resources

#include <fmt/format.h>

#include <iostream>

#include "kube/client/api_discovery/cached_discovery_client.h"

int main() {
  try {
    const auto config = kube::Config::load();
    const kube::CachedDiscoveryClient discovery(kube::DiscoveryClient(config),
                                                {.folder = kube::discoveryCacheFolder(config)});
    const auto served = discovery.serverPreferredResources();
    constexpr std::string_view kRow = "{:<34}{:<12}{:<32}{:<12}{}\n";
    std::cout << fmt::format(kRow, "NAME", "SHORTNAMES", "APIVERSION", "NAMESPACED", "KIND");
    for (const auto& list : served.resources) {
      for (const auto& resource : list.resources) {
        const std::string shortNames = fmt::format("{}", fmt::join(resource.shortNames, ","));
        std::cout << fmt::format(kRow, resource.name.view(), shortNames, list.groupVersion.view(),
                                 resource.namespaced, resource.kind.view());
      }
    }
    for (const auto& failure : served.failed) {
      std::cerr << failure.version << ": cannot be listed: " << failure.message << '\n';
    }
    return served.failed.empty() ? 0 : 1;
  } catch (const kube::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
