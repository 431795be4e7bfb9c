// The fields that objects of each kind can be selected by.
#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <unordered_map>

#include "kube/apiserver/rules/built_in_kinds.h"
#include "kube/apiserver/rules/built_in_rules.h"

namespace kube::apiserver {

namespace {

/// A field and its reader. Fields of the metadata are not listed: every kind has them.
struct SelectableField {
  std::string_view name;
  String (*read)(const void* object);
};

template <class T, class Read>
constexpr SelectableField field(std::string_view name, Read) {
  return {name, [](const void* object) { return String(Read{}(*static_cast<const T*>(object))); }};
}

String boolText(bool value) { return value ? "true" : "false"; }

using corev1::Pod;
constexpr std::array kPodFields = {
    field<Pod>("spec.nodeName", [](const Pod& pod) { return pod.spec->nodeName; }),
    field<Pod>("spec.host", [](const Pod& pod) { return pod.spec->nodeName; }),
    field<Pod>("spec.restartPolicy", [](const Pod& pod) { return pod.spec->restartPolicy; }),
    field<Pod>("spec.schedulerName", [](const Pod& pod) { return pod.spec->schedulerName; }),
    field<Pod>("spec.serviceAccountName",
               [](const Pod& pod) { return pod.spec->serviceAccountName; }),
    field<Pod>("spec.hostNetwork", [](const Pod& pod) { return boolText(pod.spec->hostNetwork); }),
    field<Pod>("status.phase", [](const Pod& pod) { return pod.status->phase; }),
    field<Pod>("status.podIP",
               [](const Pod& pod) {
                 return pod.status->podIPs.empty() ? pod.status->podIP
                                                   : pod.status->podIPs.front().ip;
               }),
    // Can be selected by, but matches no address: upstream never gave it a value.
    field<Pod>("status.podIPs", [](const Pod&) { return ""; }),
    field<Pod>("status.nominatedNodeName",
               [](const Pod& pod) { return pod.status->nominatedNodeName; }),
};

constexpr std::array kNodeFields = {field<corev1::Node>(
    "spec.unschedulable", [](const auto& node) { return boolText(node.spec->unschedulable); })};
constexpr std::array kNamespaceFields = {field<corev1::Namespace>(
    "status.phase", [](const auto& space) { return space.status->phase; })};
constexpr std::array kSecretFields = {
    field<corev1::Secret>("type", [](const auto& secret) { return secret.type; })};
constexpr std::array kServiceFields = {
    field<corev1::Service>("spec.clusterIP",
                           [](const auto& service) { return service.spec->clusterIP; }),
    field<corev1::Service>("spec.type", [](const auto& service) { return service.spec->type; })};
constexpr std::array kControllerFields = {field<corev1::ReplicationController>(
    "status.replicas",
    [](const auto& controller) { return std::to_string(controller.status->replicas); })};
constexpr std::array kJobFields = {field<batchv1::Job>(
    "status.successful", [](const auto& job) { return std::to_string(job.status->succeeded); })};
constexpr std::array kCertificateFields = {field<certificatesv1::CertificateSigningRequest>(
    "spec.signerName", [](const auto& request) { return request.spec->signerName; })};

template <class Bundle>
constexpr std::array kBundleFields = {
    field<Bundle>("spec.signerName", [](const auto& bundle) { return bundle.spec->signerName; })};
template <class Request>
constexpr std::array kPodCertificateFields = {
    field<Request>("spec.signerName", [](const auto& request) { return request.spec->signerName; }),
    field<Request>("spec.podName", [](const auto& request) { return request.spec->podName; }),
    field<Request>("spec.nodeName", [](const auto& request) { return request.spec->nodeName; })};

/// The object that an event is about, in either group.
const corev1::ObjectReference& about(const corev1::Event& event) { return *event.involvedObject; }
const corev1::ObjectReference& about(const eventsv1::Event& event) { return *event.regarding; }

using corev1::Event;
constexpr std::array kEventFields = {
    field<Event>("involvedObject.kind", [](const Event& e) { return about(e).kind; }),
    field<Event>("involvedObject.namespace", [](const Event& e) { return about(e).namespace_; }),
    field<Event>("involvedObject.name", [](const Event& e) { return about(e).name; }),
    field<Event>("involvedObject.uid", [](const Event& e) { return about(e).uid; }),
    field<Event>("involvedObject.apiVersion", [](const Event& e) { return about(e).apiVersion; }),
    field<Event>("involvedObject.resourceVersion",
                 [](const Event& e) { return about(e).resourceVersion; }),
    field<Event>("involvedObject.fieldPath", [](const Event& e) { return about(e).fieldPath; }),
    field<Event>("reason", [](const Event& e) { return e.reason; }),
    field<Event>("reportingComponent", [](const Event& e) { return e.reportingComponent; }),
    field<Event>("source",
                 [](const Event& e) {
                   return e.source->component.empty() ? e.reportingComponent : e.source->component;
                 }),
    field<Event>("type", [](const Event& e) { return e.type; }),
};

using NewEvent = eventsv1::Event;
constexpr std::array kNewEventFields = {
    field<NewEvent>("regarding.kind", [](const NewEvent& e) { return about(e).kind; }),
    field<NewEvent>("regarding.namespace", [](const NewEvent& e) { return about(e).namespace_; }),
    field<NewEvent>("regarding.name", [](const NewEvent& e) { return about(e).name; }),
    field<NewEvent>("regarding.uid", [](const NewEvent& e) { return about(e).uid; }),
    field<NewEvent>("regarding.apiVersion", [](const NewEvent& e) { return about(e).apiVersion; }),
    field<NewEvent>("regarding.resourceVersion",
                    [](const NewEvent& e) { return about(e).resourceVersion; }),
    field<NewEvent>("regarding.fieldPath", [](const NewEvent& e) { return about(e).fieldPath; }),
    field<NewEvent>("reason", [](const NewEvent& e) { return e.reason; }),
    field<NewEvent>("reportingController", [](const NewEvent& e) { return e.reportingController; }),
    field<NewEvent>("type", [](const NewEvent& e) { return e.type; }),
};

std::string unknownOfAny(std::string_view field) {
  return "field label not supported: " + std::string(field);
}
std::string unknownOfJob(std::string_view field) {
  return "field label \"" + std::string(field) + "\" not supported for Job";
}

}  // namespace

/// The fields of a kind that lists them itself. Such a kind refuses `metadata.namespace` if its
/// objects have none.
struct SelectableFields {
  std::span<const SelectableField> fields;
  bool hasNamespace = true;
  std::string (*unknown)(std::string_view field) = unknownOfAny;

