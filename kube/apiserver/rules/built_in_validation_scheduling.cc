// Checks of workloads and groups of pods, which are scheduled together.
#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "kube/apiserver/rules/built_in_kinds.h"
#include "kube/apiserver/rules/built_in_validation.h"

namespace kube::apiserver::rules {

namespace {

constexpr std::size_t kMaxTemplates = 8;
constexpr std::size_t kMaxClaims = 4;
constexpr int kMaxDepth = 4;

/// Exactly one of two fields has to be set.
void checkUnion(bool first, bool second, std::string_view names, const Place& at) {
  if (first && second) {
    at.invalid("", fmt::format("must specify exactly one of: {}", names));
  } else if (!first && !second) {
    at.invalid("", fmt::format("must specify one of: {}", names));
  }
}

template <class Policy>
void checkPolicy(const Policy& policy, const Place& at) {
  checkUnion(static_cast<bool>(policy.basic), static_cast<bool>(policy.gang), "`basic`, `gang`",
             at);
  if (!policy.gang) return;
  const Place gang = at("gang");
  if constexpr (requires { policy.gang->minCount; }) {
    if (policy.gang->minCount < 1) {
      gang("minCount").invalid(policy.gang->minCount, "must be greater than or equal to 1");
    }
  } else {
    if (policy.gang->minGroupCount < 1) {
      gang("minGroupCount")
          .invalid(policy.gang->minGroupCount, "must be greater than or equal to 1");
    }
  }
}

/// The parts that groups and templates of groups have in common.
template <class Group>
void checkGroup(const Group& group, const Place& at) {
  checkPolicy(*group.schedulingPolicy, at("schedulingPolicy"));
  if (group.disruptionMode) {
    checkUnion(static_cast<bool>(group.disruptionMode->single),
               static_cast<bool>(group.disruptionMode->all), "`single`, `all`",
               at("disruptionMode"));
  }
  if (!group.priorityClassName.empty()) {
    at("priorityClassName").text(group.priorityClassName, validation::isDNS1123Subdomain);
  }
  if (group.priority.value_or(0) > kHighestUserPriority) {
    at("priority")
        .invalid(*group.priority,
                 fmt::format("must be less than or equal to {}", kHighestUserPriority));
  }
  at("preemptionPolicy").oneOf(group.preemptionPolicy, {"Never", "PreemptLowerPriority"});
}

template <class Claims>
void checkClaims(const Claims& claims, const Place& at) {
  if (claims.size() > kMaxClaims) return at.tooMany(claims.size(), kMaxClaims);
  Seen names;
  forEach(claims, at, [&](const auto& claim, const Place& at) {
    if (at("name").requiredText(claim.name, validation::isDNS1123Label) &&
        !names.insert(claim.name)) {
      at.duplicate(claim.name);
    }
    checkUnion(claim.resourceClaimName.has_value(), claim.resourceClaimTemplateName.has_value(),
               "`resourceClaimName`, `resourceClaimTemplateName`", at);
  });
}

template <class Reference>
void checkWorkloadReference(const Reference& reference, const Place& at) {
  at("workloadName").requiredText(reference.workloadName, validation::isDNS1123Subdomain);
  at("templateName").requiredText(reference.templateName, validation::isDNS1123Label);
}

// --- Groups.

template <class PodGroup>
void checkPodGroup(const PodGroup& group, const Place& root) {
  const Place at = root("spec");
  checkGroup(*group.spec, at);
  checkClaims(group.spec->resourceClaims, at("resourceClaims"));
  if (group.spec->workloadRef) {
    checkWorkloadReference(*group.spec->workloadRef, at("workloadRef"));
  } else if (group.spec->parentCompositePodGroupName) {
    at("workloadRef").required("must be set when parentCompositePodGroupName is set");
  }
}

/// Only the size of a gang can change.
template <class Group>
void checkGroupChange(const Group& next, const Group& old, const Place& at) {
  auto allowed = *old.spec;
  const auto& gang = next.spec->schedulingPolicy->gang;
  if (gang && old.spec->schedulingPolicy->gang) allowed.schedulingPolicy->gang = gang;
  if (allowed != *next.spec) at("spec").invalid(shown(next.spec), "field is immutable");
}

// --- Workloads: trees of templates, up to four levels deep.

/// All templates of a workload have one priority.
class OnePriority {
 public:
  template <class Template>
  bool agrees(const Template& groups) {
    std::pair<String, std::optional<std::int32_t>> own(groups.priorityClassName, groups.priority);
    if (!first_) first_ = own;
    return *first_ == own;
  }

 private:
  std::optional<std::pair<String, std::optional<std::int32_t>>> first_;
};

class Templates {
 public:
  template <class Part>
  void check(const Part& part, const Place& at, int depth) {
    checkSize(part.podGroupTemplates, at("podGroupTemplates"));
    forEach(part.podGroupTemplates, at("podGroupTemplates"),
            [&](const auto& groups, const Place& at) {
              checkTemplate(groups, at);
              checkClaims(groups.resourceClaims, at("resourceClaims"));
            });
    const Place composites = at("compositePodGroupTemplates");
    checkSize(part.compositePodGroupTemplates, composites);
    forEach(part.compositePodGroupTemplates, composites, [&](const auto& groups, const Place& at) {
      checkTemplate(groups, at);
      if (depth == kMaxDepth) {
        return at.invalid(groups.name,
                          fmt::format("maximum template hierarchy depth is {}", kMaxDepth));
      }
      if (groups.podGroupTemplates.empty() && groups.compositePodGroupTemplates.empty()) {
        at.invalid(groups.name,
                   "must have at least one child PodGroupTemplate or "
                   "CompositePodGroupTemplate");
      }
      check(groups, at, depth + 1);
    });
  }
  bool onePriority() const { return onePriority_; }

