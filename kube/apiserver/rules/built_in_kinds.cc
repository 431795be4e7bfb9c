// The table of built-in kinds.
#include <algorithm>
#include <memory>
#include <unordered_map>

#include "kube/apiserver/rules/built_in_kinds.h"
#include "kube/apiserver/rules/built_in_place.h"
#include "kube/apiserver/rules/built_in_rules.h"
#include "kube/meta/equality.h"

namespace kube::apiserver {

namespace {

using rules::Place;

/// A kind with the rules that built_in_kinds.h declares for it.
template <class T>
class RulesOf final : public BuiltInRules {
 public:
  explicit RulesOf(KindFacts facts) : BuiltInRules(TypeOf<T>::info, facts) {}

  std::int64_t deletionGrace([[maybe_unused]] const AnyObject& object,
                             [[maybe_unused]] std::optional<std::int64_t> wanted) const override {
    if constexpr (requires(const T& typed) { rules::deletionGrace(typed, wanted); }) {
      return rules::deletionGrace(*object.as<T>(), wanted);
    }
    return 0;
  }

  void setDefaults([[maybe_unused]] AnyObject& object) const override {
    if constexpr (requires(T & typed) { rules::setDefaults(typed); }) {
      rules::setDefaults(*object.as<T>());
    }
  }
  void prepareForCreate([[maybe_unused]] AnyObject& object) const override {
    // There is always a status, even if it is empty.
    if constexpr (requires(T & typed) { typed.status.write(); }) object.as<T>()->status.write();
    if constexpr (requires(T & typed) { rules::prepareCreate(typed); }) {
      rules::prepareCreate(*object.as<T>());
    }
  }
  void prepareForUpdate([[maybe_unused]] AnyObject& next,
                        [[maybe_unused]] const AnyObject& old) const override {
    if constexpr (requires(T & typed) { rules::prepareUpdate(typed, typed); }) {
      rules::prepareUpdate(*next.as<T>(), *old.as<T>());
    }
  }

