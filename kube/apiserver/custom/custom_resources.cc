#include "kube/apiserver/custom/custom_resources.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "kube/apiserver/custom/custom_approval.h"
#include "kube/base/internal/text.h"
#include "kube/base/internal/utf8.h"
#include "kube/base/joined.h"

namespace kube::apiserver {

namespace {

using Definition = apiextensionsv1::CustomResourceDefinition;
using Condition = apiextensionsv1::CustomResourceDefinitionCondition;
using Names = apiextensionsv1::CustomResourceDefinitionNames;

void addStorageVersion(Definition& crd) {
  for (const auto& version : crd.spec.read().versions) {
    if (!version.storage) continue;
    const auto& stored = crd.status.read().storedVersions;
    if (std::find(stored.begin(), stored.end(), version.name) == stored.end()) {
      crd.status->storedVersions.push_back(version.name);
    }
    return;
  }
}

const Condition* findCondition(const Definition& crd, std::string_view type) {
  for (const Condition& condition : crd.status->conditions) {
    if (condition.type == type) return &condition;
  }
  return nullptr;
}

void setCondition(Definition& crd, Condition condition, Time now) {
  condition.lastTransitionTime = now;
  for (Condition& existing : crd.status->conditions) {
    if (existing.type != condition.type) continue;
    if (existing.status == condition.status && !existing.lastTransitionTime.isZero()) {
      condition.lastTransitionTime = existing.lastTransitionTime;
    }
    existing = std::move(condition);
    return;
  }
  crd.status->conditions.push_back(std::move(condition));
}

std::string inUse(std::string_view name) {
  return fmt::format("{} is already in use", kube::detail::quoted(name));
}

void setApproval(Definition& crd, Time now) {
  using State = ApiApproval::State;
  const auto approval = apiApproval(crd);
  if (!approval) return;
  const auto reason = [&]() -> std::string_view {
    switch (approval->state) {
      case State::Approved:
        return "ApprovedAnnotation";
      case State::Bypassed:
        return "UnapprovedAnnotation";
      case State::Missing:
        return "MissingAnnotation";
      case State::Invalid:
        break;
    }
    return "InvalidAnnotation";
  };
  setCondition(crd,
               {.type = "KubernetesAPIApprovalPolicyConformant",
                .status = approval->state == State::Approved ? "True" : "False",
                .reason = reason(),
                .message = approval->reason},
               now);
}

// Accepts a requested name, unless it is new and another definition has it.
class NameRequest {
 public:
  explicit NameRequest(Condition& condition) : condition_(condition) {}

  void ask(const String& wanted, String& accepted, const std::set<std::string, std::less<>>& taken,
           std::string_view reason) {
    if (wanted == accepted) return;
    if (taken.contains(wanted.view())) {
      refuse(reason, inUse(wanted));
    } else {
      accepted = wanted;
    }
  }
  void askShort(const List<String>& wanted, List<String>& accepted,
                const std::set<std::string, std::less<>>& taken) {
    std::set<std::string> conflicts;
    for (const String& name : wanted) {
      const bool own = std::find(std::as_const(accepted).begin(), std::as_const(accepted).end(),
                                 name) != std::as_const(accepted).end();
      if (!own && taken.contains(name.view())) conflicts.insert(inUse(name));
    }
    if (conflicts.empty()) {
      accepted = wanted;
    } else {
      const std::string all = joined(conflicts, ", ");
      refuse("ShortNamesConflict", conflicts.size() == 1 ? all : fmt::format("[{}]", all));
    }
  }

 private:
  void refuse(std::string_view reason, const std::string& message) {
    condition_.status = "False";
    condition_.reason = reason;
    condition_.message = message;
  }

