// The sample operator: gives every Network addresses of its own and stores them.
//
// A Network asks for a CIDR, or for a block of some size from the pool. If no other Network has any
// of these addresses, a ConfigMap network-<name>, owned by the Network, holds the plan, and the
// condition Ready is True. Otherwise the condition is False with the reason, there is an event, and
// no ConfigMap; the controller tries again as soon as the addresses are free. A finalizer keeps a
// deleted Network until its addresses are free.
//
// The ConfigMaps are the source of truth. A new leader reads all of them from the server before it
// decides anything, so that no address is given away twice even if its predecessor died between two
// writes. Status and memory follow from the ConfigMaps. Their cache may be behind, so it does not
// suffice for giving addresses back: the controller reads the ConfigMap from the server for that.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "examples/network-controller/address_plan.h"
#include "examples/network-controller/network.h"
#include "kube/api/core/v1.h"
#include "kube/client/resource_client.h"
#include "kube/controller/event_recorder.h"
#include "kube/controller/manager.h"

namespace network {

inline constexpr std::string_view kFinalizer = "samplecrd.k8s.io/addresses";
inline constexpr std::string_view kManagedBy = "app.kubernetes.io/managed-by";
inline constexpr std::string_view kProgram = "network-controller";
/// An annotation of a ConfigMap: the copy of the program that wrote it last.
inline constexpr std::string_view kWrittenBy = "samplecrd.k8s.io/written-by";

struct NetworkControllerOptions {
  Ipv4Block pool = {0x0a000000, 8};  // 10.0.0.0/8
  int workers = 2;
};

class NetworkController {
 public:
  /// Adds itself to the manager. Must outlive manager.run().
  explicit NetworkController(kube::Manager& manager, NetworkControllerOptions options = {});

  static kube::String planName(const kube::ObjectKey& network) { return "network-" + network.name; }

 private:
  using Network = samplecrdv1::Network;
  using ConfigMap = kube::corev1::ConfigMap;

  // The block that a Network gets, or the reason why it gets none.
  struct Verdict {
    std::optional<Ipv4Block> block = {};
    std::uint32_t gateway = 0;
    std::string reason = {};
    std::string message = {};
  };

  kube::Requeue reconcile(const kube::ObjectKey& key, const std::stop_token& stop);
  void readPlan(const std::stop_token& stop);
  Verdict decide(const kube::ObjectKey& key, const Network& network);
  // These two are not cancelled when the leader stops: the server might carry out an abandoned
  // request after the next leader has read the plan.
  /// Returns false if a ConfigMap of another owner has the name.
  bool writePlan(const Network& network, const Verdict& verdict);
  void removePlan(const Network& network);
  void writeStatus(Network& network, const Verdict& verdict, const std::stop_token& stop);
  void cleanUp(const kube::ObjectKey& key, Network network, const std::stop_token& stop);
  void wake(const std::vector<kube::ObjectKey>& keys) const;

  kube::ResourceClient<Network> networks_;
  kube::ResourceClient<ConfigMap> maps_;
  kube::SharedInformer<ConfigMap> cachedMaps_;
  kube::EventRecorder events_;
  const kube::String identity_;
  AddressPlan plan_;
  kube::Controller<Network>& controller_;
};

}  // namespace network
