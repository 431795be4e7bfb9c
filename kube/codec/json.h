// JSON in and out, for described types and dynamic values.
//
//   auto pod = kube::fromJson<kube::corev1::Pod>(text);
//   std::string text = kube::toJson(pod);
//   kube::Value any = kube::parseJson(text);
//
// Unknown fields are ignored unless asked for (see DecodeOptions); null is absent; kind and
// apiVersion, where given, must be the type's. What is malformed, of the wrong type or out of range
// throws DecodeError with the place and the field's path, and hands out nothing. Output has
// upstream's order of fields and leaves out what is absent.
//
// Thread safety: all functions may be called from any thread; a Pool, from one at a time.
#pragma once

#include <string>
#include <string_view>

#include "kube/codec/options.h"
#include "kube/meta/type_info.h"
#include "kube/meta/value.h"

namespace kube {

/// Decodes into `object`, which must be default-constructed. Throws DecodeError; the object is
/// then to be thrown away.
void decodeJson(const TypeInfo& type, void* object, std::string_view text,
                const DecodeOptions& options = {});
void encodeJson(const TypeInfo& type, const void* object, std::string& out, int indent = 0);

template <Described T>
T fromJson(std::string_view text, const DecodeOptions& options = {}) {
  T object{};
  decodeJson(TypeOf<T>::info, &object, text, options);
  return object;
}

// Says what is missing, where there is no description.
template <class T>
requires(!Described<T>) T fromJson(std::string_view, const DecodeOptions& = {}) {
  static_assert(Described<T>, "fromJson: the type has no description; see KUBE_DESCRIBE");
}

/// `indent` spaces a level; 0 for one line.
template <Described T>
std::string toJson(const T& object, int indent = 0) {
  std::string out;
  encodeJson(TypeOf<T>::info, &object, out, indent);
  return out;
}

/// What an object says it is; empty where it does not.
struct TypeMeta {
  std::string apiVersion, kind;
};
/// Looks for them in the text alone. Throws DecodeError where that is no JSON.
TypeMeta peekTypeMeta(std::string_view json);

Value parseJson(std::string_view text, const DecodeOptions& options = {});
std::string toJson(const Value& value, int indent = 0);

}  // namespace kube
