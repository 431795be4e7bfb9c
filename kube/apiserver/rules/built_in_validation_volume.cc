// Checks of volumes and their sources.
#include <array>

#include "kube/apiserver/rules/built_in_validation.h"

namespace kube::apiserver::rules {

namespace {

constexpr std::array<std::string_view, 5> kVolumeFields = {"metadata.annotations",
                                                           "metadata.labels", "metadata.name",
                                                           "metadata.namespace", "metadata.uid"};

void checkMode(const std::optional<std::int32_t>& mode, const Place& at) {
  if (!mode || (*mode >= 0 && *mode <= 0777)) return;
  at.invalid(*mode, "must be a number between 0 and 0777 (octal), both inclusive");
}

/// Like checkDescendingPath, and the path must not start with ".." either.
void checkFilePath(std::string_view path, const Place& at) {
  checkDescendingPath(path, at);
  if (path.starts_with("..") && !path.starts_with("../")) {
    at.invalid(path, "must not start with '..'");
  }
}

/// The owner of a file.
void checkUser(const std::optional<std::int64_t>& user, const Place& at) {
  if (user) at.reasons(*user, validation::isValidUserID(*user));
}

void checkItems(const List<corev1::KeyToPath>& items, const Place& at) {
  forEach(items, at, [](const corev1::KeyToPath& item, const Place& at) {
    at("key").require(item.key);
    at("path").require(item.path);
    checkFilePath(item.path, at("path"));
    checkMode(item.mode, at("mode"));
    checkUser(item.user, at("user"));
  });
}

/// As upstream: the path does not have the index of the file.
void checkDownwardFiles(const List<corev1::DownwardAPIVolumeFile>& files, const Place& at) {
  for (const corev1::DownwardAPIVolumeFile& file : files) {
    at("path").require(file.path);
    checkFilePath(file.path, at("path"));
    if (file.fieldRef) {
      checkFieldRef(*file.fieldRef, kVolumeFields, at("fieldRef"));
      if (file.resourceFieldRef) {
        at.invalid("resource", "fieldRef and resourceFieldRef can not be specified simultaneously");
      }
    } else if (file.resourceFieldRef) {
      checkResourceFieldRef(*file.resourceFieldRef, true, at("resourceFieldRef"));
    } else {
      at.required("one of fieldRef and resourceFieldRef is required");
    }
    checkMode(file.mode, at("mode"));
    checkUser(file.user, at("user"));
  }
}

void checkEmptyDir(const corev1::EmptyDirVolumeSource& source, const Place& at) {
  if (source.sizeLimit && source.sizeLimit->sign() < 0) {
    at("sizeLimit").forbidden("SizeLimit field must be a valid resource quantity");
  }
  if (source.mode && (*source.mode < 0 || *source.mode > 01777)) {
    at("mode").invalid(*source.mode,
                       "must be a number between 0 and 01777 (octal), both inclusive");
  }
}

void checkSecret(const corev1::SecretVolumeSource& source, const Place& at) {
  at("secretName").require(source.secretName);
  checkMode(source.defaultMode, at("defaultMode"));
  checkUser(source.defaultUser, at("defaultUser"));
  checkItems(source.items, at("items"));
}

void checkConfigMap(const corev1::ConfigMapVolumeSource& source, const Place& at) {
  at("name").require(source.name);
  checkMode(source.defaultMode, at("defaultMode"));
  checkUser(source.defaultUser, at("defaultUser"));
  checkItems(source.items, at("items"));
}

void checkDownward(const corev1::DownwardAPIVolumeSource& source, const Place& at) {
  checkMode(source.defaultMode, at("defaultMode"));
  checkUser(source.defaultUser, at("defaultUser"));
  checkDownwardFiles(source.items, at);
}

void checkToken(const corev1::ServiceAccountTokenProjection& token, const Place& at) {
  const std::int64_t seconds = token.expirationSeconds.value_or(3600);
  if (seconds < 10 * 60) {
    at("expirationSeconds").invalid(seconds, "may not specify a duration less than 10 minutes");
  } else if (seconds > std::int64_t{1} << 32) {
    at("expirationSeconds").invalid(seconds, "may not specify a duration larger than 2^32 seconds");
  }
  at("path").require(token.path);
  checkUser(token.user, at("user"));
}

void checkProjection(const corev1::VolumeProjection& source, const Place& at) {
  if (source.secret) {
    const Place secret = at("secret");
    secret("name").require(source.secret->name);
    checkItems(source.secret->items, secret("items"));
  }
  if (source.configMap) {
    const Place map = at("configMap");
    map("name").require(source.configMap->name);
    checkItems(source.configMap->items, map("items"));
  }
  if (source.downwardAPI) {
    checkDownwardFiles(source.downwardAPI->items, at("downwardAPI"));
  }
  if (source.serviceAccountToken) {
    checkToken(*source.serviceAccountToken, at("serviceAccountToken"));
  }
  if (source.clusterTrustBundle) {
    const Place bundle = at("clusterTrustBundle");
    checkUser(source.clusterTrustBundle->user, bundle("user"));
  }
  if (source.podCertificate) {
    const Place certificate = at("podCertificate");
    checkUser(source.podCertificate->user, certificate("user"));
  }
  const int sources = int{bool{source.secret}} + bool{source.configMap} + bool{source.downwardAPI} +
                      bool{source.serviceAccountToken} + bool{source.clusterTrustBundle} +
                      bool{source.podCertificate};
  if (sources > 1) at.forbidden("may not specify more than 1 volume type per source");
}

void checkProjected(const corev1::ProjectedVolumeSource& source, const Place& at) {
  checkMode(source.defaultMode, at("defaultMode"));
  checkUser(source.defaultUser, at("defaultUser"));
  forEach(source.sources, at("sources"), checkProjection);
}

void checkClaim(const corev1::PersistentVolumeClaimVolumeSource& source, const Place& at) {
  at("claimName").require(source.claimName);
}

void checkGitRepo(const corev1::GitRepoVolumeSource& source, const Place& at) {
  at("repository").require(source.repository);
  checkDescendingPath(source.directory, at("directory"));
}

void checkIscsi(const corev1::ISCSIVolumeSource& source, const Place& at) {
  at("targetPortal").require(source.targetPortal);
  at("iqn").require(source.iqn);
}

void checkRbd(const corev1::RBDVolumeSource& source, const Place& at) {
  if (source.monitors.empty()) at("monitors").required();
  at("image").require(source.image);
}

void checkCsi(const corev1::CSIVolumeSource& source, const Place& at) {
  at("driver").require(source.driver);
}

void checkEphemeralVolume(const corev1::EphemeralVolumeSource& source, const Place& at) {
  const Place claim = at("volumeClaimTemplate");
  if (!source.volumeClaimTemplate) return claim.required();
  checkClaimSpec(*source.volumeClaimTemplate->spec, claim("spec"));
}

void checkSource(const corev1::Volume& volume, const Place& at) {
  OneOf source(at, "may not specify more than 1 volume type");
  source(volume.emptyDir, "emptyDir", checkEmptyDir);
  source(volume.hostPath, "hostPath", checkHostPath);
  source(volume.gitRepo, "gitRepo", checkGitRepo);
  source(volume.gcePersistentDisk, "gcePersistentDisk");
  source(volume.awsElasticBlockStore, "awsElasticBlockStore");
  source(volume.secret, "secret", checkSecret);
  source(volume.nfs, "nfs", checkNfs);
  source(volume.iscsi, "iscsi", checkIscsi);
  source(volume.glusterfs, "glusterfs");
  source(volume.flocker, "flocker");
  source(volume.persistentVolumeClaim, "persistentVolumeClaim", checkClaim);
  source(volume.rbd, "rbd", checkRbd);
  source(volume.cinder, "cinder");
  source(volume.cephfs, "cephfs");
  source(volume.quobyte, "quobyte");
  source(volume.downwardAPI, "downwardAPI", checkDownward);
  source(volume.fc, "fc");
  source(volume.flexVolume, "flexVolume");
  source(volume.configMap, "configMap", checkConfigMap);
  source(volume.azureFile, "azureFile");
  source(volume.vsphereVolume, "vsphereVolume");
  source(volume.photonPersistentDisk, "photonPersistentDisk");
  source(volume.portworxVolume, "portworxVolume");
  source(volume.azureDisk, "azureDisk");
  source(volume.storageos, "storageos");
  source(volume.projected, "projected", checkProjected);
  source(volume.scaleIO, "scaleIO");
  source(volume.csi, "csi", checkCsi);
  source(volume.ephemeral, "ephemeral", checkEphemeralVolume);
  source(volume.image, "image");
  source.require("must specify a volume type");
}

}  // namespace

bool checkNoBacksteps(std::string_view path, const Place& at) {
  for (std::string_view rest = path;;) {
    const std::size_t slash = rest.find('/');
    if (rest.substr(0, slash) == "..") {
      at.invalid(path, "must not contain '..'");
      return false;
    }
    if (slash == std::string_view::npos) return true;
    rest.remove_prefix(slash + 1);
  }
}

bool checkDescendingPath(std::string_view path, const Place& at) {
  const bool relative = !path.starts_with('/');
  if (!relative) at.invalid(path, "must be a relative path");
  return checkNoBacksteps(path, at) && relative;
}

void checkHostPath(const corev1::HostPathVolumeSource& source, const Place& at) {
  if (!at("path").require(source.path)) return;
  checkNoBacksteps(source.path, at("path"));
  at("type").oneOf(source.type, {"", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate",
                                 "File", "FileOrCreate", "Socket"});
}

void checkNfs(const corev1::NFSVolumeSource& source, const Place& at) {
  at("server").require(source.server);
  at("path").require(source.path);
  if (!source.path.view().starts_with('/')) {
    at("path").invalid(source.path, "must be an absolute path");
  }
}

Seen checkVolumes(const corev1::PodSpec& spec, const metav1::ObjectMeta* pod, const Place& at) {
  Seen names;
  Seen claimsToBe;
  if (pod != nullptr && !pod->name.empty()) {
    for (const corev1::Volume& volume : spec.volumes) {
      if (volume.ephemeral) claimsToBe.insert(pod->name + "-" + volume.name);
    }
  }
  forEach(spec.volumes, at, [&](const corev1::Volume& volume, const Place& at) {
    const std::size_t before = at.errors().size();
    checkSource(volume, at);
    at("name").requiredText(volume.name, validation::isDNS1123Label);
    if (names.has(volume.name)) at("name").duplicate(volume.name);
    if (at.errors().size() == before) names.insert(volume.name);
    const String& claim = volume.persistentVolumeClaim->claimName;
    if (volume.persistentVolumeClaim && claimsToBe.has(claim)) {
      at("persistentVolumeClaim.claimName")
          .invalid(claim, "must not reference a PVC that gets created for an ephemeral volume");
    }
  });
  return names;
}

}  // namespace kube::apiserver::rules
