// The rules of each built-in kind, by subject: overloads that built_in_kinds.cc gathers in a table.
// A kind has those that are declared for it here. See built_in_rules.h for what they are.
#pragma once

#include "kube/api/admissionregistration/v1.h"
#include "kube/api/apiextensions/v1.h"
#include "kube/api/apiregistration/v1.h"
#include "kube/api/apps/v1.h"
#include "kube/api/autoscaling/v1.h"
#include "kube/api/autoscaling/v2.h"
#include "kube/api/batch/v1.h"
#include "kube/api/certificates/v1.h"
#include "kube/api/coordination/v1.h"
#include "kube/api/core/v1.h"
#include "kube/api/discovery/v1.h"
#include "kube/api/events/v1.h"
#include "kube/api/flowcontrol/v1.h"
#include "kube/api/networking/v1.h"
#include "kube/api/node/v1.h"
#include "kube/api/policy/v1.h"
#include "kube/api/rbac/v1.h"
#include "kube/api/scheduling/v1.h"
#include "kube/api/storage/v1.h"
#include "kube/meta/field_error.h"
#include "kube/meta/object_validation.h"

namespace kube::testing::rules {

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

// On create and update: built_in_prepare.cc and built_in_service.cc.
void prepareCreate(corev1::Pod& pod);
void prepareCreate(corev1::Namespace& space);
void prepareCreate(corev1::PersistentVolume& volume);
void prepareCreate(corev1::PersistentVolumeClaim& claim);
void prepareCreate(corev1::ServiceAccount& account);
void prepareCreate(appsv1::DaemonSet& set);
void prepareCreate(batchv1::Job& job);
void prepareCreate(certificatesv1::CertificateSigningRequest& request);
void prepareCreate(apiregistrationv1::APIService& service);
void prepareUpdate(corev1::Namespace& next, const corev1::Namespace& old);
void prepareUpdate(corev1::PersistentVolumeClaim& next, const corev1::PersistentVolumeClaim& old);
void prepareUpdate(corev1::Secret& next, const corev1::Secret& old);
void prepareUpdate(corev1::Service& next, const corev1::Service& old);
void prepareUpdate(corev1::ServiceAccount& next, const corev1::ServiceAccount& old);
void prepareUpdate(appsv1::DaemonSet& next, const appsv1::DaemonSet& old);
void prepareUpdate(certificatesv1::CertificateSigningRequest& next,
                   const certificatesv1::CertificateSigningRequest& old);

// Checks: built_in_validation_*.cc.
void validate(const corev1::Pod& pod, FieldErrors& errors);
void validateUpdate(const corev1::Pod& next, const corev1::Pod& old, FieldErrors& errors);

// Names that are like no other.
validation::Reasons nameIsAddress(std::string_view name, bool prefix);
validation::Reasons nameIsAnything(std::string_view name, bool prefix);

}  // namespace kube::testing::rules
