#include "kube/apiserver/schema/schema_compile.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "kube/apiserver/schema/schema_place.h"
#include "kube/base/error.h"
#include "kube/codec/apply/path_element.h"
#include "kube/codec/json.h"
#include "kube/meta/v1.h"

namespace kube::apiserver {

namespace {

using Schema = apiextensionsv1::JSONSchemaProps;

// The most values in all defaults together. A value counts as often as it occurs: defaults in
// elements of defaults multiply.
constexpr std::size_t kMaxDefaultValues = 1'000'000;

std::uint8_t typeBit(std::string_view name) {
  if (name == "boolean") return kBoolean;
  if (name == "integer") return kInteger;
  if (name == "number") return kNumber;
  if (name == "string") return kString;
  if (name == "array") return kArray;
  return name == "object" ? kObject : 0;
}

bool countValues(const Value& value, std::size_t& left) {
  if (left == 0) return false;
  --left;
  for (const Value& item : value.asArray()) {
    if (!countValues(item, left)) return false;
  }
  for (const auto& member : value.asObject()) {
    if (!countValues(member.value, left)) return false;
  }
  return true;
}

class Compiler {
 public:
  Compiler(CompiledSchema& out, FieldErrors& errors) : out_(out), errors_(errors) {}

  const SchemaNode* compile(const Schema& schema, const SchemaPlace& place) {
    SchemaNode& node = out_.nodes.emplace_back();
    types(schema, node);
    structure(schema, node, place);
    rules(schema, node, place);
    if (schema.default_) {
      node.default_ = parse(schema.default_, place.child("default"));
      node.wholeDefault = withDefaults(node, place);
    }
    return &node;
  }

  void unknownFormats() {
    out_.unknownFormats.assign(unknownFormats_.begin(), unknownFormats_.end());
  }

 private:
  Value parse(const RawExtension& raw, const SchemaPlace& place) {
    try {
      return parseJson(raw.raw);
    } catch (const DecodeError& error) {
      errors_.push_back(FieldError::invalid(place.path(), raw.raw, error.what()));
      return {};
    }
  }

  // The value that a default sets, with the defaults inside it. It is made here once and shared by
  // all objects that get it.
  Value withDefaults(const SchemaNode& node, const SchemaPlace& place) {
    Value whole = defaultedDefault(node).value_or(node.default_);
    if (countValues(whole, defaultsLeft_)) return whole;
    errors_.push_back(FieldError::invalid(place.child("default").path(), "",
                                          "is too large with the defaults inside it"));
    return {};
  }

  void types(const Schema& schema, SchemaNode& node) {
    if (schema.xKubernetesIntOrString) {
      node.types = kInteger | kString;
      node.typeName = "integer,string";
    } else {
      node.types = typeBit(schema.type);
      node.typeName = schema.type.str();
    }
    if (schema.format.empty()) return;
    const bool known = format(schema, node);
    if (known) {
      node.formatName = schema.format.str();
    } else {
      unknownFormats_.insert(schema.format.str());
    }
  }

  static bool format(const Schema& schema, SchemaNode& node) {
    using NumberFormat = SchemaNode::NumberFormat;
    if (node.types == kInteger) {
      if (schema.format == "int32") node.numberFormat = NumberFormat::Int32;
      if (schema.format == "int64") node.numberFormat = NumberFormat::Int64;
      return node.numberFormat != NumberFormat::None;
    }
    if (node.types == kNumber) {
      if (schema.format == "float") node.numberFormat = NumberFormat::Float;
      if (schema.format == "double") node.numberFormat = NumberFormat::Double;
      return node.numberFormat != NumberFormat::None;
    }
    if (node.types != 0 && (node.types & kString) == 0) return false;
    node.stringFormat = findStringFormat(schema.format);
    return node.stringFormat != nullptr;
  }

