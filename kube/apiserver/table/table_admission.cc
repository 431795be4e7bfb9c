// Webhooks and admission policies as rows of a table.
#include <fmt/core.h>

#include "kube/api/admissionregistration/v1.h"
#include "kube/api/admissionregistration/v1alpha1.h"
#include "kube/api/admissionregistration/v1beta1.h"
#include "kube/apiserver/table/table_columns.h"
#include "kube/meta/selectors/label_selector.h"

namespace kube::apiserver {

namespace {

namespace v1 = admissionregistrationv1;
namespace v1alpha1 = admissionregistrationv1alpha1;
namespace v1beta1 = admissionregistrationv1beta1;

template <class Configuration>
constexpr TableColumn kWebhooks[] = {
    nameColumn<Configuration>(),
    integer("Webhooks", "how many webhooks there are",
            [](const Configuration& object) { return object.webhooks.size(); }),
    ageColumn<Configuration>(),
};

template <class Policy>
constexpr TableColumn paramKindColumn() {
  return text("ParamKind", "the kind of its parameters", [](const Policy& policy) {
    const auto& kind = policy.spec->paramKind;
    return kind ? fmt::format("{}/{}", kind->apiVersion, kind->kind) : "<unset>";
  });
}

template <class Policy>
constexpr TableColumn kValidatingPolicies[] = {
    nameColumn<Policy>(),
    integer("Validations", "how many rules there are",
            [](const Policy& policy) { return policy.spec->validations.size(); }),
    paramKindColumn<Policy>(),
    ageColumn<Policy>(),
};

template <class Policy>
constexpr TableColumn kMutatingPolicies[] = {
    nameColumn<Policy>(),
    integer("Mutations", "how many changes it makes",
            [](const Policy& policy) { return policy.spec->mutations.size(); }),
    paramKindColumn<Policy>(),
    ageColumn<Policy>(),
};

template <class Binding>
std::string paramsOf(const Binding& binding) {
  if (!binding.spec->paramRef) return "<unset>";
  const auto& params = *binding.spec->paramRef;
  // Parameters without a namespace are cluster-scoped or in the namespace of the checked object.
  if (!params.name.empty()) {
    return fmt::format("{}/{}", orElse(params.namespace_, "*"), params.name);
  }
  return params.selector ? labels::formatLabelSelector(params.selector) : "<unset>";
}

template <class Binding>
constexpr TableColumn kPolicyBindings[] = {
    nameColumn<Binding>(),
    text("PolicyName", "the policy",
         [](const Binding& binding) { return binding.spec->policyName; }),
    text("ParamRef", "the policy's parameters",
         [](const Binding& binding) { return paramsOf(binding); }),
    ageColumn<Binding>(),
};

template <class T>
constexpr KindTable bindings() {
  return kindTable<T>(kPolicyBindings<T>);
}
template <class T>
constexpr KindTable validating() {
  return kindTable<T>(kValidatingPolicies<T>);
}
template <class T>
constexpr KindTable mutating() {
  return kindTable<T>(kMutatingPolicies<T>);
}

constexpr KindTable kAdmissionTables[] = {
    kindTable<v1::MutatingWebhookConfiguration>(kWebhooks<v1::MutatingWebhookConfiguration>),
    kindTable<v1::ValidatingWebhookConfiguration>(kWebhooks<v1::ValidatingWebhookConfiguration>),
    validating<v1::ValidatingAdmissionPolicy>(),
    bindings<v1::ValidatingAdmissionPolicyBinding>(),
    mutating<v1::MutatingAdmissionPolicy>(),
    mutating<v1beta1::MutatingAdmissionPolicy>(),
    mutating<v1alpha1::MutatingAdmissionPolicy>(),
    bindings<v1::MutatingAdmissionPolicyBinding>(),
    bindings<v1beta1::MutatingAdmissionPolicyBinding>(),
    bindings<v1alpha1::MutatingAdmissionPolicyBinding>(),
};

}  // namespace

std::span<const KindTable> admissionTables() { return kAdmissionTables; }

}  // namespace kube::apiserver