  const SelectableField* find(std::string_view name) const {
    const auto at = std::ranges::find(fields, name, &SelectableField::name);
    return at == fields.end() ? nullptr : &*at;
  }
};

const SelectableFields* rules::selectableFieldsOf(const TypeInfo& type) {
  static const std::unordered_map<const TypeInfo*, SelectableFields> kinds = {
      {&TypeOf<Pod>::info, {kPodFields}},
      {&TypeOf<corev1::Node>::info, {kNodeFields, false}},
      {&TypeOf<corev1::Namespace>::info, {kNamespaceFields, false}},
      {&TypeOf<corev1::Secret>::info, {kSecretFields}},
      {&TypeOf<corev1::Service>::info, {kServiceFields}},
      {&TypeOf<corev1::ReplicationController>::info, {kControllerFields}},
      {&TypeOf<Event>::info, {kEventFields}},
      {&TypeOf<NewEvent>::info, {kNewEventFields}},
      {&TypeOf<batchv1::Job>::info, {kJobFields, true, unknownOfJob}},
      {&TypeOf<certificatesv1::CertificateSigningRequest>::info, {kCertificateFields, false}},
      {&TypeOf<certificatesv1::ClusterTrustBundle>::info,
       {kBundleFields<certificatesv1::ClusterTrustBundle>, false}},
      {&TypeOf<certificatesv1beta1::ClusterTrustBundle>::info,
       {kBundleFields<certificatesv1beta1::ClusterTrustBundle>, false}},
      {&TypeOf<certificatesv1::PodCertificateRequest>::info,
       {kPodCertificateFields<certificatesv1::PodCertificateRequest>}},
      {&TypeOf<certificatesv1beta1::PodCertificateRequest>::info,
       {kPodCertificateFields<certificatesv1beta1::PodCertificateRequest>}},
  };
  const auto at = kinds.find(&type);
  return at != kinds.end() ? &at->second : nullptr;
}

std::optional<String> BuiltInRules::selectableField(const AnyObject& object,
                                                    std::string_view field) const {
  if (!selects(field)) return std::nullopt;
  if (const SelectableField* found = fields_ != nullptr ? fields_->find(field) : nullptr) {
    return found->read(object.data());
  }
  const metav1::ObjectMeta* meta = object.objectMeta();
  if (meta == nullptr) return std::nullopt;
  return field == "metadata.name" ? meta->name : meta->namespace_;
}

bool BuiltInRules::selects(std::string_view field) const {
  if (field == "metadata.name") return true;
  if (field == "metadata.namespace") return fields_ == nullptr || fields_->hasNamespace;
  return fields_ != nullptr && fields_->find(field) != nullptr;
}

std::string BuiltInRules::unknownField(std::string_view field) const {
  if (fields_ != nullptr) return fields_->unknown(field);
  return "\"" + std::string(field) +
         "\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"";
}

}  // namespace kube::apiserver
