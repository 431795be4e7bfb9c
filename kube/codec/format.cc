#include "kube/codec/format.h"

#include "kube/codec/internal/json_index.h"
#include "kube/codec/protobuf.h"

namespace kube {

Format recognizeFormat(std::string_view body) {
  if (isProtobuf(body)) return Format::Protobuf;
  // YAML is a superset of JSON and may start with a brace too, so the whole body is checked.
  const std::size_t start = body.find_first_not_of(" \t\r\n");
  const bool isJson =
      start != std::string_view::npos && body[start] == '{' && detail::isValidJson(body);
  return isJson ? Format::Json : Format::Yaml;
}

std::string_view toString(Format format) noexcept {
  switch (format) {
    case Format::Json:
      return "json";
    case Format::Yaml:
      return "yaml";
    case Format::Protobuf:
      break;
  }
  return "protobuf";
}

}  // namespace kube