  FieldErrors validate([[maybe_unused]] const AnyObject& object) const override {
    FieldErrors errors;
    [[maybe_unused]] const Place root(errors);
    if constexpr (requires(const T& typed) { rules::validate(typed, root); }) {
      rules::validate(*object.as<T>(), root);
    }
    if constexpr (requires(const T& typed) { rules::validateCreate(typed, root); }) {
      rules::validateCreate(*object.as<T>(), root);
    }
    return errors;
  }
  FieldErrors validateUpdate([[maybe_unused]] const AnyObject& next,
                             [[maybe_unused]] const AnyObject& old) const override {
    FieldErrors errors;
    if (old.as<T>() == nullptr) return errors;  // of another kind: nothing to compare
    [[maybe_unused]] const Place root(errors);
    if constexpr (requires(const T& typed) { rules::validate(typed, root); }) {
      rules::validate(*next.as<T>(), root);
    }
    if constexpr (requires(const T& typed) { rules::validateUpdate(typed, typed, root); }) {
      rules::validateUpdate(*next.as<T>(), *old.as<T>(), root);
    }
    return errors;
  }
};

using RulesByType = std::unordered_map<const TypeInfo*, std::shared_ptr<const KindRules>>;

template <class T>
RulesByType::value_type kind(KindFacts facts = {}) {
  return {&TypeOf<T>::info, std::make_shared<const RulesOf<T>>(facts)};
}

RulesByType allKinds() {
  using enum Generation;
  using validation::nameIsDNSLabel;
  using validation::nameIsPathSegment;
  namespace admission = admissionregistrationv1;
  return {
      // Core.
      kind<corev1::Pod>({.generation = Spec}),
      kind<corev1::PodTemplate>({.generation = Spec}),
      kind<corev1::ReplicationController>({.generation = Spec}),
      // RFC 1123 since 1.36; RFC 1035 before, so that a name could not start with a digit.
      kind<corev1::Service>({.name = nameIsDNSLabel, .createOnUpdate = true}),
      kind<corev1::Endpoints>({.createOnUpdate = true}),
      kind<corev1::ConfigMap>(),
      kind<corev1::Secret>(),
      kind<corev1::ServiceAccount>(),
      kind<corev1::Namespace>({.name = nameIsDNSLabel}),
      kind<corev1::Node>({.keepsStatus = true}),
      kind<corev1::PersistentVolume>(),
      kind<corev1::PersistentVolumeClaim>(),
      kind<corev1::Event>({.name = nameIsPathSegment, .createOnUpdate = true}),
      kind<corev1::LimitRange>({.createOnUpdate = true}),
      kind<corev1::ResourceQuota>(),
      kind<eventsv1::Event>({.createOnUpdate = true}),
      // Workloads.
      kind<appsv1::Deployment>({.generation = Annotations}),
      kind<appsv1::ReplicaSet>({.generation = Spec}),
      kind<appsv1::StatefulSet>({.generation = Spec, .name = nameIsDNSLabel}),
      kind<appsv1::DaemonSet>({.generation = Spec}),
      kind<appsv1::ControllerRevision>(),
      kind<batchv1::Job>({.generation = Spec}),
      kind<batchv1::CronJob>({.generation = Spec}),
      kind<autoscalingv1::HorizontalPodAutoscaler>(),
      kind<autoscalingv2::HorizontalPodAutoscaler>(),
      kind<policyv1::PodDisruptionBudget>(
          {.generation = Spec, .name = nameIsPathSegment, .unconditionalUpdate = false}),
      kind<schedulingv1::PriorityClass>({.generation = Fixed}),
      kind<nodev1::RuntimeClass>({.createOnUpdate = true, .unconditionalUpdate = false}),
      kind<coordinationv1::Lease>({.createOnUpdate = true, .unconditionalUpdate = false}),
      // Network.
      kind<discoveryv1::EndpointSlice>({.generation = Labels}),
      kind<networkingv1::Ingress>({.generation = Spec}),
      kind<networkingv1::IngressClass>({.generation = Spec}),
      kind<networkingv1::NetworkPolicy>({.generation = Spec}),
      kind<networkingv1::IPAddress>({.name = rules::nameIsAddress}),
      kind<networkingv1::ServiceCIDR>(),
      // Storage.
      kind<storagev1::StorageClass>(),
      kind<storagev1::VolumeAttributesClass>(),
      kind<storagev1::CSIDriver>({.generation = CountedFromZero, .unconditionalUpdate = false}),
      kind<storagev1::CSINode>({.unconditionalUpdate = false}),
      kind<storagev1::CSIStorageCapacity>({.unconditionalUpdate = false}),
      kind<storagev1::VolumeAttachment>({.unconditionalUpdate = false}),
      // Access.
      kind<rbacv1::Role>({.name = nameIsPathSegment, .createOnUpdate = true}),
      kind<rbacv1::ClusterRole>({.name = nameIsPathSegment, .createOnUpdate = true}),
      kind<rbacv1::RoleBinding>({.name = nameIsPathSegment, .createOnUpdate = true}),
      kind<rbacv1::ClusterRoleBinding>({.name = nameIsPathSegment, .createOnUpdate = true}),
      kind<certificatesv1::CertificateSigningRequest>({.name = rules::nameIsAnything}),
      // The name depends on the signer: see the checks.
      kind<certificatesv1::ClusterTrustBundle>(
          {.name = rules::nameIsAnything, .unconditionalUpdate = false}),
      kind<certificatesv1beta1::ClusterTrustBundle>(
          {.name = rules::nameIsAnything, .unconditionalUpdate = false}),
      kind<certificatesv1::PodCertificateRequest>({.unconditionalUpdate = false}),
      kind<certificatesv1beta1::PodCertificateRequest>({.unconditionalUpdate = false}),
      // Scheduling and evictions.
      kind<schedulingv1beta1::Workload>({.unconditionalUpdate = false}),
      kind<schedulingv1alpha3::Workload>({.unconditionalUpdate = false}),
      kind<schedulingv1beta1::PodGroup>({.unconditionalUpdate = false}),
      kind<schedulingv1alpha3::PodGroup>({.unconditionalUpdate = false}),
      kind<schedulingv1alpha3::CompositePodGroup>({.unconditionalUpdate = false}),
      kind<resourcev1::DeviceTaintRule>({.generation = Spec, .unconditionalUpdate = false}),
      kind<resourcev1beta2::DeviceTaintRule>({.generation = Spec}),
      kind<resourcev1alpha3::DeviceTaintRule>({.generation = Spec}),
      kind<lifecyclev1alpha1::EvictionRequest>({.generation = Spec, .unconditionalUpdate = false}),
      kind<lifecyclev1alpha1::Eviction>({.generation = Spec, .unconditionalUpdate = false}),
      // The server itself.
      kind<admission::MutatingWebhookConfiguration>(
          {.generation = Spec, .unconditionalUpdate = false}),
      kind<admission::ValidatingWebhookConfiguration>(
          {.generation = Spec, .unconditionalUpdate = false}),
      kind<admission::ValidatingAdmissionPolicy>(
          {.generation = Spec, .unconditionalUpdate = false}),
      kind<admission::ValidatingAdmissionPolicyBinding>(
          {.generation = Spec, .unconditionalUpdate = false}),
      kind<admission::MutatingAdmissionPolicy>({.generation = Spec, .unconditionalUpdate = false}),
      kind<admission::MutatingAdmissionPolicyBinding>(
          {.generation = Spec, .unconditionalUpdate = false}),
      kind<apiregistrationv1::APIService>(
          {.name = nameIsPathSegment, .unconditionalUpdate = false}),
      kind<storagemigrationv1::StorageVersionMigration>({.unconditionalUpdate = false}),
      kind<storagemigrationv1beta1::StorageVersionMigration>({.unconditionalUpdate = false}),
      kind<flowcontrolv1::FlowSchema>({.generation = Spec}),
      kind<flowcontrolv1::PriorityLevelConfiguration>({.generation = Spec}),
  };
}

const void* at(const AnyObject& object, const FieldInfo& field) {
  return static_cast<const std::byte*>(object.data()) + field.offset;
}

/// True if anything outside of metadata and status differs.
bool changesSpec(const AnyObject& next, const AnyObject& old) {
  const auto& fields = next.type().fields;
  return !std::all_of(fields.begin(), fields.end(), [&](const FieldInfo& field) {
    return field.name == "metadata" || field.name == "status" ||
           kube::detail::semanticEqual(field, at(next, field), at(old, field));
  });
}

}  // namespace

validation::Reasons rules::nameIsAddress(std::string_view name, bool /*prefix*/) {
  validation::Reasons reasons;
  for (const FieldError& error : validation::isValidIP(ErrorPath(), name)) {
    reasons.push_back(error.detail);
  }
  return reasons;
}

validation::Reasons rules::nameIsAnything(std::string_view, bool) { return {}; }

BuiltInRules::BuiltInRules(const TypeInfo& type, KindFacts facts)
    : type_(type), facts_(facts), fields_(rules::selectableFieldsOf(type)) {}

std::shared_ptr<const KindRules> builtInRules(const TypeInfo& type) {
  static const RulesByType kinds = allKinds();
  const auto at = kinds.find(&type);
  return at != kinds.end() ? at->second : std::make_shared<const BuiltInRules>(type);
}

bool BuiltInRules::tracksGeneration() const {
  return facts_.generation != Generation::None && facts_.generation != Generation::CountedFromZero;
}

bool BuiltInRules::changesGeneration(const AnyObject& next, const AnyObject& old) const {
  const metav1::ObjectMeta& meta = *next.objectMeta();
  const metav1::ObjectMeta& oldMeta = *old.objectMeta();
  switch (facts_.generation) {
    case Generation::None:
    case Generation::Fixed:
      return false;
    case Generation::Annotations:
      return meta.annotations != oldMeta.annotations || changesSpec(next, old);
    case Generation::Labels:
      return meta.labels != oldMeta.labels || changesSpec(next, old);
    case Generation::Spec:
    case Generation::CountedFromZero:
      break;
  }
  return changesSpec(next, old);
}

FieldErrors BuiltInRules::validateFinalizers(const metav1::ObjectMeta& meta) const {
  FieldErrors errors;
  const ErrorPath path = ErrorPath("metadata").child("finalizers");
  for (std::size_t i = 0; i < meta.finalizers.size(); ++i) {
    const std::string_view name = meta.finalizers[i];
    const bool standard = name == validation::kFinalizerOrphanDependents ||
                          name == validation::kFinalizerDeleteDependents || name == "kubernetes";
    if (standard || name.find('/') != std::string_view::npos) continue;
    errors.push_back(
        FieldError::invalid(path.index(i), name,
                            "name is neither a standard finalizer name nor is it fully qualified"));
  }
  return errors;
}

}  // namespace kube::apiserver
