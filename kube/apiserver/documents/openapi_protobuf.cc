// OpenAPI 2.0 as gnostic's protobuf message openapi.v2.Document: one table per message, and
// functions for the few places where JSON and the message differ in shape.
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "kube/apiserver/documents/openapi.h"
#include "kube/codec/internal/protobuf_encode.h"
#include "kube/codec/internal/wire_reader.h"
#include "kube/codec/json.h"

namespace kube::apiserver {

namespace {

using kube::detail::ProtobufEncoder;
using Encode = void (*)(ProtobufEncoder& out, std::uint32_t tag, const Value& value);

struct MessageField {
  std::string_view name;  // in JSON
  std::uint32_t tag;
  Encode encode;
};

struct Message {
  std::span<const MessageField> fields;
  std::uint32_t extensions = 0;  // the tag of members that start with x-; 0: none
};

// --- Values. The encoder writes back to front, so what comes last is written first.

void string(ProtobufEncoder& out, std::uint32_t tag, const Value& value) {
  out.text(tag, value.asString());
}
void integer(ProtobufEncoder& out, std::uint32_t tag, const Value& value) {
  out.varint(static_cast<std::uint64_t>(value.asInt()));
  out.key(tag, kube::detail::kVarint);
}
void flag(ProtobufEncoder& out, std::uint32_t tag, const Value& value) {
  out.varint(value.asBool() ? 1 : 0);
  out.key(tag, kube::detail::kVarint);
}
void number(ProtobufEncoder& out, std::uint32_t tag, const Value& value) {
  auto bits = std::bit_cast<std::uint64_t>(value.asDouble());
  char bytes[8];
  for (char& byte : bytes) {
    byte = static_cast<char>(bits);
    bits >>= 8;
  }
  out.bytes({bytes, sizeof bytes});
  out.key(tag, kube::detail::kFixed64);
}

template <class Items, class Visit>
void backwards(const Items& items, const Visit& visit) {
  std::vector<decltype(&*items.begin())> all;  // those of a map can be walked in one direction
  for (const auto& item : items) all.push_back(&item);
  for (auto at = all.rbegin(); at != all.rend(); ++at) visit(**at);
}

// A field that is a message; `content` writes its fields.
template <class Content>
void message(ProtobufEncoder& out, std::uint32_t tag, const Content& content) {
  const std::size_t before = out.size();
  content();
  out.wrap(tag, before);
}

// A message that contains another one, or one of several.
template <Encode E, std::uint32_t Tag>
void wrapped(ProtobufEncoder& out, std::uint32_t tag, const Value& value) {
  message(out, tag, [&] { E(out, Tag, value); });
}

// Any: its content as YAML, of which JSON is a subset.
void any(ProtobufEncoder& out, std::uint32_t tag, const Value& value) {
  message(out, tag, [&] { out.text(2, toJson(value)); });
}

// The elements of an array, each with the same tag.
template <Encode E>
void each(ProtobufEncoder& out, std::uint32_t tag, const Value& value) {
  backwards(value.asArray(), [&](const Value& item) { E(out, tag, item); });
}

// A member of an object as a message of its name and value.
template <Encode E>
void entry(ProtobufEncoder& out, std::uint32_t tag, std::string_view name, const Value& value) {
  message(out, tag, [&] {
    E(out, 2, value);
    out.text(1, name);
  });
}
// All members of an object.
template <Encode E, std::uint32_t Tag = 1>
void entries(ProtobufEncoder& out, const Value& value) {
  backwards(value.asObject(),
            [&](const auto& member) { entry<E>(out, Tag, member.key, member.value); });
}
// The members of an object, in a message that holds nothing else.
template <Encode E>
void members(ProtobufEncoder& out, std::uint32_t tag, const Value& value) {
  message(out, tag, [&] { entries<E>(out, value); });
}

void encode(const Message& type, ProtobufEncoder& out, const Value& value) {
  backwards(value.asObject(), [&](const auto& member) {
    if (type.extensions != 0 && member.key.view().starts_with("x-")) {
      return entry<any>(out, type.extensions, member.key, member.value);
    }
    for (const MessageField& field : type.fields) {
      if (field.name == member.key) field.encode(out, field.tag, member.value);
    }
  });
}

template <const Message& M>
void object(ProtobufEncoder& out, std::uint32_t tag, const Value& value) {
  message(out, tag, [&] { encode(M, out, value); });
}

// --- Schemas.

void schema(ProtobufEncoder& out, std::uint32_t tag, const Value& value);

void additionalProperties(ProtobufEncoder& out, std::uint32_t tag, const Value& value) {
  message(out, tag, [&] { value.isBool() ? flag(out, 2, value) : schema(out, 1, value); });
}

constexpr MessageField kExternalDocsFields[] = {{"description", 1, string}, {"url", 2, string}};
constexpr Message kExternalDocs{kExternalDocsFields, 3};

constexpr MessageField kSchemaFields[] = {{"$ref", 1, string},
                                          {"format", 2, string},
                                          {"title", 3, string},
                                          {"description", 4, string},
                                          {"default", 5, any},
                                          {"multipleOf", 6, number},
                                          {"maximum", 7, number},
                                          {"exclusiveMaximum", 8, flag},
                                          {"minimum", 9, number},
                                          {"exclusiveMinimum", 10, flag},
                                          {"maxLength", 11, integer},
                                          {"minLength", 12, integer},
                                          {"pattern", 13, string},
                                          {"maxItems", 14, integer},
                                          {"minItems", 15, integer},
                                          {"uniqueItems", 16, flag},
                                          {"maxProperties", 17, integer},
                                          {"minProperties", 18, integer},
                                          {"required", 19, each<string>},
                                          {"enum", 20, each<any>},
                                          {"additionalProperties", 21, additionalProperties},
                                          {"type", 22, wrapped<string, 1>},
                                          {"items", 23, wrapped<schema, 1>},
                                          {"allOf", 24, each<schema>},
                                          {"properties", 25, members<schema>},
                                          {"externalDocs", 29, object<kExternalDocs>},
                                          {"example", 30, any}};
constexpr Message kSchema{kSchemaFields, 31};

void schema(ProtobufEncoder& out, std::uint32_t tag, const Value& value) {
  object<kSchema>(out, tag, value);
}

// --- Parameters.

constexpr MessageField kBodyParameterFields[] = {{"description", 1, string},
                                                 {"name", 2, string},
                                                 {"in", 3, string},
                                                 {"required", 4, flag},
                                                 {"schema", 5, schema}};
constexpr Message kBodyParameter{kBodyParameterFields, 6};

constexpr MessageField kQueryParameterFields[] = {
    {"required", 1, flag}, {"in", 2, string},     {"description", 3, string}, {"name", 4, string},
    {"type", 6, string},   {"format", 7, string}, {"uniqueItems", 20, flag}};
constexpr Message kQueryParameter{kQueryParameterFields, 23};

constexpr MessageField kPathParameterFields[] = {
    {"required", 1, flag}, {"in", 2, string},     {"description", 3, string}, {"name", 4, string},
    {"type", 5, string},   {"format", 6, string}, {"uniqueItems", 19, flag}};
constexpr Message kPathParameter{kPathParameterFields, 22};

void parameter(ProtobufEncoder& out, std::uint32_t tag, const Value& value) {
  const String& in = value["in"].asString();
  message(out, tag, [&] {
    if (in == "body") return object<kBodyParameter>(out, 1, value);
    if (in == "query") return wrapped<object<kQueryParameter>, 3>(out, 2, value);
    wrapped<object<kPathParameter>, 4>(out, 2, value);
  });
}

constexpr MessageField kReferenceFields[] = {{"$ref", 1, string}, {"description", 2, string}};
constexpr Message kReference{kReferenceFields};

void parameterOrReference(ProtobufEncoder& out, std::uint32_t tag, const Value& value) {
  message(out, tag, [&] {
    if (value["$ref"].isString()) return object<kReference>(out, 2, value);
    parameter(out, 1, value);
  });
}

// --- Operations.

constexpr MessageField kResponseFields[] = {{"description", 1, string},
                                            {"schema", 2, wrapped<schema, 1>}};
constexpr Message kResponse{kResponseFields, 5};

// Responses by code, each wrapped as a value that is not a reference.
void responses(ProtobufEncoder& out, std::uint32_t tag, const Value& value) {
  members<wrapped<object<kResponse>, 1>>(out, tag, value);
}

constexpr MessageField kOperationFields[] = {{"tags", 1, each<string>},
                                             {"summary", 2, string},
                                             {"description", 3, string},
                                             {"operationId", 5, string},
                                             {"produces", 6, each<string>},
                                             {"consumes", 7, each<string>},
                                             {"parameters", 8, each<parameterOrReference>},
                                             {"responses", 9, responses},
                                             {"schemes", 10, each<string>},
                                             {"deprecated", 11, flag}};
constexpr Message kOperation{kOperationFields, 13};

constexpr MessageField kPathFields[] = {
    {"get", 2, object<kOperation>},     {"put", 3, object<kOperation>},
    {"post", 4, object<kOperation>},    {"delete", 5, object<kOperation>},
    {"options", 6, object<kOperation>}, {"head", 7, object<kOperation>},
    {"patch", 8, object<kOperation>},   {"parameters", 9, each<parameterOrReference>}};
constexpr Message kPath{kPathFields, 10};

void paths(ProtobufEncoder& out, std::uint32_t tag, const Value& value) {
  message(out, tag, [&] { entries<object<kPath>, 2>(out, value); });
}

// --- The document.

constexpr MessageField kInfoFields[] = {
    {"title", 1, string}, {"version", 2, string}, {"description", 3, string}};
constexpr Message kInfo{kInfoFields, 7};

constexpr MessageField kApiKeyFields[] = {
    {"type", 1, string}, {"name", 2, string}, {"in", 3, string}, {"description", 4, string}};
constexpr Message kApiKey{kApiKeyFields, 5};

void stringArray(ProtobufEncoder& out, std::uint32_t tag, const Value& value) {
  message(out, tag, [&] { each<string>(out, 1, value); });
}

constexpr MessageField kDocumentFields[] = {
    {"swagger", 1, string},
    {"info", 2, object<kInfo>},
    {"paths", 8, paths},
    {"definitions", 9, members<schema>},
    {"parameters", 10, members<parameter>},
    {"security", 12, each<members<stringArray>>},
    {"securityDefinitions", 13, members<wrapped<object<kApiKey>, 2>>}};
constexpr Message kDocument{kDocumentFields, 16};

}  // namespace

std::string openApiV2Protobuf(const Value& document) {
  ProtobufEncoder encoder;
  encode(kDocument, encoder, document);
  std::string out;
  encoder.appendTo(out);
  return out;
}

}  // namespace kube::apiserver
