// An object of any type, as the filter of all sources of a controller sees it.
//
//   networks.filter(kube::anyOf(kube::generationChanged, kube::labelsChanged));
//   networks.filter([](const kube::Change<kube::ObjectView>& change) {
//     return change.object().labels()["team"] == "web";
//   });
//
// Thread safety: a view. It is valid while the object is.
#pragma once

#include <cstdint>
#include <string_view>

#include "kube/base/map.h"
#include "kube/cache/internal/object_type.h"
#include "kube/controller/predicates.h"
#include "kube/meta/object_key.h"
#include "kube/meta/selectors/label_selector.h"
#include "kube/meta/unstructured.h"

namespace kube {

class ObjectView {
 public:
  ObjectView(const detail::ObjectType& type, const void* object) : type_(&type), object_(object) {}

  /// "ConfigMap".
  String kind() const;
  ObjectKey key() const { return type_->keyOf(object_); }
  const String& resourceVersion() const noexcept { return type_->resourceVersionOf(object_); }
  std::int64_t generation() const;
  Map<String> labels() const;
  Map<String> annotations() const;
  bool selectedBy(const labels::Selector& selector) const {
    return type_->selects(selector, object_);
  }
  /// The object, if it is of this type; otherwise null.
  template <Cacheable T>
  const T* as() const noexcept {
    return type_ == &detail::kObjectType<T> ? static_cast<const T*>(object_) : nullptr;
  }

 private:
  const detail::ObjectType* type_;
  const void* object_;
};

}  // namespace kube
