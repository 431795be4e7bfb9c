#include "kube/codec/json_encode.h"

#include <array>
#include <charconv>
#include <cmath>

#include "kube/base/error.h"
#include "kube/codec/base64.h"
#include "kube/codec/container.h"
#include "kube/codec/float_text.h"
#include "kube/codec/json_index.h"
#include "kube/meta/optional_field.h"

namespace kube::detail {

void JsonEncoder::newline() {
  if (indent_ == 0) return;
  out_ += '\n';
  out_.append(static_cast<std::size_t>(indent_ * depth_), ' ');
}

void JsonEncoder::open(char bracket) {
  out_ += bracket;
  ++depth_;
  first_ = true;
}

void JsonEncoder::close(char bracket) {
  --depth_;
  if (!first_) newline();
  out_ += bracket;
  first_ = false;
}

void JsonEncoder::item() {
  if (!first_) out_ += ',';
  newline();
  first_ = false;
}

void JsonEncoder::key(std::string_view name) {
  item();
  string(name);
  out_ += ':';
  if (indent_ != 0) out_ += ' ';
}

void JsonEncoder::string(std::string_view text) {
  static constexpr std::array<bool, 256> kEscaped = [] {
    std::array<bool, 256> escaped{};
    for (std::size_t i = 0; i < 0x20; ++i) escaped[i] = true;
    escaped['"'] = escaped['\\'] = true;
    return escaped;
  }();
  out_ += '"';
  std::size_t done = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (!kEscaped[c]) continue;
    out_.append(text, done, i - done);
    done = i + 1;
    switch (c) {
      case '"':
      case '\\':
        out_ += '\\';
        out_ += static_cast<char>(c);
        break;
      case '\n':
        out_ += "\\n";
        break;
      case '\r':
        out_ += "\\r";
        break;
      case '\t':
        out_ += "\\t";
        break;
      default: {
        constexpr std::string_view kHex = "0123456789abcdef";
        out_ += "\\u00";
        out_ += kHex[c >> 4];
        out_ += kHex[c & 15];
      }
    }
  }
  out_.append(text, done, text.size() - done);
  out_ += '"';
}

void JsonEncoder::integer(std::int64_t value) {
  std::array<char, 24> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  out_.append(digits.data(), end);
}

void JsonEncoder::number(double value) {
  if (!std::isfinite(value)) throw Error("json: infinity and NaN have no JSON form");
  out_ += formatJsonFloat(value);
}

// Text kept as it came. It is checked, since it may have come in protobuf, where it is only bytes.
void JsonEncoder::raw(std::string_view json) {
  if (json.empty()) {
    out_ += "null";
    return;
  }
  if (!isValidJson(json)) throw Error("json: an embedded raw value is not valid JSON");
  if (indent_ == 0) {
    out_ += json;
    return;
  }
  JsonIndex index;
  index.build(json);
  rawTokens(index, 0);
}

void JsonEncoder::rawTokens(const JsonIndex& index, std::uint32_t token) {
  const char c = index.at(token);
  if (c != '{' && c != '[') {
    out_ += index.scalar(token);
    return;
  }
  open(c);
  for (auto next = token + 1; next < index.close(token); next = index.after(next) + 1) {
    item();
    if (c == '{') {
      out_.append(index.scalar(next)).append(": ");
      next += 2;
    }
    rawTokens(index, next);
  }
  close(static_cast<char>(c + 2));
}

void JsonEncoder::object(const TypeInfo& type, const void* object) {
  if (type.form != JsonForm::Object) {
    specialForm(type, static_cast<const std::byte*>(object));
    return;
  }
  open('{');
  if (type.resource != nullptr) {
    key("kind");
    string(type.resource->kind);
    key("apiVersion");
    string(type.resource->apiVersion());
  }
  fields(type, static_cast<const std::byte*>(object));
  close('}');
}

void JsonEncoder::fields(const TypeInfo& type, const std::byte* object) {
  for (const FieldInfo& info : type.fields) {
    const std::byte* at = object + info.offset;
    if (!shown(info, at)) continue;
    key(info.name);
    field(info, at);
  }
}

bool JsonEncoder::shown(const FieldInfo& info, const std::byte* at) {
  switch (info.shape) {
    case Shape::List:
    case Shape::Map:
      // An empty list that an object cannot do without is shown, as upstream shows `items`.
      return countOf(*reinterpret_cast<Block* const*>(at)) > 0 || (info.keep() && info.required());
    case Shape::Optional:
      if (info.kind == FieldKind::Message) return *reinterpret_cast<Block* const*>(at) != nullptr;
      return optionalValue(info.kind, at) != nullptr;
    case Shape::Plain:
      break;
  }
  if (info.keep()) return true;
  switch (info.kind) {
    case FieldKind::Bool:
      return *reinterpret_cast<const bool*>(at);
    case FieldKind::Int32:
      return *reinterpret_cast<const std::int32_t*>(at) != 0;
    case FieldKind::Int64:
      return *reinterpret_cast<const std::int64_t*>(at) != 0;
    case FieldKind::Double:
      return *reinterpret_cast<const double*>(at) != 0;
    case FieldKind::Time:
      return static_cast<bool>(*reinterpret_cast<const Time*>(at));
    case FieldKind::MicroTime:
      return static_cast<bool>(*reinterpret_cast<const MicroTime*>(at));
    case FieldKind::String:
    case FieldKind::Bytes:
    case FieldKind::Raw:
    case FieldKind::Strings:
      return *reinterpret_cast<Block* const*>(at) != nullptr;
    case FieldKind::Value:
      return !reinterpret_cast<const Value*>(at)->isNull();
    case FieldKind::Duration:
      return reinterpret_cast<const Duration*>(at)->nanos() != 0;
    case FieldKind::Quantity:
      return !reinterpret_cast<const Quantity*>(at)->isZero();
    case FieldKind::IntOrString:
    case FieldKind::Message:
      return true;
  }
  return true;
}

