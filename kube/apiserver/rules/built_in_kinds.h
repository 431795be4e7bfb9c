// The rules of each built-in kind, by subject: overloads from which built_in_kinds.cc makes a
// KindRules for each kind. A kind has the rules that are declared for it here.
#pragma once

#include <cstdint>
#include <optional>

#include "kube/api/admissionregistration/v1.h"
#include "kube/api/apiextensions/v1.h"
#include "kube/api/apiregistration/v1.h"
#include "kube/api/apps/v1.h"
#include "kube/api/autoscaling/v1.h"
#include "kube/api/autoscaling/v2.h"
#include "kube/api/batch/v1.h"
#include "kube/api/certificates/v1.h"
#include "kube/api/certificates/v1beta1.h"
#include "kube/api/coordination/v1.h"
#include "kube/api/core/v1.h"
#include "kube/api/discovery/v1.h"
#include "kube/api/events/v1.h"
#include "kube/api/flowcontrol/v1.h"
#include "kube/api/lifecycle/v1alpha1.h"
#include "kube/api/networking/v1.h"
#include "kube/api/node/v1.h"
#include "kube/api/policy/v1.h"
#include "kube/api/rbac/v1.h"
#include "kube/api/resource/v1.h"
#include "kube/api/resource/v1alpha3.h"
#include "kube/api/resource/v1beta2.h"
#include "kube/api/scheduling/v1.h"
#include "kube/api/scheduling/v1alpha3.h"
#include "kube/api/scheduling/v1beta1.h"
#include "kube/api/storage/v1.h"
#include "kube/api/storagemigration/v1.h"
#include "kube/api/storagemigration/v1beta1.h"
#include "kube/meta/validation/object_validation.h"

namespace kube::apiserver {
struct SelectableFields;
}

