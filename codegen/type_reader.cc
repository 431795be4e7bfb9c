#include "codegen/type_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "codegen/names.h"
#include "kube/base/error.h"
#include "kube/codec/json.h"
#include "kube/codec/schema_keywords.h"

namespace kube::codegen {

namespace {

constexpr std::string_view kPreserve = "x-kubernetes-preserve-unknown-fields";
constexpr std::string_view kIntOrString = "x-kubernetes-int-or-string";
constexpr std::string_view kEmbedded = "x-kubernetes-embedded-resource";
constexpr std::string_view kReference = "#/components/schemas/";
constexpr std::size_t kMaxComment = 400;
constexpr std::size_t kMaxConstants = 100;
constexpr std::size_t kMaxName = 120;

// The schema to which this one refers, by $ref, or by an allOf with a single $ref, which may stand
// beside other keywords.
std::string referenceOf(const Value& node) {
  std::string name = text(node, "$ref");
  if (name.empty() && node["allOf"].asArray().size() == 1) name = text(node["allOf"][0], "$ref");
  return name;
}

bool isMap(const Value& node) {
  const Value& values = node["additionalProperties"];
  return node["properties"].asObject().empty() && (values.isObject() || values.asBool());
}

bool isStringArray(const Value& node) {
  const Value& items = node["items"];
  return items["type"] == "string" && items["format"].isNull() && !items["nullable"].asBool();
}

bool isPlainName(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\';
  });
}

bool mentionsReference(const Value& node) {
  if (node.isArray()) return std::ranges::any_of(node.asArray(), mentionsReference);
  for (const auto& [key, value] : node.asObject()) {
    if (key == "$ref" || mentionsReference(value)) return true;
  }
  return false;
}

bool has(const Value& array, std::string_view entry) {
  return std::ranges::any_of(array.asArray(), [&](const Value& each) { return each == entry; });
}

// The first paragraph of the description, shortened to kMaxComment.
std::string summary(const Value& node) {
  std::string all = text(node, "description");
  if (const auto end = all.find("\n\n"); end != std::string::npos) all.resize(end);
  if (all.size() <= kMaxComment) return all;
  auto end = all.rfind(' ', kMaxComment);
  if (end == std::string::npos || end == 0) return "";
  all.resize(end);
  return all + " ...";
}

std::string unique(const std::string& wanted, const std::set<std::string>& used) {
  if (!used.contains(wanted)) return wanted;
  for (int i = 2;; ++i) {
    std::string next = fmt::format("{}{}", wanted, i);
    if (!used.contains(next)) return next;
  }
}

std::string memberName(const std::string& name) {
  const bool plain =
      std::ranges::all_of(name, isIdentifierCharacter) && !(name[0] >= '0' && name[0] <= '9');
  std::string member = plain ? name : identifier(name);
  return isReserved(member) ? member + "_" : member;
}

}  // namespace

TypeReader::TypeReader(Package& package, const Schema& library, const ReadOptions& options,
                       std::vector<std::string>& notes)
    : package_(package), library_(library), options_(options), notes_(notes) {
  // Names of other generated classes in the same namespace.
  const std::string name = groupVersionName(package);
  names_ = {name + "Client", name + "Informers", "WithClient", "WithInformers"};
  for (const Type& type : package.types) names_.insert(type.name);
}

void TypeReader::setReferences(const Value& schemas, std::string ownPrefix) {
  references_ = schemas;
  ownPrefix_ = std::move(ownPrefix);
}

std::string TypeReader::uniqueType(const std::string& wanted) {
  std::string name = upperFirst(identifier(wanted.substr(0, kMaxName)));
  if (isReserved(name)) name += "_";
  name = unique(name, names_);
  names_.insert(name);
  return name;
}

std::size_t TypeReader::addType(const std::string& name) {
  if (package_.types.size() >= kMaxTypes) {
    throw Error(
        fmt::format("{}/{}: more than {} types", package_.group, package_.version, kMaxTypes));
  }
  package_.types.push_back({.name = name, .fields = {}});
  return package_.types.size() - 1;
}

