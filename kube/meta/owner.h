// Owners of an object. When an owner is deleted, the garbage collector deletes the objects that it
// owns. One of the owners may be the controller, which creates, watches and corrects the object.
//
//   corev1::Pod pod = ...;
//   setControllerReference(replicaSet, pod);    // throws AlreadyOwnedError if another controls it
//   if (const auto* ref = getControllerOf(pod)) ref->name ...
//
// Every function takes typed objects of any kind, and Unstructured ones; the object's kind is the
// kind in the reference. The forms with an ObjectMeta and a GroupVersionKind are for all other
// objects.
//
// Rules of the API: an owner is in the object's namespace, or is cluster-scoped. An owner in a
// namespace cannot own a cluster-scoped object. Two references name the same owner if group, kind
// and name are the same, whatever the version and uid.
//
// Thread safety: as any C++ value.
#pragma once

#include <memory>
#include <optional>

#include "kube/base/error.h"
#include "kube/meta/gvk.h"
#include "kube/meta/object_key.h"
#include "kube/meta/unstructured.h"
#include "kube/meta/v1.h"

namespace kube {

/// The object has another controller.
class AlreadyOwnedError : public Error {
 public:
  AlreadyOwnedError(const ObjectKey& object, const metav1::OwnerReference& wanted,
                    const metav1::OwnerReference& owner);
  ~AlreadyOwnedError() override;

  /// The present controller.
  const metav1::OwnerReference& owner() const noexcept { return *owner_; }

 private:
  std::shared_ptr<const metav1::OwnerReference> owner_;
};

struct OwnerOptions {
  /// Makes a foreground deletion of the owner wait for the object. Default: true for a controller,
  /// unset for another owner.
  std::optional<bool> blockOwnerDeletion = {};
};

/// Makes the reference to a controller.
metav1::OwnerReference newControllerRef(const metav1::ObjectMeta& owner,
                                        const GroupVersionKind& gvk);

/// Null if there is none. Valid as long as the object is unchanged.
const metav1::OwnerReference* getControllerOf(const metav1::ObjectMeta& object) noexcept;

/// Throws AlreadyOwnedError, or Error if the owner must not own the object. The object is then
/// unchanged.
void setControllerReference(const metav1::ObjectMeta& owner, const GroupVersionKind& gvk,
                            metav1::ObjectMeta& object, const OwnerOptions& options = {});
/// Adds an owner, one of possibly several. Replaces a reference to the same owner. Throws as above.
void setOwnerReference(const metav1::ObjectMeta& owner, const GroupVersionKind& gvk,
                       metav1::ObjectMeta& object, const OwnerOptions& options = {});
/// Returns whether there was a reference.
bool removeOwnerReference(const metav1::ObjectMeta& owner, const GroupVersionKind& gvk,
                          metav1::ObjectMeta& object);
/// Removes the reference only if it is that to the controller. Returns whether it was.
bool removeControllerReference(const metav1::ObjectMeta& owner, const GroupVersionKind& gvk,
                               metav1::ObjectMeta& object);
bool hasOwnerReference(const metav1::ObjectMeta& owner, const GroupVersionKind& gvk,
                       const metav1::ObjectMeta& object);
/// True if the object has a controller, whichever it is.
inline bool hasControllerReference(const metav1::ObjectMeta& object) noexcept {
  return getControllerOf(object) != nullptr;
}

namespace detail {

template <class T>
concept OwnerOrOwned = NamedObject<T> || std::same_as<T, Unstructured>;

template <NamedObject T>
const metav1::ObjectMeta& ownershipOf(const T& object) {
  return object.metadata;
}
/// The metadata that ownership needs: names, uid and owners.
metav1::ObjectMeta ownershipOf(const Unstructured& object);

template <NamedObject T>
GroupVersionKind kindOf(const T&) {
  const ResourceInfo* resource = TypeOf<T>::info.resource;
  if (resource == nullptr) throw Error(std::string(TypeOf<T>::info.name) + ": is not a kind");
  return {resource->group, resource->version, resource->kind};
}
GroupVersionKind kindOf(const Unstructured& object);

template <NamedObject T, class Change>
void changeOwners(T& object, Change change) {
  change(object.metadata);
}
template <class Change>
void changeOwners(Unstructured& object, Change change) {
  metav1::ObjectMeta meta = ownershipOf(object);
  change(meta);
  object.setOwnerReferences(meta.ownerReferences);
}

}  // namespace detail

template <detail::OwnerOrOwned Owner>
metav1::OwnerReference newControllerRef(const Owner& owner) {
  return newControllerRef(detail::ownershipOf(owner), detail::kindOf(owner));
}

template <NamedObject T>
const metav1::OwnerReference* getControllerOf(const T& object) noexcept {
  return getControllerOf(object.metadata);
}
std::optional<metav1::OwnerReference> getControllerOf(const Unstructured& object);

/// True if the owner, identified by its uid, is the object's controller.
template <detail::OwnerOrOwned Object, detail::OwnerOrOwned Owner>
bool isControlledBy(const Object& object, const Owner& owner) {
  const auto& controller = getControllerOf(object);
  return controller && controller->uid == detail::ownershipOf(owner).uid;
}

template <detail::OwnerOrOwned Owner, detail::OwnerOrOwned Object>
void setControllerReference(const Owner& owner, Object& object, const OwnerOptions& options = {}) {
  detail::changeOwners(object, [&](metav1::ObjectMeta& meta) {
    setControllerReference(detail::ownershipOf(owner), detail::kindOf(owner), meta, options);
  });
}

template <detail::OwnerOrOwned Owner, detail::OwnerOrOwned Object>
void setOwnerReference(const Owner& owner, Object& object, const OwnerOptions& options = {}) {
  detail::changeOwners(object, [&](metav1::ObjectMeta& meta) {
    setOwnerReference(detail::ownershipOf(owner), detail::kindOf(owner), meta, options);
  });
}

template <detail::OwnerOrOwned Owner, detail::OwnerOrOwned Object>
bool removeOwnerReference(const Owner& owner, Object& object) {
  bool removed = false;
  detail::changeOwners(object, [&](metav1::ObjectMeta& meta) {
    removed = removeOwnerReference(detail::ownershipOf(owner), detail::kindOf(owner), meta);
  });
  return removed;
}

template <detail::OwnerOrOwned Owner, detail::OwnerOrOwned Object>
bool removeControllerReference(const Owner& owner, Object& object) {
  bool removed = false;
  detail::changeOwners(object, [&](metav1::ObjectMeta& meta) {
    removed = removeControllerReference(detail::ownershipOf(owner), detail::kindOf(owner), meta);
  });
  return removed;
}

template <detail::OwnerOrOwned Owner, detail::OwnerOrOwned Object>
bool hasOwnerReference(const Owner& owner, const Object& object) {
  return hasOwnerReference(detail::ownershipOf(owner), detail::kindOf(owner),
                           detail::ownershipOf(object));
}

template <detail::OwnerOrOwned Object>
bool hasControllerReference(const Object& object) {
  return hasControllerReference(detail::ownershipOf(object));
}

}  // namespace kube
