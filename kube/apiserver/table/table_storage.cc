// Volumes, claims and storage drivers as rows of a table.
#include <fmt/core.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "kube/api/core/v1.h"
#include "kube/api/storage/v1.h"
#include "kube/api/storage/v1beta1.h"
#include "kube/apiserver/table/table_columns.h"

namespace kube::apiserver {

namespace {

using corev1::PersistentVolume;
using corev1::PersistentVolumeClaim;
using storagev1::CSIDriver;
using storagev1::CSINode;
using storagev1::CSIStorageCapacity;
using storagev1::StorageClass;
using storagev1::VolumeAttachment;

// "RWO,RWX": each mode once, in this order.
std::string accessModes(const List<String>& modes) {
  static constexpr std::pair<std::string_view, std::string_view> kShort[] = {
      {"ReadWriteOnce", "RWO"},
      {"ReadOnlyMany", "ROX"},
      {"ReadWriteMany", "RWX"},
      {"ReadWriteOncePod", "RWOP"}};
  std::vector<std::string_view> shown;
  for (const auto& [name, abbreviation] : kShort) {
    if (std::find(modes.begin(), modes.end(), name) != modes.end()) shown.push_back(abbreviation);
  }
  return joined(shown, ",");
}

// The annotation is older than the field and replaces it.
template <class T>
String storageClassOf(const T& object, const String& field) {
  const auto at = object.metadata.annotations.find("volume.beta.kubernetes.io/storage-class");
  return at != object.metadata.annotations.end() ? at->value : field;
}

template <class T>
String phaseOf(const T& object) {
  if (object.metadata.deletionTimestamp) return "Terminating";
  return orElse(object.status->phase, "Pending");
}

template <class T>
constexpr TableColumn volumeModeColumn() {
  return wide(text("VolumeMode", "whether it is a file system or a block device",
                   [](const T& object) { return orElse(object.spec->volumeMode, "<unset>"); }));
}

template <class T>
constexpr TableColumn attributesClassColumn() {
  return text("VolumeAttributesClass", "the class of its attributes", [](const T& object) {
    return orElse(object.spec->volumeAttributesClassName, "<unset>");
  });
}

constexpr TableColumn kPersistentVolumes[] = {
    nameColumn<PersistentVolume>(),
    text("Capacity", "how much it holds",
         [](const PersistentVolume& volume) { return volume.spec->capacity["storage"].str(); }),
    text("Access Modes", "how it may be mounted",
         [](const PersistentVolume& volume) { return accessModes(volume.spec->accessModes); }),
    text("Reclaim Policy", "what becomes of it when its claim is gone",
         [](const PersistentVolume& volume) {
           return orElse(volume.spec->persistentVolumeReclaimPolicy, "Retain");
         }),
    text("Status", "whether it is bound to a claim",
         [](const PersistentVolume& volume) { return phaseOf(volume); }),
    text("Claim", "the claim it is bound to",
         [](const PersistentVolume& volume) {
           const auto& claim = volume.spec->claimRef;
           return claim ? fmt::format("{}/{}", claim->namespace_, claim->name) : std::string();
         }),
    text("StorageClass", "its storage class",
         [](const PersistentVolume& volume) {
           return storageClassOf(volume, volume.spec->storageClassName);
         }),
    attributesClassColumn<PersistentVolume>(),
    text("Reason", "why it failed, in a word",
         [](const PersistentVolume& volume) { return volume.status->reason; }),
    ageColumn<PersistentVolume>(),
    volumeModeColumn<PersistentVolume>(),
};

constexpr TableColumn kPersistentVolumeClaims[] = {
    nameColumn<PersistentVolumeClaim>(),
    text("Status", "whether it is bound to a volume",
         [](const PersistentVolumeClaim& claim) { return phaseOf(claim); }),
    text("Volume", "the volume it is bound to",
         [](const PersistentVolumeClaim& claim) { return claim.spec->volumeName; }),
    text("Capacity", "how much the volume holds",
         [](const PersistentVolumeClaim& claim) {
           if (claim.spec->volumeName.empty()) return std::string();
           return claim.status->capacity["storage"].str();
         }),
    text("Access Modes", "how the volume may be mounted",
         [](const PersistentVolumeClaim& claim) {
           if (claim.spec->volumeName.empty()) return std::string();
           return accessModes(claim.status->accessModes);
         }),
    text("StorageClass", "the storage class it asks for",
         [](const PersistentVolumeClaim& claim) {
           return storageClassOf(claim, claim.spec->storageClassName.value_or(String()));
         }),
    attributesClassColumn<PersistentVolumeClaim>(),
    ageColumn<PersistentVolumeClaim>(),
    volumeModeColumn<PersistentVolumeClaim>(),
};

bool isDefault(const StorageClass& storage) {
  const auto& annotations = storage.metadata.annotations;
  return annotations["storageclass.kubernetes.io/is-default-class"] == "true" ||
         annotations["storageclass.beta.kubernetes.io/is-default-class"] == "true";
}

// Claims without a class get the newest default, or the first by name of those of equal age.
const void* defaultClass(std::span<const void* const> objects) {
  const StorageClass* found = nullptr;
  for (const void* object : objects) {
    const auto& storage = *static_cast<const StorageClass*>(object);
    if (!isDefault(storage)) continue;
    const auto order = [](const StorageClass& each) {
      return std::pair(-each.metadata.creationTimestamp.unixSeconds(),
                       std::string_view(each.metadata.name));
    };
    if (found == nullptr || order(storage) < order(*found)) found = &storage;
  }
  return found;
}

constexpr TableColumn kStorageClasses[] = {
    nameColumn<StorageClass>(),
    text("Provisioner", "who makes volumes of this class",
         [](const StorageClass& storage) { return storage.provisioner; }),
    text("ReclaimPolicy", "what becomes of a volume when its claim is gone",
         [](const StorageClass& storage) { return orElse(storage.reclaimPolicy, "Delete"); }),
    text(
        "VolumeBindingMode", "when a volume is made for a claim",
        [](const StorageClass& storage) { return orElse(storage.volumeBindingMode, "Immediate"); }),
    text("AllowVolumeExpansion", "whether volumes may grow",
         [](const StorageClass& storage) { return storage.allowVolumeExpansion.value_or(false); }),
    ageColumn<StorageClass>(),
};

constexpr TableColumn kVolumeAttachments[] = {
    nameColumn<VolumeAttachment>(),
    {.name = "Attacher",
     .format = "name",
     .description = "the driver that attaches it",
     .cell = cellOf([](const VolumeAttachment& object) { return object.spec->attacher; })},
    text("PV", "the volume",
         [](const VolumeAttachment& object) {
           return orElse(object.spec->source->persistentVolumeName, "");
         }),
    text("Node", "the node it is attached to",
         [](const VolumeAttachment& object) { return object.spec->nodeName; }),
    boolean("Attached", "whether it is attached",
            [](const VolumeAttachment& object) { return object.status->attached; }),
    ageColumn<VolumeAttachment>(),
};

std::string audiencesOf(const CSIDriver& driver) {
  const auto& requests = driver.spec->tokenRequests;
  if (requests.empty()) return "<unset>";
  return joined(requests, ",", [](const auto& request) { return request.audience.view(); });
}

std::string modesOf(const CSIDriver& driver) {
  // The default that a server sets.
  const auto& modes = driver.spec->volumeLifecycleModes;
  return modes.empty() ? "Persistent" : joined(modes, ",");
}

constexpr TableColumn kCSIDrivers[] = {
    nameColumn<CSIDriver>(),
    boolean("AttachRequired", "whether volumes are attached to a node first",
            [](const CSIDriver& driver) { return driver.spec->attachRequired.value_or(true); }),
    boolean("PodInfoOnMount", "whether the driver is told about the pod",
            [](const CSIDriver& driver) { return driver.spec->podInfoOnMount.value_or(false); }),
    boolean("StorageCapacity", "whether pods are scheduled by the driver's capacity",
            [](const CSIDriver& driver) { return driver.spec->storageCapacity.value_or(false); }),
    text("TokenRequests", "audiences of tokens that the driver is given",
         [](const CSIDriver& driver) { return audiencesOf(driver); }),
    boolean("RequiresRepublish", "whether the driver is called again from time to time",
            [](const CSIDriver& driver) { return driver.spec->requiresRepublish.value_or(false); }),
    text("Modes", "what volumes the driver has",
         [](const CSIDriver& driver) { return modesOf(driver); }),
    ageColumn<CSIDriver>(),
};

constexpr TableColumn kCSINodes[] = {
    nameColumn<CSINode>(),
    integer("Drivers", "how many drivers the node has",
            [](const CSINode& node) { return node.spec->drivers.size(); }),
    ageColumn<CSINode>(),
};

constexpr TableColumn kCSIStorageCapacities[] = {
    nameColumn<CSIStorageCapacity>(),
    text("StorageClassName", "the storage class it is about",
         [](const CSIStorageCapacity& object) { return object.storageClassName; }),
    text("Capacity", "how much there is",
         [](const CSIStorageCapacity& object) {
           return object.capacity ? object.capacity->str() : "<unset>";
         }),
};

template <class VolumeAttributesClass>
constexpr TableColumn kVolumeAttributesClasses[] = {
    nameColumn<VolumeAttributesClass>(),
    text("DriverName", "whose attributes they are",
         [](const VolumeAttributesClass& object) { return object.driverName; }),
    ageColumn<VolumeAttributesClass>(),
};

constexpr KindTable kStorageTables[] = {
    kindTable<PersistentVolume>(kPersistentVolumes),
    kindTable<PersistentVolumeClaim>(kPersistentVolumeClaims),
    {.type = &TypeOf<StorageClass>::info, .columns = kStorageClasses, .defaultOf = defaultClass},
    kindTable<VolumeAttachment>(kVolumeAttachments),
    kindTable<CSIDriver>(kCSIDrivers),
    kindTable<CSINode>(kCSINodes),
    kindTable<CSIStorageCapacity>(kCSIStorageCapacities),
    kindTable<storagev1::VolumeAttributesClass>(
        kVolumeAttributesClasses<storagev1::VolumeAttributesClass>),
    kindTable<storagev1beta1::VolumeAttributesClass>(
        kVolumeAttributesClasses<storagev1beta1::VolumeAttributesClass>),
};

}  // namespace

std::span<const KindTable> storageTables() { return kStorageTables; }

}  // namespace kube::apiserver
