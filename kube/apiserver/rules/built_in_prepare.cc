// Fields that the server sets on create and update, and the time that deletion takes, by kind.
#include <algorithm>
#include <string>

#include "kube/apiserver/rules/built_in_kinds.h"
#include "kube/meta/equality.h"

namespace kube::apiserver::rules {

namespace {

constexpr std::string_view kTemplateGeneration = "deprecated.daemonset.template.generation";
constexpr std::string_view kNamespaceFinalizer = "kubernetes";
constexpr std::string_view kControllerUid = "batch.kubernetes.io/controller-uid";

void setIfMissing(Map<String>& labels, std::string_view key, const String& value) {
  if (!labels.contains(key)) labels.insert_or_assign(key, value);
}

/// The amounts of CPU and memory that are above zero.
class ComputeAmounts {
 public:
  explicit ComputeAmounts(const Map<Quantity>& amounts) { add(amounts); }
  ComputeAmounts() = default;

  void add(const Map<Quantity>& amounts) {
    for (std::string_view name : {"cpu", "memory"}) {
      if (amounts[name].sign() > 0) sums_[name] += amounts[name];
    }
  }
  bool none() const { return sums_.empty(); }
  bool both() const { return sums_.size() == 2; }
  bool operator==(const ComputeAmounts&) const = default;

