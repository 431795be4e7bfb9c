#include "kube/apiserver/storage/collector.h"

#include <algorithm>

#include "kube/api/core/v1.h"
#include "kube/meta/api_error.h"
#include "kube/meta/finalizers.h"
#include "kube/meta/validation/object_validation.h"

namespace kube::apiserver {

namespace {

using validation::kFinalizerDeleteDependents;
using validation::kFinalizerOrphanDependents;

bool waitsForDependents(const metav1::ObjectMeta& meta) {
  return !meta.deletionTimestamp.isZero() && containsFinalizer(meta, kFinalizerDeleteDependents);
}

}  // namespace

Collector::Collector(ObjectStore& store, Background& background, bool judges)
    : store_(store), background_(background), judges_(judges) {
  background.listen([this](const Collection& collection, const ChangePtr& change) {
    changed(collection, *change);
  });
}

ResourcePtr Collector::resourceOf(const Collection& collection) {
  ResourcePtr& known = resources_[&collection];
  if (!known || known->objects.get() != &collection ||
      store_.resources().find(known->name) != known) {
    known = nullptr;
    for (const ResourcePtr& one : store_.resources().all()) {
      if (one->objects.get() == &collection) {
        known = one;
        break;
      }
    }
  }
  return known;
}

Target Collector::targetOf(const Node& node) const {
  return {.resource = node.resource,
          .version = &node.resource->stored(),
          .namespace_ = node.meta.namespace_,
          .name = node.meta.name};
}

template <class Function>
void Collector::tryTo(const Function& function) const {
  try {
    function();
  } catch (const ApiError& error) {
    if (!isNotFound(error) && !isConflict(error)) throw;
  }
}

void Collector::unlink(const Node& node) {
  const std::string uid = node.meta.uid.str();
  for (const metav1::OwnerReference& owner : node.meta.ownerReferences) {
    const auto it = nodes_.find(owner.uid.str());
    if (it != nodes_.end()) it->second.dependents.erase(uid);
  }
}

void Collector::changed(const Collection& collection, const Change& change) {
  const metav1::ObjectMeta& meta = change.after->meta();
  const std::string uid = meta.uid.str();
  const auto known = nodes_.find(uid);
  if (change.deleted) {
    if (known == nodes_.end()) return;
    const Node node = std::move(known->second);
    unlink(node);
    nodes_.erase(known);
    ends_.erase(uid);
    for (const std::string& dependent : node.dependents) judge(dependent);
    for (const metav1::OwnerReference& owner : node.meta.ownerReferences) {
      const auto it = nodes_.find(owner.uid.str());
      if (it != nodes_.end() && waitsForDependents(it->second.meta)) deleteDependents(it->second);
    }
    if (terminating_.contains(meta.namespace_)) empty(meta.namespace_);
    if (change.after->object().as<corev1::Namespace>() != nullptr) terminating_.erase(meta.name);
    return;
  }
  Node& node = known == nodes_.end() ? nodes_[uid] : known->second;
  const bool owned = !meta.ownerReferences.empty();
  const bool rewired = node.meta.ownerReferences != meta.ownerReferences;
  if (rewired) unlink(node);
  if (!node.resource) node.resource = resourceOf(collection);
  node.meta = meta;
  node.meta.managedFields = {};
  if (!node.resource) return;
  if (rewired && owned) {
    for (const metav1::OwnerReference& owner : meta.ownerReferences) {
      const auto it = nodes_.find(owner.uid.str());
      if (it != nodes_.end()) it->second.dependents.insert(uid);
    }
    judge(uid);
  }
  if (meta.deletionTimestamp.isZero()) return;
  if (waitsForDependents(meta)) {
    deleteDependents(node);
  } else if (containsFinalizer(meta, kFinalizerOrphanDependents)) {
    orphanDependents(node);
  }
  if (change.after->object().as<corev1::Namespace>() != nullptr) {
    terminating_.insert(meta.name);
    empty(meta.name);
  } else if (meta.deletionGracePeriodSeconds.value_or(0) > 0) {
    removeInTime(node);
  }
}

void Collector::judge(const std::string& uid) {
  const auto found = nodes_.find(uid);
  if (!judges_ || found == nodes_.end()) return;
  const Node& node = found->second;
  if (node.meta.ownerReferences.empty() || !node.meta.deletionTimestamp.isZero()) return;
  bool solid = false, waiting = false, dangling = false;
  for (const metav1::OwnerReference& owner : node.meta.ownerReferences) {
    const auto it = nodes_.find(owner.uid.str());
    if (it == nodes_.end()) {
      dangling = true;
    } else if (waitsForDependents(it->second.meta)) {
      waiting = true;
    } else {
      solid = true;
    }
  }
  const Target target = targetOf(node);
  if (!solid) {
    metav1::DeleteOptions options;
    options.preconditions->uid = node.meta.uid;
    options.propagationPolicy = waiting && !node.dependents.empty() ? "Foreground" : "Background";
    if (containsFinalizer(node.meta, kFinalizerOrphanDependents))
      options.propagationPolicy = "Orphan";
    return tryTo([&] { store_.remove(target, options, {}); });
  }
  if (!dangling) return;
  tryTo([&] {
    store_.update(target,
                  [&](const AnyObject* current) {
                    AnyObject next = *current;
                    metav1::ObjectMeta meta = metaOf(next);
                    erase_if(meta.ownerReferences, [&](const metav1::OwnerReference& owner) {
                      return !nodes_.contains(owner.uid.str());
                    });
                    setMeta(next, std::move(meta));
                    return next;
                  },
                  {.manager = "garbage-collector"});
  });
}

void Collector::deleteDependents(const Node& owner) {
  const std::string uid = owner.meta.uid.str();
  bool blocked = false;
  const auto dependents = owner.dependents;  // a copy: judging changes the original
  for (const std::string& dependent : dependents) {
    const auto it = nodes_.find(dependent);
    if (it == nodes_.end()) continue;
    for (const metav1::OwnerReference& reference : it->second.meta.ownerReferences) {
      if (reference.uid == uid && reference.blockOwnerDeletion.value_or(false)) blocked = true;
    }
    judge(dependent);
  }
  if (!blocked) removeFinalizer(owner, kFinalizerDeleteDependents);
}

void Collector::orphanDependents(const Node& owner) {
  const String uid = owner.meta.uid;
  const auto dependents = owner.dependents;
  for (const std::string& dependent : dependents) {
    const auto it = nodes_.find(dependent);
    if (it == nodes_.end()) continue;
    tryTo([&] {
      store_.update(targetOf(it->second),
                    [&](const AnyObject* current) {
                      AnyObject next = *current;
                      metav1::ObjectMeta meta = metaOf(next);
                      erase_if(meta.ownerReferences, [&](const metav1::OwnerReference& owner) {
                        return owner.uid == uid;
                      });
                      setMeta(next, std::move(meta));
                      return next;
                    },
                    {.manager = "garbage-collector"});
    });
  }
  removeFinalizer(owner, kFinalizerOrphanDependents);
}

void Collector::removeFinalizer(const Node& node, std::string_view finalizer) {
  tryTo([&] {
    store_.update(targetOf(node),
                  [&](const AnyObject* current) {
                    AnyObject next = *current;
                    metav1::ObjectMeta meta = metaOf(next);
                    kube::removeFinalizer(meta, finalizer);
                    setMeta(next, std::move(meta));
                    return next;
                  },
                  {.manager = "garbage-collector"});
  });
}

// Deletes the objects in a namespace and, once it is empty, the namespace.
void Collector::empty(const String& name) {
  const std::string prefix = name.str() + "/";
  bool left = false;
  std::unordered_set<const Collection*> seen;
  for (const ResourcePtr& resource : store_.resources().all()) {
    if (!resource->namespaced || !resource->objects) continue;
    if (!seen.insert(resource->objects.get()).second) continue;
    for (const ObjectPtr& object :
         store_.storage().list(*resource->objects, {.prefix = prefix}).objects) {
      left = true;
      if (!object->meta().deletionTimestamp.isZero()) continue;
      tryTo([&] {
        store_.remove({.resource = resource,
                       .version = &resource->stored(),
                       .namespace_ = name,
                       .name = object->meta().name},
                      {}, {});
      });
    }
  }
  if (left) return;  // the deletion of the last one calls this again
  const ResourcePtr namespaces = store_.resources().find({"", "namespaces"});
  tryTo([&] {
    store_.update({.resource = namespaces,
                   .version = &namespaces->stored(),
                   .name = name,
                   .subresource = "finalize"},
                  [](const AnyObject* current) {
                    AnyObject next = *current;
                    erase_if(next.as<corev1::Namespace>()->spec->finalizers,
                             [](const String& one) { return one == "kubernetes"; });
                    return next;
                  },
                  {.manager = "namespace-controller"});
  });
}

// Ends a pod after its grace period: no kubelet does.
void Collector::removeInTime(const Node& node) {
  // The end is at deletionTimestamp, whatever else changes until then.
  const Clock::Duration left = node.meta.deletionTimestamp.timePoint() - store_.clock().wallNow();
  const Target target = targetOf(node);
  const String uid = node.meta.uid;
  ends_[uid.str()] =
      store_.clock().callAfter(std::max(left, Clock::Duration(0)), [this, target, uid] {
        background_.post([this, target, uid] {
          metav1::DeleteOptions options;
          options.gracePeriodSeconds = 0;
          options.preconditions->uid = uid;
          tryTo([&] { store_.remove(target, options, {}); });
        });
      });
}

}  // namespace kube::apiserver
