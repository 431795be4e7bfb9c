#include "kube/testing/api_request.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "kube/codec/protobuf.h"
#include "kube/codec/unstructured.h"
#include "kube/meta/api_error.h"

namespace kube::testing {

namespace {

constexpr std::string_view kProtobuf = "application/vnd.kubernetes.protobuf";

int hexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string unescape(std::string_view text, bool query) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && query) {
      out += ' ';
    } else if (text[i] != '%') {
      out += text[i];
    } else {
      const int high = i + 2 < text.size() ? hexDigit(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? hexDigit(text[i + 2]) : -1;
      if (high < 0 || low < 0) {
        throw ApiError(status::badRequest(fmt::format("invalid URL escape in \"{}\"", text)));
      }
      out += static_cast<char>(high * 16 + low);
      i += 2;
    }
  }
  return out;
}

template <class Function>
void split(std::string_view text, char separator, const Function& function) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (end != 0) function(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::string_view trim(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

// A media type of an Accept header, with its parameters.
struct Clause {
  std::string_view type;
  std::string_view as, group, version;
  bool pretty = false;
  double quality = 1;
};

std::vector<Clause> parseAccept(std::string_view header) {
  std::vector<Clause> clauses;
  split(header, ',', [&](std::string_view part) {
    Clause clause;
    split(part, ';', [&](std::string_view piece) {
      piece = trim(piece);
      const std::size_t equals = piece.find('=');
      if (clause.type.empty()) {
        clause.type = piece;
      } else if (equals != std::string_view::npos) {
        const std::string_view key = piece.substr(0, equals), value = piece.substr(equals + 1);
        if (key == "as") clause.as = value;
        if (key == "g") clause.group = value;
        if (key == "v") clause.version = value;
        if (key == "pretty") clause.pretty = value == "1" || value == "true";
        if (key == "q") std::from_chars(value.data(), value.data() + value.size(), clause.quality);
      }
    });
    if (!clause.type.empty()) clauses.push_back(clause);
  });
  std::stable_sort(clauses.begin(), clauses.end(),
                   [](const Clause& a, const Clause& b) { return a.quality > b.quality; });
  return clauses;
}

std::optional<Format> formatOf(std::string_view type) {
  if (type == "*/*" || type == "application/*" || type == "application/json") return Format::Json;
  if (type == "application/yaml") return Format::Yaml;
  if (type == kProtobuf) return Format::Protobuf;
  return std::nullopt;
}

std::optional<ResponseForm::As> transformOf(std::string_view as) {
  if (as == "Table") return ResponseForm::As::Table;
  if (as == "PartialObjectMetadata") return ResponseForm::As::PartialMetadata;
  if (as == "PartialObjectMetadataList") return ResponseForm::As::PartialMetadataList;
  return std::nullopt;
}

bool truth(std::string_view text) {
  return text != "false" && text != "0" && text != "FALSE" && text != "False";
}

}  // namespace

std::string ResponseForm::str() const {
  return fmt::format("{}/{}/{}", static_cast<int>(format), static_cast<int>(as), version.view());
}

std::string_view ResponseForm::mediaType() const noexcept {
  switch (format) {
    case Format::Yaml:
      return "application/yaml";
    case Format::Protobuf:
      return kProtobuf;
    default:
      return "application/json";
  }
}

ApiRequest ApiRequest::parse(ServerRequest http) {
  ApiRequest request;
  request.http = std::move(http);
  const std::string_view target = request.http.target;
  const std::size_t mark = std::min(target.find('?'), target.size());
  request.path = unescape(target.substr(0, mark), false);
  if (mark < target.size()) {
    split(target.substr(mark + 1), '&', [&](std::string_view pair) {
      const std::size_t equals = std::min(pair.find('='), pair.size());
      request.query.emplace_back(
          unescape(pair.substr(0, equals), true),
          equals < pair.size() ? unescape(pair.substr(equals + 1), true) : std::string());
    });
  }
  for (const char c : request.http.method) {
    request.verb += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  }
  request.place();
  return request;
}

void ApiRequest::place() {
  std::vector<std::string_view> parts;
  split(path, '/', [&](std::string_view part) { parts.push_back(part); });
  std::size_t at = 0;
  if (parts.size() >= 3 && parts[0] == "api") {
    resource.version = parts[1];
    at = 2;
  } else if (parts.size() >= 4 && parts[0] == "apis") {
    resource.group = parts[1];
    resource.version = parts[2];
    at = 3;
  } else {
    return;
  }
  bool watches = false;
  if (parts[at] == "watch" && parts.size() > at + 1) {  // the old form of watches
    watches = true;
    ++at;
  }
  if (parts[at] == "namespaces" && parts.size() > at + 1) {
    // /namespaces/<name>/status is a subresource of the namespace; /namespaces/<name>/pods are
    // objects in it.
    const std::string_view next = parts.size() > at + 2 ? parts[at + 2] : std::string_view();
    namespace_ = parts[at + 1];
    if (!next.empty() && next != "status" && next != "finalize") at += 2;
  }
  resource.resource = parts[at];
  if (parts.size() > at + 1) name = parts[at + 1];
  if (parts.size() > at + 2) subresource = parts[at + 2];
  for (std::size_t i = at + 3; i < parts.size(); ++i) subpath.append("/").append(parts[i]);

  const std::string& method = http.method;
  if (method == "GET" || method == "HEAD") {
    verb = name.empty() ? "list" : "get";
    if (watches || (name.empty() && flag("watch"))) verb = "watch";
  } else if (method == "POST") {
    verb = "create";
  } else if (method == "PUT") {
    verb = "update";
  } else if (method == "PATCH") {
    verb = "patch";
  } else if (method == "DELETE") {
    verb = name.empty() ? "deletecollection" : "delete";
  }
}

bool ApiRequest::is(std::string_view wantedVerb, std::string_view wantedResource,
                    std::string_view pathPrefix) const noexcept {
  const std::size_t slash = std::min(wantedResource.find('/'), wantedResource.size());
  const bool resourceFits =
      wantedResource.empty() ||
      (resource.resource == wantedResource.substr(0, slash) &&
       (slash == wantedResource.size() || subresource == wantedResource.substr(slash + 1)));
  return resourceFits && (wantedVerb.empty() || wantedVerb == verb) && path.starts_with(pathPrefix);
}

bool RequestFilter::matches(const ApiRequest& request) const noexcept {
  return request.is(verb, resource, path) &&
         (namespace_.empty() || namespace_ == request.namespace_) &&
         (name.empty() || name == request.name);
}

std::optional<std::string_view> ApiRequest::param(std::string_view name) const noexcept {
  for (const auto& [key, value] : query) {
    if (key == name) return value;
  }
  return std::nullopt;
}

bool ApiRequest::flag(std::string_view name) const noexcept {
  const auto value = param(name);
  return value && truth(*value);
}

void ApiRequest::readOptions(const TypeInfo& type, void* options) const {
  Value fields = Value::Object{};
  for (const FieldInfo& field : type.fields) {
    Value::Array all;
    for (const auto& [key, value] : query) {
      if (key != field.name) continue;
      switch (field.kind) {
        case FieldKind::Bool:
          all.push_back(truth(value));
          break;
        case FieldKind::Int32:
        case FieldKind::Int64: {
          std::int64_t number = 0;
          const auto [end, error] =
              std::from_chars(value.data(), value.data() + value.size(), number);
          if (error != std::errc() || end != value.data() + value.size()) {
            throw ApiError(status::badRequest(fmt::format(
                "strconv.ParseInt: parsing \"{}\": {} (parameter {})", value,
                error == std::errc::result_out_of_range ? "value out of range" : "invalid syntax",
                key)));
          }
          all.push_back(number);
          break;
        }
        default:
          all.push_back(value);
      }
    }
    if (all.empty()) continue;
    const bool list = field.shape == Shape::List;
    fields[field.name] = list ? Value(all) : all[0];
  }
  try {
    fromUnstructured(type, options, Unstructured(fields));
  } catch (const DecodeError& error) {
    throw ApiError(status::badRequest(error.what()));
  }
}

ResponseForm ApiRequest::form(const OfferedForms& offered) const {
  const std::vector<Clause> clauses = parseAccept(http.headers.get("Accept"));
  ResponseForm form;
  form.pretty = flag("pretty");
  if (clauses.empty()) return form;
  const bool transformable = offered.tables || offered.metadata || offered.metadataList;
  for (const Clause& clause : clauses) {
    const std::optional<Format> format = formatOf(clause.type);
    if (!format) continue;
    if (*format == Format::Protobuf && !offered.protobuf) continue;
    if (*format == Format::Yaml && offered.stream) continue;
    form.format = *format;
    form.pretty |= clause.pretty;
    if (clause.as.empty() || !transformable) return form;
    const auto as = transformOf(clause.as);
    if (!as || (clause.version != "v1" && clause.version != "v1beta1")) continue;
    if (clause.group != "meta.k8s.io") continue;
    if (*as == ResponseForm::As::PartialMetadata && !offered.metadata) continue;
    if (*as == ResponseForm::As::PartialMetadataList && !offered.metadataList) continue;
    if (*as == ResponseForm::As::Table && *format == Format::Protobuf) continue;
    form.as = *as;
    form.version = clause.version;
    return form;
  }
  const std::string_view suffix = offered.stream ? ";stream=watch" : "";
  throw ApiError(status::notAcceptable(fmt::format(
      "only the following media types are accepted: application/json{}{}{}", suffix,
      offered.stream ? "" : ", application/yaml",
      offered.protobuf ? fmt::format(", application/vnd.kubernetes.protobuf{}", suffix) : "")));
}

Format ApiRequest::bodyFormat() const {
  std::string_view type = http.headers.get("Content-Type");
  type = trim(type.substr(0, type.find(';')));
  if (type.empty()) return isProtobuf(http.body) ? Format::Protobuf : Format::Json;
  if (type == "application/json") return Format::Json;
  if (type == "application/yaml") return Format::Yaml;
  if (type == kProtobuf) return Format::Protobuf;
  throw ApiError(status::unsupportedMediaType(
      "the body of the request was in an unknown format - accepted media types include: "
      "application/json, application/yaml, application/vnd.kubernetes.protobuf"));
}

}  // namespace kube::testing
