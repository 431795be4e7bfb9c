// The sample operator: gives every Network addresses of its own, and writes down which.
//
// A Network asks for a CIDR, or for one of some size from the pool. It gets it if no other has any
// of it: then there is a ConfigMap, network-<name>, with the plan, owned by the Network, and the
// condition Ready is True. Otherwise that is False and says why, there is an event, and no
// ConfigMap; as soon as what is in the way is gone, it is tried again. A finalizer keeps a Network
// that is deleted until its addresses are free.
//
// The ConfigMaps are the truth about who has what: a new leader reads them all, from the server,
// before it decides anything, so that nothing is given away twice even if its predecessor died in
// the middle of something. All else, status and memory, follows from them. The cache of them may be
// behind, so nothing is given back on its word: the server is asked what is written there.
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
/// On a ConfigMap: which copy of the program wrote it last.
inline constexpr std::string_view kWrittenBy = "samplecrd.k8s.io/written-by";

struct NetworkControllerOptions {
  Ipv4Block pool = {0x0a000000, 8};  // 10.0.0.0/8
  int workers = 2;
};

class NetworkController {
 public:
  /// Adds itself to the manager; lives until that has run.
  explicit NetworkController(kube::Manager& manager, NetworkControllerOptions options = {});

  static kube::String planName(const kube::ObjectKey& network) { return "network-" + network.name; }

 private:
  using Network = samplecrdv1::Network;
  using ConfigMap = kube::corev1::ConfigMap;

  // What a Network gets, or why it does not.
  struct Verdict {
    std::optional<Ipv4Block> block = {};
    std::uint32_t gateway = 0;
    std::string reason = {};
    std::string message = {};
  };

  kube::Requeue reconcile(const kube::ObjectKey& key, const std::stop_token& stop);
  void readPlan(const std::stop_token& stop);
  Verdict decide(const kube::ObjectKey& key, const Network& network);
  // These two are not given up when the leader stops: what the server does with a request that
  // nobody waits for, it might do when the next leader has read the plan.
  /// False: the name is taken by something else.
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
