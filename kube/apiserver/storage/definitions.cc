#include "kube/apiserver/storage/definitions.h"

#include "kube/apiserver/custom/custom_resources.h"
#include "kube/apiserver/custom/custom_rules.h"
#include "kube/meta/api_error.h"
#include "kube/meta/finalizers.h"
#include "kube/meta/unstructured.h"

namespace kube::apiserver {

namespace {

const List<String>& statusVerbs() {
  static const List<String> verbs{"get", "patch", "update"};
  return verbs;
}

}  // namespace

Definitions::Definitions(ObjectStore& store, ResourceTable& resources, Background& background)
    : store_(store),
      resources_(resources),
      definitions_(resources.find({"apiextensions.k8s.io", "customresourcedefinitions"})) {
  background.listen([this](const Collection& collection, const ChangePtr& change) {
    changed(collection, *change);
  });
}

Target Definitions::targetOf(const Definition& definition, std::string_view subresource) const {
  return {.resource = definitions_,
          .version = &definitions_->stored(),
          .name = definition.metadata.name,
          .subresource = subresource};
}

void Definitions::changed(const Collection& collection, const Change& change) {
  if (change.deleted) {
    const auto leaving = leaving_.find(&collection);
    if (leaving != leaving_.end()) cleanUp(Definition(leaving->second));
  }
  if (&collection != definitions_->objects.get()) return;
  const auto& definition = *change.after->object().as<Definition>();
  if (change.deleted) {
    withdraw(definition);
    return acceptOthers(definition);
  }
  if (!definition.metadata.deletionTimestamp.isZero()) return cleanUp(definition);
  accept(definition);
}

void Definitions::accept(const Definition& definition) {
  TakenNames taken;
  for (const ObjectPtr& one : store_.storage().list(*definitions_->objects, {}).objects) {
    const auto& other = *one->object().as<Definition>();
    if (other.metadata.uid == definition.metadata.uid) continue;
    if (other.spec->group != definition.spec->group) continue;
    taken.add(*other.status->acceptedNames);
  }
  Definition accepted = definition;
  acceptNames(accepted, taken, store_.now());
  // Serve the resource before its status says so.
  if (isConditionTrue(accepted, "Established")) serve(accepted);
  if (accepted.status == definition.status) return;
  try {
    store_.update(targetOf(definition, "status"),
                  [&](const AnyObject* current) {
                    AnyObject next = *current;
                    next.as<Definition>()->status = accepted.status;
                    return next;
                  },
                  {.manager = "kube-apiserver"});
  } catch (const ApiError& error) {
    if (!isNotFound(error)) throw;
  }
}

void Definitions::acceptOthers(const Definition& gone) {
  for (const ObjectPtr& one : store_.storage().list(*definitions_->objects, {}).objects) {
    const auto& other = *one->object().as<Definition>();
    if (other.spec->group != gone.spec->group) continue;
    if (!other.metadata.deletionTimestamp.isZero()) continue;
    if (!isConditionTrue(other, "NamesAccepted")) accept(other);
  }
}

void Definitions::serve(const Definition& definition) {
  const auto& names = *definition.status->acceptedNames;
  const auto& spec = *definition.spec;
  ApiResource resource{.name = {spec.group, names.plural},
                       .kind = names.kind,
                       .listKind = names.listKind,
                       .namespaced = spec.scope == "Namespaced"};
  std::vector<CustomVersion> compiled = compileVersions(definition);
  for (std::size_t i = 0; i < compiled.size(); ++i) {
    if (!compiled[i].served) continue;
    ApiVersion version;
    version.group = spec.group;
    version.version = compiled[i].version;
    version.kind = names.kind;
    version.plural = names.plural;
    version.singular = names.singular;
    version.listKind = names.listKind;
    version.namespaced = resource.namespaced;
    version.verbs = allVerbs();
    version.shortNames = names.shortNames;
    version.categories = names.categories;
    version.type = &TypeOf<Unstructured>::info;
    version.schema = spec.versions[i].schema->openAPIV3Schema;
    if (compiled[i].statusSubresource) {
      version.subresources.push_back(
          {.name = "status", .kind = version.gvk(), .verbs = statusVerbs()});
    }
    if (compiled[i].scale) {
      version.subresources.push_back(
          {.name = "scale", .kind = {"autoscaling", "v1", "Scale"}, .verbs = statusVerbs()});
    }
    if (compiled[i].storage) resource.storageVersion = resource.versions.size();
    version.custom = std::make_shared<const CustomVersion>(std::move(compiled[i]));
    version.kindRules = customRules(version.custom);
    resource.versions.push_back(std::move(version));
  }
  const ResourcePtr before = resources_.find(resource.name);
  if (before && !before->custom()) return;  // built-in resources win
  if (resource.versions.empty()) return resources_.remove(resource.name);
  resource.objects = before ? before->objects : store_.storage().add(resource.name.str());
  resources_.put(std::move(resource));
}

void Definitions::withdraw(const Definition& definition) {
  const GroupResource name{definition.spec->group, definition.spec->names->plural};
  const ResourcePtr resource = resources_.find(name);
  if (!resource || !resource->custom()) return;
  leaving_.erase(resource->objects.get());
  resources_.remove(name);
  store_.storage().remove(*resource->objects);
}

void Definitions::cleanUp(const Definition& definition) {
  const ResourcePtr resource =
      resources_.find({definition.spec->group, definition.spec->names->plural});
  if (resource && resource->custom()) {
    leaving_.insert_or_assign(resource->objects.get(), definition);
    bool left = false;
    for (const ObjectPtr& one : store_.storage().list(*resource->objects, {}).objects) {
      left = true;
      if (!one->meta().deletionTimestamp.isZero()) continue;
      try {
        store_.remove({.resource = resource,
                       .version = &resource->stored(),
                       .namespace_ = one->meta().namespace_,
                       .name = one->meta().name},
                      {}, {});
      } catch (const ApiError& error) {
        if (!isNotFound(error)) throw;
      }
    }
    if (left) return;  // the deletion of the last one calls this again
  }
  try {
    store_.update(targetOf(definition, ""),
                  [](const AnyObject* current) {
                    AnyObject next = *current;
                    metav1::ObjectMeta meta = metaOf(next);
                    removeFinalizer(meta, kCleanupFinalizer);
                    setMeta(next, std::move(meta));
                    return next;
                  },
                  {.manager = "kube-apiserver"});
  } catch (const ApiError& error) {
    if (!isNotFound(error)) throw;
  }
}

}  // namespace kube::apiserver
