#include "kube/meta/validation/field_error.h"

#include <fmt/core.h>

#include <iterator>
#include <ostream>
#include <set>
#include <utility>

#include "kube/base/internal/utf8.h"

namespace kube {
namespace {

using Type = FieldError::Type;

void appendJsonString(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", byte);
    } else {
      out += c;
    }
  }
  out += '"';
}

// The JSON encoder is a layer above; a message needs only the compact form.
void appendJson(std::string& out, const Value& value) {
  switch (value.type()) {
    case Value::Type::Null:
      out += "null";
      return;
    case Value::Type::Bool:
      out += value.asBool() ? "true" : "false";
      return;
    case Value::Type::Int:
      fmt::format_to(std::back_inserter(out), "{}", value.asInt());
      return;
    case Value::Type::Double:
      fmt::format_to(std::back_inserter(out), "{}", value.asDouble());
      return;
    case Value::Type::String:
      appendJsonString(out, value.asString());
      return;
    case Value::Type::Array: {
      const char* comma = "";
      out += '[';
      for (const Value& element : value.asArray()) {
        out += std::exchange(comma, ",");
        appendJson(out, element);
      }
      out += ']';
      return;
    }
    case Value::Type::Object: {
      const char* comma = "";
      out += '{';
      for (const auto& [name, member] : value.asObject()) {
        out += std::exchange(comma, ",");
        appendJsonString(out, name);
        out += ':';
        appendJson(out, member);
      }
      out += '}';
      return;
    }
  }
}

// Upstream prints these values with %v and %q.
std::string shown(const Value& value) {
  if (value.isString()) return detail::quoted(value.asString());
  std::string text;
  appendJson(text, value);
  return text;
}

bool showsValue(const FieldError& error) {
  switch (error.type) {
    case Type::Required:
    case Type::Forbidden:
    case Type::TooLong:
    case Type::TooShort:
    case Type::Internal:
      return false;
    case Type::TooMany:
      return !error.badValue.isNull();
    default:
      return true;
  }
}

std::string limit(std::string_view told, std::string_view unit, std::int64_t number,
                  std::string_view untold) {
  if (number < 0) return std::string(untold);
  return fmt::format("{} {} {}{}", told, number, unit, number == 1 ? "" : "s");
}

}  // namespace

ErrorPath ErrorPath::child(std::string_view name) const {
  ErrorPath path;
  path.text_.reserve(text_.size() + 1 + name.size());
  path.text_ = text_;
  if (!text_.empty()) path.text_ += '.';
  path.text_ += name;
  return path;
}

ErrorPath ErrorPath::index(std::size_t i) const { return key(std::to_string(i)); }

ErrorPath ErrorPath::key(std::string_view key) const {
  ErrorPath path;
  path.text_ = fmt::format("{}[{}]", text_, key);
  return path;
}

FieldError FieldError::invalid(const ErrorPath& path, Value value, std::string_view detail) {
  return {Type::Invalid, path.str(), std::move(value), std::string(detail)};
}
FieldError FieldError::typeInvalid(const ErrorPath& path, Value value, std::string_view detail) {
  return {Type::TypeInvalid, path.str(), std::move(value), std::string(detail)};
}
FieldError FieldError::required(const ErrorPath& path, std::string_view detail) {
  return {Type::Required, path.str(), "", std::string(detail)};
}
FieldError FieldError::duplicate(const ErrorPath& path, Value value) {
  return {Type::Duplicate, path.str(), std::move(value)};
}
FieldError FieldError::notFound(const ErrorPath& path, Value value) {
  return {Type::NotFound, path.str(), std::move(value)};
}
FieldError FieldError::notSupported(const ErrorPath& path, Value value,
                                    std::span<const std::string_view> supported) {
  std::string detail;
  for (const std::string_view text : supported) {
    detail += detail.empty() ? "supported values: " : ", ";
    detail += detail::quoted(text);
  }
  return {Type::NotSupported, path.str(), std::move(value), std::move(detail)};
}
FieldError FieldError::notSupported(const ErrorPath& path, Value value,
                                    std::initializer_list<std::string_view> supported) {
  return notSupported(path, std::move(value), std::span(supported.begin(), supported.size()));
}
FieldError FieldError::forbidden(const ErrorPath& path, std::string_view detail) {
  return {Type::Forbidden, path.str(), "", std::string(detail)};
}
FieldError FieldError::tooLong(const ErrorPath& path, std::int64_t maxBytes) {
  return {Type::TooLong, path.str(), "<value omitted>",
          limit("may not be more than", "byte", maxBytes, "value is too long")};
}
FieldError FieldError::tooLongCharacters(const ErrorPath& path, std::int64_t maxCharacters) {
  return {Type::TooLong, path.str(), "<value omitted>",
          limit("may not be more than", "character", maxCharacters, "value is too long")};
}
FieldError FieldError::tooShort(const ErrorPath& path, Value value, std::int64_t minCharacters) {
  return {Type::TooShort, path.str(), std::move(value),
          limit("must be at least", "character", minCharacters, "value is too short")};
}
FieldError FieldError::tooMany(const ErrorPath& path, std::int64_t count, std::int64_t max) {
  return {Type::TooMany, path.str(), count >= 0 ? Value(count) : Value(),
          limit("must have at most", "item", max, "has too many items")};
}
FieldError FieldError::tooFew(const ErrorPath& path, std::int64_t count, std::int64_t min) {
  return {Type::TooFew, path.str(), count,
          limit("must have at least", "item", min, "has too few items")};
}
FieldError FieldError::internal(const ErrorPath& path, std::string_view detail) {
  return {Type::Internal, path.str(), detail, std::string(detail)};
}

