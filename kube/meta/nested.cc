#include "kube/meta/nested.h"

#include <utility>

#include "kube/base/error.h"

namespace kube {

namespace {

std::string_view withArticle(Value::Type type) noexcept {
  static constexpr std::string_view kNames[] = {"null",     "a boolean", "an integer", "a number",
                                                "a string", "an array",  "an object"};
  return kNames[static_cast<std::size_t>(type)];
}

[[noreturn]] void wrongType(std::string path, std::string_view wanted, const Value& found) {
  throw DecodeError(
      {.path = std::move(path)},
      std::string("expected ").append(wanted).append(", found ").append(withArticle(found.type())));
}

// Null if there is none.
const Value* find(const Value& object, FieldPath path) {
  const Value* at = &object;
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (at->isNull()) return nullptr;
    if (!at->isObject()) wrongType(path.first(i).str(), "an object", *at);
    const auto member = at->asObject().find(path[i]);
    if (member == at->asObject().end()) return nullptr;
    at = &member->value;
  }
  return at;
}

const Value* findOf(Value::Type type, const Value& object, FieldPath path) {
  const Value* found = find(object, path);
  if (found != nullptr && found->type() != type) wrongType(path.str(), withArticle(type), *found);
  return found;
}

}  // namespace

std::string FieldPath::str() const {
  std::string text;
  for (const std::string_view key : keys_) {
    if (!text.empty()) text += '.';
    text += key;
  }
  return text;
}

std::optional<Value> nestedField(const Value& object, FieldPath path) {
  const Value* found = find(object, path);
  return found != nullptr ? std::optional(*found) : std::nullopt;
}

std::optional<String> nestedString(const Value& object, FieldPath path) {
  const Value* found = findOf(Value::Type::String, object, path);
  return found != nullptr ? std::optional(found->asString()) : std::nullopt;
}

std::optional<bool> nestedBool(const Value& object, FieldPath path) {
  const Value* found = findOf(Value::Type::Bool, object, path);
  return found != nullptr ? std::optional(found->asBool()) : std::nullopt;
}

std::optional<std::int64_t> nestedInt64(const Value& object, FieldPath path) {
  const Value* found = findOf(Value::Type::Int, object, path);
  return found != nullptr ? std::optional(found->asInt()) : std::nullopt;
}

std::optional<double> nestedDouble(const Value& object, FieldPath path) {
  const Value* found = find(object, path);
  if (found == nullptr) return std::nullopt;
  if (!found->isNumber()) wrongType(path.str(), "a number", *found);
  return found->asDouble();
}

std::optional<List<String>> nestedStringList(const Value& object, FieldPath path) {
  const Value* found = findOf(Value::Type::Array, object, path);
  if (found == nullptr) return std::nullopt;
  List<String> strings;
  strings.reserve(found->asArray().size());
  for (const Value& item : found->asArray()) {
    if (!item.isString()) {
      wrongType(path.str() + '[' + std::to_string(strings.size()) + ']', "a string", item);
    }
    strings.push_back(item.asString());
  }
  return strings;
}

std::optional<Map<String>> nestedStringMap(const Value& object, FieldPath path) {
  const Value* found = findOf(Value::Type::Object, object, path);
  if (found == nullptr) return std::nullopt;
  Map<String> strings;
  for (const auto& [key, value] : found->asObject()) {
    if (!value.isString()) wrongType(path.str() + '.' + key, "a string", value);
    strings.insert_or_assign(key, value.asString());
  }
  return strings;
}

std::optional<Value::Array> nestedSlice(const Value& object, FieldPath path) {
  const Value* found = findOf(Value::Type::Array, object, path);
  return found != nullptr ? std::optional(found->asArray()) : std::nullopt;
}

std::optional<Value::Object> nestedMap(const Value& object, FieldPath path) {
  const Value* found = findOf(Value::Type::Object, object, path);
  return found != nullptr ? std::optional(found->asObject()) : std::nullopt;
}

void setNestedField(Value& object, Value value, FieldPath path) {
  // Checks the whole path first, so that an error leaves the object unchanged.
  const Value* at = &object;
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (i == 0 && at->isNull()) break;
    if (!at->isObject()) wrongType(path.first(i).str(), "an object", *at);
    const auto member = at->asObject().find(path[i]);
    if (member == at->asObject().end()) break;
    at = &member->value;
  }
  Value* target = &object;
  for (const std::string_view key : path) target = &target->object()[key];
  *target = std::move(value);
}

bool removeNestedField(Value& object, FieldPath path) {
  if (path.size() == 0) return false;
  const Value* at = &object;
  for (const std::string_view key : path) {
    const auto member = at->asObject().find(key);
    if (member == at->asObject().end()) return false;
    at = &member->value;
  }
  // The field exists, so this loop creates nothing.
  Value* target = &object;
  for (const std::string_view key : path.first(path.size() - 1)) target = &target->object()[key];
  return target->object().erase(path[path.size() - 1]);
}

}  // namespace kube
