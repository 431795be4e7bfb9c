// The defaults of pods and pod templates.
#include <algorithm>
#include <vector>

#include "kube/apiserver/rules/built_in_defaults.h"
#include "kube/apiserver/rules/built_in_kinds.h"

namespace kube::apiserver::rules {

namespace {

constexpr std::int64_t kGracePeriodSeconds = 30;

void setHttpGetDefaults(Shared<corev1::HTTPGetAction>& action) {
  if (!action) return;
  setIfEmpty(action->path, "/");
  setIfEmpty(action->scheme, "HTTP");
}

void setProbeDefaults(Shared<corev1::Probe>& probe) {
  if (!probe) return;
  setIfZero(probe->timeoutSeconds, 1);
  setIfZero(probe->periodSeconds, 10);
  setIfZero(probe->successThreshold, 1);
  setIfZero(probe->failureThreshold, 3);
  setHttpGetDefaults(probe->httpGet);
  if (probe->grpc) setIfUnset(probe->grpc->service, "");
}

void setHandlerDefaults(Shared<corev1::LifecycleHandler>& handler) {
  if (handler) setHttpGetDefaults(handler->httpGet);
}

void setEnvDefaults(corev1::EnvVar& variable) {
  if (!variable.valueFrom) return;
  corev1::EnvVarSource& source = *variable.valueFrom;
  if (source.fieldRef) setIfEmpty(source.fieldRef->apiVersion, "v1");
  if (source.fileKeyRef) setIfUnset(source.fileKeyRef->optional, false);
}

void roundUpResources(Shared<corev1::ResourceRequirements>& resources) {
  if (!resources) return;
  roundUp(resources->limits);
  roundUp(resources->requests);
}

/// For Container and EphemeralContainer.
template <class C>
void setContainerDefaults(C& container) {
  setIfEmpty(container.imagePullPolicy, pullPolicyFor(container.image));
  setIfEmpty(container.terminationMessagePath, "/dev/termination-log");
  setIfEmpty(container.terminationMessagePolicy, "File");
  for (corev1::ContainerPort& port : container.ports) setIfEmpty(port.protocol, "TCP");
  for (corev1::EnvVar& variable : container.env) setEnvDefaults(variable);
  roundUpResources(container.resources);
  for (auto* probe : {&container.livenessProbe, &container.readinessProbe, &container.startupProbe})
    setProbeDefaults(*probe);
  if (!container.lifecycle) return;
  setHandlerDefaults(container.lifecycle->postStart);
  setHandlerDefaults(container.lifecycle->preStop);
}

/// Requests default to limits.
void setRequestsFromLimits(List<corev1::Container>& containers) {
  for (corev1::Container& container : containers) {
    if (container.resources.read().limits.empty()) continue;
    corev1::ResourceRequirements& resources = *container.resources;
    for (const auto& [name, limit] : std::as_const(resources.limits)) {
      if (!resources.requests.contains(name)) resources.requests.insert_or_assign(name, limit);
    }
  }
}

/// On the host's network, a container's port is also a port of the host.
void setHostPorts(List<corev1::Container>& containers) {
  for (corev1::Container& container : containers) {
    for (corev1::ContainerPort& port : container.ports) {
      setIfZero(port.hostPort, port.containerPort);
    }
  }
}

/// Makes podIP and podIPs agree; podIP wins.
void setPodIPs(corev1::PodStatus& status) {
  if (status.podIP.empty() && status.podIPs.empty()) return;
  if (status.podIP.empty()) {
    status.podIP = std::as_const(status.podIPs).front().ip;
  } else if (std::as_const(status.podIPs).front().ip != status.podIP) {
    status.podIPs = {corev1::PodIP{.ip = status.podIP}};
  }
}

bool validRepository(std::string_view name) {
  // The host may have capitals; the repository after it is in lower case.
  const std::size_t slash = name.find('/');
  const std::string_view first = name.substr(0, slash);
  const bool host = slash != std::string_view::npos &&
                    (first.find_first_of(".:") != std::string_view::npos || first == "localhost");
  const std::string_view path = host ? name.substr(slash + 1) : name;
  return !path.empty() && std::all_of(path.begin(), path.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
           std::string_view("._-/").find(c) != std::string_view::npos;
  });
}

}  // namespace

std::string_view pullPolicyFor(std::string_view image) {
  const std::size_t digest = image.find('@');
  std::string_view name = image.substr(0, digest);
  const std::size_t colon = name.rfind(':');
  const std::size_t slash = name.rfind('/');
  std::string_view tag;
  if (colon != std::string_view::npos && (slash == std::string_view::npos || colon > slash)) {
    tag = name.substr(colon + 1);
    name = name.substr(0, colon);
  } else if (digest == std::string_view::npos) {
    tag = "latest";
  }
  return tag == "latest" && validRepository(name) ? "Always" : "IfNotPresent";
}

void roundUp(Map<Quantity>& amounts) {
  std::vector<MapEntry<Quantity>> rounded;
  for (const auto& [name, amount] : std::as_const(amounts)) {
    Quantity whole = amount;
    if (!whole.roundUp(Quantity::Milli)) rounded.push_back({name, whole});
  }
  for (const auto& [name, amount] : rounded) amounts.insert_or_assign(name, amount);
}

void setPodSpecDefaults(corev1::PodSpec& spec) {
  // Both names are of the same field.
  setIfEmpty(spec.serviceAccountName, spec.serviceAccount);
  if (spec.serviceAccount != spec.serviceAccountName) spec.serviceAccount = spec.serviceAccountName;
  setIfEmpty(spec.dnsPolicy, "ClusterFirst");
  setIfEmpty(spec.restartPolicy, "Always");
  setIfEmpty(spec.schedulerName, "default-scheduler");
  setIfUnset(spec.terminationGracePeriodSeconds, kGracePeriodSeconds);
  if (!spec.securityContext) spec.securityContext = corev1::PodSecurityContext{};
  for (corev1::Volume& volume : spec.volumes) setVolumeDefaults(volume);
  for (corev1::Container& container : spec.initContainers) setContainerDefaults(container);
  for (corev1::Container& container : spec.containers) setContainerDefaults(container);
  for (corev1::EphemeralContainer& container : spec.ephemeralContainers)
    setContainerDefaults(container);
  roundUp(spec.overhead);
  roundUpResources(spec.resources);
}

void setTemplateDefaults(Shared<corev1::PodTemplateSpec>& podTemplate) {
  setPodSpecDefaults(*podTemplate->spec);
}

void setDefaults(corev1::Pod& pod) {
  corev1::PodSpec& spec = *pod.spec;
  if (spec.terminationGracePeriodSeconds.value_or(0) < 0) spec.terminationGracePeriodSeconds = 1;
  setPodSpecDefaults(spec);
  setRequestsFromLimits(spec.containers);
  setRequestsFromLimits(spec.initContainers);
  setIfUnset(spec.enableServiceLinks, true);
  if (spec.hostNetwork) {
    setHostPorts(spec.containers);
    setHostPorts(spec.initContainers);
  }
  if (pod.status) setPodIPs(*pod.status);
}

void setDefaults(corev1::PodTemplate& podTemplate) { setTemplateDefaults(podTemplate.template_); }

}  // namespace kube::apiserver::rules
