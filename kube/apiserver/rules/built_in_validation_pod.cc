// Checks of pods and pod templates, and of updates of pods.
#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <map>

#include "kube/apiserver/rules/built_in_kinds.h"
#include "kube/apiserver/rules/built_in_validation.h"
#include "kube/codec/json.h"

namespace kube::apiserver::rules {

namespace {

using corev1::PodSpec;

constexpr std::int64_t kMaxDeadline = std::numeric_limits<std::int32_t>::max();

constexpr std::string_view kMutable =
    "pod updates may not change fields other than `spec.containers[*].image`,"
    "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only "
    "additions "
    "to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it "
    "was previously negative)";

void checkHostNetworkPorts(const PodSpec& spec, bool inPod, const Place& at) {
  if (!spec.hostNetwork) return;
  forEach(spec.containers, at("containers"), [&](const auto& container, const Place& at) {
    forEach(container.ports, at("ports"), [&](const auto& port, const Place& at) {
      if ((inPod || port.hostPort != 0) && port.hostPort != port.containerPort) {
        at("hostPort")
            .invalid(port.hostPort, "must match `containerPort` when `hostNetwork` is true");
      }
    });
  });
}

void checkSecurity(const PodSpec& spec, const Place& at) {
  const corev1::PodSecurityContext& security = *spec.securityContext;
  const auto checkId = [](const auto& id, const Place& at, auto rule) {
    if (id) at.reasons(*id, rule(*id));
  };
  checkId(security.fsGroup, at("fsGroup"), validation::isValidGroupID);
  checkId(security.runAsUser, at("runAsUser"), validation::isValidUserID);
  checkId(security.runAsGroup, at("runAsGroup"), validation::isValidGroupID);
  forEach(security.supplementalGroups, at("supplementalGroups"),
          [](std::int64_t group, const Place& at) {
            at.reasons(group, validation::isValidGroupID(group));
          });
  if (spec.hostPID && spec.shareProcessNamespace.value_or(false)) {
    at("shareProcessNamespace")
        .invalid(true, "ShareProcessNamespace and HostPID cannot both be enabled");
  }
  at("fsGroupChangePolicy").oneOf(security.fsGroupChangePolicy, {"Always", "OnRootMismatch"});
}

void checkDns(const PodSpec& spec, const Place& at) {
  const corev1::PodDNSConfig& dns = *spec.dnsConfig;
  if (spec.dnsPolicy == "None") {
    if (!spec.dnsConfig) return at.required("must provide `dnsConfig` when `dnsPolicy` is None");
    if (dns.nameservers.empty()) {
      return at("nameservers")
          .required("must provide at least one DNS nameserver when `dnsPolicy` is None");
    }
  }
  if (dns.nameservers.size() > 3) {
    at("nameservers").invalid(shown(dns.nameservers), "must not have more than 3 nameservers");
  }
  forEach(dns.nameservers, at("nameservers"), [](const String& address, const Place& at) {
    at.add(validation::isValidIPForLegacyField(at.path(), address));
  });
  if (dns.searches.size() > 32) {
    at("searches").invalid(shown(dns.searches), "must not have more than 32 search paths");
  }
  forEach(dns.searches, at("searches"), [](const String& search, const Place& at) {
    std::string_view name = search;
    if (name == ".") return;
    if (name.ends_with('.')) name.remove_suffix(1);
    at.text(name, validation::isDNS1123SubdomainWithUnderscore);
  });
  forEach(dns.options, at("options"), [](const auto& option, const Place& at) {
    if (option.name.empty()) at.required("must not be empty");
  });
}

void checkGates(const List<corev1::PodSchedulingGate>& gates, const Place& at) {
  Seen names;
  forEach(gates, at, [&](const corev1::PodSchedulingGate& gate, const Place& at) {
    at.text(gate.name, validation::isQualifiedName);
    if (!names.insert(gate.name)) at.duplicate(gate.name);
  });
}

void checkSpread(const List<corev1::TopologySpreadConstraint>& constraints, const Place& at) {
  // As upstream: the last of several equal constraints is accepted.
  std::map<std::string, int> alike;
  const auto pair = [](const corev1::TopologySpreadConstraint& one) {
    return fmt::format("{{{}, {}}}", one.topologyKey, one.whenUnsatisfiable);
  };
  for (const corev1::TopologySpreadConstraint& one : constraints) ++alike[pair(one)];
  forEach(constraints, at, [&](const corev1::TopologySpreadConstraint& one, const Place& at) {
    at("maxSkew").positive(one.maxSkew);
    if (one.topologyKey.empty()) at("topologyKey").required("can not be empty");
    at("whenUnsatisfiable")
        .oneOfSupported(one.whenUnsatisfiable, {"DoNotSchedule", "ScheduleAnyway"});
    if (--alike[pair(one)] > 0) at("{topologyKey, whenUnsatisfiable}").duplicate(pair(one));
    if (one.minDomains) {
      at("minDomains").positive(*one.minDomains);
      if (one.whenUnsatisfiable != "DoNotSchedule") {
        at("minDomains")
            .invalid(
                *one.minDomains,
                fmt::format("can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {}",
                            one.whenUnsatisfiable));
      }
    }
    at("nodeAffinityPolicy").oneOf(one.nodeAffinityPolicy, {"Honor", "Ignore"});
    at("nodeTaintsPolicy").oneOf(one.nodeTaintsPolicy, {"Honor", "Ignore"});
    if (one.labelSelector) checkSelector(*one.labelSelector, at("labelSelector"));
  });
}

void checkHostAliases(const List<corev1::HostAlias>& aliases, const Place& at) {
  forEach(aliases, at, [](const corev1::HostAlias& alias, const Place& at) {
    const Place address = at("ip");
    address.add(validation::isValidIPForLegacyField(address.path(), alias.ip));
    forEach(alias.hostnames, at("hostnames"), [](const String& name, const Place& at) {
      at.text(name, validation::isDNS1123Subdomain);
    });
  });
}

void checkClaims(const List<corev1::PodResourceClaim>& claims, const Place& at) {
  Seen names;
  forEach(claims, at, [&](const corev1::PodResourceClaim& claim, const Place& at) {
    if (at("name").require(claim.name)) {
      if (!names.insert(claim.name)) {
        at("name").duplicate(claim.name);
      } else {
        at("name").text(claim.name, validation::isDNS1123Label);
      }
    }
    if (claim.resourceClaimName && claim.resourceClaimTemplateName) {
      at.invalid(shown(claim),
                 "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be "
                 "specified");
    } else if (!claim.resourceClaimName && !claim.resourceClaimTemplateName) {
      at.invalid(shown(claim),
                 "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`");
    }
  });
}

/// Names of other objects.
void checkNameOfOther(std::string_view name, const Place& at) {
  if (!name.empty()) at.reasons(name, validation::nameIsDNSSubdomain(name, false));
}

bool hasSpaceAround(std::string_view text) {
  constexpr std::string_view kSpace = " \t\n\v\f\r";
  return !text.empty() && (kSpace.find(text.front()) != std::string_view::npos ||
                           kSpace.find(text.back()) != std::string_view::npos);
}

void checkImages(const List<corev1::Container>& containers, const Place& at) {
  forEach(containers, at, [](const corev1::Container& container, const Place& at) {
    if (!hasSpaceAround(container.image)) return;
    at("image").invalid(container.image, "must not have leading or trailing whitespace");
  });
}

void checkDeadlineChange(const PodSpec& next, const PodSpec& old, const Place& at) {
  if (!next.activeDeadlineSeconds) {
    if (old.activeDeadlineSeconds) {
      at.invalid(nullptr, "must not update from a positive integer to nil value");
    }
    return;
  }
  if (old.activeDeadlineSeconds.value_or(kMaxDeadline) < *next.activeDeadlineSeconds) {
    at.invalid(*next.activeDeadlineSeconds, "must be less than or equal to previous value");
  }
}

void checkTolerationChange(const PodSpec& next, const PodSpec& old, const Place& at) {
  for (corev1::Toleration before : old.tolerations) {
    const bool kept =
        std::any_of(next.tolerations.begin(), next.tolerations.end(), [&](const auto& toleration) {
          before.tolerationSeconds = toleration.tolerationSeconds;
          return before == toleration;
        });
    if (!kept) {
      return at.forbidden("existing toleration can not be modified except its tolerationSeconds");
    }
  }
}

void checkGateChange(const PodSpec& next, const PodSpec& old, const Place& at) {
  forEach(next.schedulingGates, at, [&](const corev1::PodSchedulingGate& gate, const Place& at) {
    if (std::find(old.schedulingGates.begin(), old.schedulingGates.end(), gate) !=
        old.schedulingGates.end()) {
      return;
    }
    at("name").forbidden(
        fmt::format("only deletion is allowed, but found new scheduling gate '{}'", gate.name));
  });
}

void takeImages(List<corev1::Container>& to, const List<corev1::Container>& from) {
  std::size_t i = 0;
  for (corev1::Container& container : to) container.image = from[i++].image;
}

/// The placement of a pod may change until its scheduling gates are removed.
void takePlacement(PodSpec& next, const PodSpec& old, const Place& at) {
  if (next.nodeSelector != old.nodeSelector) {
    const Map<String>& chosen = std::as_const(next).nodeSelector;
    const bool added =
        std::all_of(old.nodeSelector.begin(), old.nodeSelector.end(), [&](const auto& entry) {
          return chosen.contains(entry.key) && chosen[entry.key] == entry.value;
        });
    if (!added) {
      at("nodeSelector")
          .invalid(shown(chosen),
                   "only additions to spec.nodeSelector are allowed (no mutations or deletions)");
    }
    next.nodeSelector = old.nodeSelector;
  }
  const auto& affinity = std::as_const(next).affinity;
  if (affinity->nodeAffinity == old.affinity->nodeAffinity) return;
  if (!affinity->podAffinity && !affinity->podAntiAffinity && !old.affinity) {
    next.affinity.reset();
  } else {
    next.affinity->nodeAffinity = old.affinity->nodeAffinity;
  }
}

/// The fields of the spec that differ, one on each line.
std::string difference(const PodSpec& next, const PodSpec& old) {
  const Value now = shown(next);
  const Value before = shown(old);
  std::string text;
  const auto line = [&](char sign, std::string_view name, const Value& value) {
    if (!value.isNull())
      fmt::format_to(std::back_inserter(text), "\n{} {}: {}", sign, name, toJson(value));
  };
  for (const FieldInfo& field : TypeOf<PodSpec>::info.fields) {
    if (now[field.name] == before[field.name]) continue;
    line('-', field.name, before[field.name]);
    line('+', field.name, now[field.name]);
  }
  return text;
}

bool sameCount(const List<corev1::Container>& next, const List<corev1::Container>& old,
               const Place& at) {
  if (next.size() == old.size()) return true;
  at.forbidden("pod updates may not add or remove containers");
  return false;
}

}  // namespace

void checkPodSpec(const PodSpec& spec, const metav1::ObjectMeta* pod, const Place& at) {
  if (!spec.terminationGracePeriodSeconds) at("terminationGracePeriodSeconds").required();
  const Seen volumes = checkVolumes(spec, pod, at("volumes"));
  checkClaims(spec.resourceClaims, at("resourceClaims"));
  checkContainers(spec, volumes, at);
  checkHostNetworkPorts(spec, pod != nullptr, at);
  at("restartPolicy").oneOf(spec.restartPolicy, {"Always", "OnFailure", "Never"});
  at("dnsPolicy")
      .oneOf(spec.dnsPolicy, {"ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"});
  const Place nodeSelector = at("nodeSelector");
  if (!spec.nodeSelector.empty()) {
    nodeSelector.add(validation::validateLabels(spec.nodeSelector, nodeSelector.path()));
  }
  checkSecurity(spec, at("securityContext"));
  checkAffinity(*spec.affinity, at("affinity"));
  checkDns(spec, at("dnsConfig"));
  forEach(spec.readinessGates, at("readinessGates"), [](const auto& gate, const Place& at) {
    at("conditionType").text(gate.conditionType, validation::isQualifiedName);
  });
  checkGates(spec.schedulingGates, at("schedulingGates"));
  checkSpread(spec.topologySpreadConstraints, at("topologySpreadConstraints"));
  checkNameOfOther(spec.serviceAccountName, at("serviceAccountName"));
  checkNameOfOther(spec.nodeName, at("nodeName"));
  if (spec.activeDeadlineSeconds) {
    at("activeDeadlineSeconds").inRange(*spec.activeDeadlineSeconds, 1, kMaxDeadline);
  }
  if (!spec.hostname.empty()) at("hostname").text(spec.hostname, validation::isDNS1123Label);
  if (!spec.subdomain.empty()) at("subdomain").text(spec.subdomain, validation::isDNS1123Label);
  checkTolerations(spec.tolerations, at("tolerations"));
  checkHostAliases(spec.hostAliases, at("hostAliases"));
  checkNameOfOther(spec.priorityClassName, at("priorityClassName"));
  if (spec.runtimeClassName) checkNameOfOther(*spec.runtimeClassName, at("runtimeClassName"));
  if (spec.preemptionPolicy) {
    at("preemptionPolicy").oneOf(spec.preemptionPolicy->view(), {"PreemptLowerPriority", "Never"});
  }
  if (spec.os && at("os.name").require(spec.os->name)) {
    at("os").oneOfSupported(spec.os->name, {"linux", "windows"});
  }
}

void checkTemplate(const corev1::PodTemplateSpec& podTemplate, const Place& at) {
  const Place labels = at("labels");
  const Place annotations = at("annotations");
  if (!podTemplate.metadata.labels.empty()) {
    labels.add(validation::validateLabels(podTemplate.metadata.labels, labels.path()));
  }
  if (!podTemplate.metadata.annotations.empty()) {
    annotations.add(
        validation::validateAnnotations(podTemplate.metadata.annotations, annotations.path()));
  }
  checkPodSpec(*podTemplate.spec, nullptr, at("spec"));
  if (!podTemplate.spec->ephemeralContainers.empty()) {
    at("spec.ephemeralContainers").forbidden("ephemeral containers not allowed in pod template");
  }
}

void validate(const corev1::PodTemplate& podTemplate, const Place& at) {
  checkTemplate(*podTemplate.template_, at("template"));
}

void validate(const corev1::Pod& pod, const Place& at) {
  const Place spec = at("spec");
  checkPodSpec(*pod.spec, &pod.metadata, spec);
  checkImages(pod.spec->containers, spec("containers"));
  checkImages(pod.spec->initContainers, spec("initContainers"));
}

void validateCreate(const corev1::Pod& pod, const Place& at) {
  if (!pod.spec->ephemeralContainers.empty()) {
    at("spec.ephemeralContainers").forbidden("cannot be set on create");
  }
  if (!pod.spec->nodeName.empty() && !pod.spec->schedulingGates.empty()) {
    at("spec.nodeName").forbidden("cannot be set until all schedulingGates have been cleared");
  }
}

void validateUpdate(const corev1::Pod& nextPod, const corev1::Pod& oldPod, const Place& root) {
  const PodSpec& next = *nextPod.spec;
  const PodSpec& old = *oldPod.spec;
  const Place at = root("spec");
  if (!sameCount(next.containers, old.containers, at("containers"))) return;
  if (!sameCount(next.initContainers, old.initContainers, at("initContainers"))) return;
  checkDeadlineChange(next, old, at("activeDeadlineSeconds"));
  checkTolerationChange(next, old, at("tolerations"));
  checkGateChange(next, old, at("schedulingGates"));
  // Fields that may change have been checked. They are set to the old values; any other difference
  // is an error.
  PodSpec rest = next;
  takeImages(rest.containers, old.containers);
  takeImages(rest.initContainers, old.initContainers);
  rest.activeDeadlineSeconds = old.activeDeadlineSeconds;
  rest.schedulingGates = old.schedulingGates;
  rest.tolerations = old.tolerations;
  if (old.terminationGracePeriodSeconds.value_or(0) < 0 &&
      next.terminationGracePeriodSeconds == 1) {
    rest.terminationGracePeriodSeconds = old.terminationGracePeriodSeconds;
  }
  if (!old.schedulingGates.empty()) takePlacement(rest, old, at);
  if (!semanticEqual(rest, old)) at.forbidden(std::string(kMutable) + difference(rest, old));
}

}  // namespace kube::apiserver::rules
