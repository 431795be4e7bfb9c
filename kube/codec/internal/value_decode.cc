#include "kube/codec/internal/value_decode.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "kube/base/error.h"
#include "kube/base/internal/base64.h"
#include "kube/codec/internal/decode_sites.h"
#include "kube/codec/internal/float_text.h"
#include "kube/codec/internal/json_index.h"
#include "kube/codec/internal/limits.h"
#include "kube/codec/json.h"
#include "kube/meta/internal/optional_field.h"

namespace kube::detail {

void ValueDecoder::fail(std::string_view reason) const {
  throw DecodeError({.path = pathOf(path_)}, std::string(reason));
}

void ValueDecoder::expected(std::string_view what, const Value& found) const {
  std::string_view name;
  switch (found.type()) {
    case Value::Type::Null:
      name = "null";
      break;
    case Value::Type::Bool:
      name = "a boolean";
      break;
    case Value::Type::Int:
    case Value::Type::Double:
      name = "a number";
      break;
    case Value::Type::String:
      name = "a string";
      break;
    case Value::Type::Array:
      name = "an array";
      break;
    case Value::Type::Object:
      name = "an object";
      break;
  }
  fail(std::string("expected ").append(what).append(", found ").append(name));
}

String ValueDecoder::string(const Value& value) {
  if (!value.isString()) expected("a string", value);
  return pool_ != nullptr ? pool_->string(value.asString()) : value.asString();
}

// The number as JSON writes it.
std::string ValueDecoder::number(const Value& value) const {
  if (value.isInt()) return std::to_string(value.asInt());
  if (!value.isDouble()) expected("a number", value);
  if (!std::isfinite(value.asDouble())) fail("infinity and NaN have no JSON form");
  return formatJsonFloat(value.asDouble());
}

std::int64_t ValueDecoder::integer(const Value& value, std::int64_t low, std::int64_t high) const {
  std::int64_t result = value.asInt();
  if (!value.isInt()) {  // a double may still be a whole number
    const std::string digits = number(value);
    bool isInteger = false;
    isJsonNumber(digits, isInteger);
    if (!isInteger) fail("expected a whole number, found " + digits);
    if (std::from_chars(digits.data(), digits.data() + digits.size(), result).ec != std::errc()) {
      fail("number out of range: " + digits);
    }
  }
  if (result < low || result > high) fail("number out of range: " + std::to_string(result));
  return result;
}

void ValueDecoder::checkKind(const TypeInfo& type, std::string_view key, const Value& value) {
  if (value.isNull()) return;
  if (!value.isString()) expected("a string", value);
  const std::string_view found = value.asString();
  if (found.empty() || !checkKinds_) return;
  const ResourceInfo& resource = *type.resource;
  const std::string wanted = key == "kind" ? std::string(resource.kind) : resource.apiVersion();
  if (found == wanted || (key == "apiVersion" && resource.unversioned)) return;
  fail("expected " + std::string(key) + " \"" + wanted + "\", found \"" +
       std::string(found.substr(0, 80)) + "\"");
}

void ValueDecoder::object(const TypeInfo& type, std::byte* target, const Value& value) {
  if (type.form != JsonForm::Object) return specialForm(type, target, value);
  if (!value.isObject()) expected("an object", value);
  if (++depth_ > kMaxDepth) fail("nested too deeply");
  // At the root, a type without a kind may still have one: a Scheme may have registered it as a
  // kind.
  const bool isKind = type.resource != nullptr || (path_ == nullptr && !checkKinds_);
  PathStep step(path_);
  std::string_view name;
  for (const auto& [key, member] : value.asObject()) {
    name = key.view();
    step.name(name);
    if (const FieldInfo* info = type.field(name)) {
      field(*info, target + info->offset, member);
    } else if (isKind && (name == "kind" || name == "apiVersion")) {
      checkKind(type, name, member);
    } else if (problems_ != nullptr) {
      problems_->push_back("unknown field \"" + pathOf(path_) + "\"");
    }
  }
  --depth_;
}

void ValueDecoder::specialForm(const TypeInfo& type, std::byte* target, const Value& value) {
  if (type.form == JsonForm::Dynamic) {
    if (!value.isObject()) expected("an object", value);
    *reinterpret_cast<Value*>(target) = value;
    return;
  }
  const bool isSchema = value.isObject();
  for (const FieldInfo& info : type.fields) {
    const bool schemaField = info.kind == FieldKind::Message && info.shape == Shape::Optional;
    if (type.form == JsonForm::SchemaOrBool && !schemaField && isSchema) {
      *reinterpret_cast<bool*>(target + info.offset) = true;  // as upstream's decoder does
    }
    if (schemaField == isSchema) return field(info, target + info.offset, value);
  }
  expected("a schema", value);
}

void ValueDecoder::field(const FieldInfo& info, std::byte* at, const Value& value) {
  if (value.isNull()) return;
  const bool handle = info.shape == Shape::List || info.shape == Shape::Map ||
                      (info.shape == Shape::Optional && info.kind == FieldKind::Message);
  if (handle) {
    *reinterpret_cast<Block**>(at) = container(info, value);
  } else if (info.shape == Shape::Optional) {
    scalar(info.kind, nullptr, emplaceOptional(info.kind, at), value);
  } else {
    scalar(info.kind, info.type, at, value);
  }
}

Block* ValueDecoder::container(const FieldInfo& info, const Value& value) {
  switch (info.shape) {
    case Shape::List:
      if (!value.isArray()) expected("an array", value);
      return list(info, value.asArray());
    case Shape::Map:
      if (!value.isObject()) expected("an object", value);
      return map(info, value.asObject());
    default:
      return message(*info.type, info.ops->drop, value);
  }
}

Block* ValueDecoder::message(const TypeInfo& type, void (*drop)(Block*) noexcept,
                             const Value& value) {
  BlockGuard block(makeMessage(type), drop);
  object(type, static_cast<std::byte*>(block.get()->payload()), value);
  return block.release();
}

Block* ValueDecoder::list(const FieldInfo& info, const Value::Array& items) {
  const std::size_t count = sentCount(items);
  if (count == 0) return nullptr;
  BlockGuard block(makeElements(info, count), info.ops->drop);
  PathStep step(path_);
  for (std::size_t i = 0; i < count; ++i) {
    step.item(i);
    std::byte* slot = slotOf(block.get(), *info.ops, i);
    if (info.ops->boxed) {  // null becomes an empty message
      boxOf(slot) = items[i].isNull() ? makeMessage(*info.type)
                                      : message(*info.type, info.ops->dropBox, items[i]);
    } else if (!items[i].isNull()) {
      scalar(info.kind, info.type, slot, items[i]);
    }
  }
  return block.release();
}

// Members are sorted, as the entries of a map must be.
Block* ValueDecoder::map(const FieldInfo& info, const Value::Object& members) {
  if (members.empty()) return nullptr;
  BlockGuard block(makeElements(info, members.size()), info.ops->drop);
  PathStep step(path_);
  std::string_view name;
  std::size_t i = 0;
  for (const auto& [key, member] : members) {
    name = key.view();
    step.name(name);
    std::byte* entry = elementOf(block.get(), *info.ops, i++);
    keyOf(entry) = pool_ != nullptr ? pool_->string(name) : key;
    if (!member.isNull()) scalar(info.kind, info.type, valueOf(entry), member);
  }
  return block.release();
}

void ValueDecoder::scalar(FieldKind kind, const TypeInfo* type, void* at, const Value& value) {
  using Int32 = std::numeric_limits<std::int32_t>;
  using Int64 = std::numeric_limits<std::int64_t>;
  switch (kind) {
    case FieldKind::Bool:
      if (!value.isBool()) expected("a boolean", value);
      *static_cast<bool*>(at) = value.asBool();
      break;
    case FieldKind::Int32:
      *static_cast<std::int32_t*>(at) =
          static_cast<std::int32_t>(integer(value, Int32::min(), Int32::max()));
      break;
    case FieldKind::Int64:
      *static_cast<std::int64_t*>(at) = integer(value, Int64::min(), Int64::max());
      break;
    case FieldKind::Double:
      number(value);  // throws if it has no JSON form
      *static_cast<double*>(at) = value.asDouble();
      break;
    case FieldKind::String:
      *static_cast<String*>(at) = string(value);
      break;
    case FieldKind::Bytes: {
      std::string bytes;
      if (!value.isString()) expected("a string", value);
      if (!base64Decode(value.asString(), bytes)) fail("expected base64 text");
      *static_cast<Bytes*>(at) = Bytes(bytes);
      break;
    }
    case FieldKind::Time:
      if (!value.isString()) expected("a string", value);
      if (!Time::tryParse(value.asString(), *static_cast<Time*>(at))) {
        fail("expected a time such as 2006-01-02T15:04:05Z");
      }
      break;
    case FieldKind::MicroTime:
      if (!value.isString()) expected("a string", value);
      if (!MicroTime::tryParse(value.asString(), *static_cast<MicroTime*>(at))) {
        fail("expected a time such as 2006-01-02T15:04:05.000000Z");
      }
      break;
    case FieldKind::Duration:
      if (!value.isString()) expected("a string", value);
      if (!Duration::tryParse(value.asString(), *static_cast<Duration*>(at))) {
        fail("expected a duration such as 1h30m");
      }
      break;
    case FieldKind::Quantity: {
      std::string_view why;
      if (!value.isString() && !value.isNumber()) expected("a quantity", value);
      String held = value.isString() ? string(value) : String(number(value));
      if (!Quantity::tryAdopt(std::move(held), *static_cast<Quantity*>(at), &why)) fail(why);
      break;
    }
    case FieldKind::IntOrString:
      *static_cast<IntOrString*>(at) =
          value.isString()
              ? IntOrString(string(value))
              : IntOrString(static_cast<std::int32_t>(integer(value, Int32::min(), Int32::max())));
      break;
    case FieldKind::Raw: {
      const std::string text = toJson(value);
      static_cast<RawExtension*>(at)->raw = pool_ != nullptr ? pool_->string(text) : String(text);
      break;
    }
    case FieldKind::Strings: {
      static constexpr FieldInfo kItems = makeField<List<String>>("", 0, 1);
      *static_cast<Strings*>(at) = Strings(adopt<List<String>>(container(kItems, value)));
      break;
    }
    case FieldKind::Value:
      *static_cast<Value*>(at) = value;
      break;
    case FieldKind::Message:
      object(*type, static_cast<std::byte*>(at), value);
      break;
  }
}

}  // namespace kube::detail