  void structure(const Schema& schema, SchemaNode& node, const SchemaPlace& place) {
    node.nullable = schema.nullable;
    node.preserveUnknown = schema.xKubernetesPreserveUnknownFields.value_or(false);
    node.embeddedResource = schema.xKubernetesEmbeddedResource;
    node.atomicMap = schema.xKubernetesMapType == String("atomic");
    if (schema.xKubernetesListType == String("set")) node.listType = SchemaNode::ListType::Set;
    if (schema.xKubernetesListType == String("map")) node.listType = SchemaNode::ListType::Map;
    node.listMapKeys.assign(schema.xKubernetesListMapKeys.begin(),
                            schema.xKubernetesListMapKeys.end());
    node.hasEmbedded = node.embeddedResource;
    node.hasUniqueLists = node.listType != SchemaNode::ListType::Atomic;
    const auto below = [&](const SchemaNode* child) {
      node.hasEmbedded = node.hasEmbedded || child->hasEmbedded;
      node.hasUniqueLists = node.hasUniqueLists || child->hasUniqueLists;
      return child;
    };
    if (schema.items->schema) {
      node.items = below(compile(*schema.items->schema, place.child("items")));
    }
    node.properties.reserve(schema.properties.size());
    for (const auto& [name, property] : schema.properties) {  // sorted by name already
      node.properties.push_back(
          {name, below(compile(property, place.child("properties").key(name)))});
    }
    if (!schema.additionalProperties) return;
    const auto& additional = *schema.additionalProperties;
    node.hasAdditional = true;
    node.allowsAdditional = additional.allows || additional.schema;
    if (additional.schema) {
      node.additional = below(compile(*additional.schema, place.child("additionalProperties")));
    }
  }

  void rules(const Schema& schema, SchemaNode& node, const SchemaPlace& place) {
    ValueRules rules;
    const auto limit = [&](std::optional<double> value, bool exclusive) -> std::optional<Limit> {
      if (!value) return std::nullopt;
      return Limit{*value, exclusive, limitFits(*value, node)};
    };
    rules.maximum = limit(schema.maximum, schema.exclusiveMaximum);
    rules.minimum = limit(schema.minimum, schema.exclusiveMinimum);
    rules.multipleOf = limit(schema.multipleOf, false);
    rules.maxLength = schema.maxLength;
    rules.minLength = schema.minLength;
    rules.maxItems = schema.maxItems;
    rules.minItems = schema.minItems;
    rules.maxProperties = schema.maxProperties;
    rules.minProperties = schema.minProperties;
    if (!schema.pattern.empty()) {
      rules.pattern = schema.pattern.str();
      rules.compiledPattern = std::make_unique<const Pattern>(rules.pattern);
    }
    enumeration(schema, rules, place);
    rules.required.assign(schema.required.begin(), schema.required.end());
    junctors(schema, rules, place);
    const bool any = rules.maximum || rules.minimum || rules.multipleOf || rules.maxLength ||
                     rules.minLength || rules.maxItems || rules.minItems || rules.maxProperties ||
                     rules.minProperties || rules.compiledPattern || !rules.enumShown.empty() ||
                     !rules.required.empty() || !rules.allOf.empty() || !rules.anyOf.empty() ||
                     !rules.oneOf.empty() || rules.not_ != nullptr;
    if (any) node.rules = std::make_unique<const ValueRules>(std::move(rules));
  }

  void enumeration(const Schema& schema, ValueRules& rules, const SchemaPlace& place) {
    std::size_t i = 0;
    for (const RawExtension& raw : schema.enum_) {
      Value value = parse(raw, place.child("enum").index(i++));
      rules.enumShown.push_back(value.isString() ? value.asString().str() : toJson(value));
      if (!value.isNull()) rules.enum_.push_back(std::move(value));
    }
    std::sort(rules.enum_.begin(), rules.enum_.end(),
              [](const Value& a, const Value& b) { return compareValues(a, b) < 0; });
  }

  void junctors(const Schema& schema, ValueRules& rules, const SchemaPlace& place) {
    const auto all = [&](const List<Schema>& from, std::vector<const SchemaNode*>& to,
                         std::string_view name) {
      std::size_t i = 0;
      for (const Schema& each : from) to.push_back(compile(each, place.child(name).index(i++)));
    };
    all(schema.allOf, rules.allOf, "allOf");
    all(schema.anyOf, rules.anyOf, "anyOf");
    all(schema.oneOf, rules.oneOf, "oneOf");
    if (schema.not_) rules.not_ = compile(*schema.not_, place.child("not"));
  }

  CompiledSchema& out_;
  FieldErrors& errors_;
  std::set<std::string> unknownFormats_;
  std::size_t defaultsLeft_ = kMaxDefaultValues;
};

// --- Validity of defaults by their own schema.

class DefaultsCheck {
 public:
  explicit DefaultsCheck(FieldErrors& errors) : errors_(errors) {}

  void walk(const SchemaNode& node, const SchemaPlace& place, bool root, bool insideMeta) {
    const bool resource = root || node.embeddedResource;
    if (resource) insideMeta = false;
    if (!node.default_.isNull()) check(node, place.child("default").path(), insideMeta);
    if (node.items != nullptr) walk(*node.items, place.child("items"), false, insideMeta);
    for (const auto& [name, property] : node.properties) {
      walk(*property, place.child("properties").key(name), false,
           insideMeta || (resource && isMetaField(name)));
    }
  }

