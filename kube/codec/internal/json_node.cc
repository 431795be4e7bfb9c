#include "kube/codec/internal/json_node.h"

#include <algorithm>

#include "kube/base/error.h"
#include "kube/codec/internal/decode_sites.h"
#include "kube/codec/internal/json_encode.h"
#include "kube/codec/internal/limits.h"
#include "kube/codec/json.h"
#include "kube/meta/internal/optional_field.h"
#include "kube/meta/internal/presence.h"

namespace kube::detail {
namespace {

using NodeForm = JsonNode::Form;

JsonNode node(NodeForm form, const void* at, const TypeInfo& type) {
  JsonNode result{form, at, {}};
  result.type = &type;
  return result;
}

JsonNode node(NodeForm form, const void* at, const FieldInfo& field) {
  JsonNode result{form, at, {}};
  result.field = &field;
  return result;
}

template <class T>
const T& as(const JsonNode& node) {
  return *static_cast<const T*>(node.at);
}

const Block* blockOf(const JsonNode& node) { return static_cast<const Block*>(node.at); }

}  // namespace

void NodeReader::checkDepth(int depth) {
  // A raw value may be as deep as a whole text, and objects around it add to that.
  if (depth > 2 * static_cast<int>(kMaxDepth)) throw Error("json: nested too deeply");
}

JsonNode NodeReader::made(Value value) {
  return JsonNode::of(made_.emplace_back(std::move(value)));
}

JsonNode NodeReader::root(const TypeInfo& type, const void* object) {
  if (type.form == JsonForm::Object && type.resource != nullptr) {
    return node(NodeForm::Kind, object, type);
  }
  return ofMessage(type, static_cast<const std::byte*>(object));
}

JsonNode NodeReader::ofMessage(const TypeInfo& type, const std::byte* at) {
  if (type.form == JsonForm::Object) return node(NodeForm::Struct, at, type);
  if (type.form == JsonForm::Dynamic) return JsonNode::of(*reinterpret_cast<const Value*>(at));
  const FieldInfo& chosen = JsonEncoder::alternative(type, at);
  return ofField(chosen, at + chosen.offset);
}

JsonNode NodeReader::ofField(const FieldInfo& field, const std::byte* at) {
  switch (field.shape) {
    case Shape::Plain:
      break;
    case Shape::Optional:
      if (field.kind == FieldKind::Message) {
        const Block* message = heldAt(at);
        return ofMessage(*field.type, static_cast<const std::byte*>(message->payload()));
      }
      return ofElement(field, static_cast<const std::byte*>(optionalValue(field.kind, at)));
    case Shape::List:
      return node(NodeForm::List, heldAt(at), field);
    case Shape::Map:
      return node(NodeForm::Map, heldAt(at), field);
  }
  return ofElement(field, at);
}

JsonNode NodeReader::ofElement(const FieldInfo& field, const std::byte* at) {
  switch (field.kind) {
    case FieldKind::Message:
      return ofMessage(*field.type, at);
    case FieldKind::Value:
      return JsonNode::of(*reinterpret_cast<const Value*>(at));
    case FieldKind::Raw:
      return ofRaw(*reinterpret_cast<const RawExtension*>(at));
    case FieldKind::Strings:
      return node(NodeForm::Strings, at, field);
    default:
      return node(NodeForm::Scalar, at, field);
  }
}

JsonNode NodeReader::ofRaw(const RawExtension& raw) {
  const Value*& parsed = parsed_[&raw];
  if (parsed == nullptr) {
    Value value = raw.raw.empty() ? Value() : parseJson(raw.raw);
    parsed = &made_.emplace_back(std::move(value));
  }
  return JsonNode::of(*parsed);
}

Value::Type NodeReader::type(const JsonNode& node) const {
  switch (node.form) {
    case NodeForm::Dynamic:
      return as<Value>(node).type();
    case NodeForm::Kind:
    case NodeForm::Struct:
    case NodeForm::Map:
      return Value::Type::Object;
    case NodeForm::List:
    case NodeForm::Strings:
      return Value::Type::Array;
    case NodeForm::Scalar:
      break;
  }
  switch (node.field->kind) {
    case FieldKind::Time:
      return as<Time>(node) ? Value::Type::String : Value::Type::Null;
    case FieldKind::MicroTime:
      return as<MicroTime>(node) ? Value::Type::String : Value::Type::Null;
    case FieldKind::String:
    case FieldKind::Bytes:
    case FieldKind::Duration:
    case FieldKind::Quantity:
      return Value::Type::String;
    default:
      return scalar(node).type();
  }
}

std::size_t NodeReader::size(const JsonNode& array) const {
  switch (array.form) {
    case NodeForm::List:
      return countOf(blockOf(array));
    case NodeForm::Strings:
      return as<Strings>(array).size();
    default:
      return sentCount(as<Value>(array).asArray());
  }
}

bool NodeReader::holdsAnything(const JsonNode& node) const {
  switch (node.form) {
    case NodeForm::Dynamic: {
      const Value& value = as<Value>(node);
      return !value.asString().empty() || !value.asArray().empty() || !value.asObject().empty();
    }
    case NodeForm::Kind:
      return true;
    case NodeForm::Struct: {
      const auto* object = static_cast<const std::byte*>(node.at);
      return std::ranges::any_of(node.type->fields, [&](const FieldInfo& field) {
        return JsonEncoder::shown(field, object + field.offset);
      });
    }
    case NodeForm::Map:
      return countOf(blockOf(node)) > 0;
    case NodeForm::List:
    case NodeForm::Strings:
      return size(node) > 0;
    case NodeForm::Scalar:
      break;
  }
  switch (node.field->kind) {
    case FieldKind::String:
    case FieldKind::Bytes:
      return !as<String>(node).empty();
    case FieldKind::IntOrString:
      return !as<IntOrString>(node).stringValue().empty();
    default:
      return type(node) == Value::Type::String;  // the text of other kinds is never empty
  }
}

JsonNode NodeReader::element(const JsonNode& array, std::size_t i) {
  switch (array.form) {
    case NodeForm::List:
      return ofElement(*array.field, elementOf(blockOf(array), *array.field->ops, i));
    case NodeForm::Strings:  // rare, so elements have no form of their own
      return made(as<Strings>(array)[i]);
    default:
      return JsonNode::of(as<Value>(array).asArray()[i]);
  }
}

std::optional<JsonNode> NodeReader::member(const JsonNode& object, std::string_view name) {
  switch (object.form) {
    case NodeForm::Dynamic: {
      const Value::Object& members = as<Value>(object).asObject();
      const auto found = members.find(name);
      if (found == members.end()) return std::nullopt;
      return JsonNode::of(found->value);
    }
    case NodeForm::Kind:
      if (name == "kind") return made(object.type->resource->kind);
      if (name == "apiVersion") return made(object.type->resource->apiVersion());
      [[fallthrough]];
    case NodeForm::Struct: {
      const FieldInfo* field = object.type->field(name);
      if (field == nullptr) return std::nullopt;
      const std::byte* at = static_cast<const std::byte*>(object.at) + field->offset;
      if (!JsonEncoder::shown(*field, at)) return std::nullopt;
      return ofField(*field, at);
    }
    case NodeForm::Map: {
      const Block* block = blockOf(object);
      const ContainerOps& ops = *object.field->ops;
      std::size_t first = 0;
      std::size_t last = countOf(block);
      while (first < last) {
        const std::size_t middle = first + (last - first) / 2;
        std::byte* entry = elementOf(block, ops, middle);
        const auto order = keyOf(entry).view() <=> name;
        if (order == 0) {
          if (isPlaceholder(*object.field, entry)) return std::nullopt;
          return ofElement(*object.field, valueOf(entry));
        }
        if (order < 0) {
          first = middle + 1;
        } else {
          last = middle;
        }
      }
      return std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

std::vector<NodeReader::Named> NodeReader::members(const JsonNode& object) {
  std::vector<Named> result;
  switch (object.form) {
    case NodeForm::Kind:
      result.emplace_back("kind", made(object.type->resource->kind));
      result.emplace_back("apiVersion", made(object.type->resource->apiVersion()));
      [[fallthrough]];
    case NodeForm::Struct: {
      const auto* at = static_cast<const std::byte*>(object.at);
      for (const FieldInfo& field : object.type->fields) {
        if (!JsonEncoder::shown(field, at + field.offset)) continue;
        result.emplace_back(field.name, ofField(field, at + field.offset));
      }
      std::ranges::sort(result, {}, &Named::first);
      break;
    }
    case NodeForm::Map: {
      const Block* block = blockOf(object);
      for (std::size_t i = 0; i < countOf(block); ++i) {
        std::byte* entry = elementOf(block, *object.field->ops, i);
        if (isPlaceholder(*object.field, entry)) continue;
        result.emplace_back(keyOf(entry), ofElement(*object.field, valueOf(entry)));
      }
      break;
    }
    default:
      for (const auto& [name, value] : as<Value>(object).asObject()) {
        result.emplace_back(name, JsonNode::of(value));
      }
  }
  return result;
}

std::vector<JsonNode> NodeReader::children(const JsonNode& node) {
  std::vector<JsonNode> result;
  switch (type(node)) {
    case Value::Type::Array:
      result.reserve(size(node));
      for (std::size_t i = 0; i < size(node); ++i) result.push_back(element(node, i));
      break;
    case Value::Type::Object:
      for (auto& [name, child] : members(node)) result.push_back(child);
      break;
    default:
      break;
  }
  return result;
}

Value NodeReader::scalar(const JsonNode& node) const {
  if (node.form == NodeForm::Dynamic) return as<Value>(node);
  if (node.form == NodeForm::Strings) {
    return Value::Array(as<Strings>(node).begin(), as<Strings>(node).end());
  }
  return ValueEncoder::scalar(*node.field, static_cast<const std::byte*>(node.at));
}

}  // namespace kube::detail
