// Checks of jobs.
#include <fmt/core.h>

#include <algorithm>

#include "kube/apiserver/rules/built_in_cron.h"
#include "kube/apiserver/rules/built_in_kinds.h"
#include "kube/apiserver/rules/built_in_validation.h"
#include "kube/base/internal/text.h"

namespace kube::apiserver::rules {

namespace {

using batchv1::JobSpec;

constexpr std::int32_t kMaxIndexedParallelism = 100000;
constexpr std::size_t kCronJobNameLimit = 52;  // leaves room for the suffix of its Jobs' names

template <class T>
void checkIfSet(const std::optional<T>& value, const Place& at) {
  if (value) at.nonNegative(*value);
}

void checkIndexes(const JobSpec& spec, const Place& at) {
  if (spec.completionMode != "Indexed") {
    constexpr std::string_view kNeedsIndexes = "requires indexed completion mode";
    if (spec.backoffLimitPerIndex) {
      at("backoffLimitPerIndex").invalid(*spec.backoffLimitPerIndex, kNeedsIndexes);
    }
    if (spec.maxFailedIndexes)
      at("maxFailedIndexes").invalid(*spec.maxFailedIndexes, kNeedsIndexes);
    return;
  }
  if (!spec.completions) at("completions").required("when completion mode is Indexed");
  if (spec.parallelism.value_or(0) > kMaxIndexedParallelism) {
    at("parallelism")
        .invalid(*spec.parallelism,
                 fmt::format("must be less than or equal to {} when completion mode is Indexed",
                             kMaxIndexedParallelism));
  }
  if (spec.completions && spec.maxFailedIndexes.value_or(0) > *spec.completions) {
    at("maxFailedIndexes")
        .invalid(*spec.maxFailedIndexes, "must be less than or equal to completions");
  }
}

void checkExitCodes(const batchv1::PodFailurePolicyOnExitCodesRequirement& codes, const Place& at) {
  if (codes.operator_.empty()) {
    at("operator").required("valid values: [\"In\" \"NotIn\"]");
  } else {
    at("operator").oneOfSupported(codes.operator_, {"In", "NotIn"});
  }
  const Place values = at("values");
  if (codes.values.empty()) values.invalid(shown(codes.values), "at least one value is required");
  if (codes.values.size() > 255) values.tooMany(codes.values.size(), 255);
  forEach(codes.values, values, [&](std::int32_t code, const Place& at) {
    if (codes.operator_ == "In" && code == 0) {
      at.invalid(code, "must not be 0 for the In operator");
    }
  });
  if (!std::is_sorted(codes.values.begin(), codes.values.end())) {
    values.invalid(shown(codes.values), "must be ordered");
  }
}

void checkFailurePolicy(const JobSpec& spec, const Place& at) {
  const auto& rules = spec.podFailurePolicy->rules;
  const Place all = at("rules");
  if (rules.size() > 20) all.tooMany(rules.size(), 20);
  forEach(rules, all, [&](const batchv1::PodFailurePolicyRule& rule, const Place& at) {
    if (rule.action.empty()) {
      at("action").required("valid values: [\"Count\" \"FailIndex\" \"FailJob\" \"Ignore\"]");
    } else if (rule.action == "FailIndex" && !spec.backoffLimitPerIndex) {
      at("action").invalid(rule.action, "requires the backoffLimitPerIndex to be set");
    } else {
      at("action").oneOfSupported(rule.action, {"Count", "FailIndex", "FailJob", "Ignore"});
    }
    if (rule.onExitCodes) checkExitCodes(*rule.onExitCodes, at("onExitCodes"));
    forEach(rule.onPodConditions, at("onPodConditions"), [](const auto& pattern, const Place& at) {
      at("type").text(pattern.type, validation::isQualifiedName);
      at("status").oneOf(pattern.status, {"False", "True", "Unknown"});
    });
  });
}

void checkJobSpec(const JobSpec& spec, const Place& at) {
  checkIfSet(spec.parallelism, at("parallelism"));
  checkIfSet(spec.completions, at("completions"));
  checkIfSet(spec.activeDeadlineSeconds, at("activeDeadlineSeconds"));
  checkIfSet(spec.backoffLimit, at("backoffLimit"));
  checkIfSet(spec.ttlSecondsAfterFinished, at("ttlSecondsAfterFinished"));
  checkIfSet(spec.backoffLimitPerIndex, at("backoffLimitPerIndex"));
  checkIfSet(spec.maxFailedIndexes, at("maxFailedIndexes"));
  if (spec.maxFailedIndexes && !spec.backoffLimitPerIndex) {
    at("backoffLimitPerIndex").required("when maxFailedIndexes is specified");
  }
  if (spec.managedBy) {
    const Place manager = at("managedBy");
    manager.add(validation::isDomainPrefixedPath(manager.path(), *spec.managedBy));
    if (spec.managedBy->size() > 63) manager.tooLong(63);
  }
  at("completionMode").oneOf(spec.completionMode, {"NonIndexed", "Indexed"});
  checkIndexes(spec, at);
  if (spec.podFailurePolicy) checkFailurePolicy(spec, at("podFailurePolicy"));
  if (spec.successPolicy && spec.completionMode != "Indexed") {
    at("successPolicy").invalid(shown(*spec.successPolicy), "requires indexed completion mode");
  }
  if (spec.podFailurePolicy) {
    at("podReplacementPolicy").oneOf(spec.podReplacementPolicy, {"Failed"});
  } else {
    at("podReplacementPolicy").oneOf(spec.podReplacementPolicy, {"Failed", "TerminatingOrFailed"});
  }
  checkTemplate(*spec.template_, at("template"));
  const String& restart = spec.template_->spec->restartPolicy;
  const Place restartPolicy = at("template.spec.restartPolicy");
  if (restart.empty() || restart == "Always") {
    restartPolicy.required("valid values: \"OnFailure\", \"Never\"");
  } else if (restartPolicy.oneOfSupported(restart, {"OnFailure", "Never"}) &&
             spec.podFailurePolicy && restart != "Never") {
    restartPolicy.invalid(restart,
                          "only \"Never\" is supported when podFailurePolicy is specified");
  }
}

/// Checks a label that the server generates.
void checkGenerated(const batchv1::Job& job, std::string_view label, const String& value,
                    const Place& root) {
  const Map<String>& labels = job.spec->template_->metadata.labels;
  const Place at = root("spec.template.metadata.labels");
  if (!labels.contains(label)) {
    at.key(label).required(fmt::format("must be '{}'", value));
  } else if (labels[label] != value) {
    at.key(label).invalid(shown(labels), fmt::format("must be '{}'", value));
  }
}

void checkGeneratedSelector(const batchv1::Job& job, const Place& at) {
  if (job.spec->manualSelector.value_or(false) || !job.spec->selector) return;
  if (job.metadata.uid.empty()) at("metadata.uid").required();
  const Map<String> generated = {{"controller-uid", job.metadata.uid},
                                 {"job-name", job.metadata.name},
                                 {"batch.kubernetes.io/controller-uid", job.metadata.uid},
                                 {"batch.kubernetes.io/job-name", job.metadata.name}};
  for (std::string_view label : {"controller-uid", "job-name", "batch.kubernetes.io/controller-uid",
                                 "batch.kubernetes.io/job-name"}) {
    checkGenerated(job, label, generated[label], at);
  }
  if (!selects(job.spec->selector, generated)) {
    at("spec.selector").invalid(shown(*job.spec->selector), "`selector` not auto-generated");
  }
}

/// The template fields that may change while a Job is suspended: scheduling and resources.
corev1::PodTemplateSpec withChangesOf(corev1::PodTemplateSpec old,
                                      const corev1::PodTemplateSpec& next) {
  old.metadata.labels = next.metadata.labels;
  old.metadata.annotations = next.metadata.annotations;
  corev1::PodSpec& to = *old.spec;
  const corev1::PodSpec& from = *next.spec;
  to.nodeSelector = from.nodeSelector;
  to.tolerations = from.tolerations;
  to.schedulingGates = from.schedulingGates;
  if (to.affinity || from.affinity) {
    to.affinity->nodeAffinity = from.affinity->nodeAffinity;
    if (!from.affinity && *std::as_const(to.affinity) == corev1::Affinity{}) to.affinity.reset();
  }
  const auto takeResources = [](List<corev1::Container>& containers,
                                const List<corev1::Container>& changed) {
    if (containers.size() != changed.size()) return;
    std::size_t i = 0;
    for (corev1::Container& container : containers) {
      const corev1::Container& other = changed[i++];
      if (container.name == other.name) container.resources = other.resources;
    }
  };
  takeResources(to.containers, from.containers);
  takeResources(to.initContainers, from.initContainers);
  return old;
}

void checkCompletionsChange(const JobSpec& next, const JobSpec& old, const Place& at) {
  if (next.completionMode != "Indexed") {
    at.immutable(next.completions, old.completions);
  } else if (next.completions && next.completions != old.completions &&
             next.completions != next.parallelism) {
    at.invalid(*next.completions, "can only be modified in tandem with spec.parallelism");
  }
}

void checkTimeZone(std::string_view zone, const Place& at) {
  if (zone.empty()) return at.invalid(zone, "timeZone must be nil or non-empty string");
  for (std::string_view rest = zone;;) {
    const std::size_t slash = rest.find('/');
    const std::string_view part = rest.substr(0, slash);
    const bool letters = std::all_of(part.begin(), part.end(), [](char c) {
      return kube::detail::isAlphanumeric(c) || c == '.' || c == '-' || c == '_' || c == '+';
    });
    if (part.empty() || part.size() > 14 || part == "." || part == ".." || part[0] == '-' ||
        !letters) {
      return at.invalid(zone, fmt::format("unknown time zone {}", zone));
    }
    if (slash == std::string_view::npos) break;
    rest.remove_prefix(slash + 1);
  }
}

void checkSchedule(const batchv1::CronJobSpec& spec, const Place& at) {
  if (!at.require(spec.schedule)) return;
  if (const auto problem = scheduleProblem(spec.schedule)) at.invalid(spec.schedule, *problem);
  if (spec.schedule.view().find("TZ") != std::string_view::npos) {
    at.invalid(spec.schedule, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
  }
}

}  // namespace

void validate(const batchv1::Job& job, const Place& root) {
  const JobSpec& spec = *job.spec;
  const Place at = root("spec");
  checkGeneratedSelector(job, root);
  checkJobSpec(spec, at);
  if (!spec.selector) return at("selector").required();
  checkSelector(*spec.selector, at("selector"));
  if (!selects(spec.selector, spec.template_->metadata.labels)) {
    at("template.metadata.labels")
        .invalid(shown(spec.template_->metadata.labels),
                 "`selector` does not match template `labels`");
  }
  if (spec.completionMode == "Indexed" && spec.completions.value_or(0) > 0) {
    const std::string last = fmt::format("{}-{}", job.metadata.name, *spec.completions - 1);
    if (!validation::isDNS1123Label(last).empty()) {
      root("metadata.name")
          .invalid(job.metadata.name,
                   fmt::format("will not able to create pod with invalid DNS label: {}", last));
    }
  }
}

void validateUpdate(const batchv1::Job& nextJob, const batchv1::Job& oldJob, const Place& root) {
  const JobSpec& next = *nextJob.spec;
  const JobSpec& old = *oldJob.spec;
  const Place at = root("spec");
  checkCompletionsChange(next, old, at("completions"));
  at("selector").immutable(next.selector, old.selector);
  const bool suspended = old.suspend.value_or(false);
  at("template")
      .immutable(*next.template_,
                 suspended ? withChangesOf(*old.template_, *next.template_) : *old.template_);
  at("completionMode").immutable(next.completionMode, old.completionMode);
  at("podFailurePolicy").immutable(next.podFailurePolicy, old.podFailurePolicy);
  at("backoffLimitPerIndex").immutable(next.backoffLimitPerIndex, old.backoffLimitPerIndex);
  at("managedBy").immutable(next.managedBy, old.managedBy);
  at("successPolicy").immutable(next.successPolicy, old.successPolicy);
}

void validate(const batchv1::CronJob& job, const Place& root) {
  const batchv1::CronJobSpec& spec = *job.spec;
  const Place at = root("spec");
  checkSchedule(spec, at("schedule"));
  checkIfSet(spec.startingDeadlineSeconds, at("startingDeadlineSeconds"));
  if (spec.timeZone) checkTimeZone(*spec.timeZone, at("timeZone"));
  at("concurrencyPolicy").oneOf(spec.concurrencyPolicy, {"Allow", "Forbid", "Replace"});
  const JobSpec& jobSpec = *spec.jobTemplate->spec;
  checkJobSpec(jobSpec, at("jobTemplate.spec"));
  if (jobSpec.selector) {
    at("jobTemplate.spec.selector")
        .invalid(shown(*jobSpec.selector), "`selector` will be auto-generated");
  }
  if (jobSpec.manualSelector.value_or(false)) {
    at("jobTemplate.spec.manualSelector").notSupported("true", {"nil", "false"});
  }
  checkIfSet(spec.successfulJobsHistoryLimit, at("successfulJobsHistoryLimit"));
  checkIfSet(spec.failedJobsHistoryLimit, at("failedJobsHistoryLimit"));
}

void validateCreate(const batchv1::CronJob& job, const Place& at) {
  if (job.metadata.name.size() > kCronJobNameLimit) {
    at("metadata.name").invalid(job.metadata.name, "must be no more than 52 characters");
  }
}

}  // namespace kube::apiserver::rules
