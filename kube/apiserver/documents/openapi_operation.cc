#include "kube/apiserver/documents/openapi_operation.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "kube/base/internal/text.h"

namespace kube::apiserver {

namespace {

constexpr QueryParameter kOtherParameters[] = {
    {"fieldManager", "string"}, {"force", "boolean"}, {"pretty", "string"}};

Value listOf(MediaTypes types) {
  Value list = Value::Array();
  for (const std::string_view type : types) list.array().push_back(type);
  return list;
}

// {"application/json": {"schema": ...}}
Value contentOf(MediaTypes types, const Value& schema) {
  Value content = Value::Object();
  for (const std::string_view type : types) content[type] = Value::Object{{"schema", schema}};
  return content;
}

std::string_view describe(int code) {
  switch (code) {
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    default:
      return "Unauthorized";
  }
}

Value responsesOf(const Operation& operation, OpenApiForm form) {
  Value responses = Value::Object();
  for (const int code : operation.codes) {
    Value& response = responses[std::to_string(code)];
    response["description"] = describe(code);
    if (operation.response.isNull()) continue;
    if (form == OpenApiForm::V2) {
      response["schema"] = operation.response;
    } else {
      response["content"] = contentOf(operation.produces, operation.response);
    }
  }
  responses["401"]["description"] = describe(401);
  return responses;
}

}  // namespace

std::string capitalized(std::string_view text) {
  std::string out(text);
  if (!out.empty()) out[0] = detail::upper(out[0]);
  return out;
}

std::string groupTag(std::string_view group) {
  if (group.empty()) return "core";
  if (constexpr std::string_view kSuffix = ".k8s.io"; group.ends_with(kSuffix)) {
    group.remove_suffix(kSuffix.size());
  }
  std::string tag;
  while (!group.empty()) {
    const auto dot = std::min(group.find('.'), group.size());
    tag += tag.empty() ? std::string(group.substr(0, dot)) : capitalized(group.substr(0, dot));
    group.remove_prefix(std::min(dot + 1, group.size()));
  }
  return tag;
}

std::string versionTag(const GroupVersion& version) {
  return groupTag(version.group) + "_" + version.version.str();
}

std::string versionId(const GroupVersion& version) {
  return capitalized(groupTag(version.group)) + capitalized(version.version);
}

Value Parameters::parameter(std::string_view in, std::string_view name,
                            std::string_view type) const {
  Value value = Value::Object{{"in", in}, {"name", name}};
  Value& schema = form_ == OpenApiForm::V2 ? value : value["schema"];
  schema["type"] = type;
  schema["uniqueItems"] = true;
  return value;
}

Value Parameters::query(std::string_view name, std::string_view type) const {
  return parameter("query", name, type);
}

Value Parameters::path(std::string_view name) const {
  Value value = parameter("path", name, "string");
  value["required"] = true;
  return value;
}

Value Parameters::common(std::string_view name) const {
  const std::string_view where =
      form_ == OpenApiForm::V2 ? "#/parameters/" : "#/components/parameters/";
  return Value::Object{{"$ref", std::string(where).append(name)}};
}

Value Parameters::allCommon() const {
  Value all = Value::Object();
  for (const std::span<const QueryParameter> group :
       {std::span<const QueryParameter>(kListParameters),
        {kDeleteParameters},
        {kOtherParameters}}) {
    for (const QueryParameter& parameter : group) {
      all[parameter.name] = query(parameter.name, parameter.type);
    }
  }
  all["namespace"] = path("namespace");
  return all;
}

Value write(const Operation& operation, OpenApiForm form) {
  Value value = Value::Object{{"operationId", operation.id},
                              {"responses", responsesOf(operation, form)},
                              {"tags", Value::Array{operation.tag}}};
  Value::Array parameters = operation.parameters;
  if (form == OpenApiForm::V2) {
    value["consumes"] = listOf(operation.consumes);
    value["produces"] = listOf(operation.produces);
    value["schemes"] = Value::Array{"https"};
    if (!operation.body.isNull()) {
      Value body = Value::Object{{"in", "body"}, {"name", "body"}, {"schema", operation.body}};
      if (operation.bodyRequired) body["required"] = true;
      parameters.insert(0, std::move(body));
    }
  } else if (!operation.body.isNull()) {
    value["requestBody"]["content"] = contentOf(operation.consumes, operation.body);
    if (operation.bodyRequired) value["requestBody"]["required"] = true;
  }
  if (!parameters.empty()) value["parameters"] = std::move(parameters);
  if (operation.action.empty()) return value;
  value["x-kubernetes-action"] = operation.action;
  value["x-kubernetes-group-version-kind"] = gvkExtension(operation.kind)[0];
  return value;
}

}  // namespace kube::apiserver
