// Checks of containers.
#include <fmt/core.h>

#include <array>

#include "kube/apiserver/rules/built_in_validation.h"

namespace kube::apiserver::rules {

namespace {

using corev1::Container;

constexpr std::array<std::string_view, 9> kEnvFields = {"metadata.name",
                                                        "metadata.namespace",
                                                        "metadata.uid",
                                                        "spec.nodeName",
                                                        "spec.serviceAccountName",
                                                        "status.hostIP",
                                                        "status.hostIPs",
                                                        "status.podIP",
                                                        "status.podIPs"};

/// The parts of a pod that matter for the checks of its containers.
struct Pod {
  const corev1::PodSpec& spec;
  const Seen& volumes;
  Seen blockVolumes = {};  // those that can be block devices
  Seen claims = {};

  Pod(const corev1::PodSpec& spec, const Seen& volumes) : spec(spec), volumes(volumes) {
    for (const corev1::Volume& volume : spec.volumes) {
      if (volume.persistentVolumeClaim || volume.ephemeral) blockVolumes.insert(volume.name);
    }
    for (const corev1::PodResourceClaim& claim : spec.resourceClaims) claims.insert(claim.name);
  }
  bool hostUsers() const { return spec.hostUsers.value_or(true); }
};

void checkPorts(const List<corev1::ContainerPort>& ports, const Place& at) {
  Seen names;
  forEach(ports, at, [&](const corev1::ContainerPort& port, const Place& at) {
    if (!port.name.empty() && at("name").text(port.name, validation::isValidPortName) &&
        !names.insert(port.name)) {
      at("name").duplicate(port.name);
    }
    if (port.containerPort == 0) {
      at("containerPort").required();
    } else {
      at("containerPort").port(port.containerPort);
    }
    if (port.hostPort != 0) at("hostPort").port(port.hostPort);
    at("protocol").oneOf(port.protocol, {"SCTP", "TCP", "UDP"});
  });
}

/// For ConfigMapKeySelector and SecretKeySelector.
template <class Selector>
void checkKeyRef(const Selector& selector, const Place& at) {
  at("name").reasons(selector.name, validation::nameIsDNSSubdomain(selector.name, false));
  at("key").requiredText(selector.key, validation::isConfigMapKey);
}

void checkFileKeyRef(const corev1::FileKeySelector& selector, const Place& at) {
  at("key").requiredText(selector.key, validation::isRelaxedEnvVarName);
  at("volumeName").requiredText(selector.volumeName, validation::isDNS1123Label);
  if (at("path").require(selector.path)) checkNoBacksteps(selector.path, at("path"));
}

void checkEnvSource(const corev1::EnvVar& variable, const Place& at) {
  if (!variable.valueFrom) return;
  const corev1::EnvVarSource& source = *variable.valueFrom;
  if (source.fieldRef) checkFieldRef(*source.fieldRef, kEnvFields, at("fieldRef"));
  if (source.resourceFieldRef) {
    checkResourceFieldRef(*source.resourceFieldRef, false, at("resourceFieldRef"));
  }
  if (source.configMapKeyRef) checkKeyRef(*source.configMapKeyRef, at("configMapKeyRef"));
  if (source.secretKeyRef) checkKeyRef(*source.secretKeyRef, at("secretKeyRef"));
  if (source.fileKeyRef) checkFileKeyRef(*source.fileKeyRef, at("fileKeyRef"));
  const int sources = int{bool{source.fieldRef}} + bool{source.resourceFieldRef} +
                      bool{source.configMapKeyRef} + bool{source.secretKeyRef} +
                      bool{source.fileKeyRef};
  if (sources == 0) {
    at.invalid("",
               "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, "
               "`secretKeyRef` or `fileKeyRef`");
  } else if (!variable.value.empty()) {
    at.invalid("", "may not be specified when `value` is not empty");
  } else if (sources > 1) {
    at.invalid("", "may not have more than one field specified at a time");
  }
}

void checkEnv(const List<corev1::EnvVar>& variables, const Place& at) {
  forEach(variables, at, [](const corev1::EnvVar& variable, const Place& at) {
    at("name").requiredText(variable.name, validation::isRelaxedEnvVarName);
    checkEnvSource(variable, at("valueFrom"));
  });
}

void checkEnvFrom(const List<corev1::EnvFromSource>& sources, const Place& all) {
  const auto checkName = [](const String& name, const Place& at) {
    if (at.require(name)) at.reasons(name, validation::nameIsDNSSubdomain(name, true));
  };
  forEach(sources, all, [&](const corev1::EnvFromSource& source, const Place& at) {
    if (!source.prefix.empty()) at("prefix").text(source.prefix, validation::isRelaxedEnvVarName);
    if (source.configMapRef) checkName(source.configMapRef->name, at("configMapRef.name"));
    if (source.secretRef) checkName(source.secretRef->name, at("secretRef.name"));
    if (!source.configMapRef && !source.secretRef) {
      all.invalid("", "must specify one of: `configMapRef` or `secretRef`");
    } else if (source.configMapRef && source.secretRef) {
      all.invalid("", "may not have more than one field specified at a time");
    }
  });
}

/// For Container and EphemeralContainer, here and below.
template <class C>
void checkMounts(const C& container, const Pod& pod, const Place& all) {
  Seen paths;
  Seen devices;
  Seen devicePaths;
  for (const corev1::VolumeDevice& device : container.volumeDevices) {
    devices.insert(device.name);
    devicePaths.insert(device.devicePath);
  }
  forEach(container.volumeMounts, all, [&](const corev1::VolumeMount& mount, const Place& at) {
    at("name").require(mount.name);
    if (!pod.volumes.has(mount.name)) at("name").notFound(mount.name);
    at("mountPath").require(mount.mountPath);
    if (!paths.insert(mount.mountPath)) at("mountPath").invalid(mount.mountPath, kMustBeUnique);
    if (devices.has(mount.name)) {
      at("name").invalid(mount.name, "must not already exist in volumeDevices");
    }
    if (devicePaths.has(mount.mountPath)) {
      at("mountPath").invalid(mount.mountPath, "must not already exist as a path in volumeDevices");
    }
    // As upstream: the path has no index from here on.
    if (!mount.subPath.empty()) checkDescendingPath(mount.subPath, all("subPath"));
    if (!mount.subPathExpr.empty()) {
      if (!mount.subPath.empty()) {
        at("subPathExpr")
            .invalid(mount.subPathExpr, "subPathExpr and subPath are mutually exclusive");
      }
      checkDescendingPath(mount.subPathExpr, all("subPathExpr"));
    }
    const bool privileged = container.securityContext->privileged.value_or(false);
    all("mountPropagation")
        .oneOf(mount.mountPropagation, {"Bidirectional", "HostToContainer", "None"});
    if (mount.mountPropagation == "Bidirectional" && !privileged) {
      all("mountPropagation")
          .forbidden("Bidirectional mount propagation is available only to privileged containers");
    }
    Seen options;
    forEach(mount.bindMountOptions, at("bindMountOptions"),
            [&](const String& option, const Place& at) {
              at.oneOfSupported(option, {"nodev", "noexec", "nosuid"});
              if (!options.insert(option)) at.duplicate(option);
            });
    if (mount.recursiveReadOnly &&
        all("recursiveReadOnly")
            .oneOf(mount.recursiveReadOnly, {"Disabled", "Enabled", "IfPossible"}) &&
        *mount.recursiveReadOnly != "Disabled" && !mount.readOnly) {
      all("recursiveReadOnly").forbidden("may only be specified when readOnly is true");
    }
  });
}

template <class C>
void checkDevices(const C& container, const Pod& pod, const Place& all) {
  Seen names;
  Seen paths;
  Seen mounts;
  for (const corev1::VolumeMount& mount : container.volumeMounts) mounts.insert(mount.name);
  forEach(container.volumeDevices, all, [&](const corev1::VolumeDevice& device, const Place& at) {
    if (at("name").require(device.name) && !names.insert(device.name)) {
      at("name").invalid(device.name, kMustBeUnique);
    }
    if (!pod.volumes.has(device.name)) {
      at("name").notFound(device.name);
    } else if (!pod.blockVolumes.has(device.name)) {
      at("name").invalid(device.name,
                         "can only use volume source type of PersistentVolumeClaim or Ephemeral "
                         "for block mode");
    }
    if (at("devicePath").require(device.devicePath) && !paths.insert(device.devicePath)) {
      at("devicePath").invalid(device.devicePath, kMustBeUnique);
    }
    if (mounts.has(device.name)) {
      at("name").invalid(device.name, "must not already exist in volumeMounts");
    }
  });
}

constexpr std::string_view kOneHandler = "may not specify more than 1 handler type";
constexpr std::string_view kNoHandler = "must specify a handler type";

void checkExec(const corev1::ExecAction& action, const Place& at) {
  if (action.command.empty()) at("command").required();
}

void checkHttpGet(const corev1::HTTPGetAction& action, const Place& at) {
  at("path").require(action.path);
  checkPortNumberOrName(action.port, at("port"));
  at("scheme").oneOfSupported(action.scheme, {"HTTP", "HTTPS"});
  for (const corev1::HTTPHeader& header : action.httpHeaders) {
    at("httpHeaders").text(header.name, validation::isHTTPHeaderName);
  }
  if (!action.protocol || !at("protocol").oneOf(action.protocol, {"HTTP1", "HTTP2"})) return;
  if (*action.protocol != "HTTP2") return;
  if (action.scheme != "HTTP") {
    at("protocol").invalid(*action.protocol, "is only supported with HTTP (H2C)");
  } else if (!action.host.empty()) {
    at("host").invalid(action.host, "must be empty when `protocol` is \"HTTP2\"");
  }
}

void checkTcpSocket(const corev1::TCPSocketAction& action, const Place& at) {
  checkPortNumberOrName(action.port, at("port"));
}

void checkGrpc(const corev1::GRPCAction& action, const Place& at) {
  at("port").port(action.port);
  at("mode").oneOf(action.mode, {"Plaintext", "TLS"});
}

void checkHandler(const Shared<corev1::LifecycleHandler>& handler, const corev1::PodSpec& spec,
                  const Place& at) {
  if (!handler) return;
  OneOf one(at, kOneHandler);
  one(handler->exec, "exec", checkExec);
  one(handler->httpGet, "httpGet", checkHttpGet);
  one(handler->tcpSocket, "tcpSocket", checkTcpSocket);
  one(handler->sleep, "sleep", [&](const corev1::SleepAction& action, const Place& at) {
    const std::int64_t grace = spec.terminationGracePeriodSeconds.value_or(30);
    if (action.seconds >= 0 && action.seconds <= grace) return;
    at.invalid(action.seconds,
               fmt::format("must be non-negative and less than terminationGracePeriodSeconds ({})",
                           grace));
  });
  one.require(kNoHandler);
}

void checkProbe(const Shared<corev1::Probe>& probe, bool succeedsOnce, const Place& at) {
  if (!probe) return;
  OneOf one(at, kOneHandler);
  one(probe->exec, "exec", checkExec);
  one(probe->httpGet, "httpGet", checkHttpGet);
  one(probe->tcpSocket, "tcpSocket", checkTcpSocket);
  one(probe->grpc, "grpc", checkGrpc);
  one.require(kNoHandler);
  at("initialDelaySeconds").nonNegative(probe->initialDelaySeconds);
  at("timeoutSeconds").nonNegative(probe->timeoutSeconds);
  at("periodSeconds").nonNegative(probe->periodSeconds);
  at("successThreshold").nonNegative(probe->successThreshold);
  at("failureThreshold").nonNegative(probe->failureThreshold);
  const auto& grace = probe->terminationGracePeriodSeconds;
  if (grace.value_or(1) <= 0) {
    at("terminationGracePeriodSeconds").invalid(*grace, "must be greater than 0");
  }
  if (succeedsOnce && probe->successThreshold != 1) {
    at("successThreshold").invalid(probe->successThreshold, "must be 1");
  }
  if (!succeedsOnce && grace) {
    at("terminationGracePeriodSeconds").invalid(*grace, "must not be set for readinessProbes");
  }
}

/// Probes and hooks, which init containers have only as sidecars.
void checkProbesAndHooks(const Container& container, const corev1::PodSpec& spec, const Place& at) {
  const Place lifecycle = at("lifecycle");
  checkHandler(container.lifecycle->postStart, spec, lifecycle("postStart"));
  checkHandler(container.lifecycle->preStop, spec, lifecycle("preStop"));
  checkProbe(container.livenessProbe, true, at("livenessProbe"));
  checkProbe(container.readinessProbe, false, at("readinessProbe"));
  checkProbe(container.startupProbe, true, at("startupProbe"));
}

void forbidProbesAndHooks(const Container& container, const Place& at) {
  const auto forbid = [&](bool set, std::string_view name) {
    if (set) at(name).forbidden("may not be set for init containers without restartPolicy=Always");
  };
  forbid(bool{container.lifecycle}, "lifecycle");
  forbid(bool{container.livenessProbe}, "livenessProbe");
  forbid(bool{container.readinessProbe}, "readinessProbe");
  forbid(bool{container.startupProbe}, "startupProbe");
}

bool isHugePages(std::string_view name) { return name.starts_with("hugepages-"); }
bool isNative(std::string_view name) {
  return name.find('/') == std::string_view::npos ||
         name.find("kubernetes.io/") != std::string_view::npos;
}

void checkContainerResourceName(std::string_view name, const Place& at) {
  checkResourceName(name, at);
  if (name.find('/') != std::string_view::npos) {
    if (!isNative(name) && name.starts_with("requests.")) {
      at.invalid(name, "doesn't follow extended resource name standard");
    }
  } else if (name != "cpu" && name != "memory" && name != "ephemeral-storage" &&
             !isHugePages(name)) {
    at.invalid(name, "must be a standard resource for containers");
  }
}

void checkResources(const corev1::ResourceRequirements& resources, const Pod& pod,
                    const Place& at) {
  const Place limits = at("limits");
  const Place requests = at("requests");
  bool compute = false;
  bool hugePages = false;
  const auto check = [&](const auto& entry, const Place& at) {
    checkContainerResourceName(entry.key, at);
    checkAmount(entry.key, entry.value, at);
    compute = compute || entry.key == "cpu" || entry.key == "memory";
    hugePages = hugePages || isHugePages(entry.key);
  };
  for (const auto& entry : resources.limits) check(entry, limits.key(entry.key));
  for (const auto& entry : resources.requests) {
    const auto& [name, amount] = entry;
    check(entry, requests.key(name));
    const bool overcommits = isNative(name) && !isHugePages(name);
    const auto limit = resources.limits.find(name);
    if (limit == resources.limits.end()) {
      if (!overcommits) limits.required("Limit must be set for non overcommitable resources");
    } else if (!overcommits && amount != limit->value) {
      requests.invalid(amount.text(),
                       fmt::format("must be equal to {} limit of {}", name, limit->value));
    } else if (amount > limit->value) {
      requests.invalid(amount.text(), fmt::format("must be less than or equal to {} limit of {}",
                                                  name, limit->value));
    }
  }
  if (hugePages && !compute) at.forbidden("HugePages require cpu or memory");
  Seen claims;
  forEach(resources.claims, at("claims"), [&](const corev1::ResourceClaim& claim, const Place& at) {
    if (!at.require(claim.name)) return;
    if (!claims.insert(claim.name + "/" + claim.request)) at.duplicate(claim.name);
    if (!pod.claims.has(claim.name)) at.notFound(claim.name);
  });
}

void checkSecurity(const corev1::SecurityContext& security, const Pod& pod, const Place& at) {
  if (security.runAsUser) {
    at("runAsUser").reasons(*security.runAsUser, validation::isValidUserID(*security.runAsUser));
  }
  if (security.runAsGroup) {
    at("runAsGroup")
        .reasons(*security.runAsGroup, validation::isValidGroupID(*security.runAsGroup));
  }
  at("procMount").oneOf(security.procMount, {"Default", "Unmasked"});
  if (pod.hostUsers() && security.procMount == "Unmasked") {
    at("procMount").invalid("Unmasked", "`hostUsers` must be false to use `Unmasked`");
  }
  if (!security.allowPrivilegeEscalation.value_or(true) && security.privileged.value_or(false)) {
    at.invalid(shown(security),
               "cannot set `allowPrivilegeEscalation` to false and `privileged` to true");
  }
}

void checkResizePolicies(const List<corev1::ContainerResizePolicy>& policies, const Pod& pod,
                         const Place& all) {
  Seen resources;
  forEach(policies, all, [&](const corev1::ContainerResizePolicy& policy, const Place& at) {
    if (!resources.insert(policy.resourceName)) at.duplicate(policy.resourceName);
    all.oneOf(policy.resourceName, {"cpu", "memory"});
    all.oneOf(policy.restartPolicy, {"NotRequired", "RestartContainer"});
    if (pod.spec.restartPolicy == "Never" && policy.restartPolicy != "NotRequired") {
      all.invalid(policy.restartPolicy,
                  "must be 'NotRequired' when pod `restartPolicy` is 'Never'");
    }
  });
}

template <class C>
void checkContainer(const C& container, const Pod& pod, const Place& at) {
  at("name").requiredText(container.name, validation::isDNS1123Label);
  at("image").require(container.image);
  at("terminationMessagePolicy")
      .oneOf(container.terminationMessagePolicy, {"File", "FallbackToLogsOnError"});
  checkPorts(container.ports, at("ports"));
  checkEnv(container.env, at("env"));
  checkEnvFrom(container.envFrom, at("envFrom"));
  checkMounts(container, pod, at("volumeMounts"));
  checkDevices(container, pod, at("volumeDevices"));
  at("imagePullPolicy").oneOf(container.imagePullPolicy, {"Always", "IfNotPresent", "Never"});
  checkResources(*container.resources, pod, at("resources"));
  checkResizePolicies(container.resizePolicy, pod, at("resizePolicy"));
  checkSecurity(*container.securityContext, pod, at("securityContext"));
}

void checkRestartPolicy(const Container& container, const Place& at) {
  if (!container.restartPolicy && !container.restartPolicyRules.empty()) {
    at("restartPolicy").required("must specify restartPolicy when restart rules are used");
  }
  at("restartPolicy").oneOf(container.restartPolicy, {"Always", "Never", "OnFailure"});
}

/// Containers that run side by side must not use the same port of the host.
void checkHostPorts(const Container& container, Seen& used, const Place& at) {
  forEach(container.ports, at("ports"), [&](const corev1::ContainerPort& port, const Place& at) {
    if (port.hostPort == 0) return;
    const std::string name = fmt::format("{}/{}/{}", port.protocol, port.hostIP, port.hostPort);
    if (!used.insert(name)) at("hostPort").duplicate(name);
  });
}

void checkEphemeralContainer(const corev1::EphemeralContainer& container, const Place& at) {
  const auto forbid = [&](bool set, std::string_view name) {
    if (set) at(name).forbidden("cannot be set for an Ephemeral Container");
  };
  forbid(!container.ports.empty(), "ports");
  forbid(container.resources.read() != corev1::ResourceRequirements{}, "resources");
  forbid(!container.resizePolicy.empty(), "resizePolicy");
  forbid(bool{container.livenessProbe}, "livenessProbe");
  forbid(bool{container.readinessProbe}, "readinessProbe");
  forbid(bool{container.startupProbe}, "startupProbe");
  forbid(bool{container.lifecycle}, "lifecycle");
  forEach(container.volumeMounts, at("volumeMounts"), [](const auto& mount, const Place& at) {
    if (!mount.subPath.empty()) {
      at("subPath").forbidden("cannot be set for an Ephemeral Container");
    }
    if (!mount.subPathExpr.empty()) {
      at("subPathExpr").forbidden("cannot be set for an Ephemeral Container");
    }
  });
}

}  // namespace

void checkContainers(const corev1::PodSpec& spec, const Seen& volumes, const Place& at) {
  const Pod pod{spec, volumes};
  if (spec.containers.empty()) at("containers").required();
  Seen names;
  Seen hostPorts;
  const Place containers = at("containers");
  forEach(spec.containers, containers, [&](const Container& container, const Place& at) {
    checkContainer(container, pod, at);
    if (!names.insert(container.name)) at("name").duplicate(container.name);
    checkProbesAndHooks(container, spec, at);
    checkRestartPolicy(container, at);
  });
  forEach(spec.containers, containers, [&](const Container& container, const Place& at) {
    checkHostPorts(container, hostPorts, at);
  });
  forEach(spec.initContainers, at("initContainers"),
          [&](const Container& container, const Place& at) {
            checkContainer(container, pod, at);
            checkRestartPolicy(container, at);
            if (!names.insert(container.name) && !container.name.empty()) {
              at("name").duplicate(container.name);
            }
            Seen own;  // init containers run one after another
            checkHostPorts(container, own, at);
            if (container.restartPolicy == "Always") {
              checkProbesAndHooks(container, spec, at);
            } else {
              forbidProbesAndHooks(container, at);
            }
          });
  const Seen targets = names;
  forEach(spec.ephemeralContainers, at("ephemeralContainers"),
          [&](const corev1::EphemeralContainer& container, const Place& at) {
            checkContainer(container, pod, at);
            if (!names.insert(container.name)) at("name").duplicate(container.name);
            const String& target = container.targetContainerName;
            if (!target.empty() && !targets.has(target)) at("targetContainerName").notFound(target);
            checkEphemeralContainer(container, at);
          });
}

}  // namespace kube::apiserver::rules
