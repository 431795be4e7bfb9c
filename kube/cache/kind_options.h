// Options of an informer factory for single kinds.
//
//   kube::SharedInformerFactory factory(
//       clients, {.namespaces = kube::Strings{"book", "films"},
//                 .transform = kube::stripManagedFields,
//                 .kinds = {kube::byKind<Pod>({.labelSelector = "app=web"}),
//                           kube::byKind<Secret>({.namespaces = kube::Strings{"book"}})}});
//
// Thread safety: values.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "kube/base/clock.h"
#include "kube/base/map.h"
#include "kube/base/string.h"
#include "kube/cache/internal/object_access.h"
#include "kube/cache/transform.h"
#include "kube/meta/gvk.h"
#include "kube/meta/type_info.h"

namespace kube {

/// Options for the objects of one kind. Those that are not set are the factory's.
template <Cacheable T>
struct KindOptions {
  String labelSelector = {};
  String fieldSelector = {};
  /// Instead of the factory's namespaces: Strings{"a", "b"}, or Strings{""} for all. Strings{} is
  /// none for the time being.
  std::optional<Strings> namespaces = {};
  /// Instead of the factory's transform.
  Transform<T> transform = {};
  /// Instead of the factory's period.
  std::optional<Clock::Duration> resync = {};
};

/// The options of one kind, whatever its C++ type: the result of byKind().
struct AnyKindOptions {
  GroupVersionResource resource = {};
  const TypeInfo* type = nullptr;  ///< The type of the informer's objects.
  String labelSelector = {};
  String fieldSelector = {};
  std::optional<Strings> namespaces = {};
  detail::UntypedTransform transform = {};
  std::optional<Clock::Duration> resync = {};
};

namespace detail {
/// Throws Error for a type that is not the kind of a resource.
GroupVersionResource resourceOf(const TypeInfo& type);
}  // namespace detail

/// The options of informers of `resource` with objects of type T: Unstructured for a
/// DynamicInformerFactory and forResource(), PartialObjectMetadata for a MetadataInformerFactory.
template <Cacheable T>
AnyKindOptions byKind(GroupVersionResource resource, KindOptions<T> options) {
  return {.resource = std::move(resource),
          .type = &TypeOf<T>::info,
          .labelSelector = std::move(options.labelSelector),
          .fieldSelector = std::move(options.fieldSelector),
          .namespaces = std::move(options.namespaces),
          .transform = detail::untypedTransform<T>(std::move(options.transform)),
          .resync = options.resync};
}
/// The options of a described kind.
template <NamedObject T>
AnyKindOptions byKind(KindOptions<T> options) {
  return byKind<T>(detail::resourceOf(TypeOf<T>::info), std::move(options));
}

}  // namespace kube
