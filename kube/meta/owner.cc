#include "kube/meta/owner.h"

#include <fmt/core.h>

#include <algorithm>

#include "kube/base/internal/utf8.h"

namespace kube {
namespace {

metav1::OwnerReference referenceTo(const metav1::ObjectMeta& owner, const GroupVersionKind& gvk) {
  return {.apiVersion = gvk.groupVersion().str(),
          .kind = gvk.kind,
          .name = owner.name,
          .uid = owner.uid};
}

bool isSameOwner(const metav1::OwnerReference& a, const metav1::OwnerReference& b) {
  if (a.kind != b.kind || a.name != b.name) return false;
  const auto first = GroupVersion::tryParse(a.apiVersion);
  const auto second = GroupVersion::tryParse(b.apiVersion);
  return first && second && first->group == second->group;
}

std::optional<std::size_t> find(const metav1::ObjectMeta& object,
                                const metav1::OwnerReference& wanted) {
  const auto& references = object.ownerReferences;
  const auto at = std::ranges::find_if(
      references, [&](const auto& reference) { return isSameOwner(reference, wanted); });
  if (at == references.end()) return std::nullopt;
  return static_cast<std::size_t>(at - references.begin());
}

void put(metav1::OwnerReference reference, metav1::ObjectMeta& object) {
  if (const auto at = find(object, reference)) {
    if (std::as_const(object.ownerReferences)[*at] == reference) return;
    object.ownerReferences[*at] = std::move(reference);
  } else {
    object.ownerReferences.push_back(std::move(reference));
  }
}

std::string describe(const metav1::OwnerReference& reference) {
  return fmt::format("{} {}", reference.kind, detail::quoted(reference.name));
}

void checkNamespaces(const metav1::ObjectMeta& owner, const GroupVersionKind& gvk,
                     const metav1::ObjectMeta& object) {
  if (owner.namespace_.empty() || owner.namespace_ == object.namespace_) return;
  const std::string who =
      fmt::format("{}: cannot be owned by {} {} in namespace {}", keyOf(object), gvk.kind,
                  detail::quoted(owner.name), detail::quoted(owner.namespace_));
  if (object.namespace_.empty()) {
    throw Error(who + ": cluster-scoped resource must not have a namespace-scoped owner");
  }
  throw Error(who + ": cross-namespace owner references are disallowed");
}

}  // namespace

AlreadyOwnedError::AlreadyOwnedError(const ObjectKey& object, const metav1::OwnerReference& wanted,
                                     const metav1::OwnerReference& owner)
    : Error(fmt::format("{}: cannot be controlled by {}: is already controlled by {}", object,
                        describe(wanted), describe(owner))),
      owner_(std::make_shared<const metav1::OwnerReference>(owner)) {}
AlreadyOwnedError::~AlreadyOwnedError() = default;

metav1::OwnerReference newControllerRef(const metav1::ObjectMeta& owner,
                                        const GroupVersionKind& gvk) {
  metav1::OwnerReference reference = referenceTo(owner, gvk);
  reference.controller = true;
  reference.blockOwnerDeletion = true;
  return reference;
}

const metav1::OwnerReference* getControllerOf(const metav1::ObjectMeta& object) noexcept {
  for (const metav1::OwnerReference& reference : object.ownerReferences) {
    if (reference.controller.value_or(false)) return &reference;
  }
  return nullptr;
}

std::optional<metav1::OwnerReference> getControllerOf(const Unstructured& object) {
  const metav1::ObjectMeta meta{.ownerReferences = object.ownerReferences()};
  const auto* controller = getControllerOf(meta);
  return controller != nullptr ? std::optional(*controller) : std::nullopt;
}

void setControllerReference(const metav1::ObjectMeta& owner, const GroupVersionKind& gvk,
                            metav1::ObjectMeta& object, const OwnerOptions& options) {
  checkNamespaces(owner, gvk, object);
  metav1::OwnerReference reference = newControllerRef(owner, gvk);
  if (options.blockOwnerDeletion) reference.blockOwnerDeletion = options.blockOwnerDeletion;
  const auto* controller = getControllerOf(std::as_const(object));
  if (controller != nullptr && !isSameOwner(*controller, reference)) {
    throw AlreadyOwnedError(keyOf(object), reference, *controller);
  }
  put(std::move(reference), object);
}

void setOwnerReference(const metav1::ObjectMeta& owner, const GroupVersionKind& gvk,
                       metav1::ObjectMeta& object, const OwnerOptions& options) {
  checkNamespaces(owner, gvk, object);
  metav1::OwnerReference reference = referenceTo(owner, gvk);
  reference.blockOwnerDeletion = options.blockOwnerDeletion;
  put(std::move(reference), object);
}

bool removeOwnerReference(const metav1::ObjectMeta& owner, const GroupVersionKind& gvk,
                          metav1::ObjectMeta& object) {
  const auto at = find(object, referenceTo(owner, gvk));
  if (at) object.ownerReferences.erase(*at);
  return at.has_value();
}

bool removeControllerReference(const metav1::ObjectMeta& owner, const GroupVersionKind& gvk,
                               metav1::ObjectMeta& object) {
  const auto at = find(object, referenceTo(owner, gvk));
  if (!at || !std::as_const(object.ownerReferences)[*at].controller.value_or(false)) return false;
  object.ownerReferences.erase(*at);
  return true;
}

bool hasOwnerReference(const metav1::ObjectMeta& owner, const GroupVersionKind& gvk,
                       const metav1::ObjectMeta& object) {
  return find(object, referenceTo(owner, gvk)).has_value();
}

namespace detail {

metav1::ObjectMeta ownershipOf(const Unstructured& object) {
  return {.name = object.name(),
          .namespace_ = object.namespace_(),
          .uid = object.uid(),
          .ownerReferences = object.ownerReferences()};
}

GroupVersionKind kindOf(const Unstructured& object) {
  GroupVersionKind gvk = object.gvk();
  if (gvk.version.empty() || gvk.kind.empty()) {
    throw Error(
        fmt::format("{}: cannot be an owner: its apiVersion or kind is missing", keyOf(object)));
  }
  return gvk;
}

}  // namespace detail

}  // namespace kube
