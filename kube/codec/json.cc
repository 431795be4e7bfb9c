#include "kube/codec/json.h"

#include <memory>

#include "kube/base/error.h"
#include "kube/codec/internal/json_decode.h"
#include "kube/codec/internal/json_document.h"
#include "kube/codec/internal/json_encode.h"
#include "kube/codec/internal/json_index.h"
#include "kube/codec/internal/json_peek.h"
#include "kube/codec/internal/list_decode.h"
#include "kube/codec/internal/problems.h"

namespace kube {

namespace {

// Decodes one whole text with `decode(decoder)`, which returns the token behind the value.
template <class Decode>
void decodeWhole(const detail::JsonIndex& index, const DecodeOptions& options, Decode decode) {
  detail::Problems problems(options);
  detail::JsonDecoder decoder(index, options.pool, problems.notes(), options.checkKind);
  const auto end = decode(decoder);
  if (end != index.count()) index.fail(end, "unexpected text after the value");
  problems.check({.format = "json"});
  if (options.pool != nullptr) options.pool->settle();
}

template <class Decode>
void decodeWhole(std::string_view text, const DecodeOptions& options, Decode decode) {
  detail::JsonIndex index;
  index.build(text);
  decodeWhole(index, options, decode);
}

}  // namespace

JsonDocument::JsonDocument(std::string_view text) : index_(std::make_unique<detail::JsonIndex>()) {
  index_->build(text);
}

JsonDocument::~JsonDocument() = default;

TypeMeta JsonDocument::type() const { return detail::peekJson(*index_, 0).type; }

void JsonDocument::decode(const TypeInfo& type, void* object, const DecodeOptions& options) const {
  decodeWhole(*index_, options,
              [&](detail::JsonDecoder& decoder) { return decoder.message(type, object, 0); });
}

void decodeJson(const TypeInfo& type, void* object, std::string_view text,
                const DecodeOptions& options) {
  // Strict decoding reports paths in the whole text, so it needs the whole text at once.
  if (!options.strict && options.problems == nullptr && detail::isListType(type) &&
      !text.starts_with('k')) {  // a stream takes a text with this first letter for protobuf
    detail::decodeList(type, object, text, options);
    return;
  }
  decodeWhole(text, options,
              [&](detail::JsonDecoder& decoder) { return decoder.message(type, object, 0); });
}

void encodeJson(const TypeInfo& type, const void* object, std::string& out, int indent) {
  // The items of a list share parts. Each shared part is encoded once.
  const auto known = detail::isListType(type) ? std::make_unique<detail::EncodedParts>() : nullptr;
  detail::JsonEncoder(out, indent, known.get()).object(type, object);
}

Value parseJson(std::string_view text, const DecodeOptions& options) {
  Value result;
  decodeWhole(text, options,
              [&](detail::JsonDecoder& decoder) { return decoder.value(result, 0); });
  return result;
}

std::string toJson(const Value& value, int indent) {
  std::string out;
  detail::JsonEncoder(out, indent).value(value);
  return out;
}

}  // namespace kube
