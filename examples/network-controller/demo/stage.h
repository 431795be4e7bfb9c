// The stage of the demo: a cluster with the custom resource, and output that reports changes of
// Networks, plans and leaders while they happen.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "examples/network-controller/demo/replica.h"
#include "examples/network-controller/network.h"
#include "kube/api/coordination/v1.h"
#include "kube/api/core/v1.h"
#include "kube/cache/shared_informer_factory.h"
#include "kube/client/clientset.h"
#include "kube/testing/api_server.h"

namespace network {

struct StageOptions {
  bool cluster = false;  // use the cluster of $KUBECONFIG instead of a server in this process
};

class Stage {
 public:
  using Network = samplecrdv1::Network;
  using ConfigMap = kube::corev1::ConfigMap;

  explicit Stage(const StageOptions& options);
  ~Stage();

  // ---- Output.

  void title(std::string_view text);
  void say(std::string_view text);
  void done(std::string_view text);
  /// Prints a line of a listing.
  void row(std::string_view text);
  /// Leaves time to read, on a terminal.
  void pause() const;

  // ---- The cluster.

  const std::string& kubeconfig() const noexcept { return kubeconfig_; }
  const std::string& space() const noexcept { return space_; }
  std::unique_ptr<Replica> startReplica(std::string_view identity) const;
  kube::ResourceClient<Network> networks() const;
  kube::ResourceClient<ConfigMap> maps() const;
  void create(std::string_view name, std::string_view cidr, std::string_view gateway = {}) const;
  void change(std::string_view name, std::string_view cidr) const;

  // ---- State of the cluster, from informers.

  std::string leader() const;
  /// Returns the reason of the condition Ready; empty while the Network has none.
  std::string reasonOf(std::string_view name) const;
  std::vector<std::shared_ptr<const Network>> allNetworks() const;
  std::vector<std::shared_ptr<const ConfigMap>> allPlans() const;
  /// Throws kube::Error after half a minute.
  void waitUntil(std::string_view what, const std::function<bool()>& holds) const;
  void waitForReason(std::string_view name, std::string_view reason) const {
    waitUntil(name, [=, this] { return reasonOf(name) == reason; });
  }

  /// Removes everything that the demo has created on the cluster.
  void clear();

 private:
  void install(const StageOptions& options);
  void listen();
  void tell(std::string_view color, std::string_view who, std::string_view what);
  std::string paint(std::string_view color, std::string_view text) const;

  const bool colored_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  mutable std::mutex outMutex_;
  std::filesystem::path scratch_;
  std::optional<kube::testing::ApiServer> server_;
  std::string kubeconfig_;
  std::string space_ = "default";
  bool ownSpace_ = false;
  bool ownDefinition_ = false;
  std::optional<kube::Clientset> clients_;
  std::optional<kube::SharedInformerFactory> informers_;
  std::map<std::string, std::string> said_;  // by Network: the last condition that was printed
};

}  // namespace network
