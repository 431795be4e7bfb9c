// Role bindings and certificate requests as rows of a table.
#include <fmt/core.h>

#include <vector>

#include "kube/api/certificates/v1.h"
#include "kube/api/certificates/v1beta1.h"
#include "kube/api/rbac/v1.h"
#include "kube/apiserver/table/table_columns.h"
#include "kube/meta/conditions.h"
#include "kube/meta/selectors/label_selector.h"

namespace kube::apiserver {

namespace {

using certificatesv1::CertificateSigningRequest;

// The names of the subjects of one kind.
template <class Binding>
std::string subjectsOf(const Binding& binding, std::string_view kind) {
  std::vector<std::string> names;
  for (const rbacv1::Subject& subject : binding.subjects) {
    if (subject.kind != kind) continue;
    names.push_back(kind == "ServiceAccount"
                        ? fmt::format("{}/{}", subject.namespace_, subject.name)
                        : subject.name.str());
  }
  return joined(names, ", ");
}

template <class Binding>
constexpr TableColumn kBindings[] = {
    nameColumn<Binding>(),
    text("Role", "the role that is given",
         [](const Binding& binding) {
           return fmt::format("{}/{}", binding.roleRef->kind, binding.roleRef->name);
         }),
    ageColumn<Binding>(),
    wide(text("Users", "users who have it",
              [](const Binding& binding) { return subjectsOf(binding, "User"); })),
    wide(text("Groups", "groups that have it",
              [](const Binding& binding) { return subjectsOf(binding, "Group"); })),
    wide(text("ServiceAccounts", "service accounts that have it",
              [](const Binding& binding) { return subjectsOf(binding, "ServiceAccount"); })),
};

std::string conditionOf(const CertificateSigningRequest& request) {
  const auto& status = *request.status;
  const auto has = [&](std::string_view type) {
    return findStatusCondition(status.conditions, type) != nullptr;
  };
  std::string out = has("Denied") ? "Denied" : has("Approved") ? "Approved" : "Pending";
  if (has("Failed")) out += ",Failed";
  if (!status.certificate.empty()) out += ",Issued";
  return out;
}

constexpr TableColumn kCertificateSigningRequests[] = {
    nameColumn<CertificateSigningRequest>(),
    ageColumn<CertificateSigningRequest>(),
    text("SignerName", "who should sign",
         [](const CertificateSigningRequest& request) {
           return orElse(request.spec->signerName, "<none>");
         }),
    text("Requestor", "who asks",
         [](const CertificateSigningRequest& request) { return request.spec->username; }),
    text("RequestedDuration", "how long the certificate should be valid",
         [](const CertificateSigningRequest& request) {
           const auto& seconds = request.spec->expirationSeconds;
           return seconds ? detail::humanDuration(std::chrono::seconds(*seconds)) : "<none>";
         }),
    text("Condition", "whether it was approved and signed",
         [](const CertificateSigningRequest& request) { return conditionOf(request); }),
};

template <class ClusterTrustBundle>
constexpr TableColumn kClusterTrustBundles[] = {
    nameColumn<ClusterTrustBundle>(),
    text(
        "SignerName", "whose certificates it is for",
        [](const ClusterTrustBundle& bundle) { return orElse(bundle.spec->signerName, "<none>"); }),
};

template <class PodCertificateRequest>
std::string_view stateOf(const PodCertificateRequest& request) {
  std::string_view state = "Pending";
  for (const metav1::Condition& condition : request.status->conditions) {
    for (const std::string_view ending : {"Issued", "Denied", "Failed"}) {
      if (condition.type == ending) state = ending;
    }
  }
  return state;
}

template <class PodCertificateRequest>
constexpr TableColumn kPodCertificateRequests[] = {
    nameColumn<PodCertificateRequest>(),
    text("PodName", "the pod it is for",
         [](const PodCertificateRequest& request) { return request.spec->podName; }),
    text("ServiceAccountName", "the pod's service account",
         [](const PodCertificateRequest& request) { return request.spec->serviceAccountName; }),
    text("NodeName", "the pod's node",
         [](const PodCertificateRequest& request) { return request.spec->nodeName; }),
    text("SignerName", "who should sign",
         [](const PodCertificateRequest& request) { return request.spec->signerName; }),
    text("State", "whether it was signed",
         [](const PodCertificateRequest& request) { return stateOf(request); }),
    text("UnverifiedUserAnnotations", "what the pod says beside",
         [](const PodCertificateRequest& request) {
           return labels::formatLabels(request.spec->unverifiedUserAnnotations);
         }),
};

constexpr KindTable kAccessTables[] = {
    kindTable<rbacv1::RoleBinding>(kBindings<rbacv1::RoleBinding>),
    kindTable<rbacv1::ClusterRoleBinding>(kBindings<rbacv1::ClusterRoleBinding>),
    kindTable<CertificateSigningRequest>(kCertificateSigningRequests),
    kindTable<certificatesv1::ClusterTrustBundle>(
        kClusterTrustBundles<certificatesv1::ClusterTrustBundle>),
    kindTable<certificatesv1beta1::ClusterTrustBundle>(
        kClusterTrustBundles<certificatesv1beta1::ClusterTrustBundle>),
    kindTable<certificatesv1::PodCertificateRequest>(
        kPodCertificateRequests<certificatesv1::PodCertificateRequest>),
    kindTable<certificatesv1beta1::PodCertificateRequest>(
        kPodCertificateRequests<certificatesv1beta1::PodCertificateRequest>),
};

}  // namespace

std::span<const KindTable> accessTables() { return kAccessTables; }

}  // namespace kube::apiserver