std::string TypeReader::textOf(const Value& text) const {
  if (!options_.annotations || !text.isObject() || mentionsReference(text)) return "";
  return toJson(text);
}

std::string TypeReader::fallback(const Place& place, std::string_view why) {
  notes_.push_back(fmt::format("{}: {}: a kube::Value", place.path, why));
  return "Value";
}

void TypeReader::addKind(Kind kind, const Value& schema, const std::string& path) {
  const Place root{path, 0};
  kind.cppType = uniqueType(kind.kind);
  const std::string list = uniqueType(kind.cppType + "List");
  Kind listKind;
  listKind.kind = kind.list;
  listKind.cppType = list;

  const std::size_t index = addType(kind.cppType);
  const std::size_t listIndex = addType(list);
  package_.types[listIndex].fields = {
      {.name = "metadata", .type = "meta/v1.ListMeta"},
      {.name = "items", .type = kind.cppType, .shape = "list", .required = true, .keep = true}};

  Field metadata{.name = "metadata", .type = "meta/v1.ObjectMeta"};
  metadata.text = textOf(schema["properties"]["metadata"]);
  Value own = schema.isObject() ? schema : Value(Value::Object());
  Value header = Value::Object();
  for (const char* name : {"apiVersion", "kind"}) {
    const Value& property = std::as_const(own)["properties"][name];
    if (property.isObject()) header[name] = property;
  }
  package_.types[index].fields.push_back(std::move(metadata));
  package_.types[index].comment = summary(schema);
  for (const auto& [name, property] : std::as_const(own)["properties"].asObject()) {
    if (!isPlainName(name)) {
      throw Error(fmt::format("{}: the property name {} cannot be a member", path, literal(name)));
    }
  }
  addFields(index, own, root, false);
  if (std::as_const(own)[kPreserve].asBool()) {
    notes_.push_back(fmt::format("{}: {}: fields other than those named, spec and status are lost",
                                 path, kPreserve));
    for (const char* name : {"spec", "status"}) {
      if (std::as_const(own)["properties"][name].isNull()) {
        package_.types[index].fields.push_back({.name = name, .type = "Value", .member = name});
      }
    }
  }
  own["properties"] = std::move(header);
  own.object().erase("x-kubernetes-group-version-kind");
  package_.types[index].text = textOf(own);
  package_.kinds.push_back(std::move(kind));
  package_.kinds.push_back(std::move(listKind));
}

// Adds all properties except those that every object has.
void TypeReader::addFields(std::size_t type, const Value& node, const Place& place, bool embedded) {
  const auto& properties = node["properties"].asObject();
  if (properties.size() > kMaxFields) {
    throw Error(fmt::format("{}: more than {} properties", place.path, kMaxFields));
  }
  const bool root = place.depth == 0;
  const std::string owner = package_.types[type].name;
  std::vector<Field> fields;
  for (const auto& [key, property] : properties) {
    const std::string name = key.str();
    if (root && (name == "apiVersion" || name == "kind" || name == "metadata")) continue;
    if (embedded && name == "metadata") continue;
    fields.push_back(
        this->property(name, property, has(node["required"], name), owner, place.child(name)));
  }
  // The order in which people write objects.
  std::ranges::stable_sort(fields, {}, [](const Field& field) {
    if (field.name == "apiVersion" || field.name == "kind") return 0;
    return field.name == "spec" ? 1 : field.name == "status" ? 3 : 2;
  });
  auto& all = package_.types[type].fields;
  std::set<std::string> used;
  for (const Field& field : all) used.insert(field.member.empty() ? field.name : field.member);
  for (Field& field : fields) {
    field.member = unique(memberName(field.name), used);
    used.insert(field.member);
  }
  for (Field& field : fields) {
    const Value& property = properties[field.name];
    const Value& values = field.shape == "list" ? property["items"]["enum"] : property["enum"];
    if (field.type == "string" && values.isArray()) addConstants(field, values, used);
    all.push_back(std::move(field));
  }
}