std::string FieldError::str() const { return fmt::format("{}: {}", field, body()); }

std::string FieldError::body() const {
  std::string text(toString(type));
  if (showsValue(*this)) text.append(": ").append(shown(badValue));
  if (!detail.empty()) text.append(": ").append(detail);
  return text;
}

metav1::StatusCause FieldError::cause() const {
  return {.reason = causeReason(type), .message = body(), .field = field};
}

std::string_view toString(Type type) noexcept {
  switch (type) {
    case Type::Invalid:
    case Type::TypeInvalid:
      return "Invalid value";
    case Type::Required:
      return "Required value";
    case Type::Duplicate:
      return "Duplicate value";
    case Type::NotFound:
      return "Not found";
    case Type::NotSupported:
      return "Unsupported value";
    case Type::Forbidden:
      return "Forbidden";
    case Type::TooLong:
      return "Too long";
    case Type::TooShort:
      return "Too short";
    case Type::TooMany:
      return "Too many";
    case Type::TooFew:
      return "Too few";
    case Type::Internal:
      break;
  }
  return "Internal error";
}

std::string_view causeReason(Type type) noexcept {
  switch (type) {
    case Type::Invalid:
      return "FieldValueInvalid";
    case Type::TypeInvalid:
      return "FieldValueTypeInvalid";
    case Type::Required:
      return "FieldValueRequired";
    case Type::Duplicate:
      return "FieldValueDuplicate";
    case Type::NotFound:
      return "FieldValueNotFound";
    case Type::NotSupported:
      return "FieldValueNotSupported";
    case Type::Forbidden:
      return "FieldValueForbidden";
    case Type::TooLong:
      return "FieldValueTooLong";
    case Type::TooShort:
      return "FieldValueTooShort";
    case Type::TooMany:
      return "FieldValueTooMany";
    case Type::TooFew:
      return "FieldValueTooFew";
    case Type::Internal:
      break;
  }
  return "InternalError";
}

std::string toString(const FieldErrors& errors) {
  std::set<std::string> seen;
  std::string text;
  for (const FieldError& error : errors) {
    const auto [message, isNew] = seen.insert(error.str());
    if (!isNew) continue;
    if (seen.size() > 1) text += ", ";
    text += *message;
  }
  return seen.size() > 1 ? fmt::format("[{}]", text) : text;
}

ValidationError::ValidationError(FieldErrors errors)
    : Error(toString(errors)), errors_(std::make_shared<const FieldErrors>(std::move(errors))) {}
ValidationError::~ValidationError() = default;

void throwIfAny(const FieldErrors& errors) {
  if (!errors.empty()) throw ValidationError(errors);
}

void append(FieldErrors& errors, FieldErrors more) {
  errors.insert(errors.end(), std::make_move_iterator(more.begin()),
                std::make_move_iterator(more.end()));
}

std::ostream& operator<<(std::ostream& out, const ErrorPath& path) { return out << path.str(); }
std::ostream& operator<<(std::ostream& out, const FieldError& error) { return out << error.str(); }

}  // namespace kube
