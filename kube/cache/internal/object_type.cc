#include "kube/cache/internal/object_type.h"

namespace kube::detail {

namespace {

const Unstructured& unstructured(const void* object) noexcept {
  return *static_cast<const Unstructured*>(object);
}

}  // namespace

ObjectKey ObjectType::keyOf(const void* object) const {
  return metadataOf != nullptr ? kube::keyOf(metadataOf(object))
                               : kube::keyOf(unstructured(object));
}

const String& ObjectType::namespaceOf(const void* object) const noexcept {
  return metadataOf != nullptr ? metadataOf(object).namespace_
                               : detail::namespaceOf(unstructured(object));
}

const String& ObjectType::uidOf(const void* object) const noexcept {
  return metadataOf != nullptr ? metadataOf(object).uid : detail::uidOf(unstructured(object));
}

const String& ObjectType::resourceVersionOf(const void* object) const noexcept {
  return metadataOf != nullptr ? metadataOf(object).resourceVersion
                               : detail::resourceVersionOf(unstructured(object));
}

std::string_view ObjectType::annotationOf(const void* object, std::string_view key) const noexcept {
  return metadataOf != nullptr ? metadataOf(object).annotations[key].view()
                               : detail::annotationOf(unstructured(object), key);
}

bool ObjectType::selects(const labels::Selector& selector, const void* object) const {
  return metadataOf != nullptr ? selector.matches(metadataOf(object).labels)
                               : detail::selects(selector, unstructured(object));
}

}  // namespace kube::detail
