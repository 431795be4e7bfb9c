#include "kube/meta/any_object.h"

#include "kube/meta/unstructured.h"
#include "kube/meta/v1.h"

namespace kube {

GroupVersionKind AnyObject::gvk() const {
  if (const auto* dynamic = as<Unstructured>()) return dynamic->gvk();
  if (!gvk_.empty() || type_->resource == nullptr) return gvk_;
  const ResourceInfo& resource = *type_->resource;
  return {resource.group, resource.version, resource.kind};
}

void AnyObject::setGvk(GroupVersionKind gvk) {
  if (auto* dynamic = as<Unstructured>()) {
    dynamic->setGvk(gvk);
  } else {
    gvk_ = std::move(gvk);
  }
}

std::byte* AnyObject::metadata(const TypeInfo& wanted) const noexcept {
  const FieldInfo* field = type_->field("metadata");
  const bool found = field != nullptr && field->type == &wanted && field->shape == Shape::Plain;
  return found ? data_.get() + field->offset : nullptr;
}

const metav1::ObjectMeta* AnyObject::objectMeta() const noexcept {
  return reinterpret_cast<const metav1::ObjectMeta*>(metadata(TypeOf<metav1::ObjectMeta>::info));
}

metav1::ObjectMeta* AnyObject::objectMeta() noexcept {
  return reinterpret_cast<metav1::ObjectMeta*>(metadata(TypeOf<metav1::ObjectMeta>::info));
}

const metav1::ListMeta* AnyObject::listMeta() const noexcept {
  return reinterpret_cast<const metav1::ListMeta*>(metadata(TypeOf<metav1::ListMeta>::info));
}

metav1::ListMeta* AnyObject::listMeta() noexcept {
  return reinterpret_cast<metav1::ListMeta*>(metadata(TypeOf<metav1::ListMeta>::info));
}

}  // namespace kube