  Condition& condition_;
};

}  // namespace

void setDefinitionDefaults(Definition& crd) {
  auto& spec = crd.spec.write();
  auto& names = spec.names.write();
  if (names.singular.empty()) names.singular = kube::detail::lower(names.kind);
  if (names.listKind.empty() && !names.kind.empty()) names.listKind = names.kind + "List";
  if (!spec.conversion) spec.conversion->strategy = "None";
  if (crd.status.read().storedVersions.empty()) addStorageVersion(crd);
}

void prepareDefinition(Definition& crd, const Definition* old) {
  if (old == nullptr) {
    crd.status.reset();
    crd.metadata.generation = 1;
  } else {
    crd.status = old->status;
    crd.metadata.generation = old->metadata.generation + (crd.spec != old->spec ? 1 : 0);
  }
  addStorageVersion(crd);
}

std::vector<std::string> definitionWarnings(const Definition& crd, const Definition* old) {
  const auto formats = [](const Definition& definition) {
    std::set<std::string> all;
    for (const CustomVersion& version : compileVersions(definition)) {
      const auto& unknown = version.schema->unknownFormats();
      all.insert(unknown.begin(), unknown.end());
    }
    return all;
  };
  const std::set<std::string> before = old != nullptr ? formats(*old) : std::set<std::string>();
  std::vector<std::string> warnings;
  for (const std::string& format : formats(crd)) {
    if (before.contains(format)) continue;
    warnings.push_back(fmt::format("unrecognized format {}", kube::detail::quoted(format)));
  }
  return warnings;
}

void TakenNames::add(const Names& accepted) {
  const auto insert = [](auto& set, const String& name) {
    if (!name.empty()) set.insert(name.str());
  };
  insert(resources, accepted.plural);
  insert(resources, accepted.singular);
  for (const String& name : accepted.shortNames) insert(resources, name);
  insert(kinds, accepted.kind);
  insert(kinds, accepted.listKind);
}

bool isConditionTrue(const Definition& crd, std::string_view type) {
  const Condition* condition = findCondition(crd, type);
  return condition != nullptr && condition->status == "True";
}

void acceptNames(Definition& crd, const TakenNames& others, Time now) {
  Condition accepted{.type = "NamesAccepted",
                     .status = "True",
                     .reason = "NoConflicts",
                     .message = "no conflicts found"};
  const Names wanted = crd.spec.read().names.read();
  Names names = crd.status.read().acceptedNames.read();
  NameRequest request(accepted);
  request.ask(wanted.plural, names.plural, others.resources, "PluralConflict");
  request.ask(wanted.singular, names.singular, others.resources, "SingularConflict");
  request.askShort(wanted.shortNames, names.shortNames, others.resources);
  request.ask(wanted.kind, names.kind, others.kinds, "KindConflict");
  request.ask(wanted.listKind, names.listKind, others.kinds, "ListKindConflict");
  names.categories = wanted.categories;
  crd.status->acceptedNames = std::move(names);

  setApproval(crd, now);
  // An established definition stays established: there may be objects of it.
  const bool established = isConditionTrue(crd, "Established");
  const bool good = accepted.status == "True";
  setCondition(crd, std::move(accepted), now);
  if (established) return;
  setCondition(crd,
               good ? Condition{.type = "Established",
                                .status = "True",
                                .reason = "InitialNamesAccepted",
                                .message = "the initial names have been accepted"}
                    : Condition{.type = "Established",
                                .status = "False",
                                .reason = "NotAccepted",
                                .message = "not all names are accepted"},
               now);
}

std::vector<CustomVersion> compileVersions(const Definition& crd) {
  std::vector<CustomVersion> versions;
  const auto& spec = crd.spec.read();
  std::size_t i = 0;
  for (const auto& version : spec.versions) {
    CustomVersion& out = versions.emplace_back();
    out.version = version.name;
    out.served = version.served;
    out.storage = version.storage;
    out.deprecated = version.deprecated;
    if (version.deprecated) {
      out.warning = version.deprecationWarning.value_or(
          fmt::format("{}/{} {} is deprecated", spec.group, version.name, spec.names->kind));
    }
    // Most definitions have one version, or the same schema in all versions.
    for (std::size_t same = 0; same < i && out.schema == nullptr; ++same) {
      if (spec.versions[same].schema == version.schema) out.schema = versions[same].schema;
    }
    if (out.schema == nullptr) {
      const ErrorPath path = ErrorPath("spec.versions").index(i).child("schema.openAPIV3Schema");
      out.schema =
          std::make_shared<const StructuralSchema>(version.schema->openAPIV3Schema.read(), path);
    }
    out.statusSubresource = version.subresources->status.has_value();
    if (const auto& scale = version.subresources->scale) {
      out.scale = ScalePaths{scale->specReplicasPath, scale->statusReplicasPath,
                             scale->labelSelectorPath.value_or(String())};
    }
    out.columns = version.additionalPrinterColumns;
    if (out.columns.empty()) {
      out.columns.push_back({.name = "Age",
                             .type = "date",
                             .description = "CreationTimestamp is a timestamp representing the "
                                            "server time when this object was created.",
                             .jsonPath = ".metadata.creationTimestamp"});
    }
    for (const auto& field : version.selectableFields) {
      std::string_view path = field.jsonPath;
      if (path.starts_with('.')) path.remove_prefix(1);
      out.selectableFields.emplace_back(path);
    }
    ++i;
  }
  return versions;
}

}  // namespace kube::apiserver