 private:
  void check(const SchemaNode& node, const ErrorPath& path, bool insideMeta) {
    const Value& value = node.default_;
    if (!insideMeta) {
      if (prunedValue(value, &node, false, nullptr)) {
        errors_.push_back(FieldError::invalid(path, value, "must not have unknown fields"));
      }
      try {
        coercedValue(value, node, false, nullptr);
      } catch (const DecodeError& error) {
        const ErrorPath place = error.path().empty() ? path : path.child(error.path());
        errors_.push_back(FieldError::invalid(place, value, error.reason()));
        return;
      }
      if (FieldErrors found = embeddedErrors(value, node, false, path); !found.empty()) {
        append(errors_, std::move(found));
        return;
      }
    }
    append(errors_, valueErrors(value, nullptr, node, path));
  }

  FieldErrors& errors_;
};

// --- The facts that server-side apply needs.

class FieldsCompiler {
 public:
  explicit FieldsCompiler(std::deque<FieldSchema>& out) : out_(out) {}

  // `preserving` is true if a schema above keeps unknown fields.
  const FieldSchema* compile(const SchemaNode& node, bool resource, bool preserving) {
    FieldSchema& fields = out_.emplace_back();
    preserving = preserving || node.preserveUnknown;
    fields.kind = kindOf(node);
    if (fields.kind == FieldSchema::Kind::List) {
      fields.atomic = node.listType == SchemaNode::ListType::Atomic;
      fields.keys = node.listMapKeys;
      if (node.items != nullptr) {
        fields.element = compile(*node.items, node.items->embeddedResource, preserving);
      }
      return &fields;
    }
    if (fields.kind != FieldSchema::Kind::Map && fields.kind != FieldSchema::Kind::Any) {
      return &fields;
    }
    fields.atomic = node.atomicMap;
    for (const auto& [name, property] : node.properties) {
      if (resource && isMetaField(name)) continue;
      fields.members.push_back(
          {name, compile(*property, property->embeddedResource, preserving), property->default_});
    }
    if (resource) addMeta(fields);
    if (node.additional != nullptr) {
      fields.element = compile(*node.additional, node.additional->embeddedResource, preserving);
    }
    fields.open = node.hasAdditional ? node.allowsAdditional && node.additional == nullptr
                                     : preserving || fields.members.empty();
    return &fields;
  }

 private:
  static FieldSchema::Kind kindOf(const SchemaNode& node) {
    using Kind = FieldSchema::Kind;
    switch (node.types) {
      case 0:
        return Kind::Any;
      case kBoolean:
        return Kind::Boolean;
      case kInteger:
      case kNumber:
        return Kind::Number;
      case kString:
        // As upstream: a string with a format may be read as another type.
        return node.formatName.empty() || node.formatName == "byte" ? Kind::String : Kind::Scalar;
      case kArray:
        return Kind::List;
      case kObject:
        return Kind::Map;
      default:
        return Kind::Scalar;
    }
  }

  void addMeta(FieldSchema& fields) {
    if (text_ == nullptr) {
      text_ = &out_.emplace_back(FieldSchema{.kind = FieldSchema::Kind::String});
      meta_ = &out_.emplace_back(FieldSchema{.table = &TypeOf<metav1::ObjectMeta>::info});
    }
    fields.members.push_back({"apiVersion", text_});
    fields.members.push_back({"kind", text_});
    fields.members.push_back({"metadata", meta_});
    std::sort(fields.members.begin(), fields.members.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
  }

  std::deque<FieldSchema>& out_;
  const FieldSchema* text_ = nullptr;
  const FieldSchema* meta_ = nullptr;
};

}  // namespace

CompiledSchema compileSchema(const Schema& schema, const ErrorPath& path, FieldErrors& errors) {
  CompiledSchema out;
  const std::string text = path.empty() ? std::string() : path.str();
  const SchemaPlace place = text.empty() ? SchemaPlace() : SchemaPlace(text);
  Compiler compiler(out, errors);
  out.root = compiler.compile(schema, place);
  compiler.unknownFormats();
  if (!errors.empty()) return out;
  DefaultsCheck(errors).walk(*out.root, place, /*root=*/true, /*insideMeta=*/false);
  out.rootFields = FieldsCompiler(out.fields).compile(*out.root, /*resource=*/true, false);
  return out;
}

}  // namespace kube::apiserver
