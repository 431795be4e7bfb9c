// Decodes objects whose type is not known in advance, to the type that a Scheme has for their kind,
// and encodes objects in the requested version.
//
//   kube::UniversalDeserializer deserializer(kube::builtInScheme());
//   kube::AnyObject object = deserializer.decode(body);            // JSON, YAML or protobuf
//   if (const auto* pod = object.as<kube::corev1::Pod>()) ...
//
//   object = deserializer.decode(body, {.applyDefaults = true,
//                                       .toVersions = {{"autoscaling", "v2"}}});
//   std::string text = deserializer.encode(object, {"autoscaling", "v1"}, kube::Format::Yaml);
//
// A malformed body throws DecodeError, and so does a body that does not name its kind. A kind that
// the scheme does not know throws NotRegisteredError (see isNotRegistered), unless the options
// allow an Unstructured. Decoding returns a complete object or throws.
//
// An object is written under its own kind (AnyObject::gvk), which may differ from the kind in its
// type's description: a scheme may know a type by several kinds.
//
// Thread safety: all functions may be called from any thread; a Pool, by one thread at a time. The
// scheme must live as long as the deserializer.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/codec/format.h"
#include "kube/codec/options.h"
#include "kube/codec/yaml.h"
#include "kube/meta/any_object.h"
#include "kube/meta/scheme.h"
#include "kube/meta/unstructured.h"

namespace kube {

struct DeserializeOptions {
  /// The kind and version of a body that does not name them. Each part is used if the body lacks
  /// it.
  GroupVersionKind defaultKind = {};
  /// Sets the scheme's defaults of the version that was read.
  bool applyDefaults = false;
  /// Kinds that the scheme does not know become Unstructured. Not from protobuf.
  bool unknownAsUnstructured = false;
  /// Converts the object to the best of these versions, if there are any.
  std::vector<GroupVersion> toVersions = {};
  /// strict, problems and pool apply. checkKind is ignored: the kind selects the type.
  DecodeOptions decode = {};
};

class UniversalDeserializer {
 public:
  explicit UniversalDeserializer(const Scheme& scheme) noexcept : scheme_(&scheme) {}

  const Scheme& scheme() const noexcept { return *scheme_; }

  /// Decodes the only object of a body.
  AnyObject decode(std::string_view body, const DeserializeOptions& options = {}) const;
  AnyObject decode(const YamlDocument& document, const DeserializeOptions& options = {}) const;
  /// Decodes all objects of a body: YAML may hold several documents, and a `kind: List` of v1
  /// several objects.
  std::vector<AnyObject> decodeAll(std::string_view body,
                                   const DeserializeOptions& options = {}) const;

  /// Converts the object to that version and writes it in one of the formats; JSON with `indent`
  /// spaces a level, 0 for one line. Throws as convertToVersion does, or Error if the object has no
  /// such form.
  std::string encode(const AnyObject& object, const GroupVersion& version, Format format,
                     int indent = 0) const;
  template <Described T>
  std::string encode(const T& object, const GroupVersion& version, Format format,
                     int indent = 0) const {
    return encode(AnyObject(object), version, format, indent);
  }

  /// Converts as the scheme does, and also takes an Unstructured. One that is in a target version
  /// already stays as it is; others are decoded to the type of their kind first.
  AnyObject convertToVersion(const AnyObject& object, std::span<const GroupVersion> targets) const;
  AnyObject convertToVersion(const AnyObject& object, const GroupVersion& target) const {
    return convertToVersion(object, std::span(&target, 1));
  }
  /// Decodes an Unstructured to the type of its kind. Throws NotRegisteredError or DecodeError.
  AnyObject typed(const Unstructured& object, const DecodeOptions& options = {}) const;

 private:
  AnyObject finish(AnyObject object, const DeserializeOptions& options) const;

  const Scheme* scheme_;
};

/// Writes the object in one of the formats, under its own kind. Throws Error if the object has no
/// such form: internal versions have none, and some types have no protobuf.
std::string encodeObject(const AnyObject& object, Format format, int indent = 0);

}  // namespace kube