void JsonEncoder::field(const FieldInfo& info, const std::byte* at) {
  switch (info.shape) {
    case Shape::Plain:
      element(info, at);
      return;
    case Shape::Optional:
      if (info.kind == FieldKind::Message) {
        element(info,
                static_cast<const std::byte*>((*reinterpret_cast<Block* const*>(at))->payload()));
      } else {
        element(info, static_cast<const std::byte*>(optionalValue(info.kind, at)));
      }
      return;
    case Shape::List: {
      const Block* block = *reinterpret_cast<Block* const*>(at);
      open('[');
      for (std::size_t i = 0; i < countOf(block); ++i) {
        item();
        element(info, elementOf(block, *info.ops, i));
      }
      close(']');
      return;
    }
    case Shape::Map: {
      const Block* block = *reinterpret_cast<Block* const*>(at);
      open('{');
      for (std::size_t i = 0; i < countOf(block); ++i) {
        std::byte* entry = elementOf(block, *info.ops, i);
        key(keyOf(entry));
        element(info, valueOf(entry));
      }
      close('}');
      return;
    }
  }
}

template <class T>
void JsonEncoder::time(const T& time) {
  if (!time) {
    out_ += "null";
    return;
  }
  out_ += '"';
  time.appendTo(out_);
  out_ += '"';
}

void JsonEncoder::element(const FieldInfo& info, const std::byte* at) {
  switch (info.kind) {
    case FieldKind::Bool:
      out_ += *reinterpret_cast<const bool*>(at) ? "true" : "false";
      break;
    case FieldKind::Int32:
      integer(*reinterpret_cast<const std::int32_t*>(at));
      break;
    case FieldKind::Int64:
      integer(*reinterpret_cast<const std::int64_t*>(at));
      break;
    case FieldKind::Double:
      number(*reinterpret_cast<const double*>(at));
      break;
    case FieldKind::String:
      string(reinterpret_cast<const String*>(at)->view());
      break;
    case FieldKind::Bytes:
      out_ += '"';
      base64Encode(reinterpret_cast<const Bytes*>(at)->view(), out_);
      out_ += '"';
      break;
    case FieldKind::Time:
      time(*reinterpret_cast<const Time*>(at));
      break;
    case FieldKind::MicroTime:
      time(*reinterpret_cast<const MicroTime*>(at));
      break;
    case FieldKind::Duration:
      out_ += '"';
      reinterpret_cast<const Duration*>(at)->appendTo(out_);
      out_ += '"';
      break;
    case FieldKind::Quantity:
      string(reinterpret_cast<const Quantity*>(at)->text());
      break;
    case FieldKind::IntOrString: {
      const auto& either = *reinterpret_cast<const IntOrString*>(at);
      if (either.isString()) {
        string(either.stringValue());
      } else {
        integer(either.intValue());
      }
      break;
    }
    case FieldKind::Raw:
      raw(reinterpret_cast<const RawExtension*>(at)->raw);
      break;
    case FieldKind::Strings:
      open('[');
      for (const String& text : *reinterpret_cast<const Strings*>(at)) {
        item();
        string(text);
      }
      close(']');
      break;
    case FieldKind::Value:
      value(*reinterpret_cast<const Value*>(at));
      break;
    case FieldKind::Message:
      if (info.type->form != JsonForm::Object) {
        specialForm(*info.type, at);
      } else {
        open('{');
        fields(*info.type, at);
        close('}');
      }
      break;
  }
}

void JsonEncoder::specialForm(const TypeInfo& type, const std::byte* object) {
  if (type.form == JsonForm::Dynamic) {
    value(*reinterpret_cast<const Value*>(object));
    return;
  }
  const FieldInfo& chosen = alternative(type, object);
  field(chosen, object + chosen.offset);
}

const FieldInfo& JsonEncoder::alternative(const TypeInfo& type, const std::byte* object) {
  const FieldInfo* other = nullptr;
  for (const FieldInfo& info : type.fields) {
    if (info.kind == FieldKind::Message && info.shape == Shape::Optional) {
      if (*reinterpret_cast<Block* const*>(object + info.offset) != nullptr) {
        // A list of schemas wins over the one schema, as upstream has it.
        const FieldInfo& list = &info == &type.fields[0] ? type.fields[1] : type.fields[0];
        const bool listed = list.shape == Shape::List &&
                            countOf(*reinterpret_cast<Block* const*>(object + list.offset)) > 0;
        return listed ? list : info;
      }
    } else {
      other = &info;
    }
  }
  return *other;
}

void JsonEncoder::value(const Value& value) {
  switch (value.type()) {
    case Value::Type::Null:
      out_ += "null";
      break;
    case Value::Type::Bool:
      out_ += value.asBool() ? "true" : "false";
      break;
    case Value::Type::Int:
      integer(value.asInt());
      break;
    case Value::Type::Double:
      number(value.asDouble());
      break;
    case Value::Type::String:
      string(value.asString());
      break;
    case Value::Type::Array:
      open('[');
      for (const Value& element : value.asArray()) {
        item();
        this->value(element);
      }
      close(']');
      break;
    case Value::Type::Object:
      open('{');
      for (const auto& [name, member] : value.asObject()) {
        key(name);
        this->value(member);
      }
      close('}');
      break;
  }
}

}  // namespace kube::detail
