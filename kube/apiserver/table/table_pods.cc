// Pods and pod templates as rows of a table.
#include <fmt/core.h>

#include <algorithm>

#include "kube/api/core/v1.h"
#include "kube/apiserver/table/table_columns.h"
#include "kube/meta/conditions.h"
#include "kube/meta/selectors/label_selector.h"

namespace kube::apiserver {

namespace {

using corev1::Container;
using corev1::ContainerStateTerminated;
using corev1::ContainerStatus;
using corev1::Pod;
using corev1::PodTemplate;

// The state of a pod that its columns show: its phase, overlaid by the states of its containers.
struct PodSummary {
  int ready = 0;
  int total = 0;
  std::int64_t restarts = 0;
  Time lastRestart;
  std::string reason;

  explicit PodSummary(const Pod& pod);

 private:
  bool readInitContainers(const Pod& pod);
  void readContainers(const Pod& pod);
  void count(const ContainerStatus& status);

  // For init containers that keep running beside the others.
  std::int64_t sidecarRestarts_ = 0;
  Time sidecarLastRestart_;
};

bool isSidecar(const Pod& pod, std::string_view name) {
  for (const Container& container : pod.spec->initContainers) {
    if (container.name == name) return container.restartPolicy == String("Always");
  }
  return false;
}

// The reason why a container ended; `prefix` is "Init:" for init containers.
std::string endOf(const ContainerStateTerminated& end, std::string_view prefix) {
  if (!end.reason.empty()) return fmt::format("{}{}", prefix, end.reason);
  if (end.signal != 0) return fmt::format("{}Signal:{}", prefix, end.signal);
  return fmt::format("{}ExitCode:{}", prefix, end.exitCode);
}

void PodSummary::count(const ContainerStatus& status) {
  restarts += status.restartCount;
  lastRestart = std::max(lastRestart, status.lastState->terminated->finishedAt);
}

// Reads up to the first init container that has not succeeded. Returns whether there is one.
bool PodSummary::readInitContainers(const Pod& pod) {
  const auto& statuses = pod.status->initContainerStatuses;
  for (std::size_t i = 0; i < statuses.size(); ++i) {
    const ContainerStatus& status = statuses[i];
    const auto& state = *status.state;
    const bool sidecar = isSidecar(pod, status.name);
    count(status);
    if (sidecar) {
      sidecarRestarts_ += status.restartCount;
      sidecarLastRestart_ = std::max(sidecarLastRestart_, status.lastState->terminated->finishedAt);
    }
    if (state.terminated && state.terminated->exitCode == 0) continue;
    if (sidecar && status.started.value_or(false)) {
      if (status.ready) ++ready;
      continue;
    }
    if (state.terminated) {
      reason = endOf(*state.terminated, "Init:");
    } else if (const String& waits = state.waiting->reason;
               !waits.empty() && waits != "PodInitializing") {
      reason = fmt::format("Init:{}", waits);
    } else {
      reason = fmt::format("Init:{}/{}", i, pod.spec->initContainers.size());
    }
    return true;
  }
  return false;
}

void PodSummary::readContainers(const Pod& pod) {
  restarts = sidecarRestarts_;
  lastRestart = sidecarLastRestart_;
  bool anyRunning = false;
  std::string failure;
  const auto& statuses = pod.status->containerStatuses;
  // Backwards, so that the first container decides.
  for (std::size_t i = statuses.size(); i-- > 0;) {
    const ContainerStatus& status = statuses[i];
    const auto& state = *status.state;
    count(status);
    if (!state.waiting->reason.empty()) {
      reason = state.waiting->reason.str();
    } else if (state.terminated) {
      reason = endOf(*state.terminated, "");
      if (state.terminated->exitCode != 0) failure = reason;
    } else if (status.ready && state.running) {
      anyRunning = true;
      ++ready;
    }
  }
  if (reason != "Completed") return;
  // One container has completed, but the pod has not while others run.
  if (anyRunning && isStatusConditionTrue(pod.status->conditions, "Ready")) {
    reason = "Running";
  } else if (!failure.empty()) {
    reason = failure;
  } else if (anyRunning) {
    reason = "NotReady";
  }
}

PodSummary::PodSummary(const Pod& pod) {
  const auto& status = *pod.status;
  const String phase = orElse(status.phase, "Pending");
  reason = orElse(status.reason, phase).str();
  const auto* scheduled = findStatusCondition(status.conditions, "PodScheduled");
  if (scheduled != nullptr && scheduled->reason == "SchedulingGated") reason = "SchedulingGated";

  total = static_cast<int>(pod.spec->containers.size());
  for (const Container& container : pod.spec->initContainers) {
    if (container.restartPolicy == String("Always")) ++total;
  }
  const bool initializing = readInitContainers(pod);
  if (!initializing || isStatusConditionTrue(status.conditions, "Initialized")) readContainers(pod);

  if (!pod.metadata.deletionTimestamp) return;
  if (status.reason == "NodeLost") {
    reason = "Unknown";
  } else if (phase != "Succeeded" && phase != "Failed") {
    reason = "Terminating";
  }
}

std::string restartsOf(const Pod& pod, Clock::WallTime now) {
  const PodSummary summary(pod);
  if (summary.restarts == 0 || !summary.lastRestart) return std::to_string(summary.restarts);
  return fmt::format("{} ({} ago)", summary.restarts, detail::humanAge(summary.lastRestart, now));
}

std::string readinessGatesOf(const Pod& pod) {
  const auto& gates = pod.spec->readinessGates;
  if (gates.empty()) return "<none>";
  const auto open = std::ranges::count_if(gates, [&](const corev1::PodReadinessGate& gate) {
    return isStatusConditionTrue(pod.status->conditions, gate.conditionType);
  });
  return fmt::format("{}/{}", open, gates.size());
}

List<metav1::TableRowCondition> podConditions(const void* object) {
  const String& phase = static_cast<const Pod*>(object)->status->phase;
  if (phase != "Succeeded" && phase != "Failed") return {};
  return {{.type = "Completed",
           .status = "True",
           .reason = phase,
           .message = phase == "Succeeded" ? "the pod has ended well" : "the pod has failed"}};
}

constexpr TableColumn kPods[] = {
    nameColumn<Pod>(),
    text("Ready", "containers that are ready, of all",
         [](const Pod& pod) {
           const PodSummary summary(pod);
           return fmt::format("{}/{}", summary.ready, summary.total);
         }),
    text("Status", "what the pod is doing, or what keeps it from that",
         [](const Pod& pod) { return PodSummary(pod).reason; }),
    text("Restarts", "how often containers were restarted, and when last",
         [](const Pod& pod, Clock::WallTime now) { return restartsOf(pod, now); }),
    ageColumn<Pod>(),
    wide(text("IP", "the pod's address",
              [](const Pod& pod) {
                const auto& ips = pod.status->podIPs;
                return orElse(ips.empty() ? pod.status->podIP : ips[0].ip, "<none>");
              })),
    wide(text("Node", "the node that the pod is on",
              [](const Pod& pod) { return orElse(pod.spec->nodeName, "<none>"); })),
    wide(text("Nominated Node", "the node that is being cleared for the pod",
              [](const Pod& pod) { return orElse(pod.status->nominatedNodeName, "<none>"); })),
    wide(text("Readiness Gates", "conditions for readiness that hold, of all",
              [](const Pod& pod) { return readinessGatesOf(pod); })),
};

constexpr TableColumn kPodTemplates[] = {
    nameColumn<PodTemplate>(),
    text("Containers", "names of the containers",
         [](const PodTemplate& object) { return containerNames(object.template_); }),
    text("Images", "images of the containers",
         [](const PodTemplate& object) { return containerImages(object.template_); }),
    text("Pod Labels", "labels of pods made from this",
         [](const PodTemplate& object) {
           return labels::formatLabels(object.template_->metadata.labels);
         }),
};

constexpr KindTable kPodTables[] = {
    {.type = &TypeOf<Pod>::info, .columns = kPods, .conditions = podConditions},
    kindTable<PodTemplate>(kPodTemplates),
};

}  // namespace

std::string containerNames(const Shared<corev1::PodTemplateSpec>& pods) {
  return joined(pods->spec->containers, ",", [](const Container& c) { return c.name.view(); });
}

std::string containerImages(const Shared<corev1::PodTemplateSpec>& pods) {
  return joined(pods->spec->containers, ",", [](const Container& c) { return c.image.view(); });
}

std::span<const KindTable> podTables() { return kPodTables; }

}  // namespace kube::apiserver