void TypeReader::addConstants(Field& field, const Value& values,
                              std::set<std::string>& used) const {
  if (values.asArray().size() > kMaxConstants) return;
  std::set<std::string> seen;
  for (const Value& value : values.asArray()) {
    if (!value.isString() || !isPlainName(value.asString())) continue;
    if (!seen.insert(value.asString().str()).second) continue;
    const std::string name = unique(
        "k" + upperFirst(identifier(field.name)) + upperFirst(identifier(value.asString())), used);
    used.insert(name);
    field.constants.push_back({name, value.asString().str()});
  }
}

Field TypeReader::property(const std::string& name, const Value& node, bool required,
                           const std::string& owner, const Place& place) {
  if (place.depth > kMaxDepth) {
    throw Error(fmt::format("{}: nested deeper than {} levels", place.path, kMaxDepth));
  }
  Field field;
  field.name = name;
  field.required = required;
  field.comment = summary(node);
  const std::string hint = owner + upperFirst(identifier(name));
  Value text = node;
  const bool open = node[kPreserve].asBool() || node[kIntOrString].asBool();
  const bool referred = !referenceOf(node).empty();
  if (!open && !referred && node["type"] == "array") {
    field.shape = "list";
    field.type = element(node["items"], text["items"], hint, place.inside(), true);
    field.listType = codegen::text(node, "x-kubernetes-list-type");
    for (const Value& key : node["x-kubernetes-list-map-keys"].asArray()) {
      field.listMapKeys.push_back(key.asString().str());
    }
    // Such elements have no C++ fields that could be keys.
    const bool message = field.type == "Value" || field.type == "Strings";
    if (message && field.listType != "atomic") {
      field.listType.clear();
      field.listMapKeys.clear();
    }
  } else if (!open && !referred && node["type"] == "object" && isMap(node)) {
    field.shape = "map";
    const Value& values = node["additionalProperties"];
    if (values.isObject()) {
      field.type = element(values, text["additionalProperties"], hint, place.inside(), true);
    } else {
      field.type = fallback(place.inside(), "additionalProperties: true");
    }
    field.mapType = codegen::text(node, "x-kubernetes-map-type");
  } else if (required && node["nullable"].asBool()) {
    field.type = fallback(place, "required, and may be null");
    field.keep = true;
  } else {
    field.type = element(node, text, hint, place, false);
    field.mapType = codegen::text(node, "x-kubernetes-map-type");
    chooseShape(field, node, required);
  }
  if (field.shape == "list" || field.shape == "map") field.keep = required;
  field.text = textOf(text);
  return field;
}

void TypeReader::chooseShape(Field& field, const Value& node, bool required) const {
  const std::string& type = field.type;
  if (type == "Value" || type == "RawExtension" || type == "FieldsV1") return;
  if (type == "Time" || type == "MicroTime") {
    field.omitZero = true;
    return;
  }
  if (type == "Strings") {
    field.keep = required;
    return;
  }
  const bool isText = type == "string" || type == "bytes";
  const bool scalar = isText || type == "bool" || type == "int32" || type == "int64" ||
                      type == "double" || type == "Quantity" || type == "IntOrString" ||
                      type == "Duration";
  if (!scalar) {
    field.shape = "pointer";
    return;
  }
  if (required) {
    field.keep = true;
    return;
  }
  // An empty string stands for an absent one, unless the schema distinguishes them.
  const bool meant =
      !node["default"].isNull() || node["nullable"].asBool() || has(node["enum"], "");
  if (!isText || meant) field.shape = "pointer";
}

