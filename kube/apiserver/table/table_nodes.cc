// Nodes and leases as rows of a table.
#include <fmt/core.h>

#include <set>

#include "kube/api/coordination/v1.h"
#include "kube/api/coordination/v1alpha2.h"
#include "kube/api/coordination/v1beta1.h"
#include "kube/api/core/v1.h"
#include "kube/api/node/v1.h"
#include "kube/apiserver/table/table_columns.h"
#include "kube/meta/conditions.h"

namespace kube::apiserver {

namespace {

using coordinationv1::Lease;
using corev1::ComponentStatus;
using corev1::Node;
using nodev1::RuntimeClass;

std::string statusOf(const Node& node) {
  const auto* ready = findStatusCondition(node.status->conditions, "Ready");
  std::string status = ready == nullptr                  ? "Unknown"
                       : ready->status == kConditionTrue ? "Ready"
                                                         : "NotReady";
  if (node.spec->unschedulable) status += ",SchedulingDisabled";
  return status;
}

std::string rolesOf(const Node& node) {
  constexpr std::string_view kPrefix = "node-role.kubernetes.io/";
  std::set<std::string_view> roles;
  for (const auto& [key, value] : node.metadata.labels) {
    if (key.view().starts_with(kPrefix)) {
      if (key.size() > kPrefix.size()) roles.insert(key.view().substr(kPrefix.size()));
    } else if (key == "kubernetes.io/role" && !value.empty()) {
      roles.insert(value);
    }
  }
  return roles.empty() ? "<none>" : joined(roles, ",");
}

String addressOf(const Node& node, std::string_view type) {
  for (const corev1::NodeAddress& address : node.status->addresses) {
    if (address.type == type) return address.address;
  }
  return "<none>";
}

std::string kernelOf(const Node& node) {
  const auto& info = *node.status->nodeInfo;
  const String version = orElse(info.kernelVersion, "<unknown>");
  if (info.architecture.empty()) return version.str();
  return fmt::format("{} ({})", version, info.architecture);
}

constexpr TableColumn kNodes[] = {
    nameColumn<Node>(),
    text("Status", "whether the node is ready, and takes pods",
         [](const Node& node) { return statusOf(node); }),
    text("Roles", "what its labels say the node is for",
         [](const Node& node) { return rolesOf(node); }),
    ageColumn<Node>(),
    text("Version", "the kubelet's version",
         [](const Node& node) { return node.status->nodeInfo->kubeletVersion; }),
    wide(text("Internal-IP", "the address inside of the cluster",
              [](const Node& node) { return addressOf(node, "InternalIP"); })),
    wide(text("External-IP", "the address outside of the cluster",
              [](const Node& node) { return addressOf(node, "ExternalIP"); })),
    wide(
        text("OS-Image", "the operating system",
             [](const Node& node) { return orElse(node.status->nodeInfo->osImage, "<unknown>"); })),
    wide(text("Kernel-Version", "the kernel's version and architecture",
              [](const Node& node) { return kernelOf(node); })),
    wide(text("Container-Runtime", "what runs containers, and its version",
              [](const Node& node) {
                return orElse(node.status->nodeInfo->containerRuntimeVersion, "<unknown>");
              })),
};

const corev1::ComponentCondition* healthOf(const ComponentStatus& component) {
  return findStatusCondition(component.conditions, "Healthy");
}

constexpr TableColumn kComponentStatuses[] = {
    nameColumn<ComponentStatus>(),
    text("Status", "whether the component is healthy",
         [](const ComponentStatus& component) {
           const auto* health = healthOf(component);
           if (health == nullptr) return "Unknown";
           return health->status == kConditionTrue ? "Healthy" : "Unhealthy";
         }),
    text("Message", "what the component says",
         [](const ComponentStatus& component) {
           const auto* health = healthOf(component);
           return health != nullptr ? health->message : String();
         }),
    text("Error", "why the component is not healthy",
         [](const ComponentStatus& component) {
           const auto* health = healthOf(component);
           return health != nullptr ? health->error : String();
         }),
};

constexpr TableColumn kRuntimeClasses[] = {
    nameColumn<RuntimeClass>(),
    text("Handler", "the runtime's configuration",
         [](const RuntimeClass& runtime) { return runtime.handler; }),
    ageColumn<RuntimeClass>(),
};

constexpr TableColumn kLeases[] = {
    nameColumn<Lease>(),
    text("Holder", "who holds the lease",
         [](const Lease& lease) { return orElse(lease.spec->holderIdentity, ""); }),
    ageColumn<Lease>(),
};

template <class LeaseCandidate>
constexpr TableColumn kLeaseCandidates[] = {
    nameColumn<LeaseCandidate>(),
    text("LeaseName", "the lease it may hold",
         [](const LeaseCandidate& candidate) { return candidate.spec->leaseName; }),
    text("BinaryVersion", "the candidate's version",
         [](const LeaseCandidate& candidate) { return candidate.spec->binaryVersion; }),
    text("EmulationVersion", "the version it behaves as",
         [](const LeaseCandidate& candidate) { return candidate.spec->emulationVersion; }),
    ageColumn<LeaseCandidate>(),
};

template <class LeaseCandidate>
constexpr KindTable leaseCandidates() {
  return kindTable<LeaseCandidate>(kLeaseCandidates<LeaseCandidate>);
}

constexpr KindTable kNodeTables[] = {
    kindTable<Node>(kNodes),
    kindTable<ComponentStatus>(kComponentStatuses),
    kindTable<RuntimeClass>(kRuntimeClasses),
    kindTable<Lease>(kLeases),
    leaseCandidates<coordinationv1alpha2::LeaseCandidate>(),
    leaseCandidates<coordinationv1beta1::LeaseCandidate>(),
};

}  // namespace

std::span<const KindTable> nodeTables() { return kNodeTables; }

}  // namespace kube::apiserver
