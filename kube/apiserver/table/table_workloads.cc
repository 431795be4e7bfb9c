// Workloads, jobs and disruption budgets as rows of a table.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "kube/api/apps/v1.h"
#include "kube/api/batch/v1.h"
#include "kube/api/core/v1.h"
#include "kube/api/policy/v1.h"
#include "kube/apiserver/table/table_columns.h"
#include "kube/base/error.h"
#include "kube/base/internal/text.h"
#include "kube/meta/conditions.h"
#include "kube/meta/gvk.h"
#include "kube/meta/owner.h"
#include "kube/meta/selectors/label_selector.h"

namespace kube::apiserver {

namespace {

using appsv1::ControllerRevision;
using appsv1::DaemonSet;
using appsv1::Deployment;
using appsv1::ReplicaSet;
using appsv1::StatefulSet;
using batchv1::CronJob;
using batchv1::Job;
using corev1::ReplicationController;
using policyv1::PodDisruptionBudget;

// --- Columns that kinds with a pod template share.

template <class T>
constexpr TableColumn containersColumn() {
  return wide(text("Containers", "names of the containers in a pod",
                   [](const T& object) { return containerNames(object.spec->template_); }));
}
template <class T>
constexpr TableColumn imagesColumn() {
  return wide(text("Images", "images of the containers in a pod",
                   [](const T& object) { return containerImages(object.spec->template_); }));
}
template <class T>
constexpr TableColumn selectorColumn() {
  return wide(text("Selector", "labels of its pods", [](const T& object) {
    return labels::formatLabelSelector(object.spec->selector);
  }));
}

// "2/3"
template <class T>
std::string readyReplicas(const T& object) {
  return fmt::format("{}/{}", object.status->readyReplicas, object.spec->replicas.value_or(1));
}

template <class T>
constexpr TableColumn desiredColumn() {
  return integer("Desired", "how many pods there should be",
                 [](const T& object) { return object.spec->replicas.value_or(1); });
}
template <class T>
constexpr TableColumn currentColumn() {
  return integer("Current", "how many pods there are",
                 [](const T& object) { return object.status->replicas; });
}
template <class T>
constexpr TableColumn readyColumn() {
  return integer("Ready", "how many pods are ready",
                 [](const T& object) { return object.status->readyReplicas; });
}

// --- apps and core.

std::string selectorOf(const Deployment& deployment) {
  try {
    return labels::Selector::from(deployment.spec->selector).str();
  } catch (const Error&) {
    return "<invalid>";
  }
}

constexpr TableColumn kDeployments[] = {
    nameColumn<Deployment>(),
    text("Ready", "pods that are ready, of those wanted",
         [](const Deployment& object) { return readyReplicas(object); }),
    text("Up-to-date", "pods that are of the current template",
         [](const Deployment& object) { return object.status->updatedReplicas; }),
    text("Available", "pods that have been ready long enough",
         [](const Deployment& object) { return object.status->availableReplicas; }),
    ageColumn<Deployment>(),
    containersColumn<Deployment>(),
    imagesColumn<Deployment>(),
    wide(text("Selector", "labels of its pods",
              [](const Deployment& object) { return selectorOf(object); })),
};

constexpr TableColumn kReplicaSets[] = {
    nameColumn<ReplicaSet>(),   desiredColumn<ReplicaSet>(),  currentColumn<ReplicaSet>(),
    readyColumn<ReplicaSet>(),  ageColumn<ReplicaSet>(),      containersColumn<ReplicaSet>(),
    imagesColumn<ReplicaSet>(), selectorColumn<ReplicaSet>(),
};

constexpr TableColumn kReplicationControllers[] = {
    nameColumn<ReplicationController>(),
    desiredColumn<ReplicationController>(),
    currentColumn<ReplicationController>(),
    readyColumn<ReplicationController>(),
    ageColumn<ReplicationController>(),
    containersColumn<ReplicationController>(),
    imagesColumn<ReplicationController>(),
    wide(text("Selector", "labels of its pods",
              [](const ReplicationController& object) {
                return labels::formatLabels(object.spec->selector);
              })),
};

constexpr TableColumn kStatefulSets[] = {
    nameColumn<StatefulSet>(),
    text("Ready", "pods that are ready, of those wanted",
         [](const StatefulSet& object) { return readyReplicas(object); }),
    ageColumn<StatefulSet>(),
    containersColumn<StatefulSet>(),
    imagesColumn<StatefulSet>(),
};

constexpr TableColumn kDaemonSets[] = {
    nameColumn<DaemonSet>(),
    integer("Desired", "nodes that should have a pod",
            [](const DaemonSet& object) { return object.status->desiredNumberScheduled; }),
    integer("Current", "nodes that should have a pod and do",
            [](const DaemonSet& object) { return object.status->currentNumberScheduled; }),
    integer("Ready", "nodes whose pod is ready",
            [](const DaemonSet& object) { return object.status->numberReady; }),
    integer("Up-to-date", "nodes whose pod is of the current template",
            [](const DaemonSet& object) { return object.status->updatedNumberScheduled; }),
    integer("Available", "nodes whose pod has been ready long enough",
            [](const DaemonSet& object) { return object.status->numberAvailable; }),
    text("Node Selector", "labels of nodes that should have a pod",
         [](const DaemonSet& object) {
           return labels::formatLabels(object.spec->template_->spec->nodeSelector);
         }),
    ageColumn<DaemonSet>(),
    containersColumn<DaemonSet>(),
    imagesColumn<DaemonSet>(),
    selectorColumn<DaemonSet>(),
};

// "deployment.apps/web"
std::string controllerOf(const ControllerRevision& revision) {
  const metav1::OwnerReference* owner = getControllerOf(revision);
  if (owner == nullptr) return "<none>";
  const auto gvk = GroupVersionKind::fromApiVersionAndKind(owner->apiVersion, owner->kind);
  return detail::lower(gvk.groupKind().str()) + "/" + owner->name.str();
}

constexpr TableColumn kControllerRevisions[] = {
    nameColumn<ControllerRevision>(),
    text("Controller", "whose state it is",
         [](const ControllerRevision& object) { return controllerOf(object); }),
    text("Revision", "its number",
         [](const ControllerRevision& object) { return object.revision; }),
    ageColumn<ControllerRevision>(),
};

// --- batch.

std::string_view statusOf(const Job& job) {
  const auto holds = [&](std::string_view type) {
    return isStatusConditionTrue(job.status->conditions, type);
  };
  for (const std::string_view ended : {"Complete", "Failed"}) {
    if (holds(ended)) return ended;
  }
  if (job.metadata.deletionTimestamp) return "Terminating";
  for (const std::string_view state : {"Suspended", "FailureTarget", "SuccessCriteriaMet"}) {
    if (holds(state)) return state;
  }
  return "Running";
}

std::string completionsOf(const Job& job) {
  const auto& spec = *job.spec;
  if (spec.completions) return fmt::format("{}/{}", job.status->succeeded, *spec.completions);
  // Without `completions`, the pods work through a queue until one of them succeeds.
  if (const std::int32_t parallelism = spec.parallelism.value_or(0); parallelism > 1) {
    return fmt::format("{}/1 of {}", job.status->succeeded, parallelism);
  }
  return fmt::format("{}/1", job.status->succeeded);
}

std::string durationOf(const Job& job, Clock::WallTime now) {
  const auto& status = *job.status;
  if (!status.startTime) return "";
  if (!status.completionTime) return detail::humanAge(status.startTime, now);
  return detail::humanDuration(MicroTime(status.completionTime) - MicroTime(status.startTime));
}

constexpr TableColumn kJobs[] = {
    nameColumn<Job>(),
    text("Status", "how far the job is", [](const Job& job) { return statusOf(job); }),
    text("Completions", "pods that succeeded, of those wanted",
         [](const Job& job) { return completionsOf(job); }),
    text("Duration", "how long the job took, or has taken",
         [](const Job& job, Clock::WallTime now) { return durationOf(job, now); }),
    ageColumn<Job>(),
    containersColumn<Job>(),
    imagesColumn<Job>(),
    selectorColumn<Job>(),
};

constexpr TableColumn kCronJobs[] = {
    nameColumn<CronJob>(),
    text("Schedule", "when jobs are started",
         [](const CronJob& cron) { return cron.spec->schedule; }),
    text("Timezone", "the time zone of the schedule",
         [](const CronJob& cron) { return orElse(cron.spec->timeZone, "<none>"); }),
    boolean(
        "Suspend", "whether no more jobs are started",
        [](const CronJob& cron) { return cron.spec->suspend.value_or(false) ? "True" : "False"; }),
    integer("Active", "how many jobs are running",
            [](const CronJob& cron) { return cron.status->active.size(); }),
    text("Last Schedule", "the time since the last job was started",
         [](const CronJob& cron, Clock::WallTime now) {
           const Time last = cron.status->lastScheduleTime;
           return last ? detail::humanAge(last, now) : "<none>";
         }),
    ageColumn<CronJob>(),
    wide(text("Containers", "names of the containers in a pod",
              [](const CronJob& cron) {
                return containerNames(cron.spec->jobTemplate->spec->template_);
              })),
    wide(text("Images", "images of the containers in a pod",
              [](const CronJob& cron) {
                return containerImages(cron.spec->jobTemplate->spec->template_);
              })),
    wide(text("Selector", "labels of a job's pods",
              [](const CronJob& cron) {
                return labels::formatLabelSelector(cron.spec->jobTemplate->spec->selector);
              })),
};

// --- policy.

std::string orNotApplicable(const std::optional<IntOrString>& value) {
  return value ? value->str() : "N/A";
}

constexpr TableColumn kPodDisruptionBudgets[] = {
    nameColumn<PodDisruptionBudget>(),
    text("Min Available", "how many pods must stay",
         [](const PodDisruptionBudget& budget) {
           return orNotApplicable(budget.spec->minAvailable);
         }),
    text("Max Unavailable", "how many pods may be away",
         [](const PodDisruptionBudget& budget) {
           return orNotApplicable(budget.spec->maxUnavailable);
         }),
    integer("Allowed Disruptions", "how many pods may be evicted now",
            [](const PodDisruptionBudget& budget) { return budget.status->disruptionsAllowed; }),
    ageColumn<PodDisruptionBudget>(),
};

constexpr KindTable kWorkloadTables[] = {
    kindTable<Deployment>(kDeployments),
    kindTable<ReplicaSet>(kReplicaSets),
    kindTable<ReplicationController>(kReplicationControllers),
    kindTable<StatefulSet>(kStatefulSets),
    kindTable<DaemonSet>(kDaemonSets),
    kindTable<ControllerRevision>(kControllerRevisions),
    kindTable<Job>(kJobs),
    kindTable<CronJob>(kCronJobs),
    kindTable<PodDisruptionBudget>(kPodDisruptionBudgets),
};

}  // namespace

std::span<const KindTable> workloadTables() { return kWorkloadTables; }

}  // namespace kube::apiserver