std::string TypeReader::element(const Value& node, Value& text, const std::string& hint,
                                const Place& place, bool inContainer) {
  if (const std::string name = referenceOf(node); !name.empty()) return reference(name, place);
  if (node.isNull()) return fallback(place, "no schema");
  if (!node.isObject()) throw Error(place.path + ": expected an object as the schema");
  if (inContainer && node["nullable"].asBool()) return fallback(place, "elements that may be null");
  if (node[kIntOrString].asBool()) {
    return node["pattern"] == kQuantityPattern ? "Quantity" : "IntOrString";
  }
  if (node[kPreserve].asBool()) return fallback(place, kPreserve);
  const std::string type = codegen::text(node, "type");
  const std::string format = codegen::text(node, "format");
  if (type == "string") {
    if (format == "int-or-string") return "IntOrString";  // the format in OpenAPI documents
    return format == "date-time" ? "Time" : format == "byte" ? "bytes" : "string";
  }
  if (type == "integer") return format == "int32" ? "int32" : "int64";
  if (type == "number") return "double";
  if (type == "boolean") return "bool";
  if (type == "array") {
    if (isStringArray(node)) return "Strings";
    return fallback(place, "an array within an array or map");
  }
  if (type == "object") {
    if (isMap(node)) return fallback(place, "a map within an array or map");
    return structure(node, text, hint, place);
  }
  if (type.empty()) return fallback(place, "no type");
  throw Error(fmt::format("{}: unknown type {}", place.path, literal(type)));
}

std::string TypeReader::structure(const Value& node, Value& text, const std::string& hint,
                                  const Place& place) {
  if (place.depth > kMaxDepth) {
    throw Error(fmt::format("{}: nested deeper than {} levels", place.path, kMaxDepth));
  }
  if (std::string known = libraryMatch(node); !known.empty()) return known;
  // An object without properties stays empty in a definition, and may be anything in a document.
  if (!references_.isNull() && node["properties"].asObject().empty()) {
    return fallback(place, "an object without properties");
  }
  for (const auto& [name, property] : node["properties"].asObject()) {
    if (!isPlainName(name)) {
      return fallback(place, fmt::format("the property name {}", literal(name)));
    }
  }
  const std::size_t index = addType(uniqueType(hint));
  const std::string name = package_.types[index].name;
  package_.types[index].comment = summary(node);
  package_.types[index].atomic = node["x-kubernetes-map-type"] == "atomic";
  const bool embedded = node[kEmbedded].asBool();
  const auto& properties = node["properties"].asObject();
  if (embedded) {
    for (const char* field : {"apiVersion", "kind"}) {
      if (!properties.contains(field)) {
        package_.types[index].fields.push_back({.name = field, .type = "string", .member = field});
      }
    }
    Field metadata{.name = "metadata", .type = "meta/v1.ObjectMeta"};
    metadata.text = textOf(properties["metadata"]);
    package_.types[index].fields.push_back(std::move(metadata));
  }
  addFields(index, node, place, embedded);
  if (!properties.empty()) text["properties"] = Value::Object();
  return name;
}

// ---- Types of the library.

bool TypeReader::inLibrary(const std::string& package, const std::string& type) const {
  const auto at = library_.find(package);
  return at != library_.end() && at->second.find(type) != nullptr;
}

// Finds the library's type for schemas of conditions and label selectors, for which the library has
// functions. Only if all that the library writes is valid by the schema.
std::string TypeReader::libraryMatch(const Value& node) const {
  const auto& properties = node["properties"].asObject();
  const auto is = [&](const char* name, std::string_view type, std::string_view format = {}) {
    const Value& property = properties[name];
    return property["type"] == type && !property["nullable"].asBool() &&
           (format.empty() || property["format"] == format);
  };
  if (properties.size() == 6 && is("type", "string") && is("status", "string") &&
      is("reason", "string") && is("message", "string") &&
      is("lastTransitionTime", "string", "date-time") && is("observedGeneration", "integer")) {
    for (const char* name : {"type", "status", "reason", "message", "lastTransitionTime"}) {
      if (!has(node["required"], name)) return "";
    }
    return inLibrary("meta/v1", "Condition") ? "meta/v1.Condition" : "";
  }
  if (properties.size() == 2 && is("matchLabels", "object") && is("matchExpressions", "array") &&
      properties["matchLabels"]["additionalProperties"]["type"] == "string") {
    const auto& requirement = properties["matchExpressions"]["items"]["properties"].asObject();
    const bool same = requirement.size() == 3 && requirement["key"]["type"] == "string" &&
                      requirement["operator"]["type"] == "string" &&
                      requirement["values"]["items"]["type"] == "string";
    return same && inLibrary("meta/v1", "LabelSelector") ? "meta/v1.LabelSelector" : "";
  }
  return "";
}

