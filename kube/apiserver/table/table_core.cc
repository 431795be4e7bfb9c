// ConfigMaps, secrets, accounts, namespaces and quotas as rows of a table.
#include <fmt/core.h>

#include "kube/api/core/v1.h"
#include "kube/apiserver/table/table_columns.h"

namespace kube::apiserver {

namespace {

using corev1::ConfigMap;
using corev1::Namespace;
using corev1::ResourceQuota;
using corev1::Secret;
using corev1::ServiceAccount;

constexpr TableColumn kNamespaces[] = {
    nameColumn<Namespace>(),
    text("Status", "whether the namespace is in use or going away",
         [](const Namespace& space) { return orElse(space.status->phase, "Active"); }),
    ageColumn<Namespace>(),
};

constexpr TableColumn kConfigMaps[] = {
    nameColumn<ConfigMap>(),
    text("Data", "how many entries it has",
         [](const ConfigMap& map) { return map.data.size() + map.binaryData.size(); }),
    ageColumn<ConfigMap>(),
};

constexpr TableColumn kSecrets[] = {
    nameColumn<Secret>(),
    text("Type", "what the data is for",
         [](const Secret& secret) { return orElse(secret.type, "Opaque"); }),
    text("Data", "how many entries it has",
         [](const Secret& secret) { return secret.data.size(); }),
    ageColumn<Secret>(),
};

constexpr TableColumn kServiceAccounts[] = {
    nameColumn<ServiceAccount>(),
    ageColumn<ServiceAccount>(),
};

// "cpu: 1/4, memory: 2Gi/8Gi": either the limits, or all others.
std::string usage(const ResourceQuota& quota, bool limits) {
  std::string out;
  for (const auto& [resource, hard] : quota.status->hard) {
    if (resource.view().starts_with("limits.") != limits) continue;
    if (!out.empty()) out += ", ";
    out += fmt::format("{}: {}/{}", resource, quota.status->used[resource], hard);
  }
  return out;
}

constexpr TableColumn kResourceQuotas[] = {
    nameColumn<ResourceQuota>(),
    text("Request", "requests and counts, used of allowed",
         [](const ResourceQuota& quota) { return usage(quota, false); }),
    text("Limit", "limits, used of allowed",
         [](const ResourceQuota& quota) { return usage(quota, true); }),
    ageColumn<ResourceQuota>(),
};

constexpr KindTable kCoreTables[] = {
    kindTable<Namespace>(kNamespaces),
    kindTable<ConfigMap>(kConfigMaps),
    kindTable<Secret>(kSecrets),
    kindTable<ServiceAccount>(kServiceAccounts),
    kindTable<ResourceQuota>(kResourceQuotas),
};

}  // namespace

std::span<const KindTable> coreTables() { return kCoreTables; }

}  // namespace kube::apiserver
