#include "kube/codec/internal/json_encode.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>

#include "kube/base/error.h"
#include "kube/base/internal/base64.h"
#include "kube/codec/internal/decode_sites.h"
#include "kube/codec/internal/float_text.h"
#include "kube/codec/internal/json_index.h"
#include "kube/meta/internal/optional_field.h"
#include "kube/meta/internal/presence.h"

namespace kube::detail {

void JsonEncoder::newline() {
  if (indent_ == 0) return;
  put('\n');
  for (int i = 0; i < indent_ * depth_; ++i) put(' ');
}

void JsonEncoder::open(char bracket) {
  put(bracket);
  ++depth_;
  first_ = true;
}

void JsonEncoder::close(char bracket) {
  --depth_;
  if (!first_) newline();
  put(bracket);
  first_ = false;
}

void JsonEncoder::item() {
  if (!first_) put(',');
  newline();
  first_ = false;
}

void JsonEncoder::key(std::string_view name) {
  item();
  text(name);
  put(':');
  if (indent_ != 0) put(' ');
}

// Writes the name of a described field, which needs no escaping.
void JsonEncoder::fieldKey(std::string_view name) {
  item();
  put('"');
  put(name);
  put('"');
  put(':');
  if (indent_ != 0) put(' ');
}

namespace {

constexpr std::uint64_t repeated(std::uint64_t byte) { return byte * 0x0101010101010101; }

// Sets the high bit of each byte that is zero, at least up to the first such byte.
constexpr std::uint64_t zeros(std::uint64_t word) {
  return (word - repeated(1)) & ~word & repeated(0x80);
}

// True if any of eight characters must be escaped in a JSON string.
bool needsEscape(std::uint64_t eight) {
  const std::uint64_t control = (eight - repeated(0x20)) & ~eight & repeated(0x80);
  return (control | zeros(eight ^ repeated('"')) | zeros(eight ^ repeated('\\'))) != 0;
}

bool needsEscape(std::string_view text) {
  const char* at = text.data();
  std::size_t left = text.size();
  std::uint64_t eight = repeated('x');
  for (; left >= sizeof(eight); left -= sizeof(eight), at += sizeof(eight)) {
    std::memcpy(&eight, at, sizeof(eight));
    if (needsEscape(eight)) return true;
  }
  eight = repeated('x');
  copyBytes(reinterpret_cast<char*>(&eight), at, left);
  return needsEscape(eight);
}

}  // namespace

void JsonEncoder::putMore(std::string_view bytes) {
  flush();
  if (bytes.size() > buffer_.size()) {
    out_.append(bytes);
  } else {
    put(bytes);
  }
}

void JsonEncoder::string(std::string_view text) {
  this->text(text);
  flush();
}

void JsonEncoder::text(std::string_view text) {
  put('"');
  if (needsEscape(text)) {
    escaped(text);
  } else {
    put(text);
  }
  put('"');
}

void JsonEncoder::escaped(std::string_view text) {
  std::size_t done = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c >= 0x20 && c != '"' && c != '\\') continue;
    put(text.substr(done, i - done));
    done = i + 1;
    switch (c) {
      case '"':
      case '\\':
        put('\\');
        put(static_cast<char>(c));
        break;
      case '\n':
        put("\\n");
        break;
      case '\r':
        put("\\r");
        break;
      case '\t':
        put("\\t");
        break;
      default: {
        constexpr std::string_view kHex = "0123456789abcdef";
        put("\\u00");
        put(kHex[c >> 4]);
        put(kHex[c & 15]);
      }
    }
  }
  put(text.substr(done));
}

void JsonEncoder::integer(std::int64_t value) {
  std::array<char, 24> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  put(std::string_view(digits.data(), static_cast<std::size_t>(end - digits.data())));
}

void JsonEncoder::number(double value) {
  if (!std::isfinite(value)) throw Error("json: infinity and NaN have no JSON form");
  put(formatJsonFloat(value));
}

// Writes text as it was received. It is checked, since it may come from protobuf, which takes any
// bytes.
void JsonEncoder::raw(std::string_view json) {
  if (json.empty()) {
    put("null");
    return;
  }
  if (!isValidJson(json)) throw Error("json: an embedded raw value is not valid JSON");
  if (indent_ == 0) {
    put(json);
    return;
  }
  JsonIndex index;
  index.build(json);
  rawTokens(index, 0);
}

