// Converts between unstructured objects, JSON and described types.
//
//   kube::Unstructured object = kube::parseUnstructured(text);
//   auto pod = kube::fromUnstructured<kube::corev1::Pod>(object);
//   kube::Unstructured again = kube::toUnstructured(pod);     // with its kind and apiVersion
//
// fromJson<Unstructured>, toJson, fromYaml, ListDecoder<Unstructured> and so on work as for
// described types; parseUnstructured also requires a kind.
//
// Errors are DecodeErrors with the path of the field.
//
// Thread safety: all functions may be called from any thread; a Pool, by one thread at a time.
#pragma once

#include <string>
#include <string_view>

#include "kube/codec/json.h"
#include "kube/codec/options.h"
#include "kube/meta/type_info.h"
#include "kube/meta/unstructured.h"

namespace kube {

Unstructured toUnstructured(const TypeInfo& type, const void* object);
/// Decodes into `target`, which must be default-constructed. Throws DecodeError; the target must be
/// discarded then.
void fromUnstructured(const TypeInfo& type, void* target, const Unstructured& object,
                      const DecodeOptions& options = {});

/// A type that is not a kind, such as PodSpec, gives an object without kind and apiVersion.
template <Described T>
Unstructured toUnstructured(const T& object) {
  return toUnstructured(TypeOf<T>::info, &object);
}

/// Throws DecodeError if the object is of another kind, or a field does not fit.
template <Described T>
T fromUnstructured(const Unstructured& object, const DecodeOptions& options = {}) {
  T result{};
  fromUnstructured(TypeOf<T>::info, &result, object, options);
  return result;
}

/// Throws DecodeError if the text is not a JSON object, or has no kind.
Unstructured parseUnstructured(std::string_view json, const DecodeOptions& options = {});
/// Throws DecodeError also if `items` is not an array, or an item is not an object. Items without a
/// kind get the list's kind without "List", and its apiVersion.
UnstructuredList parseUnstructuredList(std::string_view json, const DecodeOptions& options = {});

/// Writes keys in alphabetical order, with `indent` spaces a level; 0 for one line.
std::string toJson(const UnstructuredList& list, int indent = 0);

}  // namespace kube
