#include "kube/codec/unstructured.h"

#include "kube/base/error.h"
#include "kube/base/pool.h"
#include "kube/codec/internal/problems.h"
#include "kube/codec/internal/value_decode.h"
#include "kube/codec/internal/value_encode.h"

namespace kube {

Unstructured toUnstructured(const TypeInfo& type, const void* object) {
  return Unstructured(detail::ValueEncoder().object(type, object));
}

void fromUnstructured(const TypeInfo& type, void* target, const Unstructured& object,
                      const DecodeOptions& options) {
  detail::Problems problems(options);
  detail::ValueDecoder(options.pool, problems.notes(), options.checkKind)
      .object(type, static_cast<std::byte*>(target), object.object);
  problems.check({});
  if (options.pool != nullptr) options.pool->settle();
}

Unstructured parseUnstructured(std::string_view json, const DecodeOptions& options) {
  Unstructured result(parseJson(json, options));
  if (!result.object.isObject()) {
    throw DecodeError(
        {.format = "json"},
        std::string("expected an object, found ").append(toString(result.object.type())));
  }
  if (result.kind().empty()) {
    throw DecodeError({.format = "json", .path = "kind"},
                      "missing: it names the type of the object");
  }
  return result;
}

UnstructuredList parseUnstructuredList(std::string_view json, const DecodeOptions& options) {
  UnstructuredList list = parseUnstructured(json, options).toList();
  const String kind = list.kind();
  if (!kind.view().ends_with("List")) return list;
  const String itemKind = kind.view().substr(0, kind.size() - 4);
  if (itemKind.empty()) return list;  // a List of mixed kinds: its items name their own
  for (Unstructured& item : list.items) {
    if (!item.kind().empty()) continue;
    item.setKind(itemKind);
    item.setApiVersion(list.apiVersion());
  }
  return list;
}

std::string toJson(const UnstructuredList& list, int indent) {
  return toJson(list.toUnstructured(), indent);
}

}  // namespace kube