void JsonEncoder::rawTokens(const JsonIndex& index, std::uint32_t token) {
  const char c = index.at(token);
  if (c != '{' && c != '[') {
    put(index.scalar(token));
    return;
  }
  open(c);
  for (auto next = token + 1; next < index.close(token); next = index.after(next) + 1) {
    item();
    if (c == '{') {
      put(index.scalar(next));
      put(": ");
      next += 2;
    }
    rawTokens(index, next);
  }
  close(static_cast<char>(c + 2));
}

void JsonEncoder::object(const TypeInfo& type, const void* object) {
  whole(type, static_cast<const std::byte*>(object));
  flush();
}

void JsonEncoder::sparse(const TypeInfo& type, const void* object, const FieldSet& zeros) {
  sparse_ = true;
  zeros_ = zeros.empty() ? nullptr : &zeros;
  this->object(type, object);
}

void JsonEncoder::whole(const TypeInfo& type, const std::byte* object) {
  if (type.form != JsonForm::Object) {
    specialForm(type, object);
    return;
  }
  open('{');
  if (type.resource != nullptr) {
    fieldKey("kind");
    text(type.resource->kind);
    fieldKey("apiVersion");
    text(type.resource->apiVersion());
  }
  fields(type, object);
  close('}');
}

void JsonEncoder::fields(const TypeInfo& type, const std::byte* object) {
  for (const FieldInfo& info : type.fields) {
    const std::byte* at = object + info.offset;
    if (sparse_) {
      sparseField(info, at);
      continue;
    }
    if (!shown(info, at)) continue;
    fieldKey(info.name);
    field(info, at);
  }
}

namespace {

const FieldSet* belowOf(const FieldSet::Node* node) {
  return node != nullptr && !node->below.empty() ? &node->below : nullptr;
}

// True if a field that is not set is requested, and has a zero to show.
bool isMeant(const FieldInfo& info, const std::byte* at, const FieldSet::Node* node) {
  if (node == nullptr) return false;
  const bool message = info.kind == FieldKind::Message;
  if (info.shape == Shape::Optional) return message && heldAt(at) != nullptr;
  return node->member || (info.shape == Shape::Plain && message);
}

}  // namespace

void JsonEncoder::sparseField(const FieldInfo& info, const std::byte* at) {
  const FieldSet::Node* node = zeros_ != nullptr ? zeros_->find(info.name) : nullptr;
  if (isUnset(info, at) && !isMeant(info, at, node)) return;
  fieldKey(info.name);
  const FieldSet* outer = std::exchange(zeros_, belowOf(node));
  field(info, at);
  zeros_ = outer;
}

void JsonEncoder::sparseElement(const FieldInfo& list, std::size_t i, const std::byte* at) {
  const FieldSet* outer = zeros_;
  zeros_ = belowOf(outer->find(elementStep(list, i, at)));
  element(list, at);
  zeros_ = outer;
}

bool JsonEncoder::shown(const FieldInfo& info, const std::byte* at) {
  switch (info.shape) {
    case Shape::List:
    case Shape::Map:
      // An empty list that is required is shown, as upstream shows `items`.
      return countOf(heldAt(at)) > 0 || (info.keep() && info.required());
    case Shape::Optional:
      if (info.kind == FieldKind::Message) return messageAt(info, at) != nullptr;
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
      return heldAt(at) != nullptr;
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
      if (info.kind == FieldKind::Raw) break;
      element(info, at);
      return;
    case Shape::Optional:
      if (info.kind == FieldKind::Message) break;
      element(info, static_cast<const std::byte*>(optionalValue(info.kind, at)));
      return;
    case Shape::List:
    case Shape::Map:
      break;
  }
  part(info, heldAt(at));
}

void JsonEncoder::part(const FieldInfo& info, const Block* block) {
  if (known_ == nullptr || block == nullptr) return contents(info, block);
  if (const std::string_view known = known_->find(*block, info); !known.empty()) return put(known);
  if (!EncodedParts::worth(*block)) return contents(info, block);
  flush();
  const std::size_t start = out_.size();
  contents(info, block);
  flush();
  known_->put(*block, info, std::string_view(out_).substr(start));
}

