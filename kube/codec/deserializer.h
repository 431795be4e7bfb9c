// Objects whose type is not known before they have been read, decoded to the type that a Scheme has
// for their kind; and encoded in the version one asks for.
//
//   kube::UniversalDeserializer deserializer(kube::builtInScheme());
//   kube::AnyObject object = deserializer.decode(body);            // JSON, YAML or protobuf
//   if (const auto* pod = object.as<kube::corev1::Pod>()) ...
//
//   object = deserializer.decode(body, {.applyDefaults = true,
//                                       .toVersions = {{"autoscaling", "v2"}}});
//   std::string text = deserializer.encode(object, {"autoscaling", "v1"}, kube::Format::Yaml);
//
// Malformed bodies throw DecodeError; so do those that do not say what they are. A kind that the
// scheme does not know throws NotRegisteredError (see isNotRegistered), unless it may become an
// Unstructured. What comes out is complete or nothing.
//
// An object is written under the kind it has (AnyObject::gvk), which need not be the one that its
// type is described as: a scheme may know a type by several.
//
// Thread safety: all functions may be called from any thread; a Pool, from one at a time. The
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
  /// What the body does not say of itself: its kind, or version, or all of it.
  GroupVersionKind defaultKind = {};
  /// Sets the scheme's defaults of the version that was read.
  bool applyDefaults = false;
  /// Kinds that the scheme does not know become Unstructured. Not from protobuf.
  bool unknownAsUnstructured = false;
  /// Converted to the best of these versions, if there are any.
  std::vector<GroupVersion> toVersions = {};
  /// strict, problems, pool. checkKind is of no account: the type is chosen by the kind.
  DecodeOptions decode = {};
};

class UniversalDeserializer {
 public:
  explicit UniversalDeserializer(const Scheme& scheme) noexcept : scheme_(&scheme) {}

  const Scheme& scheme() const noexcept { return *scheme_; }

  /// The only object of a body.
  AnyObject decode(std::string_view body, const DeserializeOptions& options = {}) const;
  AnyObject decode(const YamlDocument& document, const DeserializeOptions& options = {}) const;
  /// All of them: YAML may hold several documents, and a `kind: List` of v1 several objects.
  std::vector<AnyObject> decodeAll(std::string_view body,
                                   const DeserializeOptions& options = {}) const;

  /// The object as it is in that version, in one of the formats; JSON with `indent` spaces a level,
  /// 0 for one line. Throws as convertToVersion does, or Error where it has no such form.
  std::string encode(const AnyObject& object, const GroupVersion& version, Format format,
                     int indent = 0) const;
  template <Described T>
  std::string encode(const T& object, const GroupVersion& version, Format format,
                     int indent = 0) const {
    return encode(AnyObject(object), version, format, indent);
  }

  /// As the scheme's, for an Unstructured too: one that is in such a version stays as it is, and
  /// others become the type of their kind first.
  AnyObject convertToVersion(const AnyObject& object, std::span<const GroupVersion> targets) const;
  AnyObject convertToVersion(const AnyObject& object, const GroupVersion& target) const {
    return convertToVersion(object, std::span(&target, 1));
  }
  /// The type of its kind, with its fields. Throws NotRegisteredError or DecodeError.
  AnyObject typed(const Unstructured& object, const DecodeOptions& options = {}) const;

 private:
  AnyObject finish(AnyObject object, const DeserializeOptions& options) const;

  const Scheme* scheme_;
};

/// The object in one of the formats, under the kind it has. Throws Error where it has no such form:
/// for an internal version, and protobuf of types without.
std::string encodeObject(const AnyObject& object, Format format, int indent = 0);

}  // namespace kube