 private:
  Map<Quantity> sums_;
};

/// Guaranteed: every container's requests equal its limits. BestEffort: there are neither.
std::string_view qosClass(const corev1::PodSpec& spec) {
  ComputeAmounts requests;
  ComputeAmounts limits;
  bool limited = true;
  const auto count = [&](const corev1::ResourceRequirements& resources) {
    requests.add(resources.requests);
    limits.add(resources.limits);
    limited = limited && ComputeAmounts(resources.limits).both();
  };
  if (spec.resources) {
    count(*spec.resources);
  } else {
    for (const corev1::Container& container : spec.containers) count(*container.resources);
    for (const corev1::Container& container : spec.initContainers) count(*container.resources);
  }
  if (requests.none() && limits.none()) return "BestEffort";
  return limited && requests == limits ? "Guaranteed" : "Burstable";
}

/// Makes the two fields for the source of a claim's data agree. The newer one can say more.
void syncDataSources(corev1::PersistentVolumeClaimSpec& spec) {
  if (spec.dataSource && !spec.dataSourceRef) {
    const corev1::TypedLocalObjectReference& from = spec.dataSource.read();
    spec.dataSourceRef = corev1::TypedObjectReference{
        .apiGroup = from.apiGroup, .kind = from.kind, .name = from.name};
  } else if (spec.dataSourceRef && !spec.dataSource) {
    const corev1::TypedObjectReference& from = spec.dataSourceRef.read();
    if (!from.namespace_.value_or("").empty()) return;
    spec.dataSource = corev1::TypedLocalObjectReference{
        .apiGroup = from.apiGroup, .kind = from.kind, .name = from.name};
  }
}

void keepOnlySecretNames(corev1::ServiceAccount& account) {
  for (corev1::ObjectReference& secret : account.secrets) {
    secret = corev1::ObjectReference{.name = secret.name};
  }
}

/// Adds the labels that tie a Job to its pods, and the selector for them.
void generateSelector(batchv1::Job& job) {
  batchv1::JobSpec& spec = *job.spec;
  Map<String>& labels = spec.template_->metadata.labels;
  // A Job whose labels were defaulted from its template gets the new ones too.
  const bool follows = job.metadata.labels.empty() || job.metadata.labels == labels;
  for (std::string_view key : {"job-name", "batch.kubernetes.io/job-name"})
    setIfMissing(labels, key, job.metadata.name);
  for (std::string_view key : {std::string_view("controller-uid"), kControllerUid})
    setIfMissing(labels, key, job.metadata.uid);
  setIfMissing(spec.selector->matchLabels, kControllerUid, job.metadata.uid);
  if (follows) job.metadata.labels = labels;
}

/// The time of a taint is that of its effect, unless the update sets another.
template <class Rule>
void renewTaint(Rule& next, const Rule& old) {
  const auto& before = *old.spec->taint;
  auto& after = *next.spec->taint;
  if (after.effect != before.effect && after.timeAdded == before.timeAdded) {
    after.timeAdded = Time::now();
  }
}

}  // namespace

void prepareCreate(corev1::Pod& pod) {
  corev1::PodStatus status{.phase = "Pending"};
  status.qosClass = qosClass(*std::as_const(pod.spec));
  if (!pod.spec.read().schedulingGates.empty()) {
    status.conditions.push_back(
        {.type = "PodScheduled",
         .status = "False",
         .reason = "SchedulingGated",
         .message = "Scheduling is blocked due to non-empty scheduling gates"});
  }
  pod.status = std::move(status);
}

std::int64_t deletionGrace(const corev1::Pod& pod, std::optional<std::int64_t> wanted) {
  if (pod.spec->nodeName.empty()) return 0;
  if (pod.status->phase == "Failed" || pod.status->phase == "Succeeded") return 0;
  const std::int64_t seconds = wanted.value_or(pod.spec->terminationGracePeriodSeconds.value_or(0));
  return seconds < 0 ? 1 : seconds;
}

void prepareCreate(corev1::Namespace& space) {
  space.status = corev1::NamespaceStatus{.phase = "Active"};
  // Set again, since a generated name is not known when defaults are set.
  space.metadata.labels.insert_or_assign("kubernetes.io/metadata.name", space.metadata.name);
  List<String>& finalizers = space.spec->finalizers;
  if (std::find(finalizers.begin(), finalizers.end(), kNamespaceFinalizer) == finalizers.end()) {
    finalizers.push_back(kNamespaceFinalizer);
  }
}

void prepareUpdate(corev1::Namespace& next, const corev1::Namespace& old) {
  next.metadata.labels.insert_or_assign("kubernetes.io/metadata.name", next.metadata.name);
  next.spec->finalizers = old.spec->finalizers;
}

void prepareCreate(corev1::PersistentVolume& volume) {
  volume.status =
      corev1::PersistentVolumeStatus{.phase = "Pending", .lastPhaseTransitionTime = Time::now()};
}

void prepareCreate(corev1::PersistentVolumeClaim& claim) {
  claim.status = corev1::PersistentVolumeClaimStatus{.phase = "Pending"};
  syncDataSources(*claim.spec);
}

void prepareUpdate(corev1::PersistentVolumeClaim& next, const corev1::PersistentVolumeClaim&) {
  syncDataSources(*next.spec);
}

void prepareUpdate(corev1::Secret& next, const corev1::Secret& old) {
  if (next.type.empty()) next.type = old.type;
}

void prepareCreate(corev1::Service& service) { service.status->loadBalancer.write(); }
void prepareCreate(networkingv1::Ingress& ingress) { ingress.status->loadBalancer.write(); }

void prepareCreate(corev1::ServiceAccount& account) { keepOnlySecretNames(account); }
void prepareUpdate(corev1::ServiceAccount& next, const corev1::ServiceAccount&) {
  keepOnlySecretNames(next);
}

// The template's generation is no longer a field; an annotation replaces it.
void prepareCreate(appsv1::DaemonSet& set) {
  setIfMissing(set.metadata.annotations, kTemplateGeneration, "1");
}

void prepareUpdate(appsv1::DaemonSet& next, const appsv1::DaemonSet& old) {
  std::int64_t generation =
      IntOrString::parse(old.metadata.annotations[kTemplateGeneration]).intValue();
  if (!semanticEqual(next.spec.read().template_, old.spec->template_)) ++generation;
  if (generation == 0) return;
  next.metadata.annotations.insert_or_assign(kTemplateGeneration, std::to_string(generation));
}

void prepareCreate(batchv1::Job& job) {
  if (!job.spec->manualSelector.value_or(false)) generateSelector(job);
}

// The server fills in the requesting user itself.
void prepareCreate(certificatesv1::CertificateSigningRequest& request) {
  request.spec->username = {};
  request.spec->uid = {};
  request.spec->groups.clear();
  request.spec->extra.clear();
  request.status = certificatesv1::CertificateSigningRequestStatus{};
}

void prepareUpdate(certificatesv1::CertificateSigningRequest& next,
                   const certificatesv1::CertificateSigningRequest& old) {
  next.spec = old.spec;
}

void prepareCreate(apiregistrationv1::APIService& service) {
  service.status = apiregistrationv1::APIServiceStatus{};
  if (service.spec.read().service) return;
  service.status->conditions.push_back({.type = "Available",
                                        .status = "True",
                                        .lastTransitionTime = Time::now(),
                                        .reason = "Local",
                                        .message = "Local APIServices are always available"});
}

void prepareUpdate(resourcev1::DeviceTaintRule& next, const resourcev1::DeviceTaintRule& old) {
  renewTaint(next, old);
}
void prepareUpdate(resourcev1beta2::DeviceTaintRule& next,
                   const resourcev1beta2::DeviceTaintRule& old) {
  renewTaint(next, old);
}
void prepareUpdate(resourcev1alpha3::DeviceTaintRule& next,
                   const resourcev1alpha3::DeviceTaintRule& old) {
  renewTaint(next, old);
}

}  // namespace kube::apiserver::rules