namespace kube::apiserver::rules {

class Place;

inline constexpr std::string_view kRbacGroup = "rbac.authorization.k8s.io";

inline bool isExternallyAccessible(const corev1::ServiceSpec& spec) {
  return spec.type == "LoadBalancer" || spec.type == "NodePort" ||
         (spec.type == "ClusterIP" && !spec.externalIPs.empty());
}

// Defaults: built_in_defaults_*.cc.
void setDefaults(corev1::Pod& pod);
void setDefaults(corev1::PodTemplate& podTemplate);
void setDefaults(corev1::ReplicationController& controller);
void setDefaults(appsv1::Deployment& deployment);
void setDefaults(appsv1::ReplicaSet& set);
void setDefaults(appsv1::StatefulSet& set);
void setDefaults(appsv1::DaemonSet& set);
void setDefaults(batchv1::Job& job);
void setDefaults(batchv1::CronJob& job);
void setDefaults(corev1::Service& service);
void setDefaults(corev1::Endpoints& endpoints);
void setDefaults(discoveryv1::EndpointSlice& slice);
void setDefaults(networkingv1::NetworkPolicy& policy);
void setDefaults(networkingv1::IngressClass& ingressClass);
void setDefaults(corev1::Secret& secret);
void setDefaults(corev1::Namespace& space);
void setDefaults(corev1::Node& node);
void setDefaults(corev1::LimitRange& range);
void setDefaults(corev1::ResourceQuota& quota);
void setDefaults(corev1::PersistentVolume& volume);
void setDefaults(corev1::PersistentVolumeClaim& claim);
void setDefaults(storagev1::StorageClass& storageClass);
void setDefaults(storagev1::CSIDriver& driver);
void setDefaults(autoscalingv1::HorizontalPodAutoscaler& autoscaler);
void setDefaults(autoscalingv2::HorizontalPodAutoscaler& autoscaler);
void setDefaults(rbacv1::RoleBinding& binding);
void setDefaults(rbacv1::ClusterRoleBinding& binding);
void setDefaults(schedulingv1::PriorityClass& priority);
void setDefaults(admissionregistrationv1::MutatingWebhookConfiguration& hooks);
void setDefaults(admissionregistrationv1::ValidatingWebhookConfiguration& hooks);
void setDefaults(admissionregistrationv1::ValidatingAdmissionPolicy& policy);
void setDefaults(admissionregistrationv1::ValidatingAdmissionPolicyBinding& binding);
void setDefaults(admissionregistrationv1::MutatingAdmissionPolicy& policy);
void setDefaults(admissionregistrationv1::MutatingAdmissionPolicyBinding& binding);
void setDefaults(apiregistrationv1::APIService& service);
void setDefaults(flowcontrolv1::FlowSchema& schema);
void setDefaults(flowcontrolv1::PriorityLevelConfiguration& level);
void setDefaults(resourcev1::DeviceTaintRule& rule);
void setDefaults(resourcev1beta2::DeviceTaintRule& rule);
void setDefaults(resourcev1alpha3::DeviceTaintRule& rule);

// On create and update: built_in_prepare.cc and built_in_service.cc.
void prepareCreate(corev1::Pod& pod);
void prepareCreate(corev1::Namespace& space);
void prepareCreate(corev1::PersistentVolume& volume);
void prepareCreate(corev1::PersistentVolumeClaim& claim);
void prepareCreate(corev1::Service& service);
void prepareCreate(corev1::ServiceAccount& account);
void prepareCreate(networkingv1::Ingress& ingress);
void prepareCreate(appsv1::DaemonSet& set);
void prepareCreate(batchv1::Job& job);
void prepareCreate(certificatesv1::CertificateSigningRequest& request);
void prepareCreate(apiregistrationv1::APIService& service);
void prepareUpdate(resourcev1::DeviceTaintRule& next, const resourcev1::DeviceTaintRule& old);
void prepareUpdate(resourcev1beta2::DeviceTaintRule& next,
                   const resourcev1beta2::DeviceTaintRule& old);
void prepareUpdate(resourcev1alpha3::DeviceTaintRule& next,
                   const resourcev1alpha3::DeviceTaintRule& old);
void prepareUpdate(corev1::Namespace& next, const corev1::Namespace& old);
void prepareUpdate(corev1::PersistentVolumeClaim& next, const corev1::PersistentVolumeClaim& old);
void prepareUpdate(corev1::Secret& next, const corev1::Secret& old);
void prepareUpdate(corev1::Service& next, const corev1::Service& old);
void prepareUpdate(corev1::ServiceAccount& next, const corev1::ServiceAccount& old);
void prepareUpdate(appsv1::DaemonSet& next, const appsv1::DaemonSet& old);
void prepareUpdate(certificatesv1::CertificateSigningRequest& next,
                   const certificatesv1::CertificateSigningRequest& old);

// Checks: built_in_validation_*.cc. `at` is the object itself. Those of `validate` are for create
// and update, the others for one of them.
void validate(const corev1::Pod& pod, const Place& at);
void validateCreate(const corev1::Pod& pod, const Place& at);
void validateUpdate(const corev1::Pod& next, const corev1::Pod& old, const Place& at);
void validate(const corev1::PodTemplate& podTemplate, const Place& at);
void validate(const corev1::ReplicationController& controller, const Place& at);
void validate(const appsv1::Deployment& deployment, const Place& at);
void validateUpdate(const appsv1::Deployment& next, const appsv1::Deployment& old, const Place& at);
void validate(const appsv1::ReplicaSet& set, const Place& at);
void validateUpdate(const appsv1::ReplicaSet& next, const appsv1::ReplicaSet& old, const Place& at);
void validate(const appsv1::StatefulSet& set, const Place& at);
void validateCreate(const appsv1::StatefulSet& set, const Place& at);
void validateUpdate(const appsv1::StatefulSet& next, const appsv1::StatefulSet& old,
                    const Place& at);
void validate(const appsv1::DaemonSet& set, const Place& at);
void validateUpdate(const appsv1::DaemonSet& next, const appsv1::DaemonSet& old, const Place& at);
void validate(const appsv1::ControllerRevision& revision, const Place& at);
void validateUpdate(const appsv1::ControllerRevision& next, const appsv1::ControllerRevision& old,
                    const Place& at);
void validate(const policyv1::PodDisruptionBudget& budget, const Place& at);
void validate(const batchv1::Job& job, const Place& at);
void validateUpdate(const batchv1::Job& next, const batchv1::Job& old, const Place& at);
void validate(const batchv1::CronJob& job, const Place& at);
void validateCreate(const batchv1::CronJob& job, const Place& at);

void validate(const corev1::Service& service, const Place& at);
void validateUpdate(const corev1::Service& next, const corev1::Service& old, const Place& at);
void validate(const corev1::Endpoints& endpoints, const Place& at);
void validate(const discoveryv1::EndpointSlice& slice, const Place& at);
void validateUpdate(const discoveryv1::EndpointSlice& next, const discoveryv1::EndpointSlice& old,
                    const Place& at);
void validate(const corev1::ConfigMap& map, const Place& at);
void validateUpdate(const corev1::ConfigMap& next, const corev1::ConfigMap& old, const Place& at);
void validate(const corev1::Secret& secret, const Place& at);
void validateUpdate(const corev1::Secret& next, const corev1::Secret& old, const Place& at);
void validateCreate(const corev1::Namespace& space, const Place& at);
void validate(const corev1::Node& node, const Place& at);
void validateUpdate(const corev1::Node& next, const corev1::Node& old, const Place& at);
void validate(const corev1::LimitRange& range, const Place& at);
void validate(const corev1::ResourceQuota& quota, const Place& at);
void validateUpdate(const corev1::ResourceQuota& next, const corev1::ResourceQuota& old,
                    const Place& at);
void validate(const corev1::Event& event, const Place& at);
void validate(const eventsv1::Event& event, const Place& at);
void validateCreate(const eventsv1::Event& event, const Place& at);
void validateUpdate(const eventsv1::Event& next, const eventsv1::Event& old, const Place& at);
void validate(const corev1::PersistentVolume& volume, const Place& at);
void validateUpdate(const corev1::PersistentVolume& next, const corev1::PersistentVolume& old,
                    const Place& at);
void validate(const corev1::PersistentVolumeClaim& claim, const Place& at);
void validateUpdate(const corev1::PersistentVolumeClaim& next,
                    const corev1::PersistentVolumeClaim& old, const Place& at);
void validate(const storagev1::StorageClass& storageClass, const Place& at);
void validateUpdate(const storagev1::StorageClass& next, const storagev1::StorageClass& old,
                    const Place& at);
void validate(const networkingv1::Ingress& ingress, const Place& at);
void validate(const networkingv1::IngressClass& ingressClass, const Place& at);
void validateUpdate(const networkingv1::IngressClass& next, const networkingv1::IngressClass& old,
                    const Place& at);
void validate(const networkingv1::NetworkPolicy& policy, const Place& at);
void validate(const rbacv1::Role& role, const Place& at);
void validate(const rbacv1::ClusterRole& role, const Place& at);
void validate(const rbacv1::RoleBinding& binding, const Place& at);
void validateUpdate(const rbacv1::RoleBinding& next, const rbacv1::RoleBinding& old,
                    const Place& at);
void validate(const rbacv1::ClusterRoleBinding& binding, const Place& at);
void validateUpdate(const rbacv1::ClusterRoleBinding& next, const rbacv1::ClusterRoleBinding& old,
                    const Place& at);
void validate(const certificatesv1::CertificateSigningRequest& request, const Place& at);
void validateCreate(const schedulingv1::PriorityClass& priority, const Place& at);
void validateUpdate(const schedulingv1::PriorityClass& next, const schedulingv1::PriorityClass& old,
                    const Place& at);
void validate(const coordinationv1::Lease& lease, const Place& at);
void validate(const admissionregistrationv1::MutatingWebhookConfiguration& configuration,
              const Place& at);
void validate(const admissionregistrationv1::ValidatingWebhookConfiguration& configuration,
              const Place& at);
void validate(const apiregistrationv1::APIService& service, const Place& at);
void validate(const autoscalingv1::HorizontalPodAutoscaler& autoscaler, const Place& at);
void validate(const autoscalingv2::HorizontalPodAutoscaler& autoscaler, const Place& at);

void validate(const certificatesv1::ClusterTrustBundle& bundle, const Place& at);
void validateCreate(const certificatesv1::ClusterTrustBundle& bundle, const Place& at);
void validateUpdate(const certificatesv1::ClusterTrustBundle& next,
                    const certificatesv1::ClusterTrustBundle& old, const Place& at);
void validateCreate(const certificatesv1::PodCertificateRequest& request, const Place& at);
void validateUpdate(const certificatesv1::PodCertificateRequest& next,
                    const certificatesv1::PodCertificateRequest& old, const Place& at);
void validate(const certificatesv1beta1::ClusterTrustBundle& bundle, const Place& at);
void validateCreate(const certificatesv1beta1::ClusterTrustBundle& bundle, const Place& at);
void validateUpdate(const certificatesv1beta1::ClusterTrustBundle& next,
                    const certificatesv1beta1::ClusterTrustBundle& old, const Place& at);
void validateCreate(const certificatesv1beta1::PodCertificateRequest& request, const Place& at);
void validateUpdate(const certificatesv1beta1::PodCertificateRequest& next,
                    const certificatesv1beta1::PodCertificateRequest& old, const Place& at);
void validate(const schedulingv1beta1::Workload& workload, const Place& at);
void validateUpdate(const schedulingv1beta1::Workload& next, const schedulingv1beta1::Workload& old,
                    const Place& at);
void validate(const schedulingv1beta1::PodGroup& group, const Place& at);
void validateUpdate(const schedulingv1beta1::PodGroup& next, const schedulingv1beta1::PodGroup& old,
                    const Place& at);
void validate(const schedulingv1alpha3::Workload& workload, const Place& at);
void validateUpdate(const schedulingv1alpha3::Workload& next,
                    const schedulingv1alpha3::Workload& old, const Place& at);
void validate(const schedulingv1alpha3::PodGroup& group, const Place& at);
void validateUpdate(const schedulingv1alpha3::PodGroup& next,
                    const schedulingv1alpha3::PodGroup& old, const Place& at);
void validate(const schedulingv1alpha3::CompositePodGroup& group, const Place& at);
void validateUpdate(const schedulingv1alpha3::CompositePodGroup& next,
                    const schedulingv1alpha3::CompositePodGroup& old, const Place& at);
void validate(const lifecyclev1alpha1::EvictionRequest& request, const Place& at);
void validateUpdate(const lifecyclev1alpha1::EvictionRequest& next,
                    const lifecyclev1alpha1::EvictionRequest& old, const Place& at);
void validate(const lifecyclev1alpha1::Eviction& eviction, const Place& at);
void validateUpdate(const lifecyclev1alpha1::Eviction& next, const lifecyclev1alpha1::Eviction& old,
                    const Place& at);
void validate(const resourcev1::DeviceTaintRule& rule, const Place& at);
void validate(const resourcev1beta2::DeviceTaintRule& rule, const Place& at);
void validate(const resourcev1alpha3::DeviceTaintRule& rule, const Place& at);
void validate(const storagemigrationv1::StorageVersionMigration& migration, const Place& at);
void validateUpdate(const storagemigrationv1::StorageVersionMigration& next,
                    const storagemigrationv1::StorageVersionMigration& old, const Place& at);
void validate(const storagemigrationv1beta1::StorageVersionMigration& migration, const Place& at);
void validateUpdate(const storagemigrationv1beta1::StorageVersionMigration& next,
                    const storagemigrationv1beta1::StorageVersionMigration& old, const Place& at);

// On deletion: the seconds that an object stays.
std::int64_t deletionGrace(const corev1::Pod& pod, std::optional<std::int64_t> wanted);

// Field selectors: built_in_fields.cc. Null for a kind that has only those of the metadata.
const SelectableFields* selectableFieldsOf(const TypeInfo& type);

// Name rules of a single kind.
validation::Reasons nameIsAddress(std::string_view name, bool prefix);
validation::Reasons nameIsAnything(std::string_view name, bool prefix);

}  // namespace kube::apiserver::rules