void JsonEncoder::contents(const FieldInfo& info, const Block* block) {
  switch (info.shape) {
    case Shape::Plain:
      raw(block == nullptr
              ? std::string_view()
              : std::string_view(static_cast<const char*>(block->payload()), block->size));
      return;
    case Shape::Optional:
      element(info, static_cast<const std::byte*>(block->payload()));
      return;
    case Shape::List:
      open('[');
      for (std::size_t i = 0; i < countOf(block); ++i) {
        item();
        if (zeros_ != nullptr && info.kind == FieldKind::Message) {
          sparseElement(info, i, elementOf(block, *info.ops, i));
        } else {
          element(info, elementOf(block, *info.ops, i));
        }
      }
      close(']');
      return;
    case Shape::Map:
      open('{');
      for (std::size_t i = 0; i < countOf(block); ++i) {
        std::byte* entry = elementOf(block, *info.ops, i);
        if (isPlaceholder(info, entry)) continue;
        key(keyOf(entry));
        const FieldSet* outer = zeros_;
        if (outer != nullptr) zeros_ = belowOf(outer->find(keyOf(entry)));
        element(info, valueOf(entry));
        zeros_ = outer;
      }
      close('}');
      return;
  }
}

template <class T>
void JsonEncoder::time(const T& time) {
  if (!time) {
    put("null");
    return;
  }
  put('"');
  flush();
  time.appendTo(out_);
  put('"');
}

void JsonEncoder::element(const FieldInfo& info, const std::byte* at) {
  switch (info.kind) {
    case FieldKind::Bool:
      put(*reinterpret_cast<const bool*>(at) ? "true" : "false");
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
      text(reinterpret_cast<const String*>(at)->view());
      break;
    case FieldKind::Bytes:
      put('"');
      flush();
      base64Encode(reinterpret_cast<const Bytes*>(at)->view(), out_);
      put('"');
      break;
    case FieldKind::Time:
      time(*reinterpret_cast<const Time*>(at));
      break;
    case FieldKind::MicroTime:
      time(*reinterpret_cast<const MicroTime*>(at));
      break;
    case FieldKind::Duration:
      put('"');
      flush();
      reinterpret_cast<const Duration*>(at)->appendTo(out_);
      put('"');
      break;
    case FieldKind::Quantity:
      text(reinterpret_cast<const Quantity*>(at)->text());
      break;
    case FieldKind::IntOrString: {
      const auto& either = *reinterpret_cast<const IntOrString*>(at);
      if (either.isString()) {
        text(either.stringValue());
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
        this->text(text);
      }
      close(']');
      break;
    case FieldKind::Value:
      any(*reinterpret_cast<const Value*>(at));
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
    any(*reinterpret_cast<const Value*>(object));
    return;
  }
  const FieldInfo& chosen = alternative(type, object);
  field(chosen, object + chosen.offset);
}

const FieldInfo& JsonEncoder::alternative(const TypeInfo& type, const std::byte* object) {
  const FieldInfo* other = nullptr;
  for (const FieldInfo& info : type.fields) {
    if (info.kind == FieldKind::Message && info.shape == Shape::Optional) {
      if (messageAt(info, object + info.offset) != nullptr) {
        // A list of schemas wins over the single schema, as in upstream.
        const FieldInfo& list = &info == &type.fields[0] ? type.fields[1] : type.fields[0];
        const bool listed = list.shape == Shape::List && countOf(heldAt(object + list.offset)) > 0;
        return listed ? list : info;
      }
    } else {
      other = &info;
    }
  }
  return *other;
}

void JsonEncoder::value(const Value& value) {
  any(value);
  flush();
}

void JsonEncoder::any(const Value& value) {
  switch (value.type()) {
    case Value::Type::Null:
      put("null");
      break;
    case Value::Type::Bool:
      put(value.asBool() ? "true" : "false");
      break;
    case Value::Type::Int:
      integer(value.asInt());
      break;
    case Value::Type::Double:
      number(value.asDouble());
      break;
    case Value::Type::String:
      text(value.asString());
      break;
    case Value::Type::Array:
      open('[');
      for (std::size_t i = 0; i < sentCount(value.asArray()); ++i) {
        item();
        any(value.asArray()[i]);
      }
      close(']');
      break;
    case Value::Type::Object:
      open('{');
      for (const auto& [name, member] : value.asObject()) {
        key(name);
        any(member);
      }
      close('}');
      break;
  }
}

}  // namespace kube::detail