 private:
  template <class List>
  static void checkSize(const List& templates, const Place& at) {
    if (templates.size() > kMaxTemplates) at.tooMany(templates.size(), kMaxTemplates);
  }
  template <class Template>
  void checkTemplate(const Template& groups, const Place& at) {
    if (at("name").requiredText(groups.name, validation::isDNS1123Label) &&
        !names_.insert(groups.name)) {
      at("name").duplicate(groups.name);
    }
    checkGroup(groups, at);
    onePriority_ = priority_.agrees(groups) && onePriority_;
  }

  Seen names_;
  OnePriority priority_;
  bool onePriority_ = true;
};

template <class Workload>
void checkWorkload(const Workload& workload, const Place& root) {
  const auto& spec = *workload.spec;
  const Place at = root("spec");
  if (spec.controllerRef) {
    const Place controller = at("controllerRef");
    if (!spec.controllerRef->apiGroup.empty()) {
      controller("apiGroup").text(spec.controllerRef->apiGroup, validation::isDNS1123Subdomain);
    }
    controller("kind").requiredText(spec.controllerRef->kind, validation::isPathSegmentName);
    controller("name").requiredText(spec.controllerRef->name, validation::isPathSegmentName);
  }
  checkUnion(!spec.podGroupTemplates.empty(), !spec.compositePodGroupTemplates.empty(),
             "`podGroupTemplates`, `compositePodGroupTemplates`", at);
  Templates templates;
  templates.check(spec, at, 1);
  if (!templates.onePriority()) {
    at.invalid(Value(),
               "all priority and priorityClassName values must be identical, detected "
               "multiple values");
  }
}

/// Copies the sizes of gangs, the only part of a template that can change.
template <class Part>
void copySizes(const Part& from, Part& to) {
  const auto copy = [](const auto& source, auto& target, auto use) {
    if (source.size() != target.size()) return;
    for (std::size_t i = 0; i < source.size(); ++i) {
      auto& part = target[i];
      const auto& gang = source[i].schedulingPolicy->gang;
      if (gang && part.schedulingPolicy.read().gang) part.schedulingPolicy->gang = gang;
      use(source[i], part);
    }
  };
  copy(from.podGroupTemplates, to.podGroupTemplates, [](const auto&, auto&) {});
  copy(from.compositePodGroupTemplates, to.compositePodGroupTemplates,
       [](const auto& source, auto& target) { copySizes(source, target); });
}

template <class Workload>
void checkWorkloadChange(const Workload& next, const Workload& old, const Place& root) {
  const Place at = root("spec");
  at("controllerRef").immutable(next.spec->controllerRef, old.spec->controllerRef);
  auto allowed = *old.spec;
  copySizes(*next.spec, allowed);
  at("podGroupTemplates").immutable(next.spec->podGroupTemplates, allowed.podGroupTemplates);
  at("compositePodGroupTemplates")
      .immutable(next.spec->compositePodGroupTemplates, allowed.compositePodGroupTemplates);
}

}  // namespace

void validate(const schedulingv1beta1::Workload& workload, const Place& at) {
  checkWorkload(workload, at);
}
void validate(const schedulingv1alpha3::Workload& workload, const Place& at) {
  checkWorkload(workload, at);
}
void validateUpdate(const schedulingv1beta1::Workload& next, const schedulingv1beta1::Workload& old,
                    const Place& at) {
  checkWorkloadChange(next, old, at);
}
void validateUpdate(const schedulingv1alpha3::Workload& next,
                    const schedulingv1alpha3::Workload& old, const Place& at) {
  checkWorkloadChange(next, old, at);
}
void validate(const schedulingv1beta1::PodGroup& group, const Place& at) {
  checkPodGroup(group, at);
}
void validate(const schedulingv1alpha3::PodGroup& group, const Place& at) {
  checkPodGroup(group, at);
}
void validateUpdate(const schedulingv1beta1::PodGroup& next, const schedulingv1beta1::PodGroup& old,
                    const Place& at) {
  checkGroupChange(next, old, at);
}
void validateUpdate(const schedulingv1alpha3::PodGroup& next,
                    const schedulingv1alpha3::PodGroup& old, const Place& at) {
  checkGroupChange(next, old, at);
}
void validate(const schedulingv1alpha3::CompositePodGroup& group, const Place& root) {
  const Place at = root("spec");
  checkGroup(*group.spec, at);
  if (group.spec->workloadRef) {
    checkWorkloadReference(*group.spec->workloadRef, at("workloadRef"));
  } else {
    at("workloadRef").required();
  }
}
void validateUpdate(const schedulingv1alpha3::CompositePodGroup& next,
                    const schedulingv1alpha3::CompositePodGroup& old, const Place& at) {
  checkGroupChange(next, old, at);
}

}  // namespace kube::apiserver::rules
