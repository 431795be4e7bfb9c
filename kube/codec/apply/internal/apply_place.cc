#include "kube/codec/apply/internal/apply_place.h"

#include <fmt/core.h>

#include "kube/base/joined.h"
#include "kube/codec/json.h"

namespace kube::detail {

using ListType = MergeInfo::ListType;

ApplyPlace ApplyPlace::root(ObjectSchema schema) noexcept {
  return schema.table() != nullptr ? ofStruct(*schema.table()) : ofSchema(schema.fields());
}

ApplyPlace ApplyPlace::ofSchema(const FieldSchema* schema) noexcept {
  ApplyPlace place;
  if (schema == nullptr) return place;
  if (schema->table != nullptr) return ofStruct(*schema->table);
  place.type_ = Type::Custom;
  place.schema_ = schema;
  place.atomic_ = schema->atomic;
  return place;
}

ApplyPlace ApplyPlace::ofStruct(const TypeInfo& type) noexcept {
  ApplyPlace place;
  if (type.form != JsonForm::Object) return place;
  place.type_ = Type::Struct;
  place.struct_ = &type;
  place.atomic_ = type.atomic;
  return place;
}

ApplyPlace ApplyPlace::ofScalar(FieldKind kind) noexcept {
  ApplyPlace place;
  place.type_ = Type::Scalar;
  place.kind_ = kind;
  return place;
}

// The place of one value of the field's kind, whatever contains it.
ApplyPlace ApplyPlace::ofElement(const FieldInfo& field) noexcept {
  switch (field.kind) {
    case FieldKind::Message:
      return ofStruct(*field.type);
    case FieldKind::Raw:
    case FieldKind::Value:
      return {};
    case FieldKind::Strings: {
      ApplyPlace place;
      place.type_ = Type::List;
      place.atomic_ = true;
      place.kind_ = FieldKind::String;
      return place;
    }
    default:
      return ofScalar(field.kind);
  }
}

ApplyPlace ApplyPlace::ofField(const FieldInfo& field) noexcept {
  const MergeInfo* merge = field.merge;
  if (field.shape == Shape::List || field.shape == Shape::Map) {
    ApplyPlace place;
    place.field_ = &field;
    place.type_ = field.shape == Shape::List ? Type::List : Type::Map;
    if (field.shape == Shape::List) {
      place.atomic_ = merge == nullptr || merge->listType == ListType::Unset ||
                      merge->listType == ListType::Atomic;
    } else {
      place.atomic_ = merge != nullptr && merge->atomicMap;
    }
    return place;
  }
  ApplyPlace place = ofElement(field);
  if (place.type_ == Type::Struct && merge != nullptr) {
    place.atomic_ = (place.atomic_ && !merge->granular) || merge->atomicMap;
  }
  return place;
}

ApplyPlace::Form ApplyPlace::formOf(const Value& value) const noexcept {
  switch (type_) {
    case Type::Scalar:
      return Form::Scalar;
    case Type::List:
      return Form::List;
    case Type::Map:
    case Type::Struct:
      return Form::Map;
    case Type::Custom:
      switch (schema_->kind) {
        case FieldSchema::Kind::Any:
          break;
        case FieldSchema::Kind::List:
          return Form::List;
        case FieldSchema::Kind::Map:
          return Form::Map;
        default:
          return Form::Scalar;
      }
      break;
    case Type::Deduced:
      break;
  }
  if (value.isArray()) return Form::List;
  return value.isObject() || value.isNull() ? Form::Map : Form::Scalar;
}

bool ApplyPlace::isAtomic(Form form) const noexcept {
  const bool deduced =
      type_ == Type::Deduced || (type_ == Type::Custom && schema_->kind == FieldSchema::Kind::Any);
  return deduced ? form == Form::List : atomic_;
}

bool ApplyPlace::declares(std::string_view name) const noexcept {
  if (type_ == Type::Custom) return schema_->member(name) != nullptr;
  return type_ == Type::Struct && member(name).has_value();
}

std::optional<ApplyPlace> ApplyPlace::member(std::string_view name) const noexcept {
  switch (type_) {
    case Type::Struct:
      if (const FieldInfo* field = struct_->field(name)) return ofField(*field);
      // Every kind has these, though no struct has members for them.
      if (struct_->resource != nullptr && (name == "kind" || name == "apiVersion")) {
        return ofScalar(FieldKind::String);
      }
      return std::nullopt;
    case Type::Map:
      return ofElement(*field_);
    case Type::Custom:
      if (const FieldSchema::Member* member = schema_->member(name)) {
        return ofSchema(member->schema);
      }
      if (schema_->kind != FieldSchema::Kind::Map || schema_->open) return ApplyPlace();
      if (schema_->element != nullptr) return ofSchema(schema_->element);
      return std::nullopt;
    default:
      return ApplyPlace();
  }
}

ApplyPlace ApplyPlace::element() const noexcept {
  if (type_ == Type::Custom) return ofSchema(schema_->element);
  if (type_ != Type::List) return {};
  return field_ != nullptr ? ofElement(*field_) : ofScalar(kind_);
}

// A key that an element lacks may have a default. Fields that upstream always writes have their
// zero. Among all keys of the API, only one has another default: the protocol of a port.
std::optional<Value> ApplyPlace::keyDefault(std::string_view key) const {
  if (type_ == Type::Custom) {
    const FieldSchema* element = schema_->element;
    const FieldSchema::Member* member = element != nullptr ? element->member(key) : nullptr;
    if (member == nullptr || member->default_.isNull()) return std::nullopt;
    return member->default_;
  }
  if (field_->type == nullptr) return std::nullopt;
  const FieldInfo* field = field_->type->field(key);
  if (field == nullptr) return std::nullopt;
  const std::string_view owner = field_->type->name;
  if (key == "protocol" && (owner == "ContainerPort" || owner == "ServicePort")) return "TCP";
  if (!field->keep() || field->shape != Shape::Plain) return std::nullopt;
  switch (field->kind) {
    case FieldKind::String:
      return "";
    case FieldKind::Int32:
    case FieldKind::Int64:
      return 0;
    case FieldKind::Bool:
      return false;
    default:
      return std::nullopt;
  }
}

// Calls `use` with the names of the fields that identify an element.
template <class Use>
decltype(auto) ApplyPlace::withKeys(const Use& use) const {
  if (type_ == Type::Custom) return use(schema_->keys);
  static const MergeInfo kNone;
  const MergeInfo* merge = field_ != nullptr ? field_->merge : nullptr;
  return use((merge != nullptr ? merge : &kNone)->listMapKeys);
}

bool ApplyPlace::identifies(const Value& element, std::string& why) const {
  return withKeys([&](const auto& listMapKeys) {
    if (listMapKeys.empty()) {
      if (!element.isArray() && !element.isObject() && !element.isNull()) return true;
      why = fmt::format("associative list without keys has an element that's a {}",
                        toString(element.type()));
      return false;
    }
    if (!element.isObject()) {
      why = fmt::format("associative list with keys may not have a {} element",
                        toString(element.type()));
      return false;
    }
    for (const std::string_view key : listMapKeys) {
      if (element.asObject().contains(key) || keyDefault(key)) return true;
    }
    why = fmt::format(
        "associative list with keys has an element that omits all key fields [\"{}\"] (and "
        "doesn't have default values for any key fields)",
        joined(listMapKeys, "\" \""));
    return false;
  });
}

std::optional<PathElement> ApplyPlace::identify(const Value& element, std::string& why) const {
  if (!identifies(element, why)) return std::nullopt;
  return withKeys([&](const auto& listMapKeys) {
    if (listMapKeys.empty()) return PathElement::value(element);
    Value::Object keys;
    for (const std::string_view key : listMapKeys) {
      const auto at = element.asObject().find(key);
      if (at != element.asObject().end()) {
        keys.insert_or_assign(at->key, at->value);
      } else if (auto value = keyDefault(key)) {
        keys.insert_or_assign(key, std::move(*value));
      }
    }
    return PathElement::key(std::move(keys));
  });
}

const Value* ApplyPlace::standIn(std::string_view name) const noexcept {
  // Custom resources have no structs upstream. Types with a protobuf form have one.
  if (type_ != Type::Struct || struct_->wire.empty()) return nullptr;
  const FieldInfo* field = struct_->field(name);
  if (field == nullptr) return nullptr;
  static const Value kNil;
  static const Value kEmpty = Value::Object();
  if (field->shape == Shape::List || field->shape == Shape::Map) {
    return field->keep() ? &kNil : nullptr;
  }
  const bool part = field->shape == Shape::Plain || field->byValue();
  return field->kind == FieldKind::Message && part ? &kEmpty : nullptr;
}

namespace {

std::string_view mismatch(const Value& value, FieldSchema::Kind kind) noexcept {
  const auto unless = [](bool fits, std::string_view expected) {
    return fits ? std::string_view() : expected;
  };
  switch (kind) {
    case FieldSchema::Kind::Any:
      break;
    case FieldSchema::Kind::Scalar:
      return unless(!value.isArray() && !value.isObject(), "any scalar");
    case FieldSchema::Kind::String:
      return unless(value.isString(), "string");
    case FieldSchema::Kind::Number:
      return unless(value.isNumber(), "numeric (int or float)");
    case FieldSchema::Kind::Boolean:
      return unless(value.isBool(), "boolean");
    case FieldSchema::Kind::List:
      return unless(value.isArray(), "list");
    case FieldSchema::Kind::Map:
      return unless(value.isObject(), "map");
  }
  return {};
}

}  // namespace

std::string_view ApplyPlace::mismatch(const Value& value) const noexcept {
  if (value.isNull()) return {};
  switch (type_) {
    case Type::Deduced:
      return {};
    case Type::List:
      return value.isArray() ? std::string_view() : "list";
    case Type::Map:
    case Type::Struct:
      return value.isObject() ? std::string_view() : "map";
    case Type::Custom:
      return detail::mismatch(value, schema_->kind);
    case Type::Scalar:
      break;
  }
  switch (kind_) {
    case FieldKind::Bool:
      return value.isBool() ? std::string_view() : "boolean";
    case FieldKind::Int32:
    case FieldKind::Int64:
    case FieldKind::Double:
      return value.isNumber() ? std::string_view() : "numeric (int or float)";
    case FieldKind::String:
    case FieldKind::Bytes:
    case FieldKind::Duration:
      return value.isString() ? std::string_view() : "string";
    default:
      return value.isArray() || value.isObject() ? "any scalar" : std::string_view();
  }
}

}  // namespace kube::detail
