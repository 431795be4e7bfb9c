#include "kube/codec/apply/path_element.h"

#include "kube/base/error.h"
#include "kube/base/internal/text.h"
#include "kube/codec/internal/json_decode.h"
#include "kube/codec/internal/json_encode.h"
#include "kube/codec/json.h"

namespace kube {

namespace {

[[noreturn]] void malformed(std::string_view text, const std::string& reason) {
  throw DecodeError({.format = "managed fields", .path = std::string(text)}, reason);
}

Value parseContent(std::string_view text, detail::JsonIndex& index) {
  try {
    index.build(text.substr(2));
    Value content;
    const auto end = detail::JsonDecoder(index, nullptr, nullptr).value(content, 0);
    if (end != index.count()) index.fail(end, "unexpected text after the value");
    return content;
  } catch (const DecodeError& error) {
    malformed(text, error.reason());
  }
}

int rank(const Value& value) noexcept {
  switch (value.type()) {
    case Value::Type::Int:
    case Value::Type::Double:
      return 0;
    case Value::Type::String:
      return 1;
    case Value::Type::Bool:
      return 2;
    case Value::Type::Array:
      return 3;
    case Value::Type::Object:
      return 4;
    case Value::Type::Null:
      return 5;
  }
  return 5;
}

std::weak_ordering compareNumbers(const Value& a, const Value& b) noexcept {
  if (a.isInt() && b.isInt()) return a.asInt() <=> b.asInt();
  const double x = a.asDouble();
  const double y = b.asDouble();
  return x < y   ? std::weak_ordering::less
         : x > y ? std::weak_ordering::greater
                 : std::weak_ordering::equivalent;
}

std::string shown(const Value& value) {
  if (value.isArray()) {
    std::string text;
    for (const Value& item : value.asArray()) {
      text += text.empty() ? "[" : ",";
      text += shown(item);
    }
    return text.empty() ? "[]" : text + "]";
  }
  if (value.isObject()) {
    std::string text;
    for (const auto& [key, member] : value.asObject()) text += key + "=" + shown(member);
    return text;
  }
  return toJson(value);
}

}  // namespace

std::weak_ordering compareValues(const Value& a, const Value& b) noexcept {
  if (const int ra = rank(a), rb = rank(b); ra != rb) return ra <=> rb;
  switch (a.type()) {
    case Value::Type::Int:
    case Value::Type::Double:
      return compareNumbers(a, b);
    case Value::Type::String:
      return a.asString() <=> b.asString();
    case Value::Type::Bool:
      return a.asBool() <=> b.asBool();
    case Value::Type::Array: {
      if (a.asArray().sharesWith(b.asArray())) return std::weak_ordering::equivalent;
      for (std::size_t i = 0; i < std::min(a.asArray().size(), b.asArray().size()); ++i) {
        if (const auto order = compareValues(a[i], b[i]); order != 0) return order;
      }
      return a.asArray().size() <=> b.asArray().size();
    }
    case Value::Type::Object: {
      if (a.asObject().sharesWith(b.asObject())) return std::weak_ordering::equivalent;
      auto left = a.asObject().begin();
      auto right = b.asObject().begin();
      for (; left != a.asObject().end() && right != b.asObject().end(); ++left, ++right) {
        if (const auto order = left->key <=> right->key; order != 0) return order;
        if (const auto order = compareValues(left->value, right->value); order != 0) return order;
      }
      return a.asObject().size() <=> b.asObject().size();
    }
    case Value::Type::Null:
      return std::weak_ordering::equivalent;
  }
  return std::weak_ordering::equivalent;
}

std::weak_ordering operator<=>(const PathElement& a, const PathElement& b) noexcept {
  if (a.kind_ != b.kind_) return a.kind_ <=> b.kind_;
  return compareValues(a.content_, b.content_);
}

std::optional<PathElement> PathElement::parse(std::string_view text) {
  detail::JsonIndex index;
  return detail::parsePathElement(text, index);
}

std::optional<PathElement> detail::parsePathElement(std::string_view text, JsonIndex& index) {
  if (text.size() < 2 || text[1] != ':') {
    malformed(text, "expected a path element like f:name, with a colon after its first letter");
  }
  const std::string_view rest = text.substr(2);
  switch (text[0]) {
    case 'f':
      return PathElement(rest);
    case 'k': {
      const Value fields = parseContent(text, index);
      if (!fields.isObject()) malformed(text, "expected an object of the keys");
      return PathElement::key(fields.asObject());
    }
    case 'v':
      return PathElement::value(parseContent(text, index));
    case 'i': {
      const auto number = detail::parseNumber<std::int64_t>(rest);
      if (!number) malformed(text, "expected an index");
      return PathElement::index(*number);
    }
    default:
      return std::nullopt;
  }
}

std::string PathElement::serialize() const {
  std::string text;
  appendTo(text);
  return text;
}

void PathElement::appendTo(std::string& out) const {
  constexpr std::string_view kLetters = "fkvi";
  out += kLetters[static_cast<std::size_t>(kind_)];
  out += ':';
  if (kind_ == Kind::Field) {
    out += name();
  } else {
    detail::JsonEncoder(out, 0).value(content_);
  }
}

std::string PathElement::toString() const {
  switch (kind_) {
    case Kind::Field:
      return "." + name();
    case Kind::Key: {
      std::string text = "[";
      for (const auto& [key, field] : content_.asObject()) {
        if (text.size() > 1) text += ',';
        text += key + "=" + shown(field);
      }
      return text + "]";
    }
    case Kind::Value:
      return "[=" + shown(content_) + "]";
    case Kind::Index:
      return "[" + shown(content_) + "]";
  }
  return {};
}

}  // namespace kube