// "io.k8s.api.core.v1.PodSpec" -> "core/v1.PodSpec", if the library has this type.
std::string TypeReader::libraryType(const std::string& reference) const {
  static const std::map<std::string, std::string> kOwn = {
      {"io.k8s.apimachinery.pkg.apis.meta.v1.Time", "Time"},
      {"io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime", "MicroTime"},
      {"io.k8s.apimachinery.pkg.apis.meta.v1.Duration", "Duration"},
      {"io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1", "FieldsV1"},
      {"io.k8s.apimachinery.pkg.api.resource.Quantity", "Quantity"},
      {"io.k8s.apimachinery.pkg.util.intstr.IntOrString", "IntOrString"},
      {"io.k8s.apimachinery.pkg.runtime.RawExtension", "RawExtension"},
      {"io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON", "Value"},
  };
  if (const auto at = kOwn.find(reference); at != kOwn.end()) return at->second;
  if (!reference.starts_with("io.k8s.")) return "";
  if (!ownPrefix_.empty() && reference.starts_with(ownPrefix_)) return "";
  const auto name = reference.rfind('.');
  const auto version = reference.rfind('.', name - 1);
  if (version == std::string::npos || version == 0) return "";
  const auto group = reference.rfind('.', version - 1);
  if (group == std::string::npos) return "";
  const std::string package = reference.substr(group + 1, version - group - 1) + "/" +
                              reference.substr(version + 1, name - version - 1);
  const std::string type = reference.substr(name + 1);
  return inLibrary(package, type) ? package + "." + type : "";
}

std::string TypeReader::reference(const std::string& reference, const Place& place) {
  if (!reference.starts_with(kReference)) {
    throw Error(fmt::format("{}: the reference {} does not name a schema of the document",
                            place.path, literal(reference)));
  }
  const std::string name = reference.substr(kReference.size());
  if (std::string known = libraryType(name); !known.empty()) return known;
  if (const auto at = referred_.find(name); at != referred_.end()) return at->second;
  const Value& node = std::as_const(references_)[name];
  if (node.isNull()) {
    throw Error(fmt::format("{}: the document has no schema {}", place.path, literal(name)));
  }
  const std::string hint = name.substr(name.rfind('.') + 1);
  const bool isStruct = node["type"] == "object" && referenceOf(node).empty() && !isMap(node) &&
                        !node[kPreserve].asBool() && !node["properties"].asObject().empty();
  if (!isStruct) {
    // Set first, to end the recursion of schemas that refer to each other.
    referred_[name] = "Value";
    Value text;
    return referred_[name] = element(node, text, hint, {place.path, place.depth + 1}, true);
  }
  // Set before the fields are read, because the type may contain itself.
  const std::size_t index = addType(uniqueType(hint));
  std::string type = package_.types[index].name;
  referred_[name] = type;
  package_.types[index].comment = summary(node);
  addFields(index, node, {name, place.depth + 1}, false);
  return type;
}

void TypeReader::settleNames(Package& package) {
  std::set<std::string> types;
  for (const Type& type : package.types) types.insert(type.name);
  for (Type& type : package.types) {
    std::set<std::string> used;
    for (const Field& field : type.fields) used.insert(field.member);
    for (Field& field : type.fields) {
      if (!types.contains(field.member)) continue;
      field.member = unique(field.member + "_", used);
      used.insert(field.member);
    }
  }
}

}  // namespace kube::codegen
