// Reads and writes Kubernetes protobuf, for described types.
//
//   auto pod = kube::fromProtobuf<kube::corev1::Pod>(bytes);
//   std::string bytes = kube::toProtobuf(pod);
//
// A body starts with the magic "k8s\0" and wraps the object in an envelope that names its kind.
// Unknown fields are skipped. Malformed bytes throw DecodeError with the offset and the field's
// path, and return no object. Output equals upstream's, byte for byte.
//
// Thread safety: all functions may be called from any thread; a Pool, by one thread at a time.
#pragma once

#include <string>
#include <string_view>

#include "kube/codec/options.h"
#include "kube/meta/type_info.h"

namespace kube {

inline constexpr std::string_view kProtobufMagic{"k8s\0", 4};

/// The envelope around an object. Its members are views into the bytes that it was read from.
struct ProtobufEnvelope {
  std::string_view apiVersion;
  std::string_view kind;
  std::string_view raw;  // the object's own encoding
  std::string_view contentEncoding;
  std::string_view contentType;
};

bool isProtobuf(std::string_view bytes) noexcept;
/// False for types without protobuf tags, such as most custom resources, and for dynamic objects.
bool hasProtobuf(const TypeInfo& type) noexcept;
/// Throws DecodeError.
ProtobufEnvelope openProtobuf(std::string_view bytes);

/// Decodes a body with its envelope into `object`, which must be default-constructed. Throws
/// DecodeError; the object must be discarded then.
void decodeProtobuf(const TypeInfo& type, void* object, std::string_view bytes,
                    const DecodeOptions& options = {});
void encodeProtobuf(const TypeInfo& type, const void* object, std::string& out);

template <Described T>
T fromProtobuf(std::string_view bytes, const DecodeOptions& options = {}) {
  T object{};
  decodeProtobuf(TypeOf<T>::info, &object, bytes, options);
  return object;
}

template <Described T>
std::string toProtobuf(const T& object) {
  std::string out;
  encodeProtobuf(TypeOf<T>::info, &object, out);
  return out;
}

}  // namespace kube
