// The defaults of volumes, claims and storage.
#include "kube/apiserver/rules/built_in_defaults.h"
#include "kube/apiserver/rules/built_in_kinds.h"

namespace kube::apiserver::rules {

namespace {

constexpr std::int32_t kFileMode = 0644;
constexpr std::int64_t kTokenSeconds = 3600;

void setHostPathDefaults(Shared<corev1::HostPathVolumeSource>& source) {
  if (source) setIfUnset(source->type, "");
}

/// For a pod's volume or a PersistentVolume, like the next two.
template <class Source>
void setIscsiDefaults(Shared<Source>& source) {
  if (source) setIfEmpty(source->iscsiInterface, "default");
}

template <class Source>
void setRbdDefaults(Shared<Source>& source) {
  if (!source) return;
  setIfEmpty(source->pool, "rbd");
  setIfEmpty(source->user, "admin");
  setIfEmpty(source->keyring, "/etc/ceph/keyring");
}

template <class Source>
void setScaleIODefaults(Shared<Source>& source) {
  if (!source) return;
  setIfEmpty(source->storageMode, "ThinProvisioned");
  setIfEmpty(source->fsType, "xfs");
}

void setAzureDiskDefaults(Shared<corev1::AzureDiskVolumeSource>& source) {
  if (!source) return;
  setIfUnset(source->cachingMode, "ReadWrite");
  setIfUnset(source->fsType, "ext4");
  setIfUnset(source->readOnly, false);
  setIfUnset(source->kind, "Shared");
}

void setFileDefaults(List<corev1::DownwardAPIVolumeFile>& files) {
  for (corev1::DownwardAPIVolumeFile& file : files) {
    if (file.fieldRef) setIfEmpty(file.fieldRef->apiVersion, "v1");
  }
}

void setProjectionDefaults(corev1::VolumeProjection& source) {
  if (source.downwardAPI) setFileDefaults(source.downwardAPI->items);
  if (source.serviceAccountToken) {
    setIfUnset(source.serviceAccountToken->expirationSeconds, kTokenSeconds);
  }
}

bool hasNoSource(const corev1::Volume& volume) {
  return volume == corev1::Volume{.name = volume.name};
}

}  // namespace

void setVolumeDefaults(corev1::Volume& volume) {
  if (hasNoSource(volume)) volume.emptyDir = corev1::EmptyDirVolumeSource{};
  if (volume.image) setIfEmpty(volume.image->pullPolicy, pullPolicyFor(volume.image->reference));
  if (volume.secret) setIfUnset(volume.secret->defaultMode, kFileMode);
  if (volume.configMap) setIfUnset(volume.configMap->defaultMode, kFileMode);
  if (volume.downwardAPI) {
    setIfUnset(volume.downwardAPI->defaultMode, kFileMode);
    setFileDefaults(volume.downwardAPI->items);
  }
  if (volume.projected) {
    setIfUnset(volume.projected->defaultMode, kFileMode);
    for (corev1::VolumeProjection& source : volume.projected->sources)
      setProjectionDefaults(source);
  }
  if (volume.ephemeral && volume.ephemeral->volumeClaimTemplate) {
    setClaimSpecDefaults(*volume.ephemeral->volumeClaimTemplate->spec);
  }
  setHostPathDefaults(volume.hostPath);
  setIscsiDefaults(volume.iscsi);
  setRbdDefaults(volume.rbd);
  setScaleIODefaults(volume.scaleIO);
  setAzureDiskDefaults(volume.azureDisk);
}

void setClaimSpecDefaults(corev1::PersistentVolumeClaimSpec& spec) {
  setIfUnset(spec.volumeMode, "Filesystem");
  if (!spec.resources) return;
  roundUp(spec.resources->limits);
  roundUp(spec.resources->requests);
}

void setDefaults(corev1::PersistentVolumeClaim& claim) {
  setClaimSpecDefaults(*claim.spec);
  setIfEmpty(claim.status->phase, "Pending");
}

void setDefaults(corev1::PersistentVolume& volume) {
  corev1::PersistentVolumeSpec& spec = *volume.spec;
  setIfEmpty(spec.persistentVolumeReclaimPolicy, "Retain");
  setIfUnset(spec.volumeMode, "Filesystem");
  setIfEmpty(volume.status->phase, "Pending");
  roundUp(spec.capacity);
  setHostPathDefaults(spec.hostPath);
  setIscsiDefaults(spec.iscsi);
  setRbdDefaults(spec.rbd);
  setScaleIODefaults(spec.scaleIO);
  setAzureDiskDefaults(spec.azureDisk);
}

void setDefaults(storagev1::StorageClass& storageClass) {
  setIfUnset(storageClass.reclaimPolicy, "Delete");
  setIfUnset(storageClass.volumeBindingMode, "Immediate");
}

void setDefaults(storagev1::CSIDriver& driver) {
  storagev1::CSIDriverSpec& spec = *driver.spec;
  setIfUnset(spec.attachRequired, true);
  setIfUnset(spec.podInfoOnMount, false);
  setIfUnset(spec.storageCapacity, false);
  setIfUnset(spec.fsGroupPolicy, "ReadWriteOnceWithFSType");
  setIfUnset(spec.requiresRepublish, false);
  setIfUnset(spec.seLinuxMount, false);
  setIfUnset(spec.preventPodSchedulingIfMissing, false);
  if (spec.volumeLifecycleModes.empty()) spec.volumeLifecycleModes = {"Persistent"};
}

}  // namespace kube::apiserver::rules
