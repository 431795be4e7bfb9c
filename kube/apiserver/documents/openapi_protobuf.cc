// OpenAPI 2.0 as gnostic's protobuf message openapi.v2.Document: one table per message, and
// functions for the few places where JSON and the message differ in shape.
#include <cstdint>
#include <protozero/pbf_writer.hpp>
#include <span>

#include "kube/apiserver/documents/openapi.h"
#include "kube/codec/json.h"

namespace kube::apiserver {

namespace {

using protozero::pbf_writer;
using Encode = void (*)(pbf_writer& out, std::uint32_t tag, const Value& value);

struct MessageField {
  std::string_view name;  // in JSON
  std::uint32_t tag;
  Encode encode;
};

struct Message {
  std::span<const MessageField> fields;
  std::uint32_t extensions = 0;  // the tag of members that start with x-; 0: none
};

// --- Values.

void string(pbf_writer& out, std::uint32_t tag, const Value& value) {
  out.add_string(tag, value.asString().data(), value.asString().size());
}
void flag(pbf_writer& out, std::uint32_t tag, const Value& value) {
  out.add_bool(tag, value.asBool());
}
void integer(pbf_writer& out, std::uint32_t tag, const Value& value) {
  out.add_int64(tag, value.asInt());
}
void number(pbf_writer& out, std::uint32_t tag, const Value& value) {
  out.add_double(tag, value.asDouble());
}
// Any: its content as YAML, of which JSON is a subset.
void any(pbf_writer& out, std::uint32_t tag, const Value& value) {
  pbf_writer message(out, tag);
  message.add_string(2, toJson(value));
}

// The elements of an array, each with the same tag.
template <Encode E>
void each(pbf_writer& out, std::uint32_t tag, const Value& value) {
  for (const Value& item : value.asArray()) E(out, tag, item);
}

// A member of an object as a message of its name and value.
template <Encode E>
void entry(pbf_writer& out, std::uint32_t tag, std::string_view name, const Value& value) {
  pbf_writer message(out, tag);
  message.add_string(1, name.data(), name.size());
  E(message, 2, value);
}
// The members of an object, in a message that holds nothing else.
template <Encode E>
void members(pbf_writer& out, std::uint32_t tag, const Value& value) {
  pbf_writer message(out, tag);
  for (const auto& [name, member] : value.asObject()) entry<E>(message, 1, name, member);
}

void encode(const Message& message, pbf_writer& out, const Value& value) {
  for (const auto& [name, member] : value.asObject()) {
    if (message.extensions != 0 && name.view().starts_with("x-")) {
      entry<any>(out, message.extensions, name, member);
      continue;
    }
    for (const MessageField& field : message.fields) {
      if (field.name == name) field.encode(out, field.tag, member);
    }
  }
}

template <const Message& M>
void object(pbf_writer& out, std::uint32_t tag, const Value& value) {
  pbf_writer message(out, tag);
  encode(M, message, value);
}

// A message that contains another one, or one of several.
template <Encode E, std::uint32_t Tag>
void wrapped(pbf_writer& out, std::uint32_t tag, const Value& value) {
  pbf_writer message(out, tag);
  E(message, Tag, value);
}

// --- Schemas.

void schema(pbf_writer& out, std::uint32_t tag, const Value& value);

void additionalProperties(pbf_writer& out, std::uint32_t tag, const Value& value) {
  pbf_writer message(out, tag);
  if (value.isBool()) {
    message.add_bool(2, value.asBool());
  } else {
    schema(message, 1, value);
  }
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

void schema(pbf_writer& out, std::uint32_t tag, const Value& value) {
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

void parameter(pbf_writer& out, std::uint32_t tag, const Value& value) {
  pbf_writer message(out, tag);
  const String& in = value["in"].asString();
  if (in == "body") return object<kBodyParameter>(message, 1, value);
  pbf_writer nonBody(message, 2);
  if (in == "query") return object<kQueryParameter>(nonBody, 3, value);
  object<kPathParameter>(nonBody, 4, value);
}

constexpr MessageField kReferenceFields[] = {{"$ref", 1, string}, {"description", 2, string}};
constexpr Message kReference{kReferenceFields};

void parameterOrReference(pbf_writer& out, std::uint32_t tag, const Value& value) {
  pbf_writer message(out, tag);
  if (value["$ref"].isString()) return object<kReference>(message, 2, value);
  parameter(message, 1, value);
}

// --- Operations.

constexpr MessageField kResponseFields[] = {{"description", 1, string},
                                            {"schema", 2, wrapped<schema, 1>}};
constexpr Message kResponse{kResponseFields, 5};

// Responses by code, each wrapped as a value that is not a reference.
void responses(pbf_writer& out, std::uint32_t tag, const Value& value) {
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

void paths(pbf_writer& out, std::uint32_t tag, const Value& value) {
  pbf_writer message(out, tag);
  for (const auto& [path, item] : value.asObject()) entry<object<kPath>>(message, 2, path, item);
}

// --- The document.

constexpr MessageField kInfoFields[] = {
    {"title", 1, string}, {"version", 2, string}, {"description", 3, string}};
constexpr Message kInfo{kInfoFields, 7};

constexpr MessageField kApiKeyFields[] = {
    {"type", 1, string}, {"name", 2, string}, {"in", 3, string}, {"description", 4, string}};
constexpr Message kApiKey{kApiKeyFields, 5};

void stringArray(pbf_writer& out, std::uint32_t tag, const Value& value) {
  pbf_writer message(out, tag);
  each<string>(message, 1, value);
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
  std::string out;
  pbf_writer writer(out);
  encode(kDocument, writer, document);
  return out;
}

}  // namespace kube::apiserver
