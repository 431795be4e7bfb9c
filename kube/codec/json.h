// Reads and writes JSON, for described types and dynamic values.
//
//   auto pod = kube::fromJson<kube::corev1::Pod>(text);
//   std::string text = kube::toJson(pod);
//   kube::Value any = kube::parseJson(text);
//
// Unknown fields are ignored, unless DecodeOptions asks for them; null means absent; kind and
// apiVersion, if present, must be the type's. Malformed text, a wrong type or a number out of range
// throws DecodeError with the place and the field's path, and returns no object. Output has
// upstream's order of fields and leaves out absent fields.
//
// Thread safety: all functions may be called from any thread; a Pool, by one thread at a time.
#pragma once

#include <string>
#include <string_view>

#include "kube/codec/options.h"
#include "kube/meta/type_info.h"
#include "kube/meta/value.h"

namespace kube {

/// Decodes into `object`, which must be default-constructed. Throws DecodeError; the object must be
/// discarded then.
void decodeJson(const TypeInfo& type, void* object, std::string_view text,
                const DecodeOptions& options = {});
void encodeJson(const TypeInfo& type, const void* object, std::string& out, int indent = 0);

template <Described T>
T fromJson(std::string_view text, const DecodeOptions& options = {}) {
  T object{};
  decodeJson(TypeOf<T>::info, &object, text, options);
  return object;
}

// Names the missing description in the compiler's message.
template <class T>
requires(!Described<T>) T fromJson(std::string_view, const DecodeOptions& = {}) {
  static_assert(Described<T>, "fromJson: the type has no description; see KUBE_DESCRIBE");
}

/// Writes `indent` spaces a level; 0 for one line.
template <Described T>
std::string toJson(const T& object, int indent = 0) {
  std::string out;
  encodeJson(TypeOf<T>::info, &object, out, indent);
  return out;
}

/// The kind that an object names; parts that it leaves out are empty.
struct TypeMeta {
  std::string apiVersion, kind;
};
/// Reads both without decoding the object. Throws DecodeError if the text is not JSON.
TypeMeta peekTypeMeta(std::string_view json);

Value parseJson(std::string_view text, const DecodeOptions& options = {});
std::string toJson(const Value& value, int indent = 0);

}  // namespace kube
