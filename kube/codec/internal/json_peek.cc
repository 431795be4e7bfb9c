#include "kube/codec/internal/json_peek.h"

namespace kube {

detail::JsonPeek detail::peekJson(const JsonIndex& index, JsonIndex::Token object) {
  JsonPeek result;
  if (index.at(object) != '{') return result;
  std::string scratch;
  const auto string = [&](JsonIndex::Token value) {
    return index.at(value) == '"' ? std::string(index.string(value, scratch)) : std::string();
  };
  for (auto at = object + 1; at < index.close(object); at = index.after(at + 2) + 1) {
    const std::string_view key = index.rawString(at);
    if (key == "kind") result.type.kind = string(at + 2);
    if (key == "apiVersion") result.type.apiVersion = string(at + 2);
    if (key == "items") result.items = index.at(at + 2) == '[' ? at + 2 : 0;
  }
  return result;
}

TypeMeta peekTypeMeta(std::string_view json) {
  detail::JsonIndex index;
  index.build(json);
  index.check(0);
  return detail::peekJson(index, 0).type;
}

}  // namespace kube
