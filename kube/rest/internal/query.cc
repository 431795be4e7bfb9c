#include "kube/rest/internal/query.h"

#include <fmt/core.h>

#include "kube/base/error.h"
#include "kube/base/internal/text.h"
#include "kube/meta/internal/optional_field.h"

namespace kube::detail {

namespace {

bool isUnreserved(char c) noexcept {
  return isAlphanumeric(c) || c == '-' || c == '.' || c == '_' || c == '~';
}

// Formats a scalar. Returns false if it is zero and need not be sent.
bool textOf(const FieldInfo& field, const void* at, std::string& text) {
  switch (field.kind) {
    case FieldKind::Bool:
      text = *static_cast<const bool*>(at) ? "true" : "false";
      return *static_cast<const bool*>(at);
    case FieldKind::Int32:
      text = std::to_string(*static_cast<const std::int32_t*>(at));
      return *static_cast<const std::int32_t*>(at) != 0;
    case FieldKind::Int64:
      text = std::to_string(*static_cast<const std::int64_t*>(at));
      return *static_cast<const std::int64_t*>(at) != 0;
    case FieldKind::String:
      text = static_cast<const String*>(at)->view();
      return !text.empty();
    case FieldKind::Time:
      text = static_cast<const Time*>(at)->str();
      return !text.empty();
    default:
      throw Error(fmt::format("the option {} cannot be sent as a query parameter", field.name));
  }
}

}  // namespace

void appendEscaped(std::string& out, std::string_view text) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  for (const char c : text) {
    if (isUnreserved(c)) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += '%';
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
}

void appendParam(std::string& url, std::string_view name, std::string_view value) {
  url += url.find('?') == std::string::npos ? '?' : '&';
  appendEscaped(url, name);
  url += '=';
  appendEscaped(url, value);
}

void appendOptions(std::string& url, const TypeInfo& type, const void* options) {
  std::string text;
  for (const FieldInfo& field : type.fields) {
    const std::byte* at = static_cast<const std::byte*>(options) + field.offset;
    if (field.shape == Shape::Plain) {
      if (field.kind != FieldKind::Message && textOf(field, at, text)) {
        appendParam(url, field.name, text);
      }
    } else if (field.shape == Shape::Optional && field.kind != FieldKind::Message) {
      if (const void* value = optionalValue(field.kind, at)) {
        textOf(field, value, text);
        appendParam(url, field.name, text);
      }
    } else if (field.shape == Shape::List && field.kind == FieldKind::String) {
      for (const String& value : *reinterpret_cast<const List<String>*>(at)) {
        appendParam(url, field.name, value);
      }
    }
  }
}

std::string_view pathSegmentProblem(std::string_view name) noexcept {
  if (name == "." || name == "..") return "may not be '.' or '..'";
  if (name.find_first_of("/%") != std::string_view::npos) return "may not contain '/' or '%'";
  return {};
}

}  // namespace kube::detail
