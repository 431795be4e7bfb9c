// The table of built-in kinds, and what built_in_rules.h asks of it.
#include <algorithm>
#include <unordered_map>
#include <vector>

#include "kube/apiserver/rules/built_in_kinds.h"
#include "kube/apiserver/rules/built_in_place.h"
#include "kube/apiserver/rules/built_in_rules.h"
#include "kube/meta/equality.h"

namespace kube::apiserver {

namespace {

using rules::Place;
using validation::NameRule;

/// What makes a new generation, besides what is neither metadata nor status.
enum class Generation : std::uint8_t {
  None,            // there are no generations
  Spec,            // nothing
  Annotations,     // a change of annotations
  Labels,          // a change of labels
  Fixed,           // it is 1 for ever
  CountedFromZero  // nothing; but the first generation is 0
};

struct Facts {
  Generation generation = Generation::None;
  validation::Reasons (*name)(std::string_view, bool) = validation::nameIsDNSSubdomain;
  bool createOnUpdate = false;
  bool unconditionalUpdate = true;
  bool keepsStatus = false;
};

struct Kind {
  const TypeInfo* type = nullptr;
  Facts facts = {};
  void (*setDefaults)(void*) = nullptr;
  void (*giveStatus)(void*) = nullptr;
  void (*prepareCreate)(void*) = nullptr;
  void (*prepareUpdate)(void*, const void*) = nullptr;
  void (*validate)(const void*, const rules::Place&) = nullptr;
  void (*validateCreate)(const void*, const rules::Place&) = nullptr;
  void (*validateUpdate)(const void*, const void*, const rules::Place&) = nullptr;
};

template <class T>
Kind kind(Facts facts = {}) {
  Kind result{.type = &TypeOf<T>::info, .facts = facts};
  if constexpr (requires(T & object) { rules::setDefaults(object); }) {
    result.setDefaults = [](void* object) { rules::setDefaults(*static_cast<T*>(object)); };
  }
  // There is always one, be it empty.
  if constexpr (requires(T & object) { object.status.write(); }) {
    result.giveStatus = [](void* object) { static_cast<T*>(object)->status.write(); };
  }
  if constexpr (requires(T & object) { rules::prepareCreate(object); }) {
    result.prepareCreate = [](void* object) { rules::prepareCreate(*static_cast<T*>(object)); };
  }
  if constexpr (requires(T & object) { rules::prepareUpdate(object, object); }) {
    result.prepareUpdate = [](void* next, const void* old) {
      rules::prepareUpdate(*static_cast<T*>(next), *static_cast<const T*>(old));
    };
  }
  if constexpr (requires(const T& object, const Place& at) { rules::validate(object, at); }) {
    result.validate = [](const void* object, const Place& at) {
      rules::validate(*static_cast<const T*>(object), at);
    };
  }
  if constexpr (requires(const T& object, const Place& at) { rules::validateCreate(object, at); }) {
    result.validateCreate = [](const void* object, const Place& at) {
      rules::validateCreate(*static_cast<const T*>(object), at);
    };
  }
  if constexpr (requires(const T& object, const Place& at) {
                  rules::validateUpdate(object, object, at);
                }) {
    result.validateUpdate = [](const void* next, const void* old, const Place& at) {
      rules::validateUpdate(*static_cast<const T*>(next), *static_cast<const T*>(old), at);
    };
  }
  return result;
}

std::vector<Kind> allKinds() {
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
      // Who may do what.
      kind<rbacv1::Role>({.name = nameIsPathSegment, .createOnUpdate = true}),
      kind<rbacv1::ClusterRole>({.name = nameIsPathSegment, .createOnUpdate = true}),
      kind<rbacv1::RoleBinding>({.name = nameIsPathSegment, .createOnUpdate = true}),
      kind<rbacv1::ClusterRoleBinding>({.name = nameIsPathSegment, .createOnUpdate = true}),
      kind<certificatesv1::CertificateSigningRequest>({.name = rules::nameIsAnything}),
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
      kind<apiextensionsv1::CustomResourceDefinition>(
          {.generation = Spec, .unconditionalUpdate = false}),
      kind<apiregistrationv1::APIService>(
          {.name = nameIsPathSegment, .unconditionalUpdate = false}),
      kind<flowcontrolv1::FlowSchema>({.generation = Spec}),
      kind<flowcontrolv1::PriorityLevelConfiguration>({.generation = Spec}),
  };
}

/// A kind of no rules is like any other.
const Kind& kindOf(const TypeInfo& type) {
  static const auto kinds = [] {
    std::unordered_map<const TypeInfo*, Kind> byType;
    for (const Kind& kind : allKinds()) byType.emplace(kind.type, kind);
    return byType;
  }();
  static const Kind plain;
  const auto at = kinds.find(&type);
  return at != kinds.end() ? at->second : plain;
}

const void* at(const AnyObject& object, const FieldInfo& field) {
  return static_cast<const std::byte*>(object.data()) + field.offset;
}

/// Whether anything differs but metadata and status.
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

void setBuiltInDefaults(AnyObject& object) {
  if (const auto set = kindOf(object.type()).setDefaults) set(object.data());
}

void prepareForCreate(AnyObject& object) {
  const Kind& kind = kindOf(object.type());
  if (kind.giveStatus != nullptr) kind.giveStatus(object.data());
  if (kind.prepareCreate != nullptr) kind.prepareCreate(object.data());
}

void prepareForUpdate(AnyObject& next, const AnyObject& old) {
  if (&next.type() != &old.type()) return;
  if (const auto prepare = kindOf(next.type()).prepareUpdate) prepare(next.data(), old.data());
}

FieldErrors validateBuiltIn(const AnyObject& object) {
  const Kind& kind = kindOf(object.type());
  FieldErrors errors;
  const Place root(errors);
  if (kind.validate != nullptr) kind.validate(object.data(), root);
  if (kind.validateCreate != nullptr) kind.validateCreate(object.data(), root);
  return errors;
}

FieldErrors validateBuiltInUpdate(const AnyObject& next, const AnyObject& old) {
  const Kind& kind = kindOf(next.type());
  FieldErrors errors;
  const Place root(errors);
  if (&next.type() != &old.type()) return errors;
  if (kind.validate != nullptr) kind.validate(next.data(), root);
  if (kind.validateUpdate != nullptr) kind.validateUpdate(next.data(), old.data(), root);
  return errors;
}

bool tracksGeneration(const TypeInfo& type) {
  const Generation generation = kindOf(type).facts.generation;
  return generation != Generation::None && generation != Generation::CountedFromZero;
}

bool changesGeneration(const AnyObject& next, const AnyObject& old) {
  if (&next.type() != &old.type()) return false;
  const metav1::ObjectMeta& meta = *next.objectMeta();
  const metav1::ObjectMeta& oldMeta = *old.objectMeta();
  switch (kindOf(next.type()).facts.generation) {
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

bool keepsStatusOnCreate(const TypeInfo& type) { return kindOf(type).facts.keepsStatus; }

NameRule nameRuleFor(const TypeInfo& type) { return kindOf(type).facts.name; }

bool allowsCreateOnUpdate(const TypeInfo& type) { return kindOf(type).facts.createOnUpdate; }

bool allowsUnconditionalUpdate(const TypeInfo& type) {
  return kindOf(type).facts.unconditionalUpdate;
}

std::int64_t deletionGrace(const AnyObject& object, std::optional<std::int64_t> wanted) {
  const auto* pod = object.as<corev1::Pod>();
  if (pod == nullptr || pod->spec->nodeName.empty()) return 0;
  if (pod->status->phase == "Failed" || pod->status->phase == "Succeeded") return 0;
  const std::int64_t seconds =
      wanted.value_or(pod->spec->terminationGracePeriodSeconds.value_or(0));
  return seconds < 0 ? 1 : seconds;
}

}  // namespace kube::apiserver
