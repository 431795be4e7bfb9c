#include "kube/controller/object_view.h"

namespace kube {
namespace {

const Unstructured& unstructured(const void* object) {
  return *static_cast<const Unstructured*>(object);
}

}  // namespace

String ObjectView::kind() const {
  if (type_->metadataOf == nullptr) return unstructured(object_).object["kind"].asString();
  const ResourceInfo* resource = type_->info.resource;
  return String(resource != nullptr ? resource->kind : type_->info.name);
}

std::int64_t ObjectView::generation() const {
  return type_->metadataOf == nullptr ? unstructured(object_).generation()
                                      : type_->metadataOf(object_).generation;
}

Map<String> ObjectView::labels() const {
  return type_->metadataOf == nullptr ? unstructured(object_).labels()
                                      : type_->metadataOf(object_).labels;
}

Map<String> ObjectView::annotations() const {
  return type_->metadataOf == nullptr ? unstructured(object_).annotations()
                                      : type_->metadataOf(object_).annotations;
}

}  // namespace kube
