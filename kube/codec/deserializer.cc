#include "kube/codec/deserializer.h"

#include <fmt/core.h>

#include <algorithm>

#include "kube/base/error.h"
#include "kube/codec/json.h"
#include "kube/codec/protobuf.h"
#include "kube/codec/unstructured.h"

namespace kube {

namespace {

// The kind that an object names. The default supplies the parts that the object leaves out.
GroupVersionKind kindOf(std::string_view apiVersion, std::string_view kind,
                        const GroupVersionKind& byDefault, const DecodeError::Where& where) {
  const auto fail = [&](std::string path, std::string reason) {
    DecodeError::Where at = where;
    at.path = std::move(path);
    throw DecodeError(std::move(at), std::move(reason));
  };
  const std::optional<GroupVersion> version = GroupVersion::tryParse(apiVersion);
  if (!version) fail("apiVersion", fmt::format("unexpected GroupVersion string: {}", apiVersion));
  GroupVersionKind gvk = version->withKind(kind);
  if (gvk.kind.empty()) gvk.kind = byDefault.kind;
  if (gvk.version.empty() && gvk.group.empty()) {
    gvk.group = byDefault.group;
    gvk.version = byDefault.version;
  }
  if (gvk.version.empty() && gvk.group == byDefault.group) gvk.version = byDefault.version;
  if (gvk.kind.empty()) fail("kind", "missing: it names the type of the object");
  if (gvk.version.empty()) fail("apiVersion", "missing: it names the type of the object");
  return gvk;
}

// Makes an object of the scheme's type for this kind, filled by `decode(type, data, options)`.
template <class Decode>
AnyObject make(const Scheme& scheme, const GroupVersionKind& gvk, const DeserializeOptions& options,
               bool mayBeUnstructured, Decode decode) {
  const TypeInfo* type = scheme.typeOf(gvk);
  if (type == nullptr) {
    if (!mayBeUnstructured || !options.unknownAsUnstructured) scheme.newObject(gvk);  // throws
    type = &TypeOf<Unstructured>::info;
  }
  DecodeOptions inner = options.decode;
  inner.checkKind = false;
  AnyObject object(*type);
  decode(*type, object.data(), inner);
  object.setGvk(gvk);
  return object;
}

}  // namespace

AnyObject UniversalDeserializer::decode(std::string_view body,
                                        const DeserializeOptions& options) const {
  switch (recognizeFormat(body)) {
    case Format::Yaml:
      break;
    case Format::Json: {
      const TypeMeta says = peekTypeMeta(body);
      const GroupVersionKind gvk =
          kindOf(says.apiVersion, says.kind, options.defaultKind, {.format = "json"});
      return finish(make(*scheme_, gvk, options, true,
                         [&](const TypeInfo& type, void* object, const DecodeOptions& inner) {
                           decodeJson(type, object, body, inner);
                         }),
                    options);
    }
    case Format::Protobuf: {
      const ProtobufEnvelope says = openProtobuf(body);
      const GroupVersionKind gvk =
          kindOf(says.apiVersion, says.kind, options.defaultKind, {.format = "protobuf"});
      return finish(make(*scheme_, gvk, options, false,
                         [&](const TypeInfo& type, void* object, const DecodeOptions& inner) {
                           decodeProtobuf(type, object, body, inner);
                         }),
                    options);
    }
  }
  return decode(yamlDocument(body), options);
}

AnyObject UniversalDeserializer::decode(const YamlDocument& document,
                                        const DeserializeOptions& options) const {
  const TypeMeta says = document.type();
  const GroupVersionKind gvk =
      kindOf(says.apiVersion, says.kind, options.defaultKind,
             {.format = "yaml", .line = document.line, .column = document.column});
  return finish(make(*scheme_, gvk, options, true,
                     [&](const TypeInfo& type, void* object, const DecodeOptions& inner) {
                       document.decode(type, object, inner);
                     }),
                options);
}

std::vector<AnyObject> UniversalDeserializer::decodeAll(std::string_view body,
                                                        const DeserializeOptions& options) const {
  std::vector<AnyObject> result;
  if (isProtobuf(body)) {
    result.push_back(decode(body, options));
    return result;
  }
  for (const YamlDocument& document : splitYaml(body, {.expandLists = true})) {
    result.push_back(decode(document, options));
  }
  return result;
}

AnyObject UniversalDeserializer::finish(AnyObject object, const DeserializeOptions& options) const {
  if (options.applyDefaults) scheme_->applyDefaults(object);
  if (options.toVersions.empty()) return object;
  return convertToVersion(object, options.toVersions);
}

AnyObject UniversalDeserializer::typed(const Unstructured& object,
                                       const DecodeOptions& options) const {
  const GroupVersionKind gvk = kindOf(object.apiVersion(), object.kind(), {}, {});
  return make(*scheme_, gvk, {.decode = options}, false,
              [&](const TypeInfo& type, void* data, const DecodeOptions& inner) {
                fromUnstructured(type, data, object, inner);
              });
}

AnyObject UniversalDeserializer::convertToVersion(const AnyObject& object,
                                                  std::span<const GroupVersion> targets) const {
  const auto* dynamic = object.as<Unstructured>();
  if (dynamic == nullptr) return scheme_->convertToVersion(object, targets);
  if (std::ranges::find(targets, object.gvk().groupVersion()) != targets.end()) return object;
  return scheme_->convertToVersion(typed(*dynamic), targets);
}

std::string UniversalDeserializer::encode(const AnyObject& object, const GroupVersion& version,
                                          Format format, int indent) const {
  return encodeObject(convertToVersion(object, version), format, indent);
}

std::string encodeObject(const AnyObject& object, Format format, int indent) {
  const GroupVersionKind gvk = object.gvk();
  if (gvk.version == kInternalVersion) {
    throw Error(fmt::format("{} {} cannot be encoded: convert it to a version first",
                            gvk.groupVersion().str(), gvk.kind));
  }
  // The encoders write the kind of the type. Here the object has a kind of its own.
  const ResourceInfo named{.group = gvk.group, .version = gvk.version, .kind = gvk.kind};
  TypeInfo type = object.type();
  type.resource = gvk.empty() ? nullptr : &named;
  std::string out;
  switch (format) {
    case Format::Json:
      encodeJson(type, object.data(), out, indent);
      break;
    case Format::Yaml:
      encodeYaml(type, object.data(), out);
      break;
    case Format::Protobuf:
      encodeProtobuf(type, object.data(), out);
      break;
  }
  return out;
}

}  // namespace kube
