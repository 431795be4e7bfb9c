#include "kube/cache/transform.h"

#include "kube/cache/internal/object_type.h"

namespace kube::detail {

UntypedTransform untypedTransform(const CommonTransform& transform, const ObjectType& type) {
  if (type.metadataOf == nullptr) return untypedTransform<Unstructured>(transform.unstructured);
  if (!transform.metadata) return {};
  return [change = transform.metadata, metadataOf = type.metadataOf](void* object) {
    // The object is not const, and nothing else refers to it yet.
    change(const_cast<metav1::ObjectMeta&>(metadataOf(object)));
  };
}

}  // namespace kube::detail
