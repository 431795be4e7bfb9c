// The metadata of an object, read in the same way from a struct with an ObjectMeta (a built-in
// type, a described one, PartialObjectMetadata) and from an Unstructured.
//
// Nothing is copied: the strings belong to the object. Metadata of an Unstructured that are
// missing, or of another type, read as empty.
#pragma once

#include <concepts>
#include <string_view>

#include "kube/meta/unstructured.h"
#include "kube/meta/v1.h"

namespace kube::detail {

template <class T>
concept StructWithObjectMeta = requires(const T& object) {
  { object.metadata } -> std::convertible_to<const metav1::ObjectMeta&>;
};

template <class T>
concept ObjectWithMetadata = StructWithObjectMeta<T> || std::same_as<T, Unstructured>;

template <ObjectWithMetadata T>
const String& nameOf(const T& object) noexcept {
  if constexpr (StructWithObjectMeta<T>) {
    return object.metadata.name;
  } else {
    return object.object["metadata"]["name"].asString();
  }
}

template <ObjectWithMetadata T>
const String& namespaceOf(const T& object) noexcept {
  if constexpr (StructWithObjectMeta<T>) {
    return object.metadata.namespace_;
  } else {
    return object.object["metadata"]["namespace"].asString();
  }
}

template <ObjectWithMetadata T>
const String& uidOf(const T& object) noexcept {
  if constexpr (StructWithObjectMeta<T>) {
    return object.metadata.uid;
  } else {
    return object.object["metadata"]["uid"].asString();
  }
}

template <ObjectWithMetadata T>
const String& resourceVersionOf(const T& object) noexcept {
  if constexpr (StructWithObjectMeta<T>) {
    return object.metadata.resourceVersion;
  } else {
    return object.object["metadata"]["resourceVersion"].asString();
  }
}

/// Empty if the object has no such annotation.
template <ObjectWithMetadata T>
std::string_view annotationOf(const T& object, std::string_view key) noexcept {
  if constexpr (StructWithObjectMeta<T>) {
    return object.metadata.annotations[key];
  } else {
    return object.object["metadata"]["annotations"][key].asString();
  }
}

template <ObjectWithMetadata T>
void clearResourceVersion(T& object) {
  if constexpr (StructWithObjectMeta<T>) {
    object.metadata.resourceVersion = String();  // not {}: ambiguous for clang 14
  } else {
    object.setResourceVersion({});
  }
}

}  // namespace kube::detail
