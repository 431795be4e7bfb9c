// Checks of persistent volumes, claims and storage drivers.
#include <fmt/core.h>

#include <algorithm>

#include "kube/apiserver/rules/built_in_kinds.h"
#include "kube/apiserver/rules/built_in_validation.h"
#include "kube/base/internal/text.h"

namespace kube::apiserver::rules {

namespace {

using corev1::PersistentVolumeClaimSpec;
using corev1::PersistentVolumeSpec;

void checkAccessModes(const List<String>& modes, const Place& at) {
  bool alone = false;
  bool shared = false;
  for (const String& mode : modes) {
    const bool known = at.oneOfSupported(
        mode, {"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"});
    (mode == "ReadWriteOncePod" ? alone : shared) |= known;
  }
  if (alone && shared) at.forbidden("may not use ReadWriteOncePod with other access modes");
}

void checkClassName(std::string_view name, const Place& at) {
  if (!name.empty()) at.reasons(name, validation::nameIsDNSSubdomain(name, false));
}

bool positive(const Quantity& amount, const Place& at) {
  if (amount.sign() > 0) return true;
  at.invalid(amount.text(), "must be greater than zero");
  return false;
}

/// For TypedLocalObjectReference and TypedObjectReference.
template <class Reference>
void checkDataSource(const Reference& source, const Place& at) {
  at("name").require(source.name);
  at("kind").require(source.kind);
  const String group = source.apiGroup.value_or("");
  if (!group.empty()) {
    at("apiGroup").text(group, validation::isDNS1123Subdomain);
  } else if (source.kind != "PersistentVolumeClaim") {
    at.invalid(source.kind,
               "must be 'PersistentVolumeClaim' when referencing the default apiGroup");
  }
}

void checkCapacity(const Map<Quantity>& capacity, const Place& at) {
  if (capacity.empty()) at.required();
  if (!capacity.contains("storage") || capacity.size() > 1) {
    at.add({FieldError::notSupported(at.path(), shown(capacity), {"storage"})});
  }
  for (const auto& [name, amount] : capacity) positive(amount, at.key(name));
}

/// The fields of a PersistentVolume that are not its source.
constexpr std::string_view kNotSources[] = {"capacity",
                                            "accessModes",
                                            "claimRef",
                                            "persistentVolumeReclaimPolicy",
                                            "mountOptions",
                                            "volumeMode",
                                            "nodeAffinity",
                                            "storageClassName",
                                            "volumeAttributesClassName"};

bool isSource(const FieldInfo& field) {
  return std::find(std::begin(kNotSources), std::end(kNotSources), field.name) ==
         std::end(kNotSources);
}

const void* at(const PersistentVolumeSpec& spec, const FieldInfo& field) {
  return reinterpret_cast<const std::byte*>(&spec) + field.offset;
}

void checkSources(const PersistentVolumeSpec& spec, const Place& place) {
  const Value set = shown(spec);
  bool found = false;
  for (const FieldInfo& field : TypeOf<PersistentVolumeSpec>::info.fields) {
    if (!isSource(field) || set[field.name].isNull()) continue;
    if (std::exchange(found, true)) {
      place(field.name).forbidden("may not specify more than 1 volume type");
    }
  }
  if (!found) place.required("must specify a volume type");
}

bool sameSource(const PersistentVolumeSpec& next, const PersistentVolumeSpec& old) {
  const auto& fields = TypeOf<PersistentVolumeSpec>::info.fields;
  return std::all_of(fields.begin(), fields.end(), [&](const FieldInfo& field) {
    return !isSource(field) || kube::detail::semanticEqual(field, at(next, field), at(old, field));
  });
}

void checkParameters(const Map<String>& parameters, const Place& at) {
  constexpr std::size_t kMaxCount = 512;
  constexpr std::size_t kMaxSize = 256 * 1024;
  if (parameters.size() > kMaxCount) return at.tooLong(kMaxCount);
  std::size_t size = 0;
  for (const auto& [key, value] : parameters) {
    if (key.empty()) at.invalid(key, "field can not be empty.");
    size += key.size() + value.size();
  }
  if (size > kMaxSize) at.tooLong(kMaxSize);
}

}  // namespace

void checkClaimSpec(const PersistentVolumeClaimSpec& spec, const Place& at) {
  if (spec.accessModes.empty()) at("accessModes").required("at least 1 access mode is required");
  if (spec.selector) checkSelector(*spec.selector, at("selector"));
  checkAccessModes(spec.accessModes, at("accessModes"));
  const Place resources = at("resources");
  const Place storage = resources.key("storage");
  if (!spec.resources->requests.contains("storage")) {
    storage.required();
  } else {
    positive(spec.resources->requests["storage"], storage);
  }
  checkClassName(spec.storageClassName.value_or(""), at("storageClassName"));
  at("volumeMode").oneOf(spec.volumeMode, {"Block", "Filesystem"});
  if (spec.dataSource) checkDataSource(*spec.dataSource, at("dataSource"));
  if (spec.dataSourceRef) checkDataSource(*spec.dataSourceRef, at("dataSourceRef"));
  checkClassName(spec.volumeAttributesClassName.value_or(""), at("volumeAttributesClassName"));
}

void validate(const corev1::PersistentVolumeClaim& claim, const Place& at) {
  checkClaimSpec(*claim.spec, at("spec"));
}

void validateUpdate(const corev1::PersistentVolumeClaim& next,
                    const corev1::PersistentVolumeClaim& old, const Place& at) {
  PersistentVolumeClaimSpec rest = *next.spec;
  const PersistentVolumeClaimSpec& before = *old.spec;
  if (before.volumeName.empty()) rest.volumeName = before.volumeName;
  if (!before.storageClassName) rest.storageClassName.reset();
  if (next.status->phase == "Bound") {
    if (rest.resources.read().requests.contains("storage")) {
      rest.resources->requests.insert_or_assign("storage", before.resources->requests["storage"]);
    }
    rest.volumeAttributesClassName = before.volumeAttributesClassName;
  }
  if (!semanticEqual(rest, before)) {
    at("spec").forbidden(
        "spec is immutable after creation except resources.requests and volumeAttributesClassName "
        "for bound claims");
  }
  const Quantity& size = next.spec->resources->requests["storage"];
  // A request below the last one but above the capacity cancels a growth that failed.
  if (size < before.resources->requests["storage"] && size <= old.status->capacity["storage"]) {
    at("spec.resources.requests.storage").forbidden("field can not be less than status.capacity");
  }
  at("volumeMode").immutable(next.spec->volumeMode, before.volumeMode);
}

void validate(const corev1::PersistentVolume& volume, const Place& root) {
  const PersistentVolumeSpec& spec = *volume.spec;
  const Place at = root("spec");
  if (spec.accessModes.empty()) at("accessModes").required();
  checkAccessModes(spec.accessModes, at("accessModes"));
  checkCapacity(spec.capacity, at("capacity"));
  if (!spec.persistentVolumeReclaimPolicy.empty()) {
    at("persistentVolumeReclaimPolicy")
        .oneOf(spec.persistentVolumeReclaimPolicy, {"Delete", "Recycle", "Retain"});
  }
  const auto& nodes = spec.nodeAffinity;
  if (nodes && nodes->required) {
    checkNodeSelector(*nodes->required, at("nodeAffinity.required"));
  } else if (nodes) {
    at("nodeAffinity.required").required("must specify required node constraints");
  }
  checkSources(spec, at);
  if (spec.hostPath) checkHostPath(*spec.hostPath, at("hostPath"));
  if (spec.nfs) checkNfs(*spec.nfs, at("nfs"));
  if (spec.local && !nodes) at("nodeAffinity").required("Local volume requires node affinity");
  if (spec.hostPath && spec.hostPath->path == "/" &&
      spec.persistentVolumeReclaimPolicy == "Recycle") {
    at("persistentVolumeReclaimPolicy")
        .forbidden("may not be 'recycle' for a hostPath mount of '/'");
  }
  checkClassName(spec.storageClassName, at("storageClassName"));
  at("volumeMode").oneOf(spec.volumeMode, {"Block", "Filesystem"});
}

void validateUpdate(const corev1::PersistentVolume& next, const corev1::PersistentVolume& old,
                    const Place& at) {
  if (!sameSource(*next.spec, *old.spec)) {
    at("spec.persistentvolumesource")
        .forbidden("spec.persistentvolumesource is immutable after creation");
  }
  at("volumeMode").immutable(next.spec->volumeMode, old.spec->volumeMode);
  if (old.spec->nodeAffinity) {
    at("nodeAffinity").immutable(next.spec->nodeAffinity, old.spec->nodeAffinity);
  }
}

void validate(const storagev1::StorageClass& storageClass, const Place& at) {
  const String& provisioner = storageClass.provisioner;
  if (at("provisioner").require(provisioner)) {
    at("provisioner").text(detail::lower(provisioner), validation::isQualifiedName);
  }
  checkParameters(storageClass.parameters, at("parameters"));
  at("reclaimPolicy").oneOf(storageClass.reclaimPolicy, {"Delete", "Retain"});
  if (!storageClass.volumeBindingMode) {
    at("volumeBindingMode").required();
  } else {
    at("volumeBindingMode")
        .oneOf(storageClass.volumeBindingMode, {"Immediate", "WaitForFirstConsumer"});
  }
}

void validateUpdate(const storagev1::StorageClass& next, const storagev1::StorageClass& old,
                    const Place& at) {
  at("parameters").immutable(next.parameters, old.parameters);
  at("provisioner").immutable(next.provisioner, old.provisioner);
  at("reclaimPolicy").immutable(next.reclaimPolicy, old.reclaimPolicy);
  at("volumeBindingMode").immutable(next.volumeBindingMode, old.volumeBindingMode);
}

}  // namespace kube::apiserver::rules
